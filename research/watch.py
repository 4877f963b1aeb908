"""`surefoot watch` against `surefoot score --out FOLDER` on the same generated table: processor time and peak memory.

Both run once, one process each, on one core. The rows of 52 weeks are in the order of time, or drawn at random.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops import io as skops

from benchmarks.timing import report
from scale import N_FITTED, TARGET, make_rows

PIECE = 100_000
FIRST, N_DAYS = np.datetime64("2026-01-05"), 364
MIB = 2**20


def write_table(path, n_rows, shuffled):
    """Parquet file of rows with a day each, written piece by piece."""
    rng = np.random.default_rng(2)
    days = np.sort(rng.integers(0, N_DAYS, n_rows))
    days = rng.permutation(days) if shuffled else days
    writer = None
    for number, start in enumerate(range(0, n_rows, PIECE)):
        size = min(PIECE, n_rows - start)
        rows = make_rows(size, seed=1 + number).drop(columns=TARGET)
        rows["day"] = FIRST + days[start : start + size]
        table = pa.Table.from_pandas(rows, preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def run(*arguments):
    """Processor seconds and peak resident memory, in MiB, of a command that ends well."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from surefoot.cli import main; main()", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, arguments
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / MIB


def main():
    """Fit a model, write a table, and run both commands on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--every", default="week")
    parser.add_argument("--shuffled", action="store_true", help="rows in random order of time")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_rows(N_FITTED, seed=0).to_parquet(folder / "fit.parquet", index=False)
        skops.dump(make_pipeline(StandardScaler(), LogisticRegression()), folder / "plain.skops")
        model, table = folder / "model.skops", folder / "new.parquet"
        run(
            *("fit", folder / "fit.parquet", "--target", TARGET, "--out", model),
            *("--estimator", folder / "plain.skops"),
        )
        write_table(table, given.rows, given.shuffled)
        score = run("score", model, table, "--out", folder / "scores")
        print(f"score {given.rows:,} rows: {score[0]:.1f} s, {score[1]:.0f} MiB", flush=True)
        page = folder / "watch.html"
        watch = run("watch", model, table, "--time", "day", "--every", given.every, "--out", page)
        print(f"watch by {given.every}: {watch[0]:.1f} s, {watch[1]:.0f} MiB", flush=True)
        report("processor time, watch / score", watch[0] / score[0], "at most", 1.3)
        report("peak memory, watch / score", watch[1] / score[1], "at most", 1.1)


if __name__ == "__main__":
    main()
