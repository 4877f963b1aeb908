"""Rows of tables in files, whole or streamed, through Arrow: the one reader of every command."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from surefoot._tables._cells import (
    NESTED,
    CellError,
    Form,
    as_kind,
    check_kinds,
    infer,
    kind_in_words,
    kinds_in_fit,
    plain,
    value_type,
    with_categories,
    without_missing,
)
from surefoot._tables._files import (
    MISSING_CELLS,
    CsvForm,
    TableFileError,
    check_is_table,
    check_names,
    check_records,
    checked_csv,
    is_folder,
    line_of,
    parquet_files,
    plain_file,
    shown_path,
    table_name,
    unreadable,
)
from surefoot._typing import Ints
from surefoot._words import listed, plural


@contextmanager
def open_table(path: Path, form: Form | None = None) -> Iterator["CsvTable | ParquetTable"]:
    """Table at a path: a CSV or Parquet file, compressed or not, a folder of Parquet files, or standard input.

    `form` is that of the table that a model was fitted on: where it has numbers, a comma may be a decimal one.
    """
    shown = shown_path(path)
    if is_folder(path):
        yield ParquetTable(path, path)
        return
    with plain_file(path) as (file, start):
        if start.startswith(b"PAR1"):
            yield ParquetTable(file, shown)
            return
        check_is_table(start, shown)
        with checked_csv(file, shown) as (plain, csv_form):
            yield CsvTable(plain, file, shown, csv_form, form)


# Streams of CSV files

# Bytes that are read at a time; no record may be longer.
BLOCK = 2**23

# A comma between digits, where commas do not separate fields.
DECIMAL_COMMA = r"^([+-]?\d+),(\d+\s*)$"


class CsvTable:
    """Rows of a CSV file, whose cells are strings.

    Parameters
    ----------
    file : Path
        File that Arrow reads.
    original : Path
        File whose lines are named.
    path : Path
        Path to the user.
    csv_form : CsvForm
        Form of `file`.
    form : dict or None
        Form of the table that a model was fitted on.
    """

    n_rows = None  # known at the end only

    def __init__(
        self, file: Path, original: Path, path: Path, csv_form: CsvForm, form: Form | None
    ) -> None:
        self.file, self.original, self.path, self.files = file, original, path, [path]
        self.csv_form = csv_form
        self.names = [name or f"Unnamed: {i}" for i, name in enumerate(csv_form.header)]
        self.kinds = kinds_in_fit(form, self.names)
        self._n_bytes = max(1, file.stat().st_size)
        self._position = self._n_read = 0

    @property
    def has_decimal_commas(self) -> bool:
        """Whether a comma may be a decimal one."""
        return self.csv_form.delimiter != ","

    def schema(self, names: Sequence[str], why: str) -> pa.Schema:
        """Types of columns: strings; an error if one is missing."""
        for name in names:
            if name not in self.names:
                raise TableFileError(f"{self.path} lacks {name!r}, {why}.")
        return pa.schema([(name, pa.string()) for name in names])

    def batches(self, names: Sequence[str], start: int = 0) -> Iterator[pa.RecordBatch]:
        """Batches of the columns with these names, from the row `start` on; those before it are read, too."""
        try:
            with self.file.open("rb") as content:
                for batch in self._reader(content, names):
                    self._position = content.tell()
                    self._n_read += batch.num_rows
                    if batch.num_rows > start:
                        cells = [self._cells(name, batch[name]) for name in names]
                        yield pa.RecordBatch.from_arrays(cells, list(names)).slice(start)
                    start = max(0, start - batch.num_rows)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            check_records(self.file, self.path, self.csv_form)
            words = str(error).splitlines()[0].rstrip(".")
            raise TableFileError(f"{self.path} cannot be read: {words}.") from error
        except OSError as error:
            raise unreadable(self.path, error, "cannot be read") from error

    def _reader(self, content: Any, names: Sequence[str]) -> Any:
        form = self.csv_form
        return csv.open_csv(
            content,
            csv.ReadOptions(
                use_threads=False,
                block_size=BLOCK,
                column_names=self.names,
                skip_rows=form.first_line - 1,
                skip_rows_after_names=1,
                encoding="utf8" if form.encoding == "utf-8-sig" else form.encoding,
            ),
            csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                include_columns=list(names),
                column_types=dict.fromkeys(names, pa.string()),
                null_values=list(MISSING_CELLS),
                strings_can_be_null=True,
            ),
        )

    def _cells(self, name: str, strings: pa.Array) -> pa.Array:
        """Cells without spaces in front, null where they are missing; decimal commas as points."""
        cells = without_missing(pc.utf8_ltrim(strings, " "))
        if self.has_decimal_commas and self.kinds.get(name, "O") in "biuf":
            return pc.replace_substring_regex(cells, DECIMAL_COMMA, r"\1.\2")
        return cells

    def share(self, n_rows: int) -> float:
        """Share of the file that `n_rows` rows are, about; how many it has is not known before its end."""
        per_row = self._position / max(1, self._n_read)
        return min(1.0, n_rows * per_row / self._n_bytes)

    def place(self, row: int) -> str:
        """Place of a row, for the beginning of a sentence."""
        line, _ = line_of(self.original, self.csv_form.encoding, self.csv_form.delimiter, row + 1)
        return f"Line {line} of {self.path}"


# Streams of Parquet files

# Rows that are read at a time, and bytes of each column that are.
READ_ROWS = 10_000
READ_BYTES = 2**20

# Name that pandas gives to an index without a name, which is no column.
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")

# Name that Hive gives to the folder of rows without a value.
MISSING_PARTITION = "__HIVE_DEFAULT_PARTITION__"


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


class ParquetTable:
    """Rows of a Parquet file, or of all Parquet files in a folder and its subfolders, in the order of their names.

    Parameters
    ----------
    file : Path
        File or folder.
    path : Path
        Path to the user.
    """

    has_decimal_commas = False

    def __init__(self, file: Path, path: Path) -> None:
        self.path = path
        is_one = not file.is_dir()
        files = [file] if is_one else parquet_files(file)
        self.files = [path] if is_one else files
        self.parts = [read_part(each, path if is_one else each, file) for each in files]
        self.n_rows = sum(part.n_rows for part in self.parts)
        names = dict.fromkeys(name for part in self.parts for name in column_order(part.schema))
        values = [part.partition for part in self.parts]
        folders = dict.fromkeys(name for one in values for name in one if name not in names)
        self.partition = {name: partition_type([v.get(name) for v in values]) for name in folders}
        self.names = [*names, *folders]
        check_names(self.names, path)

    def schema(self, names: Sequence[str], why: str) -> pa.Schema:
        """Types of columns in all files; an error that names the file if one lacks a column or has another kind."""
        return pa.schema([(name, self._type(name, why)) for name in names])

    def _type(self, name: str, why: str) -> pa.DataType:
        if name in self.partition:
            return self.partition[name]
        first: tuple[Part, str] | None = None
        for part in self.parts:
            if name not in part.schema.names:
                raise TableFileError(f"{part.path} lacks {name!r}, {why}.")
            kind = kind_in_words(part.schema.field(name).type)
            if kind == "no values":
                continue
            first = first or (part, kind)
            if kind != first[1]:
                raise TableFileError(
                    f"{part.path} has {kind} in the column {name!r}, and {first[0].path} has {first[1]}."
                )
        types = list(dict.fromkeys(part.schema.field(name).type for part in self.parts))
        if len(types) == 1:
            return types[0]
        schemas = [pa.schema([("column", value_type(kind))]) for kind in types]
        try:
            return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TableFileError(
                f"The Parquet files in {self.path} are not one table: {name!r} is of types that cannot be joined."
            ) from error

    def batches(self, names: Sequence[str], start: int = 0) -> Iterator[pa.RecordBatch]:
        """Batches of the columns with these names, from the row `start` on, of the same types in all files."""
        schema, end = self.schema(names, "which other files have"), 0
        for part in self.parts:
            end += part.n_rows
            if end > start:
                skipped = max(0, start - (end - part.n_rows))
                stored = [name for name in names if name not in self.partition]
                for batch in read_rows(part, stored, skipped):
                    columns = [self._column(batch, part, field) for field in schema]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _column(self, batch: pa.RecordBatch, part: Part, field: pa.Field) -> pa.Array:
        """Column of a batch with the type of `field`; one value in every row if the name of a folder has it."""
        if field.name in self.partition:
            value = pa.scalar(part.partition.get(field.name), pa.string()).cast(field.type)
            return pa.repeat(value, batch.num_rows)
        column = batch.column(field.name)
        return column if column.type == field.type else plain(column).cast(field.type, safe=False)

    def share(self, n_rows: int) -> float:
        """Share of the table that `n_rows` rows are."""
        return n_rows / self.n_rows if self.n_rows else 1.0

    def place(self, row: int) -> str:
        """Place of a row, for the beginning of a sentence."""
        for part in self.parts:
            if row < part.n_rows:
                return f"Row {row} of {part.path}"
            row -= part.n_rows
        return f"Row {row} of {self.path}"


def read_part(file: Path, path: Path, folder: Path) -> Part:
    """Metadata of a Parquet file, `path` to the user, in a folder; an error if it is broken."""
    try:
        with pq.ParquetFile(file) as content:
            schema, metadata = content.schema_arrow, content.metadata
            groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error, "is a broken Parquet file") from error
    check_names(schema.names, path)
    pairs = [part.split("=", 1) for part in file.relative_to(folder).parts[:-1] if "=" in part]
    values = {unquote(name): None if v == MISSING_PARTITION else unquote(v) for name, v in pairs}
    return Part(file, schema, groups, values)


def column_order(schema: pa.Schema) -> list[str]:
    """Names of the columns of a Parquet file; a named index of pandas is the first one, as in its frame."""
    names = [name for name in schema.names if not UNNAMED_INDEX.fullmatch(name)]
    try:
        index = [name for name in schema.pandas_metadata["index_columns"] if name in names]
    except (KeyError, TypeError, ValueError):  # pandas noted nothing, or its note is damaged
        index = []
    return [*index, *(name for name in names if name not in index)]


def partition_type(values: list[str | None]) -> pa.DataType:
    """Type of a column that the names of folders give: numbers, if no value is a code such as "007"."""
    return infer(pa.array(values, pa.string())).type


def read_rows(part: Part, names: list[str], skipped: int) -> Iterator[pa.RecordBatch]:
    """Batches of a Parquet file without its first rows; an error if it is broken, or has changed."""
    left, ends = part.n_rows - skipped, np.cumsum(part.row_groups)
    first = int(np.searchsorted(ends, skipped, side="right"))  # row group with rows that are read
    groups = range(first, len(ends))
    skipped -= int(ends[first - 1]) if first else 0
    try:
        with pq.ParquetFile(
            part.path, buffer_size=READ_BYTES, pre_buffer=False, page_checksum_verification=True
        ) as content:
            for batch in content.iter_batches(
                READ_ROWS, row_groups=groups, columns=names, use_threads=False
            ):
                batch.validate(full=True)  # strings that are no UTF-8, offsets out of range
                if batch.num_rows > skipped:
                    yield batch.slice(skipped)
                    left -= batch.num_rows - skipped
                skipped = max(0, skipped - batch.num_rows)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(part.path, error, "is a broken Parquet file") from error
    if left:
        raise TableFileError(f"{part.path} was changed while it was read.")


# Whole tables as pandas frames

# Share of numbers in a column of strings from which on the other strings are thought to be slips.
MOSTLY_NUMBERS = 0.9

Remark = Callable[[str], None]


def read_table(path: Path, remark: Remark, form: Form | None = None) -> Any:
    """Frame of a whole table; its columns have the kinds of `form`, where that has them, or are inferred.

    `remark` is called with each sentence about what was left out or taken for something else.
    """
    with open_table(path, form) as table:
        batches = list(table.batches(table.names))
        if not batches:
            raise no_rows(table)
        return as_frame(table, pa.Table.from_batches(batches), remark, form)


def read_sample(
    path: Path, n_rows: int, random_state: int, remark: Remark, form: Form | None = None
) -> Any:
    """Frame of `n_rows` rows of a table, drawn at random, or of all if it has no more, in their order.

    Each row gets a random number when it is read, and those with the smallest numbers are kept: the table is read once.
    """
    generator = np.random.default_rng(random_state)
    keys: Any = np.empty(0)
    rows: Ints = np.empty(0, dtype=np.int64)
    kept: pa.Table | None = None
    n_all = 0
    with open_table(path, form) as table:
        for batch in table.batches(table.names):
            keys = np.concatenate([keys, generator.random(batch.num_rows)])
            rows = np.concatenate([rows, np.arange(n_all, n_all + batch.num_rows)])
            new = pa.Table.from_batches([batch])
            kept = new if kept is None else pa.concat_tables([kept, new])
            n_all += batch.num_rows
            if len(keys) > 2 * n_rows + READ_ROWS:
                keys, rows, kept = smallest(keys, rows, kept, n_rows)
        if kept is None:
            raise no_rows(table)
        if n_all > n_rows:
            keys, rows, kept = smallest(keys, rows, kept, n_rows)
            remark(
                f"{n_rows:,} of the {n_all:,} rows of {table_name(path)} are used, drawn at random."
            )
        return as_frame(table, kept, remark, form, rows)


def smallest(keys: Any, rows: Ints, kept: pa.Table, n_rows: int) -> tuple[Any, Ints, pa.Table]:
    """The rows with the smallest keys, in their order."""
    chosen = np.sort(np.argpartition(keys, n_rows - 1)[:n_rows])
    return keys[chosen], rows[chosen], kept.unify_dictionaries().take(chosen)


def no_rows(table: CsvTable | ParquetTable) -> TableFileError:
    """Error for a table with column names and nothing else."""
    return TableFileError(f"{table.path} has column names but no rows.")


def as_frame(
    table: CsvTable | ParquetTable,
    rows: pa.Table,
    remark: Remark,
    form: Form | None,
    places: Ints | None = None,
) -> Any:
    """Pandas frame of rows of a table, which stand at these places of it if they are a sample."""
    nested = [field.name for field in rows.schema if kind_in_words(field.type) == NESTED]
    if nested:
        remark(f"Left out {listed(nested)}: {NESTED}, which no model here takes.")
    names = [name for name in table.names if name not in nested]
    kinds = (form or {}).get("kinds", {})
    if form is not None:
        check_kinds(table, [name for name in table.names if name in kinds], form)
    try:
        columns = {
            name: as_kind(rows.column(name), kinds[name], name)
            if name in kinds
            else inferred(table, rows.column(name))
            for name in names
        }
    except CellError as error:
        n_left_out = 0 if places is None else int(places[error.row]) - error.row
        raise error.behind(n_left_out).in_table(table) from None
    try:
        frame = pa.table(columns).to_pandas()
    except (ValueError, pa.ArrowException) as error:  # dates beyond the year 9999
        raise TableFileError(f"{table.path} cannot be read: {error}.") from error
    if isinstance(table, CsvTable):
        remark_on_slips(frame, remark)
    return frame if form is None else with_categories(frame, {"categories": {}, **form})


def inferred(table: CsvTable | ParquetTable, column: Any) -> Any:
    """Column of a type that its cells allow; decimals of Parquet are floats."""
    if isinstance(table, CsvTable):
        return infer(column, decimal_comma=table.has_decimal_commas)
    return column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column


def remark_on_slips(frame: Any, remark: Remark) -> None:
    """Say which columns are strings because of a few values among numbers."""
    import pandas as pd  # noqa: PLC0415

    for name, column in frame.items():
        if column.dtype.kind != "O":
            continue
        counts = column.value_counts(sort=False)  # each string is looked at once
        slips = counts[pd.to_numeric(counts.index, errors="coerce").isna()]
        n_slips, n_known = int(slips.sum()), int(counts.sum())
        if MOSTLY_NUMBERS <= 1 - n_slips / max(n_known, 1) < 1:
            which = "is no number" if n_slips == 1 else "are no numbers"
            remark(
                f"Column {name!r} is read as strings: {plural(n_slips, 'value')} of {n_known:,}, such as "
                f"{str(slips.index[0])!r}, {which}."
            )
