"""Command line of surefoot: parse options, call the library, print results."""

import sys

from surefoot._optional import MissingPackageError, needed_for


def main(arguments: list[str] | None = None) -> None:
    """Run the command `surefoot`; name the missing package and the extra that has it, if one is not installed."""
    try:
        with needed_for("The command surefoot", "cli"):
            from surefoot.cli._app import run

            sys.exit(run(arguments))
    except MissingPackageError as error:
        sys.exit(str(error))


__all__ = ["main"]
