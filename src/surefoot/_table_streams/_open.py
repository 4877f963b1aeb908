"""Tables on disk that are read as streams, whatever their kind."""

from collections.abc import Callable
from pathlib import Path

from surefoot._table_files import TableFileError, unreadable
from surefoot._table_streams._csv import CsvSource
from surefoot._table_streams._parquet import ParquetSource

Source = ParquetSource | CsvSource

# How compressed files begin.
COMPRESSED = (b"\x1f\x8b", b"BZh")


def open_source(path: Path, find_kinds: Callable[[list[str]], dict[str, str]]) -> Source:
    """Table at a path, whose content says whether it is CSV or Parquet; an error if it cannot be read.

    `find_kinds` gives the kinds of a CSV's columns by their names; see `CsvSource`.
    """
    try:
        if path.is_dir():
            return ParquetSource(path)
        with path.open("rb") as content:
            start = content.read(4096)
        if start.startswith(b"PAR1"):
            return ParquetSource(path)
        if start.startswith(COMPRESSED):
            raise TableFileError(f"{path} is compressed, and is not read as a stream: unpack it.")
        if not start.strip():
            raise TableFileError(f"{path} is empty.")
        return CsvSource(path, find_kinds)
    except OSError as error:
        raise unreadable(path, error, "cannot be read") from error
