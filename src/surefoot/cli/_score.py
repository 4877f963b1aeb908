"""`surefoot score`: prediction of each row, its estimated error, and whether it is accepted."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from os.path import isdir
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from surefoot import _tables as tables
from surefoot._files import check_not_read
from surefoot._optional import needed_for
from surefoot._words import percent, plural
from surefoot.cli._console import (
    Confidence,
    Jobs,
    Json,
    MaxRisk,
    Mistake,
    ModelFile,
    Overwrite,
    Table,
    check_no_device,
    check_output,
    check_own,
    mistakes_of_writing,
    one_sentence_of,
    remark,
    working,
)

# Share of novel rows from which on the promise is stated for rows like the training rows.
MANY_NOVEL = 0.1

AGAIN = "Finished parts stay, and the same command resumes after them."


def score(
    model: ModelFile,
    data: Table,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="File for the scored rows, .csv or .parquet; or a folder for parts of a table of any size, where "
            "a run that was stopped resumes.",
        ),
    ],
    overwrite: Overwrite = False,
    max_risk: MaxRisk = None,
    confidence: Confidence = 0.95,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column of DATA to copy to FILE; may be repeated."),
    ] = None,
    as_json: Json = False,
    jobs: Jobs = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Scheduler of a Dask cluster whose workers judge the parts."
        ),
    ] = None,
) -> None:
    """Predict every row of a table, or read its prediction, estimate the error, and mark the rows to trust."""
    with working("Starting"):
        from surefoot.cli._model import load_with_promise
        from surefoot.scoring import output_schema, score_table

    is_folder = not out.suffix or isdir(out)  # noqa: PTH112 - no error for a name that is too long
    check_paths(model, data, out, keep or [], is_folder=is_folder, on_cluster=dask is not None)
    error_estimator, promise = load_with_promise(model, max_risk, confidence)
    if not overwrite:
        columns = ["row", *dict.fromkeys(keep or ()), *output_schema(error_estimator).names]
        check_own(out, lambda lines: [*map(tables.from_cell, next(lines, []))] == columns)
    began = perf_counter()
    with (
        one_sentence_of(f"{model} cannot judge the rows of {tables.table_name(data)}"),
        mistakes_of_writing(out, AGAIN if is_folder else None),
        nullcontext() if dask is None else cluster(dask) as client,
    ):
        scored = score_table(
            error_estimator,
            data,
            out,
            promise=promise,
            keep=keep or [],
            n_jobs=jobs,
            client=client,
            progress=not as_json,
        )
    if scored["n_infinite"]:
        remark(tables.infinities_in_words(scored["n_infinite"]))
    order = getattr(error_estimator, "row_order_", {})  # written by `surefoot fit`
    summary = {
        "scores": str(out),
        "max_risk": promise.max_risk,
        "class_risks": {str(label): risk for label, risk in promise.class_risks.items()},
        "confidence": confidence,
        "limit": promise.threshold if promise.kept else None,
        "time": order.get("time"),
        "order": order.get("sentence"),
        **scored,
    }
    if is_folder:
        summary["seconds"] = perf_counter() - began
    print(json.dumps(summary) if as_json else score_in_words(summary, promise, error_estimator))


def check_paths(
    model: Path, data: Path, out: Path, keep: Sequence[str], *, is_folder: bool, on_cluster: bool
) -> None:
    """Raise one sentence for an output that cannot be written, a table that cannot be scored into it, or a column."""
    if is_folder and data == tables.STDIN:
        raise Mistake(
            "Standard input is read once, and a run that writes a folder can resume after a stop: name a table."
        )
    if on_cluster and not is_folder:
        raise Mistake(f"--dask writes parts: name a folder instead of {out}.")
    if is_folder:
        check_no_device(out)
        check_not_read(out, [model, data])
    else:
        check_output(out, [".csv", ".parquet"], [model, data], overwrite=True)
    for column in keep:
        if tables.is_score_column(column):
            raise Mistake(f"--keep {column} has the name of a column that is written: rename it.")
    if not is_folder:
        instead = f"name a folder instead of {out}, and the rows are scored part by part"
        tables.check_fits(data, instead)


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Client of the Dask scheduler at an address, which has a worker.

    It waits for `distributed.comm.timeouts.connect` of Dask's configuration, half a minute by default. A cluster that
    is missing, or is lost during the work, is a `Mistake`.
    """
    with needed_for("--dask", "dask"):
        from dask import config  # takes seconds
        from dask.utils import parse_timedelta
        from distributed import CancelledError, Client, KilledWorker
        from distributed.comm import CommClosedError
    seconds = parse_timedelta(config.get("distributed.comm.timeouts.connect"))
    with working(f"Connecting to {address}"):
        try:
            client = Client(address, timeout=seconds)
        except ValueError as error:
            raise Mistake(
                f"{address!r} is no address of a scheduler of Dask: it may be tcp://10.0.0.1:8786."
            ) from error
        except OSError as error:
            raise Mistake(
                f"No scheduler of Dask answers at {address} within {seconds:g} s: start one there, with dask scheduler."
            ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=seconds)
        except TimeoutError as error:
            raise Mistake(
                f"The scheduler of Dask at {address} has no worker: start one with dask worker {address}."
            ) from error
        try:
            yield client
        except (CancelledError, CommClosedError) as error:
            raise Mistake(f"The scheduler of Dask at {address} was lost. {AGAIN}") from error
        except KilledWorker as error:
            raise Mistake(
                f"A part ended several workers of {address}, perhaps for want of memory. {AGAIN}"
            ) from error


def score_in_words(summary: dict[str, Any], promise: Any, error_estimator: Any) -> str:
    """How many rows can be trusted, which never are, and where all of them are; for a folder also the speed."""
    n_rows, n_novel, n_known = (summary[name] for name in ("n_rows", "n_novel", "n_known"))
    unit, confidence = error_estimator.held_out_.unit, percent(promise.confidence)
    limits = f"{promise.describe(unit)['short']} cannot be promised with {confidence} confidence"
    if promise.kept:
        limits = promise.in_words(unit)
        limits += ", for rows like the training rows" if n_novel > MANY_NOVEL * n_rows else ""
    never = f"{n_novel:,} {'is' if n_novel == 1 else 'are'} novel (unlike the training rows)"
    if n_known:
        never += f", and {n_known:,} {'is' if n_known == 1 else 'are'} among the training rows"
    never += ": none of these is trusted." if n_novel + n_known else "."
    lines = [
        f"{summary['n_accepted']:,} of {plural(n_rows, 'row')} can be trusted: {limits}. {never}",
        *filter(None, [summary["order"]]),
        f"Every row: {summary['scores']}",
    ]
    if "seconds" not in summary:
        return "\n".join(lines)
    from surefoot._parallel import duration

    seconds, n_earlier = summary["seconds"], summary["n_earlier"]
    n_now = n_rows - n_earlier
    earlier = f", {n_earlier:,} of them by an earlier run" if n_earlier else ""
    rate = f", {n_now / seconds:,.0f} rows per second" if n_now else ""
    took = f"{seconds:.1f} s" if seconds < 60 else duration(seconds)
    lines.append(
        f"Mean estimated error: {summary['estimated_error']:.4g}. {plural(n_rows, 'row')}{earlier}; this run took "
        f"{took}{rate}."
    )
    return "\n".join(lines)
