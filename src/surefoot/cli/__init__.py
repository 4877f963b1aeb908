"""Command line of surefoot: parse options, call the library, print results."""

import sys

# Packages that the commands need besides the library; the extra `cli` has them all.
NEEDED = ("altair", "jinja2", "pandas", "pyarrow", "rich", "skops", "skrub", "typer", "vl_convert")


def main(arguments: list[str] | None = None) -> None:
    """Run the command `surefoot`; name the missing package if the extra `cli` is not installed."""
    try:
        from surefoot.cli._app import run  # noqa: PLC0415 - only a command needs typer

        sys.exit(run(arguments))
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in NEEDED:
            raise
        sys.exit(f"surefoot's commands need {package}: pip install 'surefoot[cli]'")


__all__ = ["main"]
