"""CSV files of any delimiter and encoding as frames; a broken line is named."""

import csv
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from surefoot._words import plural
from surefoot.cli._console import remark
from surefoot.cli._mistakes import Mistake, check_names

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

# Records that the delimiter is guessed from.
PEEKED = 50

# Share of numbers in a column of texts from which on the texts are thought to be slips.
MOSTLY_NUMBERS = 0.9


def read_csv(file: Path, path: Path) -> Any:
    """Frame from a CSV file, `path` to the user, after a look at every record: pandas fills up short ones."""
    import pandas as pd  # noqa: PLC0415 - keeps --help fast

    check_is_table(file, path)
    encoding = find_encoding(file)
    delimiter = find_delimiter(file, path, encoding)
    codes = check_records(file, path, encoding, delimiter)
    read = partial(
        pd.read_csv,
        file,
        sep=delimiter,
        encoding=encoding,
        low_memory=False,
        index_col=False,
        skipinitialspace=True,
    )
    table = with_texts_that_read_nan(read(dtype=dict.fromkeys(codes, str)), read)
    if delimiter != ",":
        table = with_decimal_points(table)
    remark_on_slips(table)
    return table


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


def no_table(path: Path, kind: str) -> Mistake:
    """Sentence that says what a file is instead of a table."""
    return Mistake(f"{path} is not a table but {kind}: surefoot reads CSV and Parquet.")


def with_texts_that_read_nan(table: Any, read: Callable[..., Any]) -> Any:
    """Table whose columns of texts keep the text "nan", which pandas takes for a gap in every column."""
    has_gaps = [column.dtype.kind == "O" and column.isna().any() for _, column in table.items()]
    places = [place for place, gaps in enumerate(has_gaps) if gaps]
    if places:
        texts = read(usecols=places, dtype=str, keep_default_na=False, na_values=list(GAPS))
        for place in places:
            name = table.columns[place]
            if not table[name].dropna().map(type).eq(bool).all():  # True and False are no texts
                table[name] = texts[name]
    return table


def with_decimal_points(table: Any) -> Any:
    """Table whose texts such as "1,5" are numbers: where the comma is no delimiter it may be a decimal one."""
    for name, column in table.items():
        if column.dtype.kind != "O":
            continue
        known = column.dropna().map(str)  # whole numbers of hundreds of digits are objects, too
        is_number = known.str.fullmatch(r"[+-]?\d+(,\d+)?") & ~known.map(is_code)
        if len(known) and is_number.all():
            table[name] = known.str.replace(",", ".").astype("float64").reindex(column.index)
    return table


def is_code(text: str) -> bool:
    """Whether a text is a whole number with a leading zero, such as a postcode."""
    return CODE.fullmatch(text) is not None


def remark_on_slips(table: Any) -> None:
    """Say which columns are texts because of a few values among numbers."""
    import pandas as pd  # noqa: PLC0415

    for name, column in table.items():
        if column.dtype.kind != "O":
            continue
        known = column.dropna()
        is_text = pd.to_numeric(known, errors="coerce").isna()
        share = 1 - is_text.mean() if len(known) else 0
        if MOSTLY_NUMBERS <= share < 1:
            slip, n_slips = str(known[is_text].iloc[0]), int(is_text.sum())
            which = "is no number" if n_slips == 1 else "are no numbers"
            remark(
                f"Column {name!r} is read as texts: {plural(n_slips, 'value')} of {len(known):,}, such as {slip!r}, "
                f"{which}."
            )


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
        raise Mistake(
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


def check_records(file: Path, path: Path, encoding: str, delimiter: str) -> list[int]:
    """Places of columns with codes such as "007"; one sentence that names the first line that is broken."""
    codes: set[int] = set()
    with file.open(encoding=encoding, newline="") as content:
        reader = csv.reader(content, delimiter=delimiter, skipinitialspace=True, strict=True)
        width, line = 0, 1
        try:
            for record in reader:
                if record and not width:
                    check_names(record, path)
                width = width or len(record)
                if record and len(record) != width:
                    raise Mistake(
                        f"Line {line} of {path} has {plural(len(record), 'field')} where the header has {width}."
                    )
                codes.update(
                    i for i, cell in enumerate(record) if cell[:1] in "0+-" and is_code(cell)
                )
                line = reader.line_num + 1
        except csv.Error as error:
            problem = "a quote that is never closed" if "end of data" in str(error) else str(error)
            raise Mistake(f"Line {line} of {path} cannot be read: {problem}.") from error
    return sorted(codes)
