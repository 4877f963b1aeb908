"""Command line of surefoot: parse options, call the library, print results."""

import sys

from surefoot._optional import MissingPackageError, needed_for


def main(arguments: list[str] | None = None) -> None:
    """Run the command `surefoot`; name the missing package and the extra that has it, if one is not installed.

    Examples
    --------
    >>> from surefoot.cli import main
    >>> try:
    ...     main(["--version"])
    ... except SystemExit as left:
    ...     print("exit code", left.code or 0)
    0.1.0
    exit code 0
    """
    try:
        with needed_for("The command surefoot", "cli"):
            from surefoot.cli._app import run

            sys.exit(run(arguments))
    except MissingPackageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


__all__ = ["main"]
