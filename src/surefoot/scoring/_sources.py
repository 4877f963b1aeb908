"""Tables on disk that are read as streams, whatever their kind."""

from pathlib import Path
from typing import Any

from surefoot._table_files import TableFileError
from surefoot._words import reason
from surefoot.scoring._csv import CsvSource
from surefoot.scoring._parquet import ParquetSource
from surefoot.scoring._rows import kinds_in_fit

Source = ParquetSource | CsvSource

# How compressed files begin.
COMPRESSED = (b"\x1f\x8b", b"BZh")


def open_source(path: Path, sure: Any) -> Source:
    """Table at a path, whose content says whether it is CSV or Parquet; an error if it cannot be read."""
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
        return CsvSource(path, lambda names: kinds_in_fit(sure, names))
    except OSError as error:
        raise TableFileError(f"{path} cannot be read: {reason(error)}.") from error
