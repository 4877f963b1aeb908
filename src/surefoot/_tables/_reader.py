"""Rows of tables in files, whole or streamed, through Arrow: the one reader of every command.

A cell means the same wherever it is read. Its column has the type that it had in `fit` (`input_form`), or one that is
inferred from all cells; a cell that cannot be read as that type is an error that names its line or row.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

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
from surefoot._tables._frames import without_infinities
from surefoot._typing import Ints
from surefoot._words import listed, plural

# Kinds of columns as `input_form` has them, and the values that a cell of each is expected to hold.
Form = dict[str, Any]
EXPECTED = {"b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers", "M": "times"}

NESTED = "lists, structures or bytes"


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
    noted = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in noted if isinstance(name, str) and name in names]
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


# Types of columns


def plain(column: Any) -> Any:
    """Column of Arrow without a dictionary, in one piece."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def value_type(kind: pa.DataType) -> pa.DataType:
    """Type of the values of a column, which may be coded by a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


# Tests of Arrow's types, and the words for values that pass them.
KINDS = (
    (pa.types.is_null, "no values"),
    (pa.types.is_boolean, "booleans"),
    (pa.types.is_integer, "numbers"),
    (pa.types.is_floating, "numbers"),
    (pa.types.is_decimal, "numbers"),
    (pa.types.is_string, "strings"),
    (pa.types.is_large_string, "strings"),
    (pa.types.is_temporal, "times"),
)


def kind_in_words(kind: pa.DataType) -> str:
    """Kind of values that a column of a type holds, for a sentence."""
    return next((words for passes, words in KINDS if passes(value_type(kind))), NESTED)


# Cells

# Types that are tried for each kind, the narrowest first.
WHOLE = (pa.int64(), pa.float64())
TIMES = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))
TYPES = {"b": (pa.bool_(),), "i": WHOLE, "u": WHOLE, "f": (pa.float64(),), "M": TIMES}

BOOLEANS = pa.array(["True", "TRUE", "true", "False", "FALSE", "false"])

MISSING = pa.array(MISSING_CELLS)

# Whole numbers with a leading zero, such as the postcode "007", are names; "0x1A" is no number.
CODE = r"^[+-]?0\d+$"
HEXADECIMAL = r"^-?0[xX]"
WITH_DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?$"


class CellError(ValueError):
    """Error for a value that does not fit its column; `row` is its position among the rows that were given.

    Parameters
    ----------
    column : str
        Name of the column.
    value : str
        The value.
    expected : str
        What is expected there, in the plural: "numbers".
    row : int
        Position of the row.
    """

    def __init__(self, column: str, value: str, expected: str, row: int) -> None:
        super().__init__(column, value, expected, row)
        self.column, self.value, self.expected, self.row = column, value, expected, row

    def __str__(self) -> str:
        return self.at(f"Row {self.row}")

    def at(self, place: str) -> str:
        """Sentence for the value at a place: "Line 7 of t.csv has 'old' in the column 'age', where …"."""
        where = f"in the column {self.column!r}, where the model knows {self.expected}"
        return f"{place} has {self.value!r} {where}."

    def behind(self, n_rows: int) -> "CellError":
        """Error for the same cell, if so many rows stand in front."""
        return CellError(self.column, self.value, self.expected, self.row + n_rows)

    def in_table(self, table: CsvTable | ParquetTable) -> TableFileError:
        """Error that names the place of the cell in a table."""
        return TableFileError(self.at(table.place(self.row)))


def without_missing(strings: Any) -> Any:
    """Strings with null in place of those that stand for a missing value."""
    return pc.if_else(pc.is_in(strings, value_set=MISSING), None, strings)


def matches(strings: Any, pattern: str, *, each: bool = False) -> bool:
    """Whether any string matches a pattern, or, if asked, each of them."""
    found = pc.match_substring_regex(strings, pattern)
    return bool((pc.all if each else pc.any)(found).as_py())


def parse(strings: Any, kind: str, name: str) -> Any:
    """Column of numbers, booleans or times from strings; `CellError` for a cell that is none, and is not missing."""
    cells = without_missing(pc.utf8_trim_whitespace(strings))
    has_hexadecimals = kind in "iu" and matches(cells, HEXADECIMAL)
    types = TYPES["f" if has_hexadecimals else kind]
    for wanted in types:
        if (column := cast_or_none(cells, wanted)) is not None:
            return column
    row = max(first_misfit(cells, wanted) for wanted in types)
    raise CellError(name, strings[row].as_py(), EXPECTED[kind], row)


def cast_or_none(strings: Any, wanted: pa.DataType) -> Any:
    """Column of another type; None if a string cannot be converted."""
    try:
        return strings.cast(wanted)
    except pa.ArrowInvalid:
        return None


def first_misfit(strings: Any, wanted: pa.DataType) -> int:
    """Position of the first string that cannot be converted; there is one."""
    start, end = 0, len(strings)
    while end - start > 1:
        middle = (start + end) // 2
        if cast_or_none(strings.slice(start, middle - start), wanted) is None:
            end = middle
        else:
            start = middle
    return start


def infer(strings: Any, *, decimal_comma: bool = False) -> Any:
    """Column of numbers or booleans, if all strings are such and none is a code; else the strings themselves."""
    cells = without_missing(pc.utf8_rtrim_whitespace(strings))
    if decimal_comma and matches(cells, WITH_DECIMAL_COMMA, each=True):
        cells = pc.replace_substring(cells, ",", ".")
    floats = cast_or_none(cells, pa.float64())
    if floats is None:
        are_booleans = pc.all(pc.is_in(cells.drop_null(), value_set=BOOLEANS)).as_py()
        return cells.cast(pa.bool_()) if are_booleans else strings
    if matches(cells, CODE):
        return strings
    is_whole = not floats.null_count and pc.all(pc.equal(pc.floor(floats), floats)).as_py()
    whole = cast_or_none(cells, pa.int64()) if is_whole else None
    return floats if whole is None else whole


# Rows in the form that a model was fitted on


def kinds_in_fit(form: Form | None, names: Sequence[str]) -> dict[str, str]:
    """Kinds that the columns with these names had in `fit`, by name; none without a form."""
    if form is None:
        return {}
    return dict(form["kinds"]) if "kinds" in form else dict.fromkeys(names, str(form["kind"]))


def model_columns(model: Any, names: Sequence[str], table: str = "The table") -> list[str]:
    """Names of the columns that a fitted model takes, in its order; an error if the table lacks some."""
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        if len(names) != model.n_features_in_:
            raise TableFileError(
                f"The model was fitted on {plural(model.n_features_in_, 'column')}, but {table[0].lower()}{table[1:]} "
                f"has {len(names)}."
            )
        return list(names)
    if missing := [name for name in known if name not in set(names)]:
        raise TableFileError(f"{table} lacks {listed(missing)}, which the model was fitted on.")
    return [str(name) for name in known]


def check_kinds(table: CsvTable | ParquetTable, names: Sequence[str], form: Form) -> None:
    """Raise an error for columns that no model takes, and for times where the model knows numbers."""
    kinds = kinds_in_fit(form, names)
    for field in table.schema(names, "which the model was fitted on"):
        words = kind_in_words(field.type)
        if words == NESTED:
            raise TableFileError(
                f"{table.path} has {NESTED} in {field.name!r}, which no model here takes."
            )
        if words == "times" and kinds.get(field.name, "O") in "biuf":
            raise TableFileError(
                f"Column {field.name!r} of {table.path} holds times where the model knows numbers."
            )


def as_kind(column: Any, kind: str, name: str) -> Any:
    """Column of the kind that it had in `fit`, as far as that does not depend on the other rows."""
    column = plain(column)
    words = kind_in_words(column.type)
    if words == "strings" and kind in EXPECTED:
        return parse(column, kind, name)
    if kind == "M" and (words == "no values" or pa.types.is_date(column.type)):
        return column.cast(pa.timestamp("us"))
    is_exact = pa.types.is_decimal(column.type) or (words == "no values" and kind in EXPECTED)
    if is_exact or (kind == "f" and words in ("numbers", "booleans")):
        return column.cast(pa.float64(), safe=False)
    return column


def as_fitted(batch: Any, names: Sequence[str], form: Form) -> tuple[Any, int]:
    """Rows of an Arrow table in the form of `fit`, and how many infinite numbers became missing; see `input_form`."""
    kinds = kinds_in_fit(form, names)
    columns = {name: as_kind(batch.column(name), kinds[name], name) for name in names}
    if form["library"] == "numpy":
        rows = as_array(list(columns.values()))
    elif form["library"] == "pandas":
        rows = with_categories(pa.table(columns).to_pandas(), form)
    else:
        rows = nw.from_arrow(pa.table(columns), backend=form["library"]).to_native()
    return without_infinities(rows)


def as_array(columns: list[Any]) -> Any:
    """Array of columns: floats with NaN for missing values if all are numbers, else objects with None."""
    if all(
        kind_in_words(column.type) in ("numbers", "booleans", "no values") for column in columns
    ):
        floats = [column.cast(pa.float64(), safe=False) for column in columns]
        return np.column_stack([column.to_numpy(zero_copy_only=False) for column in floats])
    objects = np.empty((len(columns[0]), len(columns)), dtype=object)
    for i, column in enumerate(columns):
        objects[:, i] = column.to_pylist()
    return objects


def with_categories(frame: Any, form: Form) -> Any:
    """Pandas frame whose columns have the categories of `fit`, and new ones behind them."""
    import pandas as pd  # noqa: PLC0415 - the model was fitted on its frames

    for name, known in form["categories"].items():
        if name in frame.columns:
            values = frame[name]
            new = sorted(set(values.dropna()) - set(known["values"]), key=str)
            frame[name] = pd.Categorical(values, [*known["values"], *new], ordered=known["ordered"])
    return frame


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
    frame = pa.table(columns).to_pandas()
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
