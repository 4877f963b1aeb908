"""Files of tables: what they are, how large, unpacked, the form of CSV, and the content of a file to write.

No module that takes long to import is needed here; `_reader.py` reads the rows.
"""

import bz2
import csv
import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from surefoot._files import FileError
from surefoot._words import listed, plural, reason

# Standard input among the arguments, and its name in sentences.
STDIN, STDIN_NAME = Path("-"), Path("standard input")

# Columns of a table of scores, besides the probabilities and the columns that are copied.
SCORES = frozenset(
    [
        *("row", "prediction", "estimated_error", "low", "high", "residual"),
        *("shift", "spread", "worst", "flips", "novel", "accepted"),
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


# Paths, pipes, and compressed files


def shown_path(path: Path) -> Path:
    """Path as sentences show it."""
    return STDIN_NAME if path == STDIN else path


def table_name(path: Path) -> str:
    """Name of a table for sentences and pages."""
    return shown_path(path).name or path.resolve().name


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
    """File without compression that can be read more than once, and its first bytes; an error if it is empty."""
    shown = shown_path(path)
    with regular_file(path) as raw, unpacked(raw, shown) as file:
        start = first_bytes(file)
        if not start.strip():
            raise TableFileError(f"{shown} is empty.")
        yield file, start


def first_bytes(file: Path, n_bytes: int = 4096) -> bytes:
    """Beginning of a file."""
    with file.open("rb") as content:
        return content.read(n_bytes)


@contextmanager
def regular_file(path: Path) -> Iterator[Path]:
    """File that can be read more than once: the path itself, or a copy of what a pipe or device gives."""
    try:
        is_regular = path != STDIN and stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        raise unreadable(path, error, "cannot be read") from error
    except ValueError as error:  # a zero byte in the name
        raise TableFileError(f"{str(path)!r} cannot be read: it is no name of a file.") from error
    if is_regular:
        yield path
        return
    if path == STDIN and sys.stdin is None:
        raise TableFileError("Standard input is closed: name a table instead of -.")
    with tempfile.NamedTemporaryFile() as copy:
        try:
            with nullcontext(sys.stdin.buffer) if path == STDIN else path.open("rb") as pipe:
                shutil.copyfileobj(pipe, copy)
        except OSError as error:
            raise unreadable(path, error, "cannot be read") from error
        copy.flush()
        yield Path(copy.name)


@contextmanager
def unpacked(file: Path, path: Path) -> Iterator[Path]:
    """File without compression, `path` to the user: a temporary one if `file` is compressed, else itself."""
    try:
        start = first_bytes(file, 8)
    except OSError as error:
        raise unreadable(path, error, "cannot be read") from error
    opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), None)
    if opener is None:
        yield file
        return
    limit = max(ALWAYS_ALLOWED, MOST_GROWTH * file.stat().st_size)
    with tempfile.NamedTemporaryFile() as copy, opener(file, "rb") as content:
        chunk = b"\n"
        while chunk:
            try:
                chunk = content.read(CHUNK)
            except (EOFError, OSError, zlib.error) as error:
                raise TableFileError(
                    f"{path} is a compressed file that is cut off or damaged."
                ) from error
            copy.write(chunk)
            if copy.tell() > limit:
                raise TableFileError(
                    f"{path} is not unpacked: more than {limit / 2**20:,.0f} MB come out of it, too much for a table "
                    "of its size."
                )
        copy.flush()
        yield Path(copy.name)


# Form of CSV files

DELIMITERS = ",;\t|"

# How files that are no tables begin, and what they are.
OTHERS = {
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "an archive or a workbook",
    b"\x1f\x8b": "a file that is compressed twice",
    b"BZh": "a file that is compressed twice",
    b"\xfd7zXZ": "a file compressed by xz",
    b"(\xb5/\xfd": "a file compressed by zstd",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
}

# The name of a column may begin with a bracket, too: a file that continues like this is not a table.
LIKE_OTHERS = {
    re.compile(rb'[\[{]\s*(["\[{\]}]|-?\d+\s*[,\]]|true\b|false\b|null\b)'): "JSON",
    re.compile(
        rb"<(\?xml|!doctype|!--|[a-z][\w:.-]*(\s[^<>]*)?/?>\s*([^,;\t|\s]|$))", re.IGNORECASE
    ): "a web page or XML",
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


def check_is_table(start: bytes, path: Path) -> None:
    """Raise an error that says what a file is, if its first bytes show that it is no table."""
    begin = start.lstrip(b"\xef\xbb\xbf \r\n\t")
    kinds = [kind for magic, kind in OTHERS.items() if begin.startswith(magic)]
    kinds += ["a binary file"] if b"\0" in start else []
    kinds += [kind for pattern, kind in LIKE_OTHERS.items() if pattern.match(begin)]
    if kinds:
        raise TableFileError(
            f"{path} is not a table but {kinds[0]}: surefoot reads CSV and Parquet."
        )


@contextmanager
def checked_csv(file: Path, path: Path) -> Iterator[tuple[Path, CsvForm]]:
    """CSV file that Arrow reads as the csv module does, `path` to the user, and its form.

    The whole file is looked at once, fast, for its encoding and for quotes that Arrow would take otherwise: those
    behind a space, and those that are never closed. Only if there may be some, the csv module writes a copy.
    """
    delimiter = find_delimiter(file, path)
    encoding, has_odd_quotes = scan(file, delimiter)
    first_line, header = line_of(file, encoding, delimiter, 0)
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
        first = islice(records(io.StringIO(peeked, newline=""), delimiter), PEEKED)
        widths = [len(record) for record in first]
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


def records(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Records that are not blank, as far as they can be read."""
    try:
        yield from filter(None, csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return


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


def line_of(file: Path, encoding: str, delimiter: str, number: int) -> tuple[int, list[str]]:
    """Line where a record begins, and its cells; the header is record 0, and blank lines are no records."""
    with file.open(encoding=encoding, newline="") as content:
        reader = csv.reader(content, delimiter=delimiter, skipinitialspace=True)
        line = 1
        for record in reader:
            if record:
                if number == 0:
                    return line, record
                number -= 1
            line = reader.line_num + 1
    return line, []


def check_records(file: Path, path: Path, form: CsvForm, writer: Any = None) -> None:
    """Raise an error that names the first broken line; write the records, if a writer is given."""
    with file.open(encoding=form.encoding, newline="") as content:
        reader = csv.reader(content, delimiter=form.delimiter, skipinitialspace=True, strict=True)
        line, width = 1, len(form.header)
        try:
            for record in reader:
                if record and len(record) != width:
                    raise TableFileError(
                        f"Line {line} of {path} has {plural(len(record), 'field')} where the header has {width}."
                    )
                if record and writer is not None:
                    writer.writerow(record)
                line = reader.line_num + 1
        except csv.Error as error:
            problem = "a quote that is never closed" if "end of data" in str(error) else str(error)
            raise TableFileError(f"Line {line} of {path} cannot be read: {problem}.") from error


# Sizes, and tables that do not fit the memory

# Copies of a table that exist while it is read and judged.
COPIES = 3

# Bytes of a number and of a string in memory; a string also has its letters.
NUMBER, STRING = 8, 24


def check_fits(path: Path, instead: str) -> None:
    """Raise an error if a table needs more memory than is free; `instead` is what can be done."""
    from surefoot._parallel import free_memory  # noqa: PLC0415 - keeps --help fast

    n_rows, n_bytes = size_of(path)
    needed, free = COPIES * n_bytes, free_memory()
    if needed > free:
        raise TableFileError(
            f"{table_name(path)} has about {n_rows:,} rows, which need about {needed / 1e9:,.3g} GB of memory where "
            f"{free / 1e9:,.3g} GB are free: {instead}."
        )


def sample_that_fits(path: Path) -> int:
    """Rows of a table that half of the free memory holds: 1, 2 or 5 times a power of ten; at least 1,000."""
    from surefoot._parallel import free_memory  # noqa: PLC0415 - keeps --help fast

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
    from pyarrow.parquet import read_metadata  # noqa: PLC0415 - keeps --help fast

    n_rows = n_bytes = 0
    for metadata in map(read_metadata, files):
        n_rows += metadata.num_rows
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                is_string = column.physical_type == "BYTE_ARRAY"
                n_bytes += group.num_rows * (STRING if is_string else NUMBER)
                n_bytes += column.total_uncompressed_size if is_string else 0
    return n_rows, n_bytes


# Content of a file to write

# Beginnings of strings that a spreadsheet would run as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table_bytes(table: Any, suffix: str) -> bytes:
    """A pandas frame as the content of a CSV or Parquet file; a CSV has no string that a spreadsheet would run."""
    if suffix == ".parquet":
        return bytes(table.to_parquet(index=False))
    others = [name for name, column in table.items() if column.dtype.kind not in "biuf"]
    safe = table.assign(**{name: table[name].map(as_cell) for name in others})
    return str(safe.to_csv(index=False)).encode()


def as_cell(value: Any) -> Any:
    """Value as a spreadsheet shows it: a string that looks like a formula, and is no number, gets an apostrophe."""
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
