"""Parquet files and folders of them as a stream of batches; what is wrong with a file is told before any is judged."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from surefoot._table_files import (
    TableFileError,
    check_names,
    is_code,
    parquet_files,
    partition_values,
    unreadable,
)
from surefoot._table_streams._kinds import kind_in_words, plain, value_type

# Rows that are read at a time, and bytes of each column that are.
READ_ROWS = 10_000
READ_BYTES = 2**20

# How pandas calls an index without a name, which is no column.
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


class Part(NamedTuple):
    """A Parquet file: path, columns, rows in each row group, and the values in the names of its folders."""

    path: Path
    schema: pa.Schema
    row_groups: list[int]
    partition: dict[str, str | None]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.row_groups)


class ParquetSource:
    """Rows of a Parquet file, or of all Parquet files in a folder and its subfolders, in the order of their names.

    Parameters
    ----------
    path : Path
        File or folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = parquet_files(path) if path.is_dir() else [path]
        self.parts = [read_part(file, path) for file in self.files]
        self.n_rows = sum(part.n_rows for part in self.parts)
        self.partition = partition_columns([part.partition for part in self.parts])
        self.partition = {
            name: kind
            for name, kind in self.partition.items()
            if not any(name in part.schema.names for part in self.parts)
        }
        names = [name for part in self.parts for name in part.schema.names]
        named = [name for name in names if not UNNAMED_INDEX.fullmatch(name)]
        self.names = list(dict.fromkeys([*named, *self.partition]))
        check_names(self.names, path)

    def schema(self, names: Sequence[str], why: str) -> pa.Schema:
        """Types of columns in all files; an error that names the file if one lacks a column or has another kind."""
        return pa.schema([(name, self._type(name, why)) for name in names])

    def _type(self, name: str, why: str) -> pa.DataType:
        if name in self.partition:
            return self.partition[name]
        first: tuple[Part, str] | None = None
        types = []
        for part in self.parts:
            if name not in part.schema.names:
                raise TableFileError(f"{part.path} lacks {name!r}, {why}.")
            types.append(value_type(part.schema.field(name).type))
            kind = kind_in_words(types[-1])
            if kind == "no values":
                continue
            first = first or (part, kind)
            if kind != first[1]:
                raise TableFileError(
                    f"{part.path} has {kind} in the column {name!r}, and {first[0].path} has {first[1]}."
                )
        try:
            return common_type(types)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TableFileError(
                f"The Parquet files in {self.path} are not one table: {name!r} is of types that cannot be joined."
            ) from error

    def batches(self, names: Sequence[str], start: int = 0) -> Iterator[pa.RecordBatch]:
        """Batches of the columns with these names, from the row `start` on, of the same types in all files."""
        schema, end = self.schema(names, "which is read"), 0
        for part in self.parts:
            end += part.n_rows
            if end > start:
                skipped = max(0, start - (end - part.n_rows))
                for batch in read_rows(part, [n for n in names if n in part.schema.names], skipped):
                    yield self._as_one(batch, part, schema)

    def _as_one(self, batch: Any, part: Part, schema: pa.Schema) -> pa.RecordBatch:
        columns = [
            partition_column(part.partition.get(field.name), field.type, batch.num_rows)
            if field.name in self.partition
            else plain(batch.column(field.name)).cast(field.type, safe=False)
            for field in schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def share(self, n_rows: int) -> float:
        """Share of the table that `n_rows` rows are."""
        return n_rows / self.n_rows if self.n_rows else 1.0

    def place(self, row: int) -> str:
        """Where a row is, for the beginning of a sentence."""
        for part in self.parts:
            if row < part.n_rows:
                return f"Row {row} of {part.path}"
            row -= part.n_rows
        return f"Row {row} of {self.path}"


def read_part(file: Path, source: Path) -> Part:
    """What the end of a Parquet file tells of it; an error if it is broken."""
    try:
        with pq.ParquetFile(file) as content:
            schema, metadata = content.schema_arrow, content.metadata
            groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(file, error, "is a broken Parquet file") from error
    check_names(schema.names, file)
    values = partition_values(file.relative_to(source)) if source.is_dir() else {}
    return Part(file, schema, groups, values)


def read_rows(part: Part, names: list[str], skipped: int) -> Iterator[pa.RecordBatch]:
    """Batches of a Parquet file without its first rows; an error if it is broken, or has changed."""
    groups: list[int] = []
    left = part.n_rows - skipped
    for number, n_rows in enumerate(part.row_groups):
        if skipped >= n_rows and not groups:
            skipped -= n_rows
        else:
            groups.append(number)
    try:
        with pq.ParquetFile(
            part.path, buffer_size=READ_BYTES, pre_buffer=False, page_checksum_verification=True
        ) as content:
            for batch in content.iter_batches(
                READ_ROWS, row_groups=groups, columns=names, use_threads=False
            ):
                batch.validate(full=True)  # texts that are no UTF-8, offsets out of range
                if batch.num_rows > skipped:
                    yield batch.slice(skipped)
                    left -= batch.num_rows - skipped
                skipped = max(0, skipped - batch.num_rows)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(part.path, error, "is a broken Parquet file") from error
    if left:
        raise TableFileError(f"{part.path} was changed while it was read.")


def common_type(types: list[pa.DataType]) -> pa.DataType:
    """Type that holds the values of columns of one kind."""
    schemas = [pa.schema([("column", kind)]) for kind in dict.fromkeys(types)]
    return pa.unify_schemas(schemas, promote_options="permissive").field(0).type


def partition_columns(partitions: list[dict[str, str | None]]) -> dict[str, pa.DataType]:
    """Columns that the names of folders give, and their types: numbers, if no text is a code such as "007"."""
    names = dict.fromkeys(name for values in partitions for name in values)
    return {name: partition_type([values.get(name) for values in partitions]) for name in names}


def partition_type(texts: list[str | None]) -> pa.DataType:
    """Type of a column that the names of folders give."""
    known = [text for text in texts if text is not None]
    if not any(map(is_code, known)):
        for kind in (pa.int64(), pa.float64()):
            try:
                pa.array(known, pa.string()).cast(kind)
            except pa.ArrowInvalid:
                continue
            return kind
    return pa.string()


def partition_column(text: str | None, kind: pa.DataType, n_rows: int) -> pa.Array:
    """Column with one value in every row."""
    return pa.repeat(pa.scalar(text, pa.string()).cast(kind), n_rows)
