"""`surefoot score` on tables of any size: 20,000,000 rows killed and resumed, one CSV of 2,000,000, and rows × 10.

Prints rows per second and core beside the model's own `predict_proba`, the largest memory of all processes together
(the sum of their resident sets, so that shared pages count more than once), and whether the bytes are the same.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops import io as skops
from threadpoolctl import threadpool_limits

from benchmarks.timing import report

N_COLUMNS, N_FITTED, ROWS_PER_FILE = 20, 2_000, 1_000_000
GIB = 2**30
TARGET = "target"


def make_rows(n_rows, seed):
    """Numbers, most of them with no influence, and a target that is right nine times in ten."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.7 * rng.normal(size=n_rows)
    names = [f"c{i}" for i in range(N_COLUMNS)]
    return pd.DataFrame(X, columns=names).assign(**{TARGET: np.where(score > 0, "yes", "no")})


def write_parquet(folder, n_rows):
    """Parquet files of a million rows each."""
    folder.mkdir()
    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        rows = make_rows(min(ROWS_PER_FILE, n_rows - start), seed=1 + number)
        table = pa.Table.from_pandas(rows.drop(columns=TARGET), preserve_index=False)
        pq.write_table(table, folder / f"{number:04d}.parquet", row_group_size=200_000)


def write_csv(path, n_rows):
    """One CSV file with the same kind of rows."""
    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        rows = make_rows(min(ROWS_PER_FILE, n_rows - start), seed=1 + number).drop(columns=TARGET)
        rows.to_csv(path, mode="a", index=False, header=start == 0, float_format="%.5f")


class Run:
    """A command, its processor seconds and the largest memory of it and its workers."""

    def __init__(self, *arguments):
        command = [Path(sys.executable).with_name("surefoot"), *map(str, arguments)]
        self.began, self.cpu, self.peak = time.perf_counter(), 0.0, 0
        # Into a file: workers that outlive a killed run for a second would keep a pipe open.
        handle, self.written = tempfile.mkstemp()
        self.process = subprocess.Popen(command, stdout=handle)
        os.close(handle)

    def wait(self, until=lambda: False):
        """Wait for the end, or kill all processes as soon as `until()`; whether it came to the end."""
        root, seconds = psutil.Process(self.process.pid), {}
        while self.process.poll() is None:
            self._look(root, seconds)
            if until():
                self.process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.5)
        self.process.wait()
        self.out = Path(self.written).read_text()
        Path(self.written).unlink()
        self.seconds = time.perf_counter() - self.began
        self.cpu = sum(seconds.values())
        return self.process.returncode == 0

    def _look(self, root, seconds):
        total = 0
        for process in all_processes(root):
            try:
                total += process.memory_info().rss
                times = process.cpu_times()
                seconds[process.pid] = times.user + times.system
            except psutil.Error:  # it has just ended
                continue
        self.peak = max(self.peak, total)


def all_processes(root):
    """A process and all that it started, as far as they are there."""
    try:
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def lines_of(folder):
    """Lines of the record of a folder of scores."""
    record = folder / "_manifest.jsonl"
    return record.read_bytes().count(b"\n") if record.exists() else 0


def same_bytes(one, other):
    """Whether two folders have the same files with the same bytes."""
    names = sorted(path.name for path in one.iterdir())
    if names != sorted(path.name for path in other.iterdir()):
        return False
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def rate_of_model(model):
    """Rows per second of the model's own `predict_proba`, on one core, in chunks as `score` has them."""
    error_estimator = skops.load(
        model, trusted=skops.get_untrusted_types(file=model)
    )  # written just now
    rows = make_rows(100_000, seed=1).drop(columns=TARGET)
    with threadpool_limits(1):
        start = time.process_time()
        for at in range(0, len(rows), 10_000):
            error_estimator.estimator_.predict_proba(rows[at : at + 10_000])
    return len(rows) / (time.process_time() - start)


def tell(what, run, n_rows):
    """Print the figures of a run."""
    print(
        f"{what:<44} {run.seconds:8.0f} s {n_rows / run.cpu:8.0f} rows per processor second "
        f"{run.peak / GIB:6.2f} GiB",
        flush=True,
    )


def whole_and_killed(folder, model, source, n_rows, jobs, name):
    """Score a table without a stop, and with a kill after a third of the parts; compare the bytes."""
    score = ["score", model, source, "--jobs", jobs, "--out"]
    whole, killed = folder / f"{name}-whole", folder / f"{name}-killed"
    run = Run(*score, whole)
    assert run.wait(), run.out
    tell(f"{name}, {n_rows:,} rows", run, n_rows)
    n_parts = len(list(whole.glob("*.parquet")))
    first = Run(*score, killed)
    assert not first.wait(until=lambda: lines_of(killed) > max(1, n_parts // 3))
    print(f"  killed after {lines_of(killed) - 1} of {n_parts} parts", flush=True)
    second = Run(*score, killed)
    assert second.wait(), second.out
    print("  " + second.out.strip().replace("\n", "\n  "))
    peak = max(run.peak, first.peak, second.peak) / GIB
    report(f"{name}: memory in GiB, {jobs} processes and the reader", peak, "at most", 2)
    same = same_bytes(whole, killed)
    print(f"{name}: same bytes after the kill: {'yes' if same else 'NO'}", flush=True)
    return run


def main():
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000, help="0 leaves this part out")
    parser.add_argument("--csv-rows", type=int, default=2_000_000, help="0 leaves this part out")
    parser.add_argument("--tenfold", type=int, default=200_000, help="0 leaves this part out")
    parser.add_argument("--estimator", help="a name that surefoot fit knows")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where to write; it needs 300 bytes a row")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        make_rows(N_FITTED, seed=0).to_parquet(folder / "fit.parquet", index=False)
        model = folder / "model.skops"
        skops.dump(make_pipeline(StandardScaler(), LogisticRegression()), folder / "plain.skops")
        fit = Run(
            *("fit", folder / "fit.parquet", "--target", TARGET, "--out", model),
            *("--estimator", given.estimator or folder / "plain.skops"),
        )
        assert fit.wait(), fit.out
        rate = rate_of_model(model)
        print(
            f"{given.estimator or 'scaled logistic regression'}, fitted on {N_FITTED:,} rows × {N_COLUMNS}"
        )
        print(f"predict_proba alone: {rate:,.0f} rows per processor second", flush=True)
        if given.tenfold:
            runs = []
            for times in (1, 10):
                source = folder / f"times-{times}"
                write_parquet(source, times * given.tenfold)
                run = Run("score", model, source, "--out", folder / f"scores-{times}")
                assert run.wait(), run.out
                tell(f"rows × {times}, one process", run, times * given.tenfold)
                runs.append(run)
            report("time, rows × 10 / rows", runs[1].cpu / runs[0].cpu, "at most", 11)
            report("memory, rows × 10 / rows", runs[1].peak / runs[0].peak, "at most", 1.1)
        if given.csv_rows:
            write_csv(folder / "rows.csv", given.csv_rows)
            source = folder / "rows.csv"
            whole_and_killed(folder, model, source, given.csv_rows, given.jobs, "CSV")
        if given.rows:
            write_parquet(folder / "big", given.rows)
            source = folder / "big"
            whole_and_killed(folder, model, source, given.rows, given.jobs, "Parquet")


if __name__ == "__main__":
    main()
