"""Output files: checked before the work starts, and written completely or not at all."""

import os
from pathlib import Path

from surefoot._words import reason
from surefoot.cli._mistakes import Mistake


def check_output(path: Path | None, *suffixes: str) -> None:
    """Raise a `Mistake` if a file cannot be written to this path, or if its suffix is unknown."""
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        raise Mistake(f"{path} must end in {' or '.join(suffixes)}.")
    if path.is_dir():
        raise Mistake(f"{path} is a folder: name a file to write.")
    if path.exists() and not path.is_file():
        raise Mistake(f"{path} is not a regular file and cannot be replaced.")
    if not path.parent.is_dir():
        raise Mistake(f"There is no folder {path.parent} to write {path.name} to.")
    if not os.access(path.parent, os.W_OK):
        raise Mistake(f"You have no permission to write to the folder {path.parent}.")


def write_output(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; if that fails, raise a `Mistake` and keep the old file."""
    from surefoot._files import write_whole  # noqa: PLC0415 - keeps --help fast

    try:
        write_whole(path, content)
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> Mistake:
    """Mistake that says why a file could not be written."""
    kept = " The old file is kept." if path.exists() else ""
    return Mistake(f"{path} could not be written: {reason(error)}.{kept}")
