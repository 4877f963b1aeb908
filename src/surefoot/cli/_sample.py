"""Rows of a table of any size, drawn at random: the rest is read, but not kept."""

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._table_files import (
    check_is_table,
    check_records,
    find_delimiter,
    find_encoding,
    no_rows,
    records,
)
from surefoot._typing import Ints
from surefoot.cli._console import mistakes_of_tables, remark
from surefoot.cli._csv import read_csv
from surefoot.cli._parquet import as_frame, without_nested
from surefoot.cli._tables import is_folder, plain_file, shown_path, table_name


def read_sample(path: Path, n_rows: int, random_state: int) -> Any:
    """Frame with `n_rows` rows of a table, or all if it has no more, in their order; a `Mistake` if it is none."""
    with mistakes_of_tables():
        if is_folder(path):
            return sample_parquet(path, path, n_rows, random_state)
        with plain_file(path) as (file, is_parquet):
            sample = sample_parquet if is_parquet else sample_csv
            return sample(file, shown_path(path), n_rows, random_state)


def sample_parquet(file: Path, path: Path, n_rows: int, random_state: int) -> Any:
    """Sample of a Parquet file or folder, `path` to the user."""
    import pyarrow as pa

    from surefoot._table_streams import ParquetSource

    source = ParquetSource(file)
    chosen, start, parts = draw(source.n_rows, n_rows, random_state, path), 0, []
    for batch in source.batches(source.names):
        inside = chosen[np.searchsorted(chosen, start) :]
        inside = inside[: np.searchsorted(inside, start + batch.num_rows)] - start
        parts.append(batch.take(pa.array(inside)))
        start += batch.num_rows
    return as_frame(without_nested(pa.Table.from_batches(parts)))


def sample_csv(file: Path, path: Path, n_rows: int, random_state: int) -> Any:
    """Sample of a CSV file, `path` to the user, which is read three times: checked, counted, and drawn from."""
    check_is_table(file, path)
    encoding = find_encoding(file)
    delimiter = find_delimiter(file, path, encoding)
    check_records(file, path, encoding, delimiter)
    count = sum(1 for _ in records(file, encoding, delimiter)) - 1
    chosen = set(draw(count, n_rows, random_state, path).tolist())
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="") as copy:
        lines = header_and(records(file, encoding, delimiter), chosen)
        csv.writer(copy, delimiter=delimiter).writerows(lines)
        copy.flush()
        return read_csv(Path(copy.name), path)


def header_and(lines: Iterator[list[str]], chosen: set[int]) -> Iterator[list[str]]:
    """Header and the records whose numbers were chosen."""
    return (line for number, line in enumerate(lines, start=-1) if number < 0 or number in chosen)


def draw(n_all: int, n_rows: int, random_state: int, path: Path) -> Ints:
    """Positions of rows, ascending; a remark if they are not all."""
    if n_all == 0:
        raise no_rows(path)
    if n_rows >= n_all:
        return np.arange(n_all)
    remark(f"{n_rows:,} of the {n_all:,} rows of {table_name(path)} are used, drawn at random.")
    generator = np.random.default_rng(random_state)
    return np.sort(generator.choice(n_all, n_rows, replace=False, shuffle=False))
