"""Compressed tables, unpacked into a temporary file of limited size."""

import bz2
import gzip
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from surefoot.cli._console import Mistake

# How compressed files begin, and what opens them. xz is not among them: a small file may ask for much memory.
OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}

# A table becomes at most so many times larger, or so many bytes large: tables shrink to a tenth, seldom to a fiftieth.
MOST_GROWTH = 200
ALWAYS_ALLOWED = 2**28

CHUNK = 2**20


@contextmanager
def unpacked(file: Path, path: Path) -> Iterator[Path]:
    """File without compression, `path` to the user: a temporary one if `file` is compressed, else itself."""
    with file.open("rb") as content:
        start = content.read(8)
    opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), None)
    if opener is None:
        yield file
        return
    limit = max(ALWAYS_ALLOWED, MOST_GROWTH * file.stat().st_size)
    with tempfile.NamedTemporaryFile() as copy, opener(file, "rb") as content:
        while chunk := read_chunk(content, path):
            copy.write(chunk)
            if copy.tell() > limit:
                raise Mistake(
                    f"{path} is not unpacked: more than {limit / 2**20:,.0f} MB come out of it, too much for a table "
                    "of its size."
                )
        copy.flush()
        yield Path(copy.name)


def read_chunk(content: IO[bytes], path: Path) -> bytes:
    """Next bytes of a compressed file; a `Mistake` if it is cut off or damaged."""
    try:
        return content.read(CHUNK)
    except (EOFError, OSError, zlib.error) as error:
        raise Mistake(f"{path} is a compressed file that is cut off or damaged.") from error
