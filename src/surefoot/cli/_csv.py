"""CSV files of any delimiter and encoding as frames."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from surefoot._table_files import (
    GAPS,
    check_is_table,
    check_records,
    find_delimiter,
    find_encoding,
    is_code,
)
from surefoot._words import plural
from surefoot.cli._console import remark

# Share of numbers in a column of texts from which on the texts are thought to be slips.
MOSTLY_NUMBERS = 0.9


def read_csv(file: Path, path: Path) -> Any:
    """Frame from a CSV file, `path` to the user, after a look at every record: pandas fills up short ones."""
    import pandas as pd

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


def remark_on_slips(table: Any) -> None:
    """Say which columns are texts because of a few values among numbers."""
    import pandas as pd

    for name, column in table.items():
        if column.dtype.kind != "O":
            continue
        known = column.dropna()
        values = known.drop_duplicates()  # texts that come again and again are looked at once
        slips = values[pd.to_numeric(values, errors="coerce").isna()]
        n_slips = int(known.isin(slips).sum()) if 0 < len(slips) < len(values) else len(known)
        if MOSTLY_NUMBERS <= 1 - n_slips / max(len(known), 1) < 1:
            slip = str(slips.iloc[0])
            which = "is no number" if n_slips == 1 else "are no numbers"
            remark(
                f"Column {name!r} is read as texts: {plural(n_slips, 'value')} of {len(known):,}, such as {slip!r}, "
                f"{which}."
            )
