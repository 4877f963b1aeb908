"""Judgements of rows that come in batches: of a user, of Dask and Spark, or of a table in files."""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings, filterwarnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.base import is_classifier

from surefoot._error_estimators import ErrorEstimator, check_error_estimator
from surefoot._tables import (
    CsvTable,
    ParquetTable,
    RowError,
    as_fitted,
    check_kinds,
    column_names,
    column_times,
    count_rows,
    in_table,
    is_frame,
    model_columns,
    no_rows,
    open_table,
    plain,
    table_name,
    take_columns,
    take_rows,
)
from surefoot._words import listed
from surefoot.abstention import Promise, promise_of
from surefoot.error_estimation import Judgement

Table = CsvTable | ParquetTable

# Name of the column with the number of each row.
ROW = "row"

# Rows that are judged at a time: the columns of all indicators exist for so many rows at most.
CHUNK = 10_000

# Cells of a part of a table at most: a part of a wide table has fewer rows.
CELLS_PER_PART = 10_000_000


def score_batches(
    error_estimator: ErrorEstimator,
    batches: Iterable[Any],
    promise: Promise | None = None,
    *,
    keep: Any = None,
) -> Iterator[pa.RecordBatch]:
    """Scores of each batch of rows, as an Arrow record batch with the columns of `output_schema`; the order is kept.

    One batch is in memory at a time. What is computed for a row does not depend on the other rows of its batch.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator, which judges the rows.
    batches : iterable of pyarrow.RecordBatch, pyarrow.Table or frames
        Rows. Columns that the model does not know are not used. Columns of Arrow get the kind that they had in
        `fit`, and their infinite numbers count as missing; a frame is judged as it is.
    promise : Promise, default=None
        Says which rows are accepted. The default is `promise_of(error_estimator)`.
    keep : pyarrow.Schema, default=None
        Columns of the batches to copy, in front of the scores, with their types.

    Yields
    ------
    scores : pyarrow.RecordBatch
        One row for each row of the batch; `output_schema` has its columns.

    See Also
    --------
    output_schema : Names and types of the columns.
    score_table : Scores of a whole table in files, of any size.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.scoring import score_batches
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> for scores in score_batches(error_estimator, [X[400:450], X[450:]]):
    ...     print(scores.num_rows, scores.schema.names[:4])
    50 ['prediction', 'probability_0', 'probability_1', 'estimated_error']
    119 ['prediction', 'probability_0', 'probability_1', 'estimated_error']
    """
    output_schema(error_estimator, keep=keep)  # raises what is wrong before the first batch
    promise = promise_of(error_estimator) if promise is None else promise
    return (score_batch(error_estimator, batch, promise, keep)[0] for batch in batches)


def output_schema(error_estimator: ErrorEstimator, *, keep: Any = None) -> pa.Schema:
    """Names and types of the columns that `score_batches` returns; they depend on the model, not on the rows.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    keep : pyarrow.Schema, default=None
        Columns of the batches that are copied, in front of the others.

    Returns
    -------
    schema : pyarrow.Schema
        The columns of `Judgement.to_frame()`, with `accepted`: prediction (of the type of `classes_`),
        probability_<class> for each class, estimated_error, low and high (ends of the interval), residual, those
        of `Judgement.stability`, novel, known and accepted; without those that the model does not have.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from surefoot import IndividualErrorRegressor
    >>> from surefoot.scoring import output_schema
    >>> X, y = load_diabetes(return_X_y=True)
    >>> error_estimator = IndividualErrorRegressor(Ridge(), cv=2, random_state=0).fit(X, y)
    >>> output_schema(error_estimator).names[:5]
    ['prediction', 'estimated_error', 'low', 'high', 'residual']
    """
    check_error_estimator(error_estimator)
    number, flag = pa.float64(), pa.bool_()
    if is_classifier(error_estimator):
        has_probabilities = hasattr(error_estimator.estimator_, "predict_proba")
        labels = error_estimator.classes_ if has_probabilities else ()
        fields: dict[str, Any] = {"prediction": label_type(error_estimator.classes_)}
        fields |= {f"probability_{label}": number for label in labels}
        names = ["estimated_error"]
    else:
        fields = {"prediction": number}
        names = ["estimated_error", "low", "high", "residual"]
    names += error_estimator.get_stability_names()
    fields |= dict.fromkeys(names, number) | {"novel": flag, "known": flag, "accepted": flag}
    kept = [] if keep is None else list(keep)
    if twice := [field.name for field in kept if field.name in fields]:
        raise ValueError(
            f"keep has {listed(twice)}, the name of a column that is written: rename it."
        )
    return pa.schema([*kept, *(pa.field(name, kind) for name, kind in fields.items())])


def label_type(classes: Any) -> pa.DataType:
    """Type of Arrow for the classes of a model: whole numbers, numbers, booleans, or strings for all others."""
    kind = np.asarray(np.asarray(classes).tolist()).dtype.kind
    return {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_()}.get(kind, pa.string())


def score_batch(
    error_estimator: ErrorEstimator, batch: Any, promise: Promise, keep: Any = None
) -> tuple[pa.RecordBatch, int]:
    """Scores of one batch, behind the columns that are kept, and how many infinite numbers were judged as missing."""
    n_rows, n_infinite, rows = count_rows(batch), 0, None
    if n_rows:
        rows, n_infinite = rows_for(error_estimator, batch)
    chunks = [
        promise.apply(
            error_estimator.judge(take_rows(rows, slice(start, start + CHUNK)))
        ).to_arrays()
        for start in range(0, n_rows, CHUNK)
    ]
    kept = [kept_column(batch, field) for field in keep or ()]
    judged = [joined(chunks, field) for field in output_schema(error_estimator)]
    schema = output_schema(error_estimator, keep=keep)
    return pa.RecordBatch.from_arrays([*kept, *judged], schema=schema), n_infinite


def rows_for(error_estimator: ErrorEstimator, batch: Any) -> tuple[Any, int]:
    """Rows of a batch as the model takes them, and how many infinite numbers became missing.

    A frame keeps its types, and a batch of Arrow gets those of `fit`.
    """
    if isinstance(batch, (pa.RecordBatch, pa.Table)):
        names = model_columns(error_estimator, batch.schema.names)
        rows, n_infinite = as_fitted(batch, names, error_estimator.input_form_)
        if error_estimator.given_outputs_ is not None:
            error_estimator.given_outputs_.outputs(rows)  # raises what is wrong with a row
        return rows, n_infinite
    if not is_frame(type(batch)):
        raise TypeError(
            f"A batch is a {type(batch).__name__}: it may be a batch of Arrow or a frame."
        )
    names = model_columns(error_estimator, column_names(batch))
    return take_columns(batch, names), 0


def joined(chunks: list[dict[str, Any]], field: pa.Field) -> pa.Array:
    """Column of all chunks as an array of Arrow; strings for labels that are of several types."""
    parts = [chunk[field.name] for chunk in chunks]
    values = np.concatenate(parts) if parts else np.empty(0)
    if pa.types.is_string(field.type):
        return pa.array([str(value) for value in values.tolist()], pa.string())
    return pa.array(values, field.type)


def kept_column(batch: Any, field: pa.Field) -> pa.Array:
    """Column of a batch that is copied, with the type of `field`."""
    if field.name not in (column_names(batch) if is_frame(type(batch)) else batch.schema.names):
        raise ValueError(f"The table lacks {field.name!r}, which is to be kept.")
    column = batch[field.name]
    if hasattr(column, "iloc"):
        return pa.array(column, field.type)
    column = plain(column.to_arrow() if hasattr(column, "to_arrow") else column)
    if pa.types.is_string(column.type) and not pa.types.is_string(field.type):
        column = pc.replace_substring(pc.utf8_trim_whitespace(column), ",", ".")
    return column.cast(field.type)


# Tables in files, read in parts


class JudgedRows(NamedTuple):
    """Rows of a table, as the model takes them, and their judgement.

    Attributes
    ----------
    first_row : int
        Number of the first of them in the table.
    X : array or frame of shape (n_rows, n_columns)
        The rows.
    judgement : Judgement
        Judgement of the error estimator.
    times : ndarray of datetime64 of shape (n_rows,), or None
        Their times, NaT where they are missing; None if no column of times was named.
    n_infinite : int
        Infinite numbers that were judged as missing.
    targets : list, or None
        Values of the column of targets; None if none was named, or the table has no such column.
    """

    first_row: int
    X: Any
    judgement: Judgement
    times: NDArray[Any] | None
    n_infinite: int
    targets: list[Any] | None


def judge_table(
    error_estimator: ErrorEstimator,
    source: str | PathLike[str],
    *,
    time: str | None = None,
    target: str | None = None,
) -> Iterator[JudgedRows]:
    """Judgements of a table of any size, in files: an iterator over parts of at most 10,000 rows, in order.

    One part is in memory at a time, and nothing is written. Numbers that are infinite, or beyond float32, are judged as
    missing ones.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator, which judges the rows.
    source : path
        Parquet file, folder of Parquet files, or CSV file; see `score_table`.
    time : str, default=None
        Column of times. Strings are read as ISO 8601: 2026-11-16, or 2026-11-16T08:00. Times with an offset or a zone
        become those of UTC.
    target : str, default=None
        Column of targets, which the table may have.

    Yields
    ------
    part : JudgedRows
        `first_row`, its number in the table; `X`, the rows as the model takes them; their `judgement`; their `times`;
        `n_infinite`, infinite numbers that were judged as missing; and their `targets`.

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
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> with TemporaryDirectory() as folder:
    ...     X[400:].to_csv(f"{folder}/new.csv", index=False)
    ...     parts = [part for part in judge_table(error_estimator, f"{folder}/new.csv")]
    >>> [len(part.judgement) for part in parts]
    [169]
    """
    check_error_estimator(error_estimator)
    with open_table(Path(fspath(source)), error_estimator.input_form_) as table:
        names = columns_of(error_estimator, table)
        if time is not None:
            table.schema([time], "which has the times")
        target = target if target in table.names else None
        columns = list(dict.fromkeys([*names, *filter(None, (time, target))]))
        size = max(1, min(CHUNK, CELLS_PER_PART // len(columns)))
        for part, first_row in table_parts(table, columns, size):
            try:
                X, n_infinite = rows_for(error_estimator, part.select(names))
                times = None if time is None else column_times(part.column(time), time, table.path)
            except RowError as error:
                error.row += first_row
                raise in_table(error, table) from None
            with catch_warnings():
                filterwarnings("ignore", "Found unknown categories", UserWarning)
                judgement = error_estimator.judge(X)
            targets = None if target is None else part.column(target).to_pylist()
            yield JudgedRows(first_row, X, judgement, times, n_infinite, targets)


def columns_of(
    error_estimator: ErrorEstimator, table: Table, keep: Sequence[str] = ()
) -> list[str]:
    """Columns to read, those of the model first; an error if one is missing, or of a kind that no model takes."""
    names = model_columns(error_estimator, table.names, table_name(table.path))
    check_kinds(table, names, error_estimator.input_form_)
    if twice := [name for name in keep if name in {ROW, *output_schema(error_estimator).names}]:
        raise ValueError(
            f"keep has {listed(twice)}, the name of a column that is written: rename it."
        )
    return list(dict.fromkeys([*names, *keep]))


def table_parts(
    table: Table, columns: list[str], size: int, n_done: int = 0
) -> Iterator[tuple[pa.Table, int]]:
    """Parts of a table behind those that are done, each with the number of its first row."""
    first_row = n_done * size
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in table.batches(columns, first_row):
        waiting.append(batch)
        n_waiting += batch.num_rows
        while n_waiting >= size:
            whole = pa.Table.from_batches(waiting)
            yield whole.slice(0, size).combine_chunks(), first_row
            first_row, n_waiting = first_row + size, n_waiting - size
            waiting = whole.slice(size).to_batches()
    if n_waiting:
        yield pa.Table.from_batches(waiting).combine_chunks(), first_row
    elif first_row == 0:
        raise no_rows(table)
