"""`surefoot report` on 100,000 rows and 30 columns: time against a 5-fold cross-validation, memory, first progress.

Each runs in a process of its own, on one thread, and times are of the processor: others may use it too. With
names of tables and their targets, as in `bench_report.py churn.csv churn wine.csv quality`, those are reported on.
"""

import os
import pty
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from timing import report

N_ROWS = 100_000
GIB = 2**20  # in the unit of ru_maxrss, KiB

CROSS_VALIDATE = """
import sys
from pathlib import Path
from sklearn.model_selection import cross_val_predict
from surefoot.cli._model import build_model
from surefoot.cli._rows import take_apart
from surefoot._tables import read_table
rows = take_apart(read_table(Path(sys.argv[1]), print), sys.argv[2], "auto", None, sys.argv[1])
model = build_model("boosting", rows.task, 0)
method = "predict_proba" if rows.task == "classification" else "predict"
cross_val_predict(model, rows.X, rows.y, cv=5, method=method)
"""


def make_table(n_rows=N_ROWS):
    """20 numbers, six categories and four dates, a fifth of the columns with gaps, and a noisy class."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"number{i}": rng.normal(size=n_rows) for i in range(20)})
    odds = table["number0"] * table["number1"] + np.sin(3 * table["number2"]) + table["number3"]
    for i in range(6):
        codes = rng.integers(0, 3 + 4 * i, n_rows)
        table[f"category{i}"] = pd.Series([f"kind {code}" for code in codes])
        odds += 0.5 * np.cos(codes + i)
    for i in range(4):
        days = rng.integers(0, 1000, n_rows)
        table[f"date{i}"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(days, "D")
        odds += 0.001 * days
    for name in table.columns[::5]:
        table.loc[rng.uniform(size=n_rows) < 0.1, name] = None
    table["target"] = np.where(rng.logistic(size=n_rows) < odds, "yes", "no")
    return table


def measure(command):
    """Processor seconds, seconds on the clock in all and to the first thing shown, peak memory in GiB."""
    ours, theirs = pty.openpty()
    began, seen = time.perf_counter(), None
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = []
        while text := read(ours):
            seen = seen or time.perf_counter() - began
            shown.append(text)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    os.close(ours)
    if process.returncode:
        sys.exit(b"".join(shown)[-2000:].decode(errors="replace"))
    spent = used.ru_utime + used.ru_stime
    return spent, time.perf_counter() - began, seen, used.ru_maxrss / GIB


def read(terminal):
    """What is shown next; nothing when the process is gone."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def compare(path, target, folder):
    """A report, and a cross-validation of the same model on the same table: what `measure` says; size in MB."""
    python = [sys.executable, "-c"]
    command = [*python, "from surefoot.cli import main; main()", "report", path]
    page = folder / "report.html"
    theirs = measure([*python, CROSS_VALIDATE, path, target])
    ours = measure([*command, "--target", target, "--out", str(page)])
    return ours, theirs, page.stat().st_size / 1e6


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = list(pairwise(sys.argv[1:]))[::2]
        for path, target in tables:
            (spent, _, _, peak), (theirs, *_), size = compare(path, target, folder)
            print(
                f"{Path(path).name:<28} report {spent:6.1f} s, {spent / theirs:5.1f} × cross-validation, "
                f"{peak:.2f} GiB, page {size:.2f} MB"
            )
        if not tables:
            make_table().to_parquet(folder / "table.parquet", index=False)
            ours, theirs, size = compare(str(folder / "table.parquet"), "target", folder)
            (spent, took, seen, peak), (their_spent, their_took, *_) = ours, theirs
            print(f"report {spent:.0f} s of the processor, cross-validation {their_spent:.0f} s")
            report("report / 5-fold cross-validation", spent / their_spent, "at most", 5)
            report("the same by the clock", took / their_took, "at most", 5)
            report("peak memory of the report, GiB", peak, "at most", 3)
            report("seconds to the first progress", seen, "at most", 2)
            report("size of the page, MB", size, "at most", 3)
