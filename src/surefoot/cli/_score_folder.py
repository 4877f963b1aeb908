"""`surefoot score --out FOLDER`: a table of any size, scored part by part."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot._parallel import duration
from surefoot._words import plural, reason
from surefoot.cli._cluster import cluster, mistakes_of_cluster
from surefoot.cli._console import (
    Mistake,
    check_no_device,
    check_outputs,
    mistakes_of_tables,
    one_sentence_of,
    remark,
)
from surefoot.cli._model import load_with_promise, unit_of
from surefoot.cli._score import check_kept, figures_of, in_words
from surefoot.cli._tables import STDIN, table_name
from surefoot.scoring import score_table


def is_for_parts(out: Path) -> bool:
    """Whether an output is a folder, or a name without an ending, which becomes one."""
    try:
        return not out.suffix or out.is_dir()
    except OSError:  # the name is too long: that is told elsewhere
        return False


def run_score_folder(
    model: Path,
    data: Path,
    out: Path,
    max_risk: Sequence[str] | None,
    confidence: float,
    keep: Sequence[str],
    as_json: bool,
    jobs: int,
    dask: str | None = None,
) -> None:
    """Score a table into a folder, go on where an earlier run was stopped, and say how many rows can be trusted."""
    if data == STDIN:
        raise Mistake(
            "Standard input is read once, and a run that writes a folder can go on after a stop: name a table."
        )
    if not is_for_parts(out):
        raise Mistake(f"--dask writes parts: name a folder instead of {out}.")
    check_no_device(out)
    check_outputs([out], [model, data])
    check_kept(keep)
    sure, promise = load_with_promise(model, max_risk, confidence)
    began = time.perf_counter()
    options: dict[str, Any] = {
        "promise": promise,
        "keep": keep,
        "n_jobs": jobs,
        "progress": not as_json,
    }
    with (
        cluster(dask) as client,
        one_sentence(out, f"{model} cannot judge the rows of {table_name(data)}"),
        mistakes_of_cluster(dask),
    ):
        found = score_table(sure, data, out, client=client, **options)
    seconds = time.perf_counter() - began
    if found["n_infinite"]:
        remark(f"{plural(found['n_infinite'], 'infinite value')} treated as missing.")
    summary = {**figures_of(out, promise, confidence), **found, "seconds": seconds}
    print(
        json.dumps(summary) if as_json else f"{in_words(summary, unit_of(sure))}\n{speed(summary)}"
    )


@contextmanager
def one_sentence(out: Path, what: str) -> Iterator[None]:
    """Turn errors into a `Mistake`: of tables, of the disk, and of the model, for which `what` is the beginning."""
    try:
        with mistakes_of_tables():
            yield
    except OSError as error:
        place = error.filename or out
        raise Mistake(
            f"{place} could not be written: {reason(error)}. Finished parts stay, and the same command goes on "
            "behind them."
        ) from error
    except Mistake:
        raise
    except Exception as error:
        with one_sentence_of(what):
            raise error from None


def speed(summary: dict[str, Any]) -> str:
    """Sentence on the mean estimated error and on the speed of this run."""
    n_now = summary["n_rows"] - summary["n_earlier"]
    earlier = (
        f", {summary['n_earlier']:,} of them by an earlier run" if summary["n_earlier"] else ""
    )
    rate = f", {n_now / summary['seconds']:,.0f} rows per second" if n_now else ""
    seconds = summary["seconds"]
    took = f"{seconds:.1f} s" if seconds < 60 else duration(seconds)
    return (
        f"Mean estimated error: {summary['estimated_error']:.4g}. {plural(summary['n_rows'], 'row')}{earlier}; this "
        f"run took {took}{rate}."
    )
