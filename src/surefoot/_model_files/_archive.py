"""The zip archive of a model: sizes and names are checked before anything in it is read."""

import io
import zipfile
from pathlib import Path
from typing import Self

from surefoot._model_files._refusal import ModelFileError, Refusal, require
from surefoot._words import reason

# How a pickle begins, and what joblib compresses it to: by zlib (at its four levels), gzip, lz4, bz2, xz and lzma.
ZLIB = (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
PICKLES = (b"\x80", *ZLIB, b"\x1f\x8b", b"\x04\x22\x4d\x18", b"BZh", b"\xfd7zXZ", b"]\0\0")

# Bytes, unpacked: of everything, of the schema, and what is not looked at more closely. Beyond that, how many times the
# packed size everything may be: our schemas reach 45, tables of indicators 200, a bomb 1,000.
MOST_BYTES = 2 << 30
MOST_SCHEMA_BYTES = 256 << 20
FEW_BYTES = 64 << 20
MOST_RATIO = 500

# The others unpack a block as a whole, however large it says that it is.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

ENCRYPTED = 0x1

SCHEMA = "schema.json"


def read_content(path: Path) -> bytes:
    """Contents of a skops file; one sentence for anything else."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ModelFileError(f"{path} is not loaded: it is larger than 2 GiB.")
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {reason(error)}.") from error
    if content.startswith(PICKLES):
        raise ModelFileError(
            f"{path} is a pickle, and loading a pickle runs any code in it: save the model with skops.io.dump."
        )
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ModelFileError(f"{path} is not a skops file.")
    return content


class Archive:
    """Members of a skops file, each of which is read at most once, and never beyond its declared size.

    It stands in for the `ZipFile` that skops reads from.
    """

    def __init__(self, content: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(content))
        self._unread = {info.filename: info for info in self._zip.infolist()}
        check_members(self._zip.infolist(), len(content))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def read(self, name: str) -> bytes:
        """Unpacked bytes of a member; without a limit, a small member could unpack to any size."""
        info = self._unread.pop(name)
        with self._zip.open(info) as file:
            content = file.read(info.file_size)
        if len(content) != info.file_size:
            raise Refusal("a part of it is shorter than it says")
        return content


def check_members(members: list[zipfile.ZipInfo], n_packed: int) -> None:
    """Refuse an archive by what its directory says, before a byte is unpacked."""
    names = [member.filename for member in members]
    require(len(set(names)) == len(names), "two of its parts have the same name")
    require(SCHEMA in names, "it has no schema.json")
    for member in members:
        require(not member.flag_bits & ENCRYPTED, f"its part {member.filename!r} is encrypted")
        require(
            member.compress_type in METHODS,
            f"its part {member.filename!r} is packed in a way that is not allowed",
        )
        require(is_plain(member.filename), f"it has a part called {member.filename!r}")
    total = sum(member.file_size for member in members)
    schema = sum(member.file_size for member in members if member.filename == SCHEMA)
    require(total <= MOST_BYTES, "unpacked, it would be larger than 2 GiB")
    require(schema <= MOST_SCHEMA_BYTES, "unpacked, its schema would be larger than 256 MiB")
    require(
        total <= max(FEW_BYTES, MOST_RATIO * n_packed),
        f"unpacked, it would be more than {MOST_RATIO} times as large",
    )


def is_plain(name: str) -> bool:
    """Whether a name is that of a part as skops names them: no folders, nothing odd."""
    return name == SCHEMA or (
        name.endswith((".npy", ".bin")) and name[:-4].replace("-", "").isalnum()
    )
