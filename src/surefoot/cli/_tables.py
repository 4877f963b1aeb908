"""Tables in and out: CSV, whatever its delimiter and encoding, and Parquet."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from surefoot._words import listed, plural, reason
from surefoot.cli._mistakes import Mistake

DELIMITERS = ",;\t|"

# How files that are no tables begin, and what they are.
OTHERS = {
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "an archive or a workbook",
    b"\x1f\x8b": "a compressed file",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"{": "JSON",
    b"[": "JSON",
    b"<": "a web page or XML",
}

# Cells of a column of texts that stand for a gap; in a column of numbers pandas knows NaN as well.
GAPS = ("", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null")

# Records that the delimiter is guessed from.
PEEKED = 50


def read_table(path: Path) -> Any:
    """Read a CSV or Parquet file as a frame with text names; one sentence if that cannot be."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise Mistake(f"{path} cannot be read: {reason(error)}.") from error
    if not start.strip():
        raise Mistake(f"{path} is empty.")
    table = read_parquet(path) if start.startswith(b"PAR1") else read_csv(path, start)
    table.columns = [str(name) for name in table.columns]
    if len(table) == 0:
        raise Mistake(f"{path} has column names but no rows.")
    check_names(list(table.columns), path)
    return table


def read_parquet(path: Path) -> Any:
    """Read a Parquet file; a named index is a column as any other."""
    import pandas as pd  # noqa: PLC0415 - keeps --help fast

    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
        raise Mistake(f"{path} is a broken Parquet file.") from error
    return table.reset_index(drop=table.index.names == [None])


def read_csv(path: Path, start: bytes) -> Any:
    """Read a CSV file, after a look at every record: pandas would fill up one that is too short."""
    import pandas as pd  # noqa: PLC0415

    for magic, kind in OTHERS.items():
        if start.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(magic):
            raise no_table(path, kind)
    if b"\0" in start:
        raise no_table(path, "a binary file")
    encoding = find_encoding(path)
    delimiter = find_delimiter(path, encoding)
    check_records(path, encoding, delimiter)
    read = partial(
        pd.read_csv,
        path,
        sep=delimiter,
        encoding=encoding,
        low_memory=False,
        index_col=False,
        skipinitialspace=True,
    )
    table = with_texts_that_read_nan(read(), read)
    return table if delimiter == "," else with_decimal_points(table)


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
    """Read texts such as "1,5" as numbers: where the comma is no delimiter it may be a decimal one."""
    from pandas.api.types import infer_dtype  # noqa: PLC0415 - keeps --help fast

    for name in table.columns:
        known = table[name].dropna()
        if infer_dtype(known) == "string" and known.str.fullmatch(r"[+-]?\d+(,\d+)?").all():
            table[name] = table[name].str.replace(",", ".").astype("float64")
    return table


def no_table(path: Path, kind: str) -> Mistake:
    """Say what a file is instead."""
    return Mistake(f"{path} is not a table but {kind}: surefoot reads CSV and Parquet.")


def find_encoding(path: Path) -> str:
    """UTF-8, with or without a mark at the start, if all of it is; else Latin-1."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            while file.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def find_delimiter(path: Path, encoding: str) -> str:
    """The delimiter by which most of the first records have as many fields as the header, and the most fields."""
    found = {}
    for delimiter in DELIMITERS:
        widths = [len(record) for record in islice(records(path, encoding, delimiter), PEEKED)]
        width = widths[0] if widths else 0
        found[delimiter] = (width > 1, widths.count(width) / max(len(widths), 1), width)
    best = max(found, key=lambda delimiter: found[delimiter])
    if not found[best][0]:
        raise Mistake(
            f"{path} is not a table with columns: its first line has no comma, semicolon, tab or vertical bar."
        )
    return best


def records(path: Path, encoding: str, delimiter: str) -> Iterator[list[str]]:
    """Records of the file that are not blank, as far as they can be read."""
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
        try:
            yield from filter(None, reader)
        except csv.Error:
            return


def check_records(path: Path, encoding: str, delimiter: str) -> None:
    """Raise one sentence that names the first line that is broken."""
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True, strict=True)
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
                line = reader.line_num + 1
        except csv.Error as error:
            problem = "a quote that is never closed" if "end of data" in str(error) else str(error)
            raise Mistake(f"Line {line} of {path} cannot be read: {problem}.") from error


def check_names(names: list[str], path: Path) -> None:
    """Raise one sentence if two columns have the same name; columns without one are numbered by pandas."""
    named = Counter(name for name in names if name.strip())
    twice = [name for name, times in named.items() if times > 1]
    if twice:
        raise Mistake(f"{path} has more than one column {listed(twice)}: names must differ.")


def table_bytes(table: Any, suffix: str) -> bytes:
    """A frame as the contents of a CSV or Parquet file."""
    if suffix == ".parquet":
        return bytes(table.to_parquet(index=False))
    return str(table.to_csv(index=False)).encode()
