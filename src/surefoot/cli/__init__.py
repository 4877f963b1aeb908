"""The command line: parse, call, print."""

import sys


def main() -> None:
    """Run `surefoot`; say what is missing if the command line's own packages are."""
    try:
        from surefoot.cli._app import app  # noqa: PLC0415 - only a command needs typer
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"surefoot's commands need {error.name}: pip install 'surefoot[cli]'")
    app()


__all__ = ["main"]
