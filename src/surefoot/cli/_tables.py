"""Tables in and out: CSV, whatever its delimiter and encoding, and Parquet; also compressed, in folders, by a pipe."""

import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from surefoot._table_files import TableFileError, check_names, no_rows
from surefoot._words import reason
from surefoot.cli._compressed import unpacked
from surefoot.cli._console import Mistake, mistakes_of_tables
from surefoot.cli._csv import read_csv
from surefoot.cli._parquet import read_parquet
from surefoot.cli._parquet_folder import read_parquet_folder

# Beginnings of texts that a spreadsheet would run as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


# What stands for standard input among the arguments, and how it is called in sentences.
STDIN, STDIN_NAME = Path("-"), Path("standard input")


def read_table(path: Path) -> Any:
    """Frame with text names from a CSV or Parquet file, a folder of these, or standard input; a `Mistake` if none."""
    shown = shown_path(path)
    with mistakes_of_tables():
        table = read_parquet_folder(path) if is_folder(path) else read_file(path, shown)
        table.columns = [str(name) for name in table.columns]
        if len(table) == 0:
            raise no_rows(shown)
        check_names(list(table.columns), shown)
    return table


def shown_path(path: Path) -> Path:
    """Path as sentences show it."""
    return STDIN_NAME if path == STDIN else path


def table_name(path: Path) -> str:
    """Name of a table for sentences and the page."""
    return shown_path(path).name or path.resolve().name


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; False for what cannot be a path."""
    try:
        return path != STDIN and path.is_dir()
    except (OSError, ValueError):
        return False


def read_file(path: Path, shown: Path) -> Any:
    """Frame from a file, compressed or not, whose content says whether it is CSV or Parquet."""
    with plain_file(path) as (file, is_parquet):
        return read_parquet(file, shown) if is_parquet else read_csv(file, shown)


@contextmanager
def plain_file(path: Path) -> Iterator[tuple[Path, bool]]:
    """File without compression that can be read more than once, and whether it is Parquet."""
    shown = shown_path(path)
    with regular_file(path) as raw, unpacked(raw, shown) as file:
        with file.open("rb") as content:
            start = content.read(4096)
        if not start.strip():
            raise Mistake(f"{shown} is empty.")
        yield file, start.startswith(b"PAR1")


@contextmanager
def regular_file(path: Path) -> Iterator[Path]:
    """File that can be read more than once: the path itself, or a copy of what a pipe or device gives."""
    try:
        if path != STDIN and stat.S_ISREG(path.stat().st_mode):
            yield path
            return
        with tempfile.NamedTemporaryFile() as copy:
            with open_pipe(path) as pipe:
                shutil.copyfileobj(pipe, copy)
            copy.flush()
            yield Path(copy.name)
    except OSError as error:
        raise Mistake(f"{path} cannot be read: {reason(error)}.") from error
    except TableFileError:
        raise
    except ValueError as error:  # a zero byte in the name
        raise Mistake(f"{str(path)!r} cannot be read: it is no name of a file.") from error


@contextmanager
def open_pipe(path: Path) -> Iterator[IO[bytes]]:
    """Bytes of a pipe or device, or of standard input, which stays open."""
    if path != STDIN:
        with path.open("rb") as pipe:
            yield pipe
    elif sys.stdin is None:
        raise Mistake("Standard input is closed: name a table instead of -.")
    else:
        yield sys.stdin.buffer


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
