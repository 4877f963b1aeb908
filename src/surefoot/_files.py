"""Files that are whole, or not there."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file beside the one it replaces, then put it in its place: a full disk leaves the old one.

    What the system refuses, it is said to refuse of `path`.
    """
    try:
        _write_beside(path, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    return path


def _write_beside(path: Path, content: bytes) -> None:
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".surefoot-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What the user takes away from the rights of new files; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
