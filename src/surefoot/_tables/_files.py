"""Tables in files, whole or streamed, through Arrow: the one reader of every command, and what is written.

A table is a CSV or Parquet file, which may be compressed, a folder of Parquet files, or standard input. The type of a
column is the one that it had in `fit` (`input_form`), or one that is inferred from all its cells. A cell that cannot be
read as the type of `fit` is an error that names its line or row; numbers that are infinite, or beyond float32, count as
missing.
"""

import bz2
import csv
import gzip
import io
import os
import re
import stat
import sys
import tempfile
import zlib
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from surefoot._files import FileError, linked_path
from surefoot._parallel import free_memory
from surefoot._tables._frames import RowError, in_kind, without_infinities
from surefoot._typing import Ints
from surefoot._words import listed, plural, reason

# Library, kinds of columns and categories of the table that a model was fitted on; see `input_form`.
Form = dict[str, Any]

# Standard input among the arguments, and its name in sentences.
STDIN, STDIN_NAME = Path("-"), Path("standard input")

# Columns of a table of scores, besides the probabilities and the columns that are copied.
SCORES = frozenset(
    [
        *("row", "prediction", "estimated_error", "low", "high", "residual"),
        *("shift", "spread", "worst", "flips", "neighbor_change", "neighbor_spread"),
        *("neighbor_worst", "other_distance", "other_share", "novel", "known", "accepted"),
    ]
)

# Columns of a file of rows that `surefoot audit` asks about: number of the draw, position in the audited table, code of
# the audit, classes to choose from, and the answer.
AUDIT_COLUMNS = ("draw", "row", "audit", "answers", "label")


class TableFileError(FileError):
    """Error for a table that cannot be read or written; its message is one sentence that names the file."""


def unreadable(path: Path, error: Exception, otherwise: str) -> TableFileError:
    """Error with the reason of the operating system, or with other words if it gave none."""
    number = getattr(error, "errno", None)
    why = f"cannot be read: {reason(OSError(number, os.strerror(number)))}" if number else otherwise
    return TableFileError(f"{path} {why}.")


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise an error if two columns have the same name; columns without a name are numbered."""
    named = Counter(name for name in names if name.strip())
    twice = [name for name, times in named.items() if times > 1]
    if twice:
        raise TableFileError(f"{path} has more than one column {listed(twice)}: names must differ.")


def is_score_column(name: str) -> bool:
    """Whether a column has the name of one that `surefoot score` writes.

    >>> is_score_column("probability_yes"), is_score_column("age")
    (True, False)
    """
    return name in SCORES or name.startswith("probability_")


def is_audit_file(columns: Iterable[str]) -> bool:
    """Whether a table with these columns is one that `surefoot audit` has written.

    >>> is_audit_file(["draw", "row", "audit", "answers", "label", "age"]), is_audit_file(["row", "label"])
    (True, False)
    """
    return set(AUDIT_COLUMNS) <= set(columns)


@contextmanager
def open_table(path: Path, form: Form | None = None) -> Iterator["CsvTable | ParquetTable"]:
    """Table at a path: a CSV or Parquet file, compressed or not, a folder of Parquet files, or standard input.

    `form` is that of the table that a model was fitted on: where it has numbers, a comma may be a decimal one, and
    where it has lists of numbers, these are not split into columns.
    """
    shown = shown_path(path)
    if is_folder(path):
        yield ParquetTable(path, path, form)
        return
    with plain_file(path) as (file, start):
        if start.startswith(b"PAR1"):
            yield ParquetTable(file, shown, form)
            return
        begin = start.lstrip(b"\xef\xbb\xbf \r\n\t")
        if kinds := [kind for pattern, kind in OTHERS.items() if re.match(pattern, begin)]:
            raise TableFileError(
                f"{shown} is not a table but {kinds[0]}: surefoot reads CSV and Parquet."
            )
        with checked_csv(file, shown) as (plain, csv_form):
            yield CsvTable(plain, file, shown, csv_form, form)


def audit_codes(table: Any, name: str) -> list[str]:
    """Codes of the audits whose rows a frame has; an error if its positions or codes are changed."""
    if table["row"].dtype.kind not in "iu" or table["audit"].isna().any():
        raise TableFileError(
            f"The columns 'row' and 'audit' of {name} are changed: leave them as they are."
        )
    return [str(code) for code in table["audit"].unique()]


# Paths, pipes, and compressed files


def shown_path(path: Path) -> Path:
    """Path as sentences show it."""
    return STDIN_NAME if path == STDIN else path


def table_name(path: Path) -> str:
    """Name of a table for sentences and pages."""
    return shown_path(path).name or linked_path(path).name


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; False for what cannot be a path."""
    try:
        return path != STDIN and path.is_dir()
    except (OSError, ValueError):
        return False


def parquet_files(folder: Path) -> list[Path]:
    """Parquet files in a folder and its subfolders; hidden ones and those that begin with _ are notes of a writer."""
    files = sorted(
        path
        for path in folder.rglob("*.parquet")
        if path.is_file()
        and not any(n.startswith((".", "_")) for n in path.relative_to(folder).parts)
    )
    if not files:
        raise TableFileError(
            f"{folder} is a folder without Parquet files: name a table in CSV or Parquet."
        )
    return files


# How compressed files begin, and what opens them. xz is not among them: a small file may ask for much memory.
OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}

# A table becomes at most so many times larger, or so many bytes large: tables shrink to a tenth, seldom to a fiftieth.
MOST_GROWTH = 200
ALWAYS_ALLOWED = 2**28

# Bytes that are read at a time.
CHUNK = 2**20


@contextmanager
def plain_file(path: Path) -> Iterator[tuple[Path, bytes]]:
    """File without compression that can be read more than once, and its first bytes; an error if it is empty.

    What a pipe or a device gives, and what comes out of a compressed file, is copied to a temporary file.
    """
    shown, file = shown_path(path), path
    if path == STDIN and sys.stdin is None:
        raise TableFileError("Standard input is closed: name a table instead of -.")
    with ExitStack() as opened:
        try:
            if path == STDIN:
                file = copied(sys.stdin.buffer, opened)
            elif not stat.S_ISREG(path.stat().st_mode):
                file = copied(opened.enter_context(path.open("rb")), opened)
            start = first_bytes(file)
        except OSError as error:
            raise unreadable(shown, error, "cannot be read") from error
        except ValueError as error:  # a zero byte in the name
            raise TableFileError(
                f"{str(path)!r} cannot be read: it is no name of a file."
            ) from error
        opener = next((each for magic, each in OPENERS.items() if start.startswith(magic)), None)
        if opener is not None:
            file = unpacked(opener, file, shown, opened)
            start = first_bytes(file)
        if not start.strip():
            raise TableFileError(f"{shown} is empty.")
        yield file, start


def unpacked(opener: Any, file: Path, path: Path, opened: ExitStack) -> Path:
    """Temporary file with what comes out of a compressed one, `path` to the user."""
    limit = max(ALWAYS_ALLOWED, MOST_GROWTH * file.stat().st_size)
    try:
        plain = copied(opened.enter_context(opener(file, "rb")), opened, limit)
    except (EOFError, OSError, zlib.error) as error:
        raise unreadable(path, error, "is a compressed file that is cut off or damaged") from error
    if plain.stat().st_size > limit:
        raise TableFileError(
            f"{path} is not unpacked: more than {limit / 2**20:,.0f} MB come out of it, too much for a table of its "
            "size."
        )
    return plain


def copied(content: Any, opened: ExitStack, most: float = inf) -> Path:
    """Temporary file with the bytes of a stream: all of them, or a few more than `most`."""
    copy: Any = opened.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115 - ends with the stack
    while copy.tell() <= most and (chunk := content.read(CHUNK)):
        copy.write(chunk)
    copy.flush()
    return Path(copy.name)


def first_bytes(file: Path, n_bytes: int = 4096) -> bytes:
    """Beginning of a file."""
    with file.open("rb") as content:
        return content.read(n_bytes)


# Form of CSV files

DELIMITERS = ",;\t|"

# How files that are no tables begin, and what they are. The name of a column may begin with a bracket, too: only a file
# that continues like JSON or XML is not a table.
OTHERS = {
    rb"\x89PNG|\xff\xd8\xff|GIF8": "an image",
    rb"%PDF": "a PDF document",
    rb"PK\x03\x04": "an archive or a workbook",
    rb"\x1f\x8b|BZh": "a file that is compressed twice",
    rb"\xfd7zXZ": "a file compressed by xz",
    rb"\(\xb5/\xfd": "a file compressed by zstd",
    rb"\x80[\x04\x05]": "a pickle",
    rb"[^\0]*\0": "a binary file",
    rb'[\[{]\s*(["\[{\]}]|-?\d+\s*[,\]]|true\b|false\b|null\b)': "JSON",
    rb"(?i)<(\?xml|!doctype|!--|[a-z][\w:.-]*(\s[^<>]*)?/?>\s*([^,;\t|\s]|$))": "a web page or XML",
}

# Cells that stand for a missing value; in a column of numbers NaN does as well.
MISSING_CELLS = (
    *("", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null"),
    *("1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)

# Bytes that are no UTF-8, as Python reads them (surrogateescape).
NOT_UTF_8 = re.compile("[\udc80-\udcff]")

# Records that the delimiter is guessed from, and the bytes that they are sought in.
PEEKED = 50
PEEKED_BYTES = 2**18


class CsvForm(NamedTuple):
    """Form of a CSV file: its encoding, its delimiter, and the line and cells of its header."""

    encoding: str
    delimiter: str
    first_line: int
    header: list[str]


@contextmanager
def checked_csv(file: Path, path: Path) -> Iterator[tuple[Path, CsvForm]]:
    """CSV file that Arrow reads as the csv module does, `path` to the user, and its form.

    The whole file is looked at once, fast, for its encoding and for quotes that Arrow would take otherwise: those
    behind a space, and those that are never closed. Only if there may be some, the csv module writes a copy.
    """
    delimiter = find_delimiter(file, path)
    encoding, has_odd_quotes = scan(file, delimiter)
    with file.open(encoding=encoding, newline="") as content:
        first_line, header = next(records(content, delimiter, path))
    check_names(header, path)
    form = CsvForm(encoding, delimiter, first_line, header)
    if not has_odd_quotes:
        yield file, form
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="") as copy:
        check_records(file, path, form, csv.writer(copy, delimiter=delimiter, lineterminator="\n"))
        copy.flush()
        yield Path(copy.name), form._replace(encoding="utf-8-sig", first_line=1)


def find_delimiter(file: Path, path: Path) -> str:
    """The delimiter by which most of the first records have as many fields as the header, and the most fields."""
    start = first_bytes(file, PEEKED_BYTES)
    if len(start) == PEEKED_BYTES and b"\n" in start:
        start = start[: start.rindex(b"\n")]  # the last line may be cut off
    peeked = start.decode("utf-8-sig", errors="replace")
    fits = {}
    for delimiter in DELIMITERS:
        widths: list[int] = []
        with suppress(TableFileError):  # another delimiter may fit
            first = islice(records(io.StringIO(peeked, newline=""), delimiter, path), PEEKED)
            widths.extend(len(record) for _, record in first)
        width = widths[0] if widths else 0
        fits[delimiter] = (width > 1, widths.count(width) / max(len(widths), 1), width)
    if {".tsv", ".tab"} & set(path.suffixes) and fits["\t"][0]:  # strings may hold commas
        return "\t"
    best = max(fits, key=lambda delimiter: fits[delimiter])
    if not fits[best][0]:
        raise TableFileError(
            f"{path} is not a table with columns: its first line has no comma, semicolon, tab or bar."
        )
    return best


def records(
    lines: Iterable[str], delimiter: str, path: Path, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Line where each record begins, and its cells; blank lines are no records. An error names a broken line."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        problem = "a quote that is never closed" if "end of data" in str(error) else str(error)
        raise TableFileError(f"Line {line} of {path} cannot be read: {problem}.") from error


def scan(file: Path, delimiter: str) -> tuple[str, bool]:
    """Encoding of a file, Latin-1 unless all of it is UTF-8; and whether its quotes need a careful look."""
    behind_space = re.compile(rf'(?:^|[\r\n{re.escape(delimiter)}]) +"')
    n_quotes, is_behind_space, is_utf_8, tail = 0, False, True, ""
    with file.open(encoding="utf-8", errors="surrogateescape", newline="") as content:
        while chunk := content.read(CHUNK):
            n_quotes += chunk.count('"')
            if n_quotes and not is_behind_space:
                is_behind_space = behind_space.search(tail + chunk) is not None
            is_utf_8 = is_utf_8 and (chunk.isascii() or NOT_UTF_8.search(chunk) is None)
            tail = chunk[-100:]
    return "utf-8-sig" if is_utf_8 else "latin-1", is_behind_space or n_quotes % 2 == 1


def check_records(file: Path, path: Path, form: CsvForm, writer: Any = None) -> None:
    """Raise an error that names the first broken line; write the records, if a writer is given."""
    width = len(form.header)
    with file.open(encoding=form.encoding, newline="") as content:
        for line, record in records(content, form.delimiter, path, strict=True):
            if len(record) != width:
                raise TableFileError(
                    f"Line {line} of {path} has {plural(len(record), 'field')} where the header has {width}."
                )
            if writer is not None:
                writer.writerow(record)


# Types of columns, and cells

# Kinds of columns as `input_form` has them, and the values that a cell of each is expected to hold.
EXPECTED = {"b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers", "M": "times"}

NESTED = "lists, structures or bytes"


def plain(column: Any) -> Any:
    """Column of Arrow without a dictionary, in one piece."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def value_type(kind: pa.DataType) -> pa.DataType:
    """Type of the values of a column, which may be coded by a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_vector(kind: pa.DataType) -> bool:
    """Whether a column of a type, which is no dictionary's, holds lists of numbers, such as embeddings."""
    return hasattr(kind, "value_type") and kind_in_words(kind.value_type) == "numbers"


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
    (is_vector, "lists of numbers"),
)


def kind_in_words(kind: pa.DataType) -> str:
    """Kind of values that a column of a type holds, for a sentence."""
    return next((words for passes, words in KINDS if passes(value_type(kind))), NESTED)


# Types that are tried for each kind, the narrowest first; numbers may be written as booleans.
WHOLE = (pa.int64(), pa.float64(), pa.bool_())
TIMES = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))
TYPES = {"b": (pa.bool_(),), "i": WHOLE, "u": WHOLE, "f": WHOLE[1:], "M": TIMES}

WRITE_TIMES = "write times as 2026-11-16 or 2026-11-16T08:00."

BOOLEANS = pa.array(["True", "TRUE", "true", "False", "FALSE", "false"])

MISSING = pa.array(MISSING_CELLS)

# Whole numbers with a leading zero, such as the postcode "007", are names; "0x1A" is no number.
CODE = r"^[+-]?0\d+$"
HEXADECIMAL = r"^-?0[xX]"
WITH_DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?$"


def in_table(error: RowError, table: Any) -> TableFileError:
    """Error that names the place of a row in a table."""
    return TableFileError(f"{table.place(error.row)} {error.fault}")


def without_missing(strings: Any) -> Any:
    """Strings with null in place of those that stand for a missing value."""
    return pc.if_else(pc.is_in(strings, value_set=MISSING), None, strings)


def matches(strings: Any, pattern: str, *, each: bool = False) -> bool:
    """Whether any string matches a pattern, or, if asked, each of them."""
    found = pc.match_substring_regex(strings, pattern)
    return bool((pc.all if each else pc.any)(found).as_py())


def parse(strings: Any, kind: str, expected: str) -> Any:
    """Column of numbers, booleans or times from strings; `RowError` for a cell that is none, and is not missing.

    `expected` ends the sentence of the error: "in the column 'age', where the model expects numbers."
    """
    cells = without_missing(pc.utf8_trim_whitespace(strings))
    has_hexadecimals = kind in "iu" and matches(cells, HEXADECIMAL)
    types = TYPES["f" if has_hexadecimals else kind]
    for wanted in types:
        if (column := cast_or_none(cells, wanted)) is not None:
            return column.cast(types[0]) if wanted == pa.bool_() else column
    # Position of the first string that cannot be converted.
    row = max(
        bisect(range(len(cells)), False, key=lambda i: cast_or_none(cells[: i + 1], wanted) is None)
        for wanted in types
    )
    raise RowError(f"has {strings[row].as_py()!r} {expected}", row)


def column_times(column: Any, name: str, table: Any) -> Any:
    """Times in UTC as datetime64, NaT where they are missing, of a column of times or of strings in ISO 8601."""
    column = plain(column)
    kind = kind_in_words(column.type)
    if kind == "strings":
        column = parse(column, "M", f"in the column {name!r} of times: {WRITE_TIMES}")
    elif kind not in ("times", "no values") or pa.types.is_time(column.type):
        kind = "times without a day" if kind == "times" else kind
        raise TableFileError(
            f"Column {name!r} of {table} holds {kind}: periods need dates, such as 2026-11-16."
        )
    zone = getattr(column.type, "tz", None)
    moments = column.cast(pa.timestamp("us", tz=zone), safe=False).cast(pa.timestamp("us"))
    return np.asarray(moments.to_numpy(zero_copy_only=False)).astype("datetime64[us]")


def cast_or_none(strings: Any, wanted: pa.DataType) -> Any:
    """Column of another type; None if a string cannot be converted."""
    try:
        return strings.cast(wanted)
    except pa.ArrowInvalid:
        return None


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


def common_type(types: set[pa.DataType]) -> pa.DataType:
    """Type of a column whose parts have these types: strings, unless all are numbers or all are booleans."""
    if types <= {pa.int64(), pa.float64()}:
        return pa.int64() if types == {pa.int64()} else pa.float64()
    return pa.bool_() if types == {pa.bool_()} else pa.string()


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

    def __init__(
        self, file: Path, original: Path, path: Path, csv_form: CsvForm, form: Form | None
    ) -> None:
        self.file, self.original, self.path, self.files = file, original, path, [path]
        self.csv_form, self.has_decimal_commas = csv_form, csv_form.delimiter != ","
        self.names = [name or f"Unnamed: {i}" for i, name in enumerate(csv_form.header)]
        self.kinds = kinds_in_fit(form, self.names)
        self._n_bytes = max(1, file.stat().st_size)
        self._position = self._n_read = 0

    def schema(self, names: Sequence[str], why: str) -> pa.Schema:
        """Types of columns: strings; an error if one is missing."""
        for name in names:
            if name not in self.names:
                raise TableFileError(f"{self.path} lacks {name!r}, {why}.")
        return pa.schema([(name, pa.string()) for name in names])

    def inferred_schema(self, names: Sequence[str]) -> pa.Schema:
        """Types of columns that are inferred from all their cells, which are read for it."""
        found: dict[str, set[pa.DataType]] = {name: set() for name in names}
        for batch in self.batches(names):
            for name in names:
                cells = batch.column(name).drop_null()
                if len(cells):
                    found[name].add(infer(cells, decimal_comma=self.has_decimal_commas).type)
        return pa.schema([(name, common_type(kinds)) for name, kinds in found.items()])

    def batches(self, names: Sequence[str], start: int = 0) -> Iterator[pa.RecordBatch]:
        """Batches of the columns with these names, from the row `start` on; those before it are read, too."""
        self._n_read = 0
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
        return arrow_csv.open_csv(
            content,
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=BLOCK,
                column_names=self.names,
                skip_rows=form.first_line - 1,
                skip_rows_after_names=1,
                encoding="utf8" if form.encoding == "utf-8-sig" else form.encoding,
            ),
            arrow_csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                include_columns=list(names),
                column_types=dict.fromkeys(names, pa.string()),
                null_values=list(MISSING_CELLS),
                strings_can_be_null=True,
            ),
        )

    def _cells(self, name: str, strings: pa.Array) -> pa.Array:
        """Cells without spaces around them, null where they are missing; decimal commas as points."""
        cells = without_missing(pc.utf8_trim(strings, " "))
        if self.has_decimal_commas and self.kinds.get(name, "O") in "biuf":
            return pc.replace_substring_regex(cells, DECIMAL_COMMA, r"\1.\2")
        return cells

    def share(self, n_rows: int) -> float:
        """Share of the file that `n_rows` rows are, about; how many it has is not known before its end."""
        per_row = self._position / max(1, self._n_read)
        return min(1.0, n_rows * per_row / self._n_bytes)

    def place(self, row: int) -> str:
        """Place of a row, for the beginning of a sentence."""
        with self.original.open(encoding=self.csv_form.encoding, newline="") as content:
            rows = islice(records(content, self.csv_form.delimiter, self.path), row + 1, None)
            return f"Line {next(rows)[0]} of {self.path}"


# Streams of Parquet files

# Rows that are read at a time, and bytes of each column that are.
READ_ROWS = 10_000
READ_BYTES = 2**20

# Name that pandas gives to an index without a name, which is no column.
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")

# Name that Hive gives to the folder of rows without a value.
MISSING_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class Part(NamedTuple):
    """A Parquet file: path, columns, number of rows, and the values in the names of its folders."""

    path: Path
    schema: pa.Schema
    n_rows: int
    partition: dict[str, str | None]


class ParquetTable:
    """Rows of a Parquet file, or of all Parquet files in a folder and its subfolders, in the order of their names.

    Lists of numbers, such as embeddings, are split into numbered columns: `e` has the columns `e_0`, `e_1`, and so on.

    Parameters
    ----------
    file : Path
        File or folder.
    path : Path
        Path to the user.
    form : dict, default=None
        Form of the table that a model was fitted on; lists that it has as they are stay lists.
    """

    def __init__(self, file: Path, path: Path, form: Form | None = None) -> None:
        self.path = path
        is_one = not file.is_dir()
        files = [file] if is_one else parquet_files(file)
        self.files = [path] if is_one else files
        self.parts = [read_part(each, path if is_one else each, file) for each in files]
        self.n_rows = sum(part.n_rows for part in self.parts)
        names = dict.fromkeys(name for part in self.parts for name in column_order(part.schema))
        values = [part.partition for part in self.parts]
        folders = dict.fromkeys(name for one in values for name in one if name not in names)
        # Numbers, if no value is a code such as "007".
        texts = {name: pa.array([v.get(name) for v in values], pa.string()) for name in folders}
        self.partition = {name: infer(text).type for name, text in texts.items()}
        self.widths = {name: width for name in names if (width := self._width(name)) is not None}
        kinds = (form or {}).get("kinds", {})
        self.lists = {
            name: [f"{name}_{place}" for place in range(width)]
            for name, width in self.widths.items()
            if kinds.get(name) != "O"
        }
        # Stored column and place in its lists, of each column that is split off.
        self.places = {
            each: (name, place)
            for name, columns in self.lists.items()
            for place, each in enumerate(columns)
        }
        for name, columns in self.lists.items():
            if name in kinds:
                raise TableFileError(
                    f"{path} has lists of numbers in {name!r}, where the model expects one value per row."
                )
            n_known = sum(each in kinds for each in columns)
            if 0 < n_known < len(columns):
                raise TableFileError(
                    f"{path} has lists of {len(columns)} numbers in {name!r}, and the model knows {n_known}."
                )
        self.names = [each for name in names for each in self.lists.get(name, [name])]
        self.names += folders
        check_names(self.names, path)

    def _width(self, name: str) -> int | None:
        """Length of the first list of numbers in a column, 0 if all are missing; None for a column of other values."""
        parts = [part for part in self.parts if name in part.schema.names]
        parts = [part for part in parts if is_vector(value_type(part.schema.field(name).type))]
        for batch in (batch for part in parts for batch in read_rows(part, [name], 0)):
            if len(lengths := pc.list_value_length(batch.column(0)).drop_null()):
                return int(lengths[0].as_py())
        return 0 if parts else None

    def schema(self, names: Sequence[str], why: str) -> pa.Schema:
        """Types of columns in all files; an error that names the file if one lacks a column or has another kind."""
        return pa.schema([(name, self._type(name, why)) for name in names])

    def _type(self, name: str, why: str) -> pa.DataType:
        if name in self.partition:
            return self.partition[name]
        is_split, name = name in self.places, self.places.get(name, (name, 0))[0]
        kinds: dict[str, Path] = {}
        for part in self.parts:
            if name not in part.schema.names:
                raise TableFileError(f"{part.path} lacks {name!r}, {why}.")
            kinds.setdefault(kind_in_words(part.schema.field(name).type), part.path)
        kinds.pop("no values", None)
        if len(kinds) > 1:
            (kind, path), (other, other_path) = list(kinds.items())[:2]
            raise TableFileError(
                f"{other_path} has {other} in the column {name!r}, and {path} has {kind}."
            )
        types = list(dict.fromkeys(part.schema.field(name).type for part in self.parts))
        if is_split:
            types = list(dict.fromkeys(getattr(kind, "value_type", kind) for kind in types))
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
        schema, end, row = self.schema(names, "which other files have"), 0, start
        stored = [self.places.get(name, (name, 0))[0] for name in names]
        stored = [name for name in dict.fromkeys(stored) if name not in self.partition]
        for part in self.parts:
            end += part.n_rows
            if end > start:
                skipped = max(0, start - (end - part.n_rows))
                for batch in read_rows(part, stored, skipped):
                    for name in self.widths.keys() & batch.schema.names:
                        self._check_lists(batch.column(name), name, row)
                    columns = [self._column(batch, part, field) for field in schema]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)
                    row += batch.num_rows

    def _check_lists(self, lists: Any, name: str, row: int) -> None:
        """Raise an error for the first list of another length than the first one, or with a missing number."""
        rows, width = pc.indices_nonzero(lists.is_valid()), self.widths[name]
        lists = lists.drop_null().cast(pa.list_(pa.float64()))
        lengths = pc.list_value_length(lists)
        lacking = pc.list_parent_indices(lists).filter(lists.flatten().is_null())
        if len(strange := pc.indices_nonzero(pc.not_equal(lengths, width))):
            place, n_numbers = rows[strange[0].as_py()], lengths[strange[0].as_py()]
            raise TableFileError(
                f"{self.place(row + place.as_py())} has a list of {n_numbers} numbers in {name!r}, and the first list "
                f"has {width}."
            )
        if len(lacking):
            place = self.place(row + rows[lacking[0].as_py()].as_py())
            raise TableFileError(f"{place} has a list in {name!r} that lacks a number.")

    def _column(self, batch: pa.RecordBatch, part: Part, field: pa.Field) -> pa.Array:
        """Column of a batch with the type of `field`; one value in every row if the name of a folder has it."""
        if field.name in self.partition:
            value = pa.scalar(part.partition.get(field.name), pa.string()).cast(field.type)
            return pa.repeat(value, batch.num_rows)
        name, place = self.places.get(field.name, (field.name, None))
        column = batch.column(name)
        if place is not None and not pa.types.is_null(column.type):
            column = pc.list_element(column, place)
        return column if column.type == field.type else plain(column).cast(field.type, safe=False)

    def share(self, n_rows: int) -> float:
        """Share of the table that `n_rows` rows are."""
        return n_rows / self.n_rows if self.n_rows else 1.0

    def place(self, row: int) -> str:
        """Place of a row, for the beginning of a sentence."""
        starts = np.cumsum([0, *(part.n_rows for part in self.parts)])
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return f"Row {row - starts[at]} of {self.parts[at].path}"


def read_part(file: Path, path: Path, folder: Path) -> Part:
    """Metadata of a Parquet file, `path` to the user, in a folder; an error if it is broken."""
    try:
        with pq.ParquetFile(file) as content:
            schema, n_rows = content.schema_arrow, content.metadata.num_rows
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error, "is a broken Parquet file") from error
    check_names(schema.names, path)
    pairs = [part.split("=", 1) for part in file.relative_to(folder).parts[:-1] if "=" in part]
    values = {unquote(name): None if v == MISSING_PARTITION else unquote(v) for name, v in pairs}
    return Part(file, schema, n_rows, values)


def column_order(schema: pa.Schema) -> list[str]:
    """Names of the columns of a Parquet file; a named index of pandas is the first one, as in its frame."""
    names = [name for name in schema.names if not UNNAMED_INDEX.fullmatch(name)]
    try:
        index = [name for name in schema.pandas_metadata["index_columns"] if name in names]
    except (KeyError, TypeError, ValueError):  # pandas noted nothing, or its note is damaged
        index = []
    return [*index, *(name for name in names if name not in index)]


def read_rows(part: Part, names: list[str], skipped: int) -> Iterator[pa.RecordBatch]:
    """Batches of a Parquet file without its first rows; an error if it is broken, or has changed."""
    left = part.n_rows - skipped
    try:
        with pq.ParquetFile(
            part.path, buffer_size=READ_BYTES, pre_buffer=False, page_checksum_verification=True
        ) as content:
            groups = list(range(content.num_row_groups))
            while groups and content.metadata.row_group(groups[0]).num_rows <= skipped:
                skipped -= content.metadata.row_group(groups.pop(0)).num_rows
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


def read_table(
    path: Path,
    remark: Remark,
    form: Form | None = None,
    *,
    n_rows: int | None = None,
    random_state: int = 0,
) -> Any:
    """Frame of a whole table, or of `n_rows` rows that are drawn at random, in their order.

    Its columns have the kinds of `form`, where that has them, or are inferred. `remark` is called with each sentence
    about what was left out or taken for something else. Each row of a sample gets a random number when it is read, and
    those with the smallest numbers are kept: the table is read once.
    """
    generator = np.random.default_rng(random_state)
    batches: list[pa.RecordBatch] = []
    keys, rows, n_all = np.empty(0), np.empty(0, dtype=np.int64), 0
    with open_table(path, form) as table:
        for batch in table.batches(table.names):
            batches.append(batch)
            rows = np.concatenate([rows, np.arange(n_all, n_all + batch.num_rows)])
            n_all += batch.num_rows
            if n_rows is not None:
                keys = np.concatenate([keys, generator.random(batch.num_rows)])
                if len(keys) > 2 * n_rows + READ_ROWS:
                    keys, rows, batches = smallest(keys, rows, batches, n_rows)
        if not batches:
            raise no_rows(table)
        if n_rows is not None and n_all > n_rows:
            keys, rows, batches = smallest(keys, rows, batches, n_rows)
            remark(
                f"{n_rows:,} of the {n_all:,} rows of {table_name(path)} are used, drawn at random."
            )
        return as_frame(table, pa.Table.from_batches(batches), remark, form, rows)


def smallest(
    keys: Any, rows: Ints, batches: list[pa.RecordBatch], n_rows: int
) -> tuple[Any, Ints, list[pa.RecordBatch]]:
    """The rows with the smallest keys, in their order."""
    chosen = np.sort(np.argpartition(keys, n_rows - 1)[:n_rows])
    kept = pa.Table.from_batches(batches).unify_dictionaries().take(chosen)
    return keys[chosen], rows[chosen], kept.to_batches()


def no_rows(table: CsvTable | ParquetTable) -> TableFileError:
    """Error for a table with column names and nothing else."""
    return TableFileError(f"{table.path} has column names but no rows.")


def as_frame(
    table: CsvTable | ParquetTable,
    rows: pa.Table,
    remark: Remark,
    form: Form | None,
    places: Ints,
) -> Any:
    """Pandas frame of rows of a table, which stand at these places of it."""
    nested = [field.name for field in rows.schema if kind_in_words(field.type) == NESTED]
    others: dict[str, list[str]] = {
        name: [] for name in nested if hasattr(rows.schema.field(name).type, "value_type")
    }
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
    except RowError as error:
        error.row = int(places[error.row])
        raise in_table(error, table) from None
    try:
        frame = pa.table(columns).to_pandas()
    except (ValueError, pa.ArrowException) as error:  # dates beyond the year 9999
        raise TableFileError(f"{table.path} cannot be read: {error}.") from error
    frame.attrs["lists"] = {**getattr(table, "lists", {}), **others}
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


# Rows in the form that a model was fitted on


def kinds_in_fit(form: Form | None, names: Sequence[str]) -> dict[str, str]:
    """Kinds that the columns with these names had in `fit`, by name; none without a form."""
    if form is None:
        return {}
    return dict(form["kinds"]) if "kinds" in form else dict.fromkeys(names, str(form["kind"]))


def model_columns(model: Any, names: Sequence[str], table: str | None = None) -> list[str]:
    """Names of the columns that a fitted model takes, in its order; an error if the table lacks some."""
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        n_columns = getattr(model, "n_features_in_", 0) or len(names)  # CatBoost forgets it
        if len(names) != n_columns:
            raise TableFileError(
                f"The model was fitted on {plural(n_columns, 'column')}, but {table or 'the table'} has {len(names)}."
            )
        return list(names)
    if missing := [name for name in known if name not in set(names)]:
        raise TableFileError(
            f"{table or 'The table'} lacks {listed(missing)}, which the model was fitted on."
        )
    return [str(name) for name in known]


def check_kinds(table: Any, names: Sequence[str], form: Form) -> None:
    """Raise an error for columns that no model takes, and for times where the model expects numbers."""
    kinds = kinds_in_fit(form, names)
    for field in table.schema(names, "which the model was fitted on"):
        words = kind_in_words(field.type)
        if words == NESTED:
            raise TableFileError(
                f"{table.path} has {NESTED} in {field.name!r}, which no model here takes."
            )
        if words == "times" and kinds.get(field.name, "O") in "biuf":
            raise TableFileError(
                f"Column {field.name!r} of {table.path} holds times where the model expects numbers."
            )


def as_kind(column: Any, kind: str, name: str) -> Any:
    """Column of the kind that it had in `fit`, as far as that does not depend on the other rows."""
    column = plain(column)
    words = kind_in_words(column.type)
    if words == "strings" and kind in EXPECTED:
        known = f"where the model expects {EXPECTED[kind]}"
        return parse(column, kind, f"in the column {name!r}, {known}.")
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
    for name in form["categories"].keys() & set(frame.columns):
        frame[name] = in_kind(name, frame[name].tolist(), form)
    return frame


# Sizes, and tables that do not fit the memory

# Copies of a table that exist while it is read and judged.
COPIES = 3

# Bytes of a number and of a string in memory; a string also has its letters.
NUMBER, STRING = 8, 24


def check_fits(path: Path, instead: str) -> None:
    """Raise an error if a table needs more memory than is free; `instead` is what can be done."""
    n_rows, n_bytes = size_of(path)
    needed, free = COPIES * n_bytes, free_memory()
    if needed > free:
        raise TableFileError(
            f"{table_name(path)} has about {n_rows:,} rows, which need about {needed / 1e9:,.3g} GB of memory where "
            f"{free / 1e9:,.3g} GB are free: {instead}."
        )


def sample_that_fits(path: Path) -> int:
    """Rows of a table that half of the free memory holds: 1, 2 or 5 times a power of ten; at least 1,000."""
    n_rows, n_bytes = size_of(path)
    most = n_rows * free_memory() / 2 / (COPIES * max(n_bytes, 1))
    round_numbers = (digit * 10**power for power in range(3, 12) for digit in (1, 2, 5))
    return max((number for number in round_numbers if number <= most), default=1000)


def size_of(path: Path) -> tuple[int, int]:
    """Rows of a table, and bytes that it takes in memory; both are estimates for a CSV file.

    They are 0 for a pipe, a compressed file, and what cannot be read, for which there are other errors.
    """
    try:
        if is_folder(path):
            return size_of_parquet(parquet_files(path))
        start = first_bytes(path, CHUNK) if path != STDIN and path.is_file() else b""
        if start.startswith(b"PAR1"):
            return size_of_parquet([path])
        if start and not start.startswith(tuple(OPENERS)):
            n_bytes = path.stat().st_size
            return round(n_bytes * max(1, start.count(b"\n")) / len(start)), n_bytes
    except (OSError, ValueError):
        pass
    return 0, 0


def size_of_parquet(files: list[Path]) -> tuple[int, int]:
    """Size of Parquet files by their metadata; a ValueError or OSError if one is broken."""
    n_rows = n_bytes = 0
    for metadata in map(pq.read_metadata, files):
        n_rows += metadata.num_rows
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                is_string = column.physical_type == "BYTE_ARRAY"
                n_bytes += column.num_values * (STRING if is_string else NUMBER)
                n_bytes += column.total_uncompressed_size if is_string else 0
    return n_rows, n_bytes


# Content of a file to write

# Metadata of a Parquet file that surefoot has written.
OWN = {b"generator": b"surefoot"}

# Beginnings of strings that a spreadsheet would run as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table_bytes(table: Any, suffix: str) -> bytes:
    """Table of Arrow or pandas as the content of a CSV or Parquet file; a CSV has no string that a spreadsheet runs."""
    is_arrow = isinstance(table, pa.Table)
    if suffix == ".parquet":
        rows = table if is_arrow else pa.Table.from_pandas(table, preserve_index=False)
        content = pa.BufferOutputStream()
        pq.write_table(
            rows.replace_schema_metadata({**(rows.schema.metadata or {}), **OWN}), content
        )
        return bytes(content.getvalue())
    if is_arrow:
        import pandas as pd  # noqa: PLC0415

        # Whole numbers beside missing ones would become floats.
        table = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    others = [name for name, column in table.items() if column.dtype.kind not in "biuf"]
    safe = table.assign(**{name: table[name].map(as_cell) for name in others})
    return str(safe.rename(columns=as_cell).to_csv(index=False, lineterminator="\n")).encode()


def is_own_parquet(path: Path) -> bool:
    """Whether `table_bytes` has made a Parquet file."""
    return OWN.items() <= (pq.read_schema(path).metadata or {}).items()


def as_cell(value: Any) -> Any:
    """Value as a spreadsheet shows it: a string that looks like a formula, and is no number, gets an apostrophe."""
    if not is_like_formula(value):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def from_cell(value: Any) -> Any:
    """Value that `as_cell` has made a cell of."""
    return value[1:] if is_like_formula(value) and value.startswith("'") else value


def is_like_formula(value: Any) -> bool:
    """Whether a value is a string that begins like a formula, apostrophes before that aside."""
    return isinstance(value, str) and value.lstrip("'").startswith(FORMULA)
