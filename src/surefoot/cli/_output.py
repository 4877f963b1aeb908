"""Output files: checked before the work starts, and written completely or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path

from surefoot._words import reason
from surefoot.cli._mistakes import Mistake

# Folders of the system whose entries are no files, even where a link makes them look like one.
DEVICES = ("/dev/", "/proc/", "/sys/")
SHARED_MEMORY = "/dev/shm/"  # noqa: S108 - a folder as any other

# Links after which a path is thought to lead in a circle.
MOST_LINKS = 40


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Raise one sentence if an output is an input or another output, by whatever name, links resolved."""
    taken = [path for path in inputs if path is not None]
    for output in filter(None, outputs):
        for other in taken:
            if _are_same(output, other):
                raise Mistake(f"{output} is also {other}: it would be overwritten.")
            if _is_within(output, other):
                raise Mistake(
                    f"{output} is in the folder {other}, which is read: write it elsewhere."
                )
        taken.append(output)


def _are_same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except OSError:  # one of them is not there, or its name is too long: that is told elsewhere
        return False


def _is_within(path: Path, folder: Path) -> bool:
    try:
        return folder.is_dir() and path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):  # told elsewhere
        return False


def check_output(path: Path | None, *suffixes: str) -> None:
    """Raise a `Mistake` if a file cannot be written to this path, or if its suffix is unknown."""
    if path is None:
        return
    try:
        _check_place(path)
    except OSError as error:
        raise Mistake(f"{path} cannot be written: {reason(error)}.") from error
    if suffixes and path.suffix not in suffixes:
        raise Mistake(f"{path} must end in {' or '.join(suffixes)}.")


def check_no_device(path: Path) -> None:
    """Raise a `Mistake` if a path lies among the system's devices."""
    if _is_device(path):
        raise Mistake(f"{path} is a device, not a file: name a file to write.")


def _check_place(path: Path) -> None:
    check_no_device(path)
    place = path.resolve()
    if place.is_dir():
        raise Mistake(f"{path} is a folder: name a file to write.")
    if place.exists() and not place.is_file():
        raise Mistake(f"{path} is not a regular file and cannot be replaced.")
    if not place.parent.is_dir():
        raise Mistake(f"There is no folder {path.parent} to write {path.name} to.")
    if not os.access(place.parent, os.W_OK):
        raise Mistake(f"You have no permission to write to the folder {path.parent}.")
    longest = os.pathconf(place.parent, "PC_NAME_MAX") - len(
        ".abcdefgh."
    )  # written beside it first
    if len(os.fsencode(place.name)) > longest:
        raise Mistake(f"The name of {path.name[:40]}… is too long for a file.")


def _is_device(path: Path) -> bool:
    """Whether a path, or anything that it links to, lies among the system's devices."""
    for _ in range(MOST_LINKS):
        path = path.parent.resolve() / path.name
        if str(path).startswith(DEVICES) and not str(path).startswith(SHARED_MEMORY):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / path.readlink()
    return True


def write_output(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; if that fails, raise a `Mistake` and keep the old file."""
    from surefoot._files import write_whole  # noqa: PLC0415 - keeps --help fast

    try:
        write_whole(path, content)
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> Mistake:
    """Sentence that says why a file could not be written."""
    kept = " The old file is kept." if path.exists() else ""
    return Mistake(f"{path} could not be written: {reason(error)}.{kept}")
