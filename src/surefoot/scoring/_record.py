"""Record of a folder of scores (manifest): what is scored by what, and which parts are finished; one run at a time."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from surefoot._files import write_whole
from surefoot._tables import TableFileError
from surefoot._words import listed
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor

# Names that begin with an underscore or a point are no parts of a table, for those who read the folder.
RECORD = "_manifest.jsonl"
TEMPORARY = ".surefoot-*"

# Last line of a record without further parts.
END = {"complete": True}

# Fields of the first line that must agree, and what it means if they do not.
MUST_AGREE = {
    "model": "scores of another model",
    "files": "scores of another table, or of this one before it was changed",
    "options": "scores with other options",
    "surefoot": "scores of another version of surefoot",
}


class Record:
    """Parts of a folder of scores that are finished, in order: the first line of a file, then one line for each part.

    Parameters
    ----------
    folder : Path
        Folder of the scores.
    head : dict
        What is scored by what; see `MUST_AGREE`.
    """

    def __init__(self, folder: Path, head: dict[str, Any]) -> None:
        self.folder, self.path = folder, folder / RECORD
        for left_over in folder.glob(TEMPORARY):
            left_over.unlink(missing_ok=True)
        lines = self._read()
        if len(lines) > 1:  # a run that wrote no part binds nobody
            self._check_agrees(lines[0], head)
            head = lines[0]
        numbered = takewhile(lambda each: is_whole(folder, each[1], each[0]), enumerate(lines[1:]))
        self.parts = [line for _, line in numbered]
        self.is_complete = lines[1:] == [*self.parts, END]
        # Only the lines that are valid: a kill may have cut off the last one.
        valid = [head, *self.parts, *([END] if self.is_complete else [])]
        write_whole(self.path, b"".join(map(as_line, valid)))

    @property
    def n_rows(self) -> int:
        """Rows of all parts that are finished."""
        return sum(part["n_rows"] for part in self.parts)

    def add(self, scores: pa.Table, figures: dict[str, Any]) -> None:
        """Write a part, and note it with its figures."""
        path, content = self.folder / part_name(len(self.parts)), pa.BufferOutputStream()
        pq.write_table(scores, content)
        written = content.getvalue().to_pybytes()
        write_whole(path, written)
        digest = hashlib.sha256(written).hexdigest()
        self.parts.append({"part": path.name, "sha256": digest, **figures})
        self._append(self.parts[-1])

    def finish(self) -> None:
        """Note that there are no more parts."""
        self._append(END)
        self.is_complete = True

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(as_line(line))
            file.flush()
            os.fsync(file.fileno())

    def _read(self) -> list[dict[str, Any]]:
        """Lines that can be read, none in an empty folder; an error if the first is damaged, or in another folder."""
        if not self.path.exists():
            if others := sorted(path.name for path in self.folder.iterdir()):
                raise TableFileError(
                    f"{self.folder} has {listed(others, 3)} and no scores: name an empty or a new folder."
                )
            return []
        lines = list(valid_lines(self.path.read_bytes()))
        if not lines or not set(MUST_AGREE) <= set(lines[0]):
            raise TableFileError(
                f"{self.path} is damaged: name another folder, or remove {self.folder} to begin again."
            )
        return lines

    def _check_agrees(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        for field, meaning in MUST_AGREE.items():
            if old[field] != new[field]:
                raise TableFileError(
                    f"{self.folder} has {meaning}: name another folder, or remove this one to begin again."
                )


def as_line(content: dict[str, Any]) -> bytes:
    """Content as one line of JSON."""
    return json.dumps(content).encode() + b"\n"


def valid_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """Lines of JSON up to the first that is cut off or damaged."""
    for line in content.splitlines(keepends=True):
        try:
            value = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            value = None
        if not isinstance(value, dict):
            return
        yield value


def part_name(number: int) -> str:
    """Name of the file of a part."""
    return f"part-{number:06d}.parquet"


def is_whole(folder: Path, part: dict[str, Any], number: int) -> bool:
    """Whether the file of a part is there as it was written."""
    path = folder / part_name(number)
    if part.get("part") != path.name or not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == part.get("sha256")


def fingerprint(error_estimator: IndividualErrorClassifier | IndividualErrorRegressor) -> str:
    """Digest of a fitted error estimator: of its settings and of all that it says of its held-out rows."""
    digest = hashlib.sha256(type(error_estimator).__name__.encode())
    held_out = error_estimator.held_out_
    arrays = [held_out.prediction, held_out.error, held_out.scores, held_out.losses, held_out.shift]
    for array in [*arrays, *held_out.columns.values()]:
        digest.update(repr((array.shape, array.dtype.kind)).encode())
        plain = array.dtype.kind in "biuf"
        digest.update(array.tobytes() if plain else repr(array.tolist()).encode())
    return digest.hexdigest()


def file_facts(files: list[Path], source: Path) -> list[list[Any]]:
    """Name, size and time of change of each file of a table."""
    facts = [(file, file.stat()) for file in files]
    return [
        [str(file.relative_to(source.parent)), known.st_size, known.st_mtime_ns]
        for file, known in facts
    ]


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make a folder, unless it is there, and keep other runs out of it; an error if another one is in it."""
    folder.mkdir(exist_ok=True)
    try:
        import fcntl  # noqa: PLC0415 - Windows has no such module
    except ImportError:
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TableFileError(
                    f"Another run is writing to {folder}: wait for it, or name another folder."
                ) from None
        yield
    finally:
        os.close(place)  # which gives the lock back
