"""Files: the error for one that cannot be used, and atomic writes (a file is complete, or it is not there)."""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from secrets import token_hex


class FileError(ValueError):
    """Error for a file that cannot be used; its message is one sentence that names the file."""


def linked_path(path: Path) -> Path:
    """Absolute path of what a path links to; links in a circle stay, and cannot be read or written."""
    return Path(os.path.realpath(path))


def check_not_read(path: Path, inputs: Iterable[Path]) -> None:
    """Raise a `FileError` if a file to write is one of the inputs, by whatever name, or in a folder that is one."""
    for other in inputs:
        if is_same_file(path, other):
            raise FileError(f"{path} would overwrite {other}, which is read: name another file.")
        if os.path.isdir(other) and (  # noqa: PTH112 - no error for a name that is too long
            linked_path(path).is_relative_to(linked_path(other))
            or any(is_same_file(path, file) for file in other.rglob("*"))
        ):
            raise FileError(f"{path} is in {other}, which is read: write it elsewhere.")


def is_same_file(path: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, also through links or by another spelling."""
    with suppress(OSError, ValueError):  # no file, or no name of one: another message says so
        return linked_path(path) == linked_path(other) or path.samefile(other)
    return False


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file atomically and return its path: if writing fails, the old file stays.

    A link is kept, and what it points to is replaced. An error of the system names `path`.
    """
    try:
        _write_beside(linked_path(path), content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    return path


def _write_beside(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".surefoot-{token_hex(8)}")
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    # Whoever may not read the old file may not read the new one while it is written.
    created = partial(os.open, mode=0o666 if mode is None else mode)
    try:
        with open(temporary, "xb", opener=created) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
