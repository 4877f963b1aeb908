"""The command line: parse, call, print."""

import sys

# What the commands need besides the library, all of it in the extra `cli`.
NEEDED = ("altair", "jinja2", "pandas", "pyarrow", "rich", "skops", "skrub", "typer", "vl_convert")


def main(arguments: list[str] | None = None) -> None:
    """Run `surefoot`; say what is missing if the commands' own packages are."""
    try:
        from surefoot.cli._app import run  # noqa: PLC0415 - only a command needs typer

        sys.exit(run(arguments))
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in NEEDED:
            raise
        sys.exit(f"surefoot's commands need {error.name}: pip install 'surefoot[cli]'")


__all__ = ["main"]
