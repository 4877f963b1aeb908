"""Scores of batches of rows: the one function that streams, Dask and Spark share."""

from collections.abc import Iterable, Iterator
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from sklearn.base import is_classifier

from surefoot._error_estimators import ErrorEstimator, check_error_estimator
from surefoot._tables import (
    as_fitted,
    column_names,
    count_rows,
    is_frame,
    model_columns,
    plain,
    take_rows,
)
from surefoot._words import listed
from surefoot.abstention import Promise

# Rows that are judged at a time: the columns of all indicators exist for so many rows at most.
CHUNK = 10_000


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
        Says which rows are accepted. The default is `Promise.from_held_out(error_estimator.held_out_)`.
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
    promise = Promise.from_held_out(error_estimator.held_out_) if promise is None else promise
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
        probability_<class> for each class, estimated_error, low and high (ends of the interval), residual, shift,
        spread, worst, flips, novel and accepted; without those that the model does not have.

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
        names = ["estimated_error", "shift", "spread", "worst", "flips"]
    else:
        fields = {"prediction": number}
        names = ["estimated_error", "low", "high", "residual", "shift", "spread", "worst"]
    fields |= dict.fromkeys(names, number) | {"novel": flag, "accepted": flag}
    kept = [] if keep is None else list(keep)
    if twice := [field.name for field in kept if field.name in fields]:
        raise ValueError(
            f"keep has {listed(twice)}, the name of a column that is written: rename it."
        )
    return pa.schema([*kept, *(pa.field(name, kind) for name, kind in fields.items())])


def label_type(classes: Any) -> pa.DataType:
    """Type of Arrow for the classes of a model: whole numbers, numbers, booleans, or strings for all others."""
    try:
        kind = pa.array(np.asarray(classes).tolist()).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):  # of several types
        return pa.string()
    return kind if kind in (pa.int64(), pa.float64(), pa.bool_()) else pa.string()


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
        return as_fitted(batch, names, error_estimator.input_form_)
    if not is_frame(batch):
        raise TypeError(
            f"A batch is a {type(batch).__name__}: it may be a batch of Arrow or a frame."
        )
    names = model_columns(error_estimator, column_names(batch))
    if hasattr(batch, "iloc"):
        return batch[names], 0
    return nw.from_native(batch, eager_only=True).select(names).to_native(), 0


def joined(chunks: list[dict[str, Any]], field: pa.Field) -> pa.Array:
    """Column of all chunks as an array of Arrow; strings for labels that are of several types."""
    parts = [chunk[field.name] for chunk in chunks]
    values = np.concatenate(parts) if parts else np.empty(0)
    if pa.types.is_string(field.type):
        return pa.array([str(value) for value in values.tolist()], pa.string())
    return pa.array(values, field.type)


def kept_column(batch: Any, field: pa.Field) -> pa.Array:
    """Column of a batch that is copied, with the type of `field`."""
    names = batch.schema.names if hasattr(batch, "schema") else column_names(batch)
    if field.name not in names:
        raise ValueError(f"The table lacks {field.name!r}, which is to be kept.")
    column = batch[field.name]
    if hasattr(column, "iloc"):
        return pa.array(column, field.type)
    return plain(column.to_arrow() if hasattr(column, "to_arrow") else column).cast(field.type)
