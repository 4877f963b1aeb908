"""Scores by workers of Dask: each judges parts of a table, and gets the model once."""

from collections import deque
from collections.abc import Iterable, Iterator
from operator import call
from typing import Any

import pyarrow as pa
from joblib import parallel_config

from surefoot._error_estimators import ErrorEstimator
from surefoot._optional import needed_for
from surefoot._tables import model_columns
from surefoot.abstention import Promise, promise_of
from surefoot.scoring._batches import output_schema, score_batches


def score_dask(error_estimator: ErrorEstimator, ddf: Any, promise: Promise | None = None) -> Any:
    """Scores of each row of a Dask frame, as a Dask frame with its index and divisions; nothing is computed yet.

    Each partition is judged where it is, by `score_batches`. The model is one object of the task graph:
    `compute` sends it to the scheduler once, and each worker gets it once.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator, which judges the rows.
    ddf : dask.dataframe.DataFrame
        Rows. Columns that the model does not know are not read; the others get the kind that they had in `fit`.
    promise : Promise, default=None
        Says which rows are accepted. The default is `promise_of(error_estimator)`.

    Returns
    -------
    scores : dask.dataframe.DataFrame
        The columns of `output_schema(error_estimator)`, in the partitions of `ddf`.

    See Also
    --------
    score_table : Scores of a table in files; its `client` spreads them over a cluster.

    Notes
    -----
    Dask warns of a large graph if the model takes more than 10 MB. It is in the graph once, and the scheduler
    keeps it: if a worker is lost, another one gets it from there.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.scoring import score_dask
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> scores = score_dask(error_estimator, dd.from_pandas(X[400:], npartitions=3))
    >>> scores.divisions
    (400, 457, 513, 568)
    >>> scores.compute(scheduler="sync").iloc[:2, :3].round(2)
         prediction  probability_0  probability_1
    400           0            1.0            0.0
    401           1            0.0            1.0
    """
    with needed_for("score_dask", "dask"):
        import dask.dataframe as dd  # noqa: PLC0415 - takes seconds
        from dask import delayed  # noqa: PLC0415
        from dask.dataframe.dispatch import make_meta  # noqa: PLC0415

    schema = output_schema(error_estimator)
    if not isinstance(ddf, dd.DataFrame):
        raise TypeError(f"ddf is a {type(ddf).__name__}: make a Dask frame of it (from_pandas).")
    columns = model_columns(error_estimator, list(ddf.columns))
    meta = schema.empty_table().to_pandas()
    meta.index = make_meta(ddf).index
    promise = promise_of(error_estimator) if promise is None else promise
    return ddf[columns].map_partitions(
        judge_partition, delayed(error_estimator), promise, meta=meta
    )


def judge_partition(part: Any, error_estimator: ErrorEstimator, promise: Promise) -> Any:
    """Frame of the scores of a partition, with its index."""
    table = pa.Table.from_pandas(part, preserve_index=False, nthreads=1)
    with parallel_config("sequential"):
        [scores] = score_batches(error_estimator, [table], promise)
    frame = scores.to_pandas()
    frame.index = part.index
    return frame


def on_workers(client: Any, shared: Any, tasks: Iterable[Any]) -> Iterator[Any]:
    """Results of joblib's delayed calls, in their order; `shared`, the function that most of them call, is sent once.

    The arguments of a call are kept by the scheduler until it has ended: nothing is lost with a worker.
    """
    sent = submitted(client, itself, shared)
    waiting: deque[Any] = deque()
    for function, arguments, _ in tasks:
        waiting.append(
            submitted(client, call, sent if function is shared else function, *arguments)
        )
        if len(waiting) > 2 * max(1, sum(client.nthreads().values())):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def submitted(client: Any, function: Any, *arguments: Any) -> Any:
    """Future of a call; its arguments may be large."""
    with needed_for("A client of Dask", "dask"):
        from dask import config  # noqa: PLC0415

    with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(function, *arguments, pure=False)


def itself(value: Any) -> Any:
    """Value that is given: a call of this keeps a value on workers, and on the scheduler if they are lost."""
    return value
