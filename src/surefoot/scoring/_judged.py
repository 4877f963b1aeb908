"""Judgements of a table in files, whatever its size: read as a stream, judged part by part, nothing is written."""

from collections.abc import Iterator
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings, filterwarnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from surefoot._sure import Sure, check_sure
from surefoot._table_files import GAPS, TableFileError
from surefoot._table_streams import Source, kind_in_words, open_source, plain
from surefoot.error_estimation import Judgement
from surefoot.scoring._batches import CHUNK
from surefoot.scoring._cells import CellError, first_misfit
from surefoot.scoring._parts import table_parts, without_infinities
from surefoot.scoring._rows import check_kinds, kinds_in_fit, model_columns, rows_for

# Types of times that texts are read as: without an offset, and with one.
TIMES = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))


class JudgedRows(NamedTuple):
    """Rows of a table, as the model takes them, and what is known of them.

    Attributes
    ----------
    first_row : int
        Number of the first of them in the table.
    X : array or frame of shape (n_rows, n_columns)
        The rows.
    judgement : Judgement
        What the error estimator says of them.
    times : ndarray of datetime64 of shape (n_rows,), or None
        Their times, NaT for gaps; None if no column of times was named.
    n_infinite : int
        Infinite numbers that were judged as missing.
    """

    first_row: int
    X: Any
    judgement: Judgement
    times: NDArray[Any] | None
    n_infinite: int


def judge_table(
    sure: Sure, source: str | PathLike[str], *, time: str | None = None
) -> Iterator[JudgedRows]:
    """Judgements of a table of any size, in files: an iterator over parts of at most 10,000 rows, in order.

    One part is in memory at a time, and nothing is written. Infinite numbers are judged as missing ones.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator, which judges the rows.
    source : path
        Parquet file, folder of Parquet files, or CSV file; see `score_table`.
    time : str, default=None
        Column of times. Texts are read as ISO 8601: 2026-11-16, or 2026-11-16T08:00. Times with an offset or a zone
        become those of UTC.

    Yields
    ------
    part : JudgedRows
        `first_row`, its number in the table; `X`, the rows as the model takes them; their `judgement`; their `times`;
        and `n_infinite`, infinite numbers that were judged as missing.

    See Also
    --------
    score_table : The same, written to a folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.scoring import judge_table
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> sure = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> with TemporaryDirectory() as folder:
    ...     X[400:].to_csv(f"{folder}/new.csv", index=False)
    ...     parts = [part for part in judge_table(sure, f"{folder}/new.csv")]
    >>> [len(part.judgement) for part in parts]
    [169]
    """
    check_sure(sure)
    table = open_source(Path(fspath(source)), partial(kinds_in_fit, sure))
    names = model_columns(sure, table.names, str(table.path))
    check_kinds(table, names, kinds_in_fit(sure, names))
    if time is not None:
        check_time(table, time)
    return judged_parts(sure, table, names, time)


def judged_parts(
    sure: Sure, table: Source, names: list[str], time: str | None
) -> Iterator[JudgedRows]:
    """Judge the parts one after the other; an error names the place of a cell that cannot be read."""
    columns = list(dict.fromkeys([*names, *([] if time is None else [time])]))
    size = max(1, min(CHUNK, 10_000_000 // len(columns)))
    try:
        for part, first_row in table_parts(table, columns, size, 0):
            times = None if time is None else times_of(part, time, table, first_row)
            yield judged_rows(sure, part.select(names), first_row, times)
    except CellError as error:
        raise TableFileError(f"{table.place(error.row)} has {error.words}.") from None


def judged_rows(
    sure: Sure, part: pa.Table, first_row: int, times: NDArray[Any] | None
) -> JudgedRows:
    """Rows of a part, judged."""
    part, n_infinite = without_infinities(part)
    try:
        X = rows_for(sure, part)
    except CellError as error:
        raise error.behind(first_row) from None
    with catch_warnings():
        filterwarnings("ignore", "Found unknown categories", UserWarning)
        judgement = sure.judge(X)
    return JudgedRows(first_row, X, judgement, times, n_infinite)


def check_time(table: Source, name: str) -> None:
    """Raise an error unless a column holds times, or texts that may be times."""
    column_type = table.schema([name], "which has the times").field(0).type
    kind = kind_in_words(column_type)
    if kind == "times" and not (
        pa.types.is_timestamp(column_type) or pa.types.is_date(column_type)
    ):
        kind = "times without a day"
    if kind not in ("times", "texts", "no values"):
        raise TableFileError(
            f"Column {name!r} of {table.path} holds {kind}: periods need dates, such as 2026-11-16."
        )


def times_of(part: pa.Table, name: str, table: Source, first_row: int) -> NDArray[Any]:
    """Times of the rows in UTC, NaT for gaps; an error names the first text that is none."""
    column = plain(part.column(name))
    if pa.types.is_null(column.type):
        return np.full(len(column), np.datetime64("NaT"), dtype="datetime64[us]")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = parsed_times(column, name, table, first_row)
    zone = getattr(column.type, "tz", None)
    moments = column.cast(pa.timestamp("us", tz=zone), safe=False)
    return np.asarray(moments.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)).astype(
        "datetime64[us]"
    )


def parsed_times(texts: Any, name: str, table: Source, first_row: int) -> Any:
    """Times that texts stand for."""
    trimmed = pc.utf8_trim_whitespace(texts)
    filled = pc.if_else(pc.is_in(trimmed, value_set=pa.array(GAPS)), None, trimmed)
    for wanted in TIMES:
        try:
            return filled.cast(wanted)
        except pa.ArrowInvalid:
            continue
    row = first_misfit(filled, TIMES[0])
    raise TableFileError(
        f"{table.place(first_row + row)} has {texts[row].as_py()!r} in the column {name!r} of times: write times as "
        "2026-11-16 or 2026-11-16T08:00."
    )
