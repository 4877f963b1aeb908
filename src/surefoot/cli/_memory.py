"""Tables that do not fit the memory: noticed before they are read, with what can be done instead."""

from pathlib import Path
from typing import NamedTuple

from surefoot._parallel import free_memory
from surefoot._table_files import TableFileError, parquet_files
from surefoot.cli._console import Mistake
from surefoot.cli._tables import STDIN, is_folder, table_name

# Copies of a table that exist while it is read and judged.
COPIES = 3

# Bytes of a number and of a text in memory; a text also has its letters.
NUMBER, TEXT = 8, 24

# Bytes of a CSV file that its records are counted in.
PEEKED = 2**20


class Size(NamedTuple):
    """Rows of a table, and bytes that it takes in memory; both are estimates for a CSV file."""

    n_rows: int
    n_bytes: int


def check_fits(path: Path, instead: str) -> None:
    """Raise a `Mistake` if a table needs more memory than is free; `instead` is what can be done."""
    size, free = size_of(path), free_memory()
    if size is None or COPIES * size.n_bytes <= free:
        return
    raise Mistake(
        f"{table_name(path)} has about {size.n_rows:,} rows, which need about {COPIES * size.n_bytes / 1e9:,.3g} GB of "
        f"memory where {free / 1e9:,.3g} GB are free: {instead}."
    )


def sample_that_fits(path: Path) -> int:
    """Rows of a table that half of the free memory holds: 1, 2 or 5 times a power of ten; at least 1,000."""
    size = size_of(path)
    if size is None or size.n_bytes == 0:
        return 1000
    most = size.n_rows * free_memory() / 2 / (COPIES * size.n_bytes)
    round_numbers = (digit * 10**power for power in range(3, 12) for digit in (1, 2, 5))
    return max((number for number in round_numbers if number <= most), default=1000)


def size_of(path: Path) -> Size | None:
    """Size of a table; None if it is a pipe, is compressed, or cannot be read, which is told elsewhere."""
    try:
        if path == STDIN or not (is_folder(path) or path.is_file()):
            return None
        if is_folder(path):
            return size_of_parquet(parquet_files(path))
        with path.open("rb") as content:
            start = content.read(PEEKED)
    except (OSError, ValueError, TableFileError):
        return None
    if start.startswith(b"PAR1"):
        return size_of_parquet([path])
    return size_of_csv(path, start)


def size_of_parquet(files: list[Path]) -> Size | None:
    """Size of Parquet files by what their ends tell; None if one is broken."""
    import pyarrow as pa
    from pyarrow import parquet

    n_rows = n_bytes = 0
    for file in files:
        try:
            metadata = parquet.read_metadata(file)
        except (OSError, ValueError, pa.ArrowException):
            return None
        n_rows += metadata.num_rows
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                is_text = column.physical_type == "BYTE_ARRAY"
                n_bytes += group.num_rows * (TEXT if is_text else NUMBER)
                n_bytes += column.total_uncompressed_size if is_text else 0
    return Size(n_rows, n_bytes)


def size_of_csv(path: Path, start: bytes) -> Size | None:
    """Size of a CSV file by its first lines; None if it is compressed."""
    if start.startswith((b"\x1f\x8b", b"BZh")):
        return None
    n_file, n_lines = path.stat().st_size, max(1, start.count(b"\n"))
    n_rows = round(n_file * n_lines / max(1, len(start)))
    return Size(n_rows, n_file)
