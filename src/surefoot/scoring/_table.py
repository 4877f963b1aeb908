"""Judgements of tables in files, whatever their size: read as a stream, judged part by part, and written."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings, filterwarnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from joblib import Parallel, delayed, parallel_config
from numpy.typing import NDArray
from sklearn.utils import check_scalar
from threadpoolctl import threadpool_limits

from surefoot import __version__
from surefoot._error_estimators import ErrorEstimator, check_error_estimator
from surefoot._files import write_whole
from surefoot._parallel import Show, bar, end_with, model_of, shared_model
from surefoot._tables import (
    CellError,
    CsvTable,
    ParquetTable,
    TableFileError,
    check_kinds,
    infer,
    kind_in_words,
    model_columns,
    no_rows,
    open_table,
    parse,
    plain,
    table_bytes,
    table_name,
    value_type,
)
from surefoot._words import listed
from surefoot.abstention import Promise
from surefoot.error_estimation import Judgement
from surefoot.scoring._batches import CHUNK, output_schema, rows_for, score_batch
from surefoot.scoring._dask import on_workers
from surefoot.scoring._record import Record, alone_in, file_facts, fingerprint

Table = CsvTable | ParquetTable

# Name of the column with the number of each row.
ROW = "row"

# Rows of a part, and cells of a part at most: a part of a wide table has fewer rows.
ROWS_PER_PART = 100_000
CELLS_PER_PART = 10_000_000


def score_table(
    error_estimator: ErrorEstimator,
    source: str | PathLike[str],
    out: str | PathLike[str],
    *,
    promise: Promise | None = None,
    keep: Sequence[str] = (),
    rows_per_part: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    progress: bool | Show = False,
) -> dict[str, Any]:
    """Score a table in files, of any size, into a folder of Parquet files or into one file, and return a summary.

    In a folder, each part is written whole or not at all, and noted in `_manifest.jsonl`. A run that was stopped
    resumes behind the last whole part when it is started again, and ends with the same bytes. Parts do not depend on
    `n_jobs`, nor on how the table is divided into files and row groups. Numbers that are infinite, or beyond float32,
    are judged as missing ones.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator, which judges the rows.
    source : path
        Parquet file, folder of Parquet files (names of folders such as year=2024 are a column), or CSV file; files may
        be compressed by gzip or bzip2. The cells of a CSV get the kind that their column had in `fit`.
    out : path
        Folder for the scores: a new or empty one, or the one of a run that was stopped. Or a file that ends in .csv or
        .parquet; the scores of all rows are then in memory at once.
    promise : Promise, default=None
        Says which rows are accepted. The default is `Promise.from_held_out(error_estimator.held_out_)`.
    keep : sequence of str, default=()
        Columns of the table to copy, in front of the scores.
    rows_per_part : int, default=None
        Rows in each file of the output. The default is 100,000, or fewer if the table has more than 100 columns.
    n_jobs : int, default=None
        Processes that judge; for a folder each takes one core, and holds two parts at most.
    client : distributed.Client, default=None
        Cluster of Dask whose workers judge, in place of processes of this machine. Only this machine reads the table
        and writes the parts; they have the same bytes if all machines have the same versions of all packages.
    progress : bool or callable, default=False
        Whether to show a bar on a terminal or in a notebook, with rows per second and the time that is left; or a
        function that gets the share that is done, these words, and the seconds that are left.

    Returns
    -------
    summary : dict
        `n_rows`; `estimated_error`, its mean; `n_accepted`, rows that are answered under the promise; `n_novel`;
        `n_infinite`, infinite numbers that were judged as missing; for a folder also `n_parts`, and `n_earlier`, rows
        that earlier runs had scored.

    See Also
    --------
    score_batches : Scores of batches that you read yourself.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.scoring import score_table
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> with TemporaryDirectory() as folder:
    ...     X[400:].to_csv(f"{folder}/new.csv", index=False)
    ...     summary = score_table(error_estimator, f"{folder}/new.csv", f"{folder}/scores")
    ...     scores = pd.read_parquet(f"{folder}/scores")
    >>> summary["n_rows"], list(scores)[:3]
    (169, ['row', 'prediction', 'probability_0'])
    """
    check_error_estimator(error_estimator)
    source, out = Path(fspath(source)), Path(fspath(out))
    is_file = out.suffix in (".csv", ".parquet") and not out.is_dir()
    with open_table(source, error_estimator.input_form_) as table:
        check_place(out, source, is_file=is_file)
        columns = columns_of(error_estimator, table, keep)
        kept = table.schema(list(dict.fromkeys(keep)), "which is to be kept")
        kept = pa.schema([(field.name, value_type(field.type)) for field in kept])
        if rows_per_part is not None:
            check_scalar(rows_per_part, "rows_per_part", Integral, min_val=1)
        most_rows = CHUNK if is_file else ROWS_PER_PART
        size = rows_per_part or max(1, min(most_rows, CELLS_PER_PART // len(columns)))
        promise = Promise.from_held_out(error_estimator.held_out_) if promise is None else promise
        show = bar() if progress is True else progress or None
        shared = shared_model(error_estimator, n_jobs) if client is None else error_estimator
        # Workers of a cluster do not end with this process.
        starter = os.getpid() if client is None else -1
        judge = partial(judge_part, shared, promise, kept, starter, not is_file)
        spread: Any = Parallel(n_jobs=n_jobs, return_as="generator")
        spread = spread if client is None else partial(on_workers, client, judge)
        if is_file:
            judged = judged_parts(judge, spread, table, columns, size)
            scores = list(watched(judged, table, show))
            content = pa.concat_tables([part for part, _ in scores])
            write_whole(out, table_bytes(as_frame(content, table, kept.names), out.suffix))
            return summary_of([figures for _, figures in scores])
        with alone_in(out):
            record = Record(out, head_of(error_estimator, table, promise, kept, size))
            n_earlier = record.n_rows
            if not record.is_complete:
                judged = judged_parts(judge, spread, table, columns, size, len(record.parts))
                for part, figures in watched(judged, table, show, n_earlier):
                    record.add(part, figures)
                record.finish()
        n_parts = len(record.parts)
        return {**summary_of(record.parts), "n_parts": n_parts, "n_earlier": n_earlier}


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


def check_place(out: Path, source: Path, *, is_file: bool) -> None:
    """Raise an error if the scores of a table cannot be written to a path."""
    if not out.resolve().parent.is_dir():
        raise TableFileError(f"There is no folder {out.parent} to make {out.name} in.")
    if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
        raise TableFileError(f"{out} is in {source}, which is read: write the scores elsewhere.")
    if out.resolve() == source.resolve():
        raise TableFileError(f"{out} is the table that is read: write the scores elsewhere.")
    if not is_file and out.exists() and not out.is_dir():
        raise TableFileError(f"{out} is a file: name a folder for the parts.")
    if not is_file and source.exists() and not (source.is_dir() or source.is_file()):
        raise TableFileError(
            f"{source} is read once, and a run that writes a folder can resume after a stop: name a file or folder."
        )


def head_of(
    error_estimator: ErrorEstimator,
    table: Table,
    promise: Promise,
    kept: pa.Schema,
    rows_per_part: int,
) -> dict[str, Any]:
    """First line of the record: what is scored by what."""
    return {
        "surefoot": __version__,
        "model": fingerprint(error_estimator),
        "source": str(table.path.resolve()),
        "files": file_facts(table.files, table.path),
        "options": {
            "rows_per_part": rows_per_part,
            "keep": kept.names,
            "limit": promise.threshold if promise.kept else None,
            "all": promise.coverage == 1,
        },
    }


def as_frame(scores: pa.Table, table: Table, kept: Sequence[str]) -> Any:
    """Pandas frame of scores; the strings of a CSV that were kept become numbers, if all of them are."""
    if isinstance(table, CsvTable):
        for name in kept:
            column = infer(scores[name], decimal_comma=table.has_decimal_commas)
            scores = scores.set_column(scores.schema.names.index(name), name, column)
    return scores.to_pandas()


def summary_of(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Figures of all parts together."""
    counts = ("n_rows", "n_accepted", "n_novel", "n_infinite")
    totals = {name: sum(part[name] for part in parts) for name in counts}
    mean = sum(part["error_sum"] for part in parts) / totals["n_rows"]
    return {**totals, "estimated_error": mean}


# Parts of a table, judged by processes or workers


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


def judged_parts(
    judge: Any, spread: Any, table: Table, columns: list[str], size: int, n_done: int = 0
) -> Iterator[tuple[pa.Table, dict[str, Any]]]:
    """Results of `judge` for each part, in order; an error comes after the parts before it."""
    parts = table_parts(table, columns, size, n_done)
    try:
        yield from spread(with_errors(delayed(judge)(*part) for part in parts))
    except CellError as error:
        raise error.in_table(table) from None


def judge_part(
    shared: Any,
    promise: Promise,
    kept: pa.Schema,
    starter: int,
    one_core: bool,
    part: pa.Table,
    first_row: int,
) -> tuple[pa.Table, dict[str, Any]]:
    """Scores of a part and their figures; on one core, if asked, so that they have the same bytes everywhere.

    `shared` is the error estimator, or what `shared_model` made of it.
    """
    if os.getppid() == starter:
        end_with(starter)
    threads = threadpool_limits(1) if one_core else nullcontext()
    backend = parallel_config("sequential") if one_core else nullcontext()
    try:
        with threads, backend, catch_warnings():
            filterwarnings("ignore", "Found unknown categories", UserWarning)
            scores, n_infinite = score_batch(model_of(shared), part, promise, kept)
    except CellError as error:
        raise error.behind(first_row) from None
    rows = pa.array(np.arange(first_row, first_row + part.num_rows))
    figures = {
        "n_rows": part.num_rows,
        "error_sum": float(np.sum(scores["estimated_error"].to_numpy())),
        "n_accepted": pc.sum(scores["accepted"]).as_py(),
        "n_novel": pc.sum(scores["novel"]).as_py(),
        "n_infinite": n_infinite,
    }
    return pa.table([rows, *scores.columns], [ROW, *scores.schema.names]), figures


def with_errors(tasks: Iterable[Any]) -> Iterator[Any]:
    """Tasks, and one that raises the error by which they end: so the parts before it are written first."""
    try:
        yield from tasks
    except Exception as error:  # noqa: BLE001 - whatever it is, it is raised again
        yield delayed(fail)(error)


def fail(error: Exception) -> None:
    """Raise an error."""
    raise error


def watched(
    judged: Iterable[Any], table: Table, show: Show | None, n_before: int = 0
) -> Iterator[Any]:
    """Judged parts as they are; how far the work is, is shown before the first, and after each that was used."""
    began, n_rows = time.perf_counter(), n_before
    if show is not None:
        show(table.share(n_rows), "Judging", None)
    for part, figures in judged:
        yield part, figures
        n_rows += figures["n_rows"]
        if show is not None:
            share = table.share(n_rows)
            rate = (n_rows - n_before) / (time.perf_counter() - began)
            left = n_rows * (1 - share) / share / rate if share else None
            show(share, f"Judging {rate:,.0f} rows per second", left)


# Judgements that are not written


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
    """

    first_row: int
    X: Any
    judgement: Judgement
    times: NDArray[Any] | None
    n_infinite: int


def judge_table(
    error_estimator: ErrorEstimator, source: str | PathLike[str], *, time: str | None = None
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
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> with TemporaryDirectory() as folder:
    ...     X[400:].to_csv(f"{folder}/new.csv", index=False)
    ...     parts = [part for part in judge_table(error_estimator, f"{folder}/new.csv")]
    >>> [len(part.judgement) for part in parts]
    [169]
    """
    check_error_estimator(error_estimator)
    with open_table(Path(fspath(source)), error_estimator.input_form_) as table:
        names = columns = columns_of(error_estimator, table)
        if time is not None:
            check_time(table, time)
            columns = list(dict.fromkeys([*names, time]))
        size = max(1, min(CHUNK, CELLS_PER_PART // len(columns)))
        for part, first_row in table_parts(table, columns, size):
            times = None if time is None else times_of(part, time, table, first_row)
            try:
                X, n_infinite = rows_for(error_estimator, part.select(names))
            except CellError as error:
                raise error.behind(first_row).in_table(table) from None
            with catch_warnings():
                filterwarnings("ignore", "Found unknown categories", UserWarning)
                judgement = error_estimator.judge(X)
            yield JudgedRows(first_row, X, judgement, times, n_infinite)


def check_time(table: Table, name: str) -> None:
    """Raise an error unless a column holds times, or strings that may be times."""
    column_type = table.schema([name], "which has the times").field(0).type
    kind = kind_in_words(column_type)
    if kind == "times" and not (
        pa.types.is_timestamp(column_type) or pa.types.is_date(column_type)
    ):
        kind = "times without a day"
    if kind not in ("times", "strings", "no values"):
        raise TableFileError(
            f"Column {name!r} of {table.path} holds {kind}: periods need dates, such as 2026-11-16."
        )


def times_of(part: pa.Table, name: str, table: Table, first_row: int) -> NDArray[Any]:
    """Times of the rows in UTC, NaT where they are missing; an error names the first string that is none."""
    column = plain(part.column(name))
    if kind_in_words(column.type) == "strings":
        try:
            column = parse(column, "M", name)
        except CellError as error:
            raise TableFileError(
                f"{table.place(first_row + error.row)} has {error.value!r} in the column {name!r} of times: write "
                "times as 2026-11-16 or 2026-11-16T08:00."
            ) from None
    zone = getattr(column.type, "tz", None)
    moments = column.cast(pa.timestamp("us", tz=zone), safe=False)
    return np.asarray(moments.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)).astype(
        "datetime64[us]"
    )
