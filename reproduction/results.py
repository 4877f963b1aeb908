"""Results of an experiment: computed in parallel with progress, then printed and written to files."""

import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import ttest_rel

T = TypeVar("T")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Seconds between two lines of progress.
PAUSE = 10
# Fewer paired runs than these have no p-value: two that happen to differ alike would have p = 0.
LEAST_PAIRS = 5


def progress(items: Iterable[T], *, total: int, label: str) -> Iterator[T]:
    """Yield the items; every ten seconds, a line on stderr tells how many are done and how long the rest takes."""
    start = last = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= PAUSE:
            left = (now - start) / number * (total - number) / 60
            print(f"{number} of {total} {label}, about {left:.0f} minutes left", file=sys.stderr)
            last = now


def in_parallel(function: Callable[..., T], jobs: Sequence[Any], label: str) -> Iterator[T]:
    """Yield the function's result for each tuple of arguments, in order, with progress.

    The number of processes is that of the surrounding `joblib.parallel_config`.
    """
    finished = Parallel(return_as="generator")(delayed(function)(*job) for job in jobs)
    return progress(finished, total=len(jobs), label=label)


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as text: the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def write_table(path: Path, rows: Sequence[dict[str, Any]], form: str = "") -> None:
    """Write rows by column name as CSV, below a header; floats have the form, for example ".4f"."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows[0])
        for row in rows:
            writer.writerow(format(v, form) if isinstance(v, float) else v for v in row.values())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.part")
    partial.write_bytes(content)
    partial.replace(path)


def paired_p_value(ours: Floats, theirs: Floats) -> float:
    """p-value of the two-sided paired t-test; NaN for fewer than five pairs.

    It is 1 if no pair differs, and 0 if all differ by the same amount.
    """
    differences = ours - theirs
    if len(differences) < LEAST_PAIRS:
        return float("nan")
    if np.ptp(differences) < 1e-12:
        return float(abs(differences[0]) < 1e-12)
    return float(ttest_rel(ours, theirs).pvalue)


def p_value_text(p_value: float) -> str:
    """p-value with three decimals, "< 0.001" for a smaller one, and "–" if there are too few runs for one."""
    if np.isnan(p_value):
        return "–"
    return f"{p_value:.3f}" if p_value >= 0.0005 else "< 0.001"


def with_spread(mean: float, spread: float, form: str = ".2f") -> str:
    """Mean ± standard deviation or standard error; the mean alone where one run or topic has no spread."""
    sign = "+" if form.startswith("+") else ""
    return f"{mean:{form}}" + ("" if np.isnan(spread) else f" ± {spread:{form.removeprefix(sign)}}")


def spread_of(values: Floats) -> float:
    """Standard deviation of the values; NaN for a single one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
