"""Form of CSV files: delimiter, encoding and number of fields; a broken line is named."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from surefoot._table_files._errors import TableFileError, check_names
from surefoot._words import plural

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

# A name of a column may begin with a bracket, too: only what goes on like these is no table.
JSON = re.compile(rb'[\[{]\s*(["\[{\]}]|-?\d+\s*[,\]]|true\b|false\b|null\b)')
XML = re.compile(
    rb"<(\?xml|!doctype|!--|[a-z][\w:.-]*(\s[^<>]*)?/?>\s*([^,;\t|\s]|$))", re.IGNORECASE
)

# Cells of a column of texts that stand for a gap; in a column of numbers pandas knows NaN as well.
GAPS = ("", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null")

# Whole numbers with a leading zero, such as "007", are names and not numbers.
CODE = re.compile(r"[+-]?0\d+")

# How a cell with a code begins, anywhere in a line: a line without it, as most are, need not be looked at cell by cell.
CODE_IN_LINE = re.compile(r"0(?<![^\s,;|\"+-]0)\d")  # a zero first, as it is found fastest

# Records that the delimiter is guessed from.
PEEKED = 50


def check_is_table(file: Path, path: Path) -> None:
    """Raise one sentence that says what a file is, if it is no table."""
    with file.open("rb") as content:
        start = content.read(4096)
    text = start.lstrip(b"\xef\xbb\xbf \r\n\t")
    for magic, kind in OTHERS.items():
        if text.startswith(magic):
            raise no_table(path, kind)
    if b"\0" in start:
        raise no_table(path, "a binary file")
    if JSON.match(text):
        raise no_table(path, "JSON")
    if XML.match(text):
        raise no_table(path, "a web page or XML")


def no_table(path: Path, kind: str) -> TableFileError:
    """Sentence that says what a file is instead of a table."""
    return TableFileError(f"{path} is not a table but {kind}: surefoot reads CSV and Parquet.")


def is_code(text: str) -> bool:
    """Whether a text is a whole number with a leading zero, such as a postcode."""
    return CODE.fullmatch(text) is not None


def find_encoding(file: Path) -> str:
    """UTF-8, with or without a mark at the start, if all of the file is; else Latin-1."""
    try:
        with file.open(encoding="utf-8-sig") as content:
            while content.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def find_delimiter(file: Path, path: Path, encoding: str) -> str:
    """The delimiter by which most of the first records have as many fields as the header, and the most fields."""
    fits = {}
    for delimiter in DELIMITERS:
        widths = [len(record) for record in islice(records(file, encoding, delimiter), PEEKED)]
        width = widths[0] if widths else 0
        fits[delimiter] = (width > 1, widths.count(width) / max(len(widths), 1), width)
    if {".tsv", ".tab"} & set(path.suffixes) and fits["\t"][
        0
    ]:  # also .tsv.gz; texts may hold commas
        return "\t"
    best = max(fits, key=lambda delimiter: fits[delimiter])
    if not fits[best][0]:
        raise TableFileError(
            f"{path} is not a table with columns: its first line has no comma, semicolon, tab or bar."
        )
    return best


def records(file: Path, encoding: str, delimiter: str) -> Iterator[list[str]]:
    """Records of the file that are not blank, as far as they can be read."""
    with file.open(encoding=encoding, newline="") as content:
        reader = csv.reader(content, delimiter=delimiter, skipinitialspace=True)
        try:
            yield from filter(None, reader)
        except csv.Error:
            return


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


def noted(lines: Iterable[str], doubtful: list[str]) -> Iterator[str]:
    """Lines as they are; those that may have a code are added to a list when they are read."""
    for line in lines:
        if CODE_IN_LINE.search(line):
            doubtful.append(line)
        yield line


def check_records(file: Path, path: Path, encoding: str, delimiter: str) -> list[int]:
    """Places of columns with codes such as "007"; one sentence that names the first line that is broken."""
    codes: set[int] = set()
    with file.open(encoding=encoding, newline="") as content:
        doubtful: list[str] = []
        lines = noted(content, doubtful)
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
        width, line = 0, 1
        try:
            for record in reader:
                if record and not width:
                    check_names(record, path)
                width = width or len(record)
                if record and len(record) != width:
                    raise TableFileError(
                        f"Line {line} of {path} has {plural(len(record), 'field')} where the header has {width}."
                    )
                if doubtful:
                    codes.update(i for i, cell in enumerate(record) if is_code(cell))
                    doubtful.clear()
                line = reader.line_num + 1
        except csv.Error as error:
            problem = "a quote that is never closed" if "end of data" in str(error) else str(error)
            raise TableFileError(f"Line {line} of {path} cannot be read: {problem}.") from error
    return sorted(codes)
