"""Scores of tables in files, whatever their size: read as a stream, judged part by part, and written.

A folder of scores has a record (manifest) of what is scored by what, and of the parts that are finished.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import takewhile
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from joblib import Parallel, delayed, parallel_config
from joblib import hash as hash_of
from sklearn.utils import check_scalar
from threadpoolctl import threadpool_limits

from surefoot import __version__
from surefoot._error_estimators import ErrorEstimator, check_error_estimator
from surefoot._files import check_not_read, linked_path, write_whole
from surefoot._parallel import Show, bar, end_with, model_of, shared_model
from surefoot._tables import (
    CsvTable,
    RowError,
    TableFileError,
    in_table,
    open_table,
    table_bytes,
    value_type,
)
from surefoot._words import listed
from surefoot.abstention import Promise, promise_of
from surefoot.scoring._batches import (
    CELLS_PER_PART,
    CHUNK,
    ROW,
    Table,
    columns_of,
    score_batch,
    table_parts,
)
from surefoot.scoring._dask import on_workers

# Rows of a part that is written.
ROWS_PER_PART = 100_000


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
    resumes after the last complete part when it is started again, and ends with the same bytes. Parts do not depend on
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
        Says which rows are accepted. The default is `promise_of(error_estimator)`.
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
        if keep and isinstance(table, CsvTable):
            kept = table.inferred_schema(kept.names)
        if rows_per_part is not None:
            check_scalar(rows_per_part, "rows_per_part", Integral, min_val=1)
        most_rows = CHUNK if is_file else ROWS_PER_PART
        size = rows_per_part or max(1, min(most_rows, CELLS_PER_PART // len(columns)))
        promise = promise_of(error_estimator) if promise is None else promise
        show = (bar() if progress is True else progress) or (lambda *_: None)
        shared = shared_model(error_estimator, n_jobs) if client is None else error_estimator
        # Workers of a cluster do not end with this process.
        starter = os.getpid() if client is None else -1
        judge = partial(judge_part, shared, promise, kept, starter, not is_file)
        spread: Any = Parallel(n_jobs=n_jobs, return_as="generator")
        spread = spread if client is None else partial(on_workers, client, judge)
        if is_file:
            scores = list(judged_parts(judge, spread, table, columns, size, show))
            content = pa.concat_tables([part for part, _ in scores])
            write_whole(out, table_bytes(content, out.suffix))
            return summary_of([figures for _, figures in scores])
        with alone_in(out):
            record = Record(out, head_of(error_estimator, table, promise, kept, size))
            n_earlier = record.n_rows
            if not record.is_complete:
                n_done = len(record.parts)
                for scored in judged_parts(judge, spread, table, columns, size, show, n_done):
                    record.add(*scored)
                record.finish()
        return {**summary_of(record.parts), "n_parts": len(record.parts), "n_earlier": n_earlier}


def check_place(out: Path, source: Path, *, is_file: bool) -> None:
    """Raise an error if the scores of a table cannot be written to a path."""
    if not linked_path(out).parent.is_dir():
        raise TableFileError(f"There is no folder {out.parent} to make {out.name} in.")
    check_not_read(out, [source])
    if not is_file and linked_path(source).is_relative_to(linked_path(out)):
        raise TableFileError(f"{source}, which is read, is in {out}: name another folder.")
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
        "source": str(linked_path(table.path)),
        "files": file_facts(table.files, table.path),
        "options": {
            "rows_per_part": rows_per_part,
            "keep": kept.names,
            "limit": promise.threshold if promise.kept else None,
            "all": promise.coverage == 1,
        },
    }


def summary_of(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Figures of all parts together."""
    counts = ("n_rows", "n_accepted", "n_novel", "n_known", "n_infinite")
    totals = {name: sum(part[name] for part in parts) for name in counts}
    mean = sum(part["error_sum"] for part in parts) / totals["n_rows"]
    return {**totals, "estimated_error": mean}


# Parts of a table, judged by processes or workers


def judged_parts(
    judge: Any,
    spread: Any,
    table: Table,
    columns: list[str],
    size: int,
    show: Show,
    n_done: int = 0,
) -> Iterator[tuple[pa.Table, dict[str, Any]]]:
    """Results of `judge` for each part, in order; an error comes after the parts before it.

    How far the work is, is shown before the first part, and after each that was used.
    """
    began = time.perf_counter()
    n_rows = n_before = n_done * size
    show(table.share(n_rows), "Judging", None)
    parts = table_parts(table, columns, size, n_done)
    try:
        for part, figures in spread(with_errors(delayed(judge)(*part) for part in parts)):
            yield part, figures
            n_rows += figures["n_rows"]
            share = table.share(n_rows)
            rate = (n_rows - n_before) / (time.perf_counter() - began)
            left = n_rows * (1 - share) / share / rate if share else None
            show(share, f"Judging {rate:,.0f} rows per second", left)
    except RowError as error:
        raise in_table(error, table) from None


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
    except RowError as error:
        error.row += first_row
        raise
    rows = pa.array(np.arange(first_row, first_row + part.num_rows))
    figures = {
        "n_rows": part.num_rows,
        "error_sum": float(np.sum(scores["estimated_error"].to_numpy())),
        "n_accepted": pc.sum(scores["accepted"]).as_py(),
        "n_novel": pc.sum(scores["novel"]).as_py(),
        "n_known": pc.sum(scores["known"]).as_py(),
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


# Record of a folder of scores (manifest): which parts are finished

# Names that begin with an underscore or a point are no parts of a table, for those who read the folder.
RECORD = "_manifest.jsonl"
TEMPORARY = ".surefoot-*"

# Last line of a record without further parts.
END = {"complete": True}

# Fields of the first line that must agree, and what it means if they do not.
MUST_AGREE = {
    "model": "scores of another model",
    "files": "scores of another table, or of this one before it was changed",
    "options": "scores with other options",
    "surefoot": "scores of another version of surefoot",
}


class Record:
    """Parts of a folder of scores that are finished, in order: the first line of a file, then one line for each part.

    Parameters
    ----------
    folder : Path
        Folder of the scores.
    head : dict
        What is scored by what; see `MUST_AGREE`.
    """

    def __init__(self, folder: Path, head: dict[str, Any]) -> None:
        self.folder, self.path = folder, folder / RECORD
        for left_over in folder.glob(TEMPORARY):
            left_over.unlink(missing_ok=True)
        lines = self._read()
        if len(lines) > 1:  # a run that wrote no part binds nobody
            self._check_agrees(lines[0], head)
            head = lines[0]
        numbered = takewhile(
            lambda each: is_as_written(folder, each[1], each[0]), enumerate(lines[1:])
        )
        self.parts = [line for _, line in numbered]
        self.is_complete = lines[1:] == [*self.parts, END]
        # Only the lines that are valid: a kill may have cut off the last one.
        valid = [head, *self.parts, *([END] if self.is_complete else [])]
        write_whole(self.path, b"".join(map(as_line, valid)))

    @property
    def n_rows(self) -> int:
        """Rows of all parts that are finished."""
        return sum(part["n_rows"] for part in self.parts)

    def add(self, scores: pa.Table, figures: dict[str, Any]) -> None:
        """Write a part, and note it with its figures."""
        path, content = self.folder / part_name(len(self.parts)), pa.BufferOutputStream()
        pq.write_table(scores, content)
        written = content.getvalue().to_pybytes()
        write_whole(path, written)
        digest = hashlib.sha256(written).hexdigest()
        self.parts.append({"part": path.name, "sha256": digest, **figures})
        self._append(self.parts[-1])

    def finish(self) -> None:
        """Note that there are no more parts."""
        self._append(END)
        self.is_complete = True

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(as_line(line))
            file.flush()
            os.fsync(file.fileno())

    def _read(self) -> list[dict[str, Any]]:
        """Lines that can be read, none in an empty folder; an error if the first is damaged, or in another folder."""
        if not self.path.exists():
            if others := sorted(path.name for path in self.folder.iterdir()):
                raise TableFileError(
                    f"{self.folder} has {listed(others, 3)} and no scores: name an empty or a new folder."
                )
            return []
        lines = list(valid_lines(self.path.read_bytes()))
        if not lines or not set(MUST_AGREE) <= set(lines[0]):
            raise TableFileError(
                f"{self.path} is damaged: name another folder, or remove {self.folder} to begin again."
            )
        return lines

    def _check_agrees(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        for field, meaning in MUST_AGREE.items():
            if old[field] != new[field]:
                raise TableFileError(
                    f"{self.folder} has {meaning}: name another folder, or remove this one to begin again."
                )


def as_line(content: dict[str, Any]) -> bytes:
    """Content as one line of JSON."""
    return json.dumps(content).encode() + b"\n"


def valid_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """Lines of JSON up to the first that is cut off or damaged."""
    for line in content.splitlines(keepends=True):
        try:
            value = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            value = None
        if not isinstance(value, dict):
            return
        yield value


def part_name(number: int) -> str:
    """Name of the file of a part."""
    return f"part-{number:06d}.parquet"


def is_as_written(folder: Path, part: dict[str, Any], number: int) -> bool:
    """Whether the file of a part is there as it was written."""
    path = folder / part_name(number)
    if part.get("part") != path.name or not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == part.get("sha256")


def fingerprint(error_estimator: ErrorEstimator) -> str:
    """Digest of a fitted error estimator: of its kind and of all that it estimates for its held-out rows."""
    held_out = error_estimator.held_out_
    arrays = [held_out.prediction, held_out.error, held_out.scores, held_out.losses]
    arrays += [*held_out.stability.values(), *held_out.columns.values()]
    kind = type(error_estimator).__name__
    return str(hash_of([kind, *map(np.ascontiguousarray, arrays)], "sha1"))


def file_facts(files: list[Path], source: Path) -> list[list[Any]]:
    """Name, size and time of change of each file of a table."""
    facts = [(file, file.stat()) for file in files]
    return [
        [str(file.relative_to(source.parent)), known.st_size, known.st_mtime_ns]
        for file, known in facts
    ]


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make a folder, unless it is there, and keep other runs out of it; an error if another one is in it."""
    folder.mkdir(exist_ok=True)
    try:
        import fcntl  # noqa: PLC0415 - Windows has no such module
    except ImportError:
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TableFileError(
                    f"Another run is writing to {folder}: wait for it, or name another folder."
                ) from None
        yield
    finally:
        os.close(place)  # which gives the lock back
