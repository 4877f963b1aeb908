"""Tables in and out: CSV, whatever its delimiter and encoding, and Parquet."""

import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot._words import reason
from surefoot.cli._csv import read_csv
from surefoot.cli._mistakes import Mistake, check_names
from surefoot.cli._parquet import read_parquet

# Beginnings of texts that a spreadsheet would run as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def read_table(path: Path) -> Any:
    """Frame with text names from a CSV or Parquet file; one sentence if that cannot be."""
    with regular_file(path) as file:
        with file.open("rb") as content:
            start = content.read(4096)
        if not start.strip():
            raise Mistake(f"{path} is empty.")
        read = read_parquet if start.startswith(b"PAR1") else read_csv
        table = read(file, path)
    table.columns = [str(name) for name in table.columns]
    if len(table) == 0:
        raise Mistake(f"{path} has column names but no rows.")
    check_names(list(table.columns), path)
    return table


@contextmanager
def regular_file(path: Path) -> Iterator[Path]:
    """File that can be read more than once: the path itself, or a copy of what a pipe or device gives."""
    try:
        if stat.S_ISREG(path.stat().st_mode):
            yield path
            return
        if path.is_dir():
            raise Mistake(f"{path} is a folder: name a table in CSV or Parquet.")
        with tempfile.NamedTemporaryFile() as copy:
            with path.open("rb") as pipe:
                shutil.copyfileobj(pipe, copy)
            copy.flush()
            yield Path(copy.name)
    except OSError as error:
        raise Mistake(f"{path} cannot be read: {reason(error)}.") from error
    except ValueError as error:  # a zero byte in the name
        raise Mistake(f"{str(path)!r} cannot be read: it is no name of a file.") from error


def table_bytes(table: Any, suffix: str) -> bytes:
    """A frame as the contents of a CSV or Parquet file; a CSV has no text that a spreadsheet would run."""
    if suffix == ".parquet":
        return bytes(table.to_parquet(index=False))
    return str(table.map(as_cell).to_csv(index=False)).encode()


def as_cell(value: Any) -> Any:
    """Value as a spreadsheet shows it: a text that looks like a formula, and is no number, gets an apostrophe."""
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
