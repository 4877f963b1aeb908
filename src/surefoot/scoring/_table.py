"""Scores of a table in files, whatever its size: read as a stream, judged part by part, written part by part."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa
from joblib import Parallel, delayed
from sklearn.utils import check_scalar

from surefoot import __version__
from surefoot._files import write_whole
from surefoot._parallel import shared_model
from surefoot._progress import Show, bar
from surefoot._sure import Sure, check_sure
from surefoot._table_files import TableFileError
from surefoot._table_streams import Source, open_source
from surefoot._words import listed
from surefoot.abstention import Promise, promise_for
from surefoot.scoring._batches import output_schema
from surefoot.scoring._cells import CellError
from surefoot.scoring._dask import on_workers
from surefoot.scoring._parts import ROW, judge_part, table_parts
from surefoot.scoring._record import (
    Record,
    alone_in,
    file_facts,
    fingerprint,
    part_name,
)
from surefoot.scoring._rows import check_kinds, kinds_in_fit, model_columns

# Rows of a part, and cells of a part at most: a part of a wide table has fewer rows.
ROWS_PER_PART = 100_000
CELLS_PER_PART = 10_000_000


def score_table(
    sure: Sure,
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
    """Score a table of any size, in files, into a folder of Parquet files, and return a summary.

    Each part is written whole or not at all, and noted in `_manifest.jsonl`. A run that was stopped goes on behind
    the last whole part when it is started again, and ends with the same bytes. Parts do not depend on `n_jobs`, nor
    on how the table is divided into files and row groups. Infinite numbers are judged as missing ones.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator, which judges the rows.
    source : path
        Parquet file, folder of Parquet files (names of folders such as year=2024 are a column), or CSV file. The
        cells of a CSV get the kind that their column had in `fit`.
    out : path
        Folder for the scores: a new or empty one, or the one of a run that was stopped.
    promise : Promise, default=None
        Says which rows are accepted. The default is `promise_for(sure.held_out_)`.
    keep : sequence of str, default=()
        Columns of the table to copy, in front of the scores.
    rows_per_part : int, default=None
        Rows in each file of the output. The default is 100,000, or fewer if the table has more than 100 columns.
    n_jobs : int, default=None
        Processes that judge; each takes one core, and holds two parts at most.
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
        `n_infinite`, infinite numbers that were judged as missing; `n_parts`; `n_earlier`, rows that earlier runs
        had scored.

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
    >>> sure = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> with TemporaryDirectory() as folder:
    ...     X[400:].to_csv(f"{folder}/new.csv", index=False)
    ...     summary = score_table(sure, f"{folder}/new.csv", f"{folder}/scores")
    ...     scores = pd.read_parquet(f"{folder}/scores")
    >>> summary["n_rows"], list(scores)[:3]
    (169, ['row', 'prediction', 'probability_0'])
    """
    check_sure(sure)
    table = open_source(Path(fspath(source)), partial(kinds_in_fit, sure))
    columns = columns_of(sure, table, keep)
    size = check_rows_per_part(rows_per_part, len(columns))
    promise = promise_for(sure.held_out_) if promise is None else promise
    kept = table.schema(list(dict.fromkeys(keep)), "which is to be kept")
    folder = check_folder(Path(fspath(out)), table.path)
    with alone_in(folder):
        record = Record(folder, head_of(sure, table, promise, kept, size))
        n_earlier = record.n_rows
        if not record.is_complete:
            parts = table_parts(table, columns, size, len(record.parts))
            shared = shared_model(sure, n_jobs) if client is None else sure
            # Workers of a cluster do not end with this process.
            starter = os.getpid() if client is None else -1
            judge = partial(judge_part, shared, promise, kept, starter)
            tasks = with_errors(delayed(judge)(*part) for part in parts)
            spread = Parallel(n_jobs=n_jobs, return_as="generator")
            spread = spread if client is None else partial(on_workers, client, judge)
            write_parts(table, record, spread(tasks), progress)
    return {**summary_of(record), "n_earlier": n_earlier}


def columns_of(sure: Sure, table: Source, keep: Sequence[str]) -> list[str]:
    """Columns to read, those of the model first; an error if one is missing, or of a kind that no model takes."""
    names = model_columns(sure, table.names, str(table.path))
    check_kinds(table, names, kinds_in_fit(sure, names))
    if twice := [name for name in keep if name in {ROW, *output_schema(sure).names}]:
        raise ValueError(
            f"keep has {listed(twice)}, the name of a column that is written: rename it."
        )
    return list(dict.fromkeys([*names, *keep]))


def check_rows_per_part(rows_per_part: int | None, n_columns: int) -> int:
    """Rows of a part: as asked for, or as many as fit a table of this width."""
    if rows_per_part is None:
        return max(1, min(ROWS_PER_PART, CELLS_PER_PART // n_columns))
    return int(check_scalar(rows_per_part, "rows_per_part", Integral, min_val=1))


def check_folder(out: Path, source: Path) -> Path:
    """Folder for the scores; an error if it cannot be one."""
    if out.exists() and not out.is_dir():
        raise TableFileError(f"{out} is a file: name a folder for the parts.")
    if not out.resolve().parent.is_dir():
        raise TableFileError(f"There is no folder {out.parent} to make {out.name} in.")
    if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
        raise TableFileError(f"{out} is in {source}, which is read: name a folder elsewhere.")
    return out


def head_of(
    sure: Sure, table: Source, promise: Promise, kept: pa.Schema, rows_per_part: int
) -> dict[str, Any]:
    """First line of the record: what is scored by what."""
    return {
        "surefoot": __version__,
        "model": fingerprint(sure),
        "source": str(table.path.resolve()),
        "files": file_facts(table.files, table.path),
        "options": {
            "rows_per_part": rows_per_part,
            "keep": kept.names,
            "limit": promise.limit if promise.kept else None,
            "all": promise.coverage == 1,
        },
    }


def write_parts(
    table: Source, record: Record, judged: Iterable[Any], progress: bool | Show
) -> None:
    """Write each part as it is judged, in order, and show how far the work is."""
    watch = Watch(table, record, bar() if progress is True else progress or None)
    try:
        for content, figures in judged:
            path = record.folder / part_name(len(record.parts))
            write_whole(path, content)
            record.add({"part": path.name, "sha256": sha256(content).hexdigest(), **figures})
            watch.look()
    except CellError as error:
        raise TableFileError(f"{table.place(error.row)} has {error.words}.") from None
    record.finish()


def with_errors(tasks: Iterable[Any]) -> Iterator[Any]:
    """Tasks, and one that raises the error by which they end: so the parts before it are written first."""
    try:
        yield from tasks
    except Exception as error:  # noqa: BLE001 - whatever it is, it is raised again
        yield delayed(fail)(error)


def fail(error: Exception) -> None:
    """Raise an error."""
    raise error


class Watch:
    """Rows per second and the time that is left, shown after each part.

    Parameters
    ----------
    table : ParquetSource or CsvSource
        Knows which share of it has been read.
    record : Record
        Knows the parts that are done.
    show : callable or None
        Called with the share that is done, words, and the seconds that are left.
    """

    def __init__(self, table: Source, record: Record, show: Show | None) -> None:
        self.table, self.record, self.show = table, record, show
        self.began, self.n_before = time.perf_counter(), self.record.n_rows
        if show is not None:
            show(table.share(self.n_before), "Judging", None)

    def look(self) -> None:
        """Show how far the work is."""
        if self.show is None:
            return
        elapsed, n_rows = time.perf_counter() - self.began, self.record.n_rows
        share, rate = self.table.share(n_rows), (n_rows - self.n_before) / elapsed
        left = n_rows * (1 - share) / share / rate if share else None
        self.show(share, f"Judging {rate:,.0f} rows per second", left)


def summary_of(record: Record) -> dict[str, Any]:
    """Figures of all parts together."""
    parts = record.parts
    totals = {
        name: sum(part[name] for part in parts)
        for name in ("n_rows", "n_accepted", "n_novel", "n_infinite")
    }
    mean = sum(part["error_sum"] for part in parts) / totals["n_rows"]
    return {**totals, "estimated_error": mean, "n_parts": len(parts)}
