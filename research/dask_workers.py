"""Two workers of Dask against one, on a job of a minute, and the bytes that move over the network.

    python research/dask_workers.py                  # 400,000 rows, in turns, twice
    python research/dask_workers.py --bytes          # what moves, for the rows of a frame and of a file

Workers and scheduler are processes of this machine. With --bytes, run it where nothing else uses the loopback
interface: `unshare --net sh -c "ip link set lo up; python research/dask_workers.py --bytes"`.
"""

import argparse
import os
import pickle
import tempfile
import time
import warnings
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.timing import report
from surefoot import IndividualErrorClassifier
from surefoot.scoring import score_dask, score_table

N_COLUMNS = 20
ROWS_PER_PART = 20_000


def make_rows(part, n_rows=ROWS_PER_PART):
    """Rows of one part; workers make their own, so that none move."""
    values = np.random.default_rng(part).normal(size=(n_rows, N_COLUMNS))
    return pd.DataFrame(values, columns=[f"x{i}" for i in range(N_COLUMNS)])


def fitted(n_rows):
    """Error estimator around boosting, fitted on `n_rows` rows."""
    X = make_rows(10**6, n_rows)
    noise = np.random.default_rng(0).normal(size=n_rows)
    y = np.where(X["x0"] * X["x1"] + X["x2"] + noise > 0, "yes", "no")
    model = HistGradientBoostingClassifier(random_state=0)
    return IndividualErrorClassifier(model, random_state=0).fit(X, y)


def total_error(scores, client, workers):
    """Sum of the estimated errors, computed by some of the workers; seconds, and processor time of each worker."""
    before = client.run(time.process_time)
    start = time.perf_counter()
    total = client.compute(scores["estimated_error"].sum(), workers=workers).result()
    seconds = time.perf_counter() - start
    after = client.run(time.process_time)
    return total, seconds, [after[worker] - before[worker] for worker in workers]


def compare_workers(client, error_estimator, n_rows, n_rounds):
    """Print the times of one worker and of two, in turns.

    The processor time of the busiest worker is what the job would take if every worker had a core for itself.
    """
    frame = dd.from_map(make_rows, range(n_rows // ROWS_PER_PART), meta=make_rows(0, 0))
    scores, workers = score_dask(error_estimator, frame), sorted(client.ncores())
    warm = dd.from_map(make_rows, range(8), n_rows=100, meta=make_rows(0, 0))
    total_error(
        score_dask(error_estimator, warm), client, workers
    )  # every worker imports what it needs
    walls, busiest = {1: [], 2: []}, {1: [], 2: []}
    for _ in range(n_rounds):
        for n_workers in (1, 2):
            load = os.getloadavg()[0]
            total, wall, processor = total_error(scores, client, workers[:n_workers])
            walls[n_workers].append(wall)
            busiest[n_workers].append(max(processor))
            shown = " + ".join(f"{seconds:.1f}" for seconds in processor)
            print(
                f"{n_workers} worker(s): {wall:6.1f} s, processor time {shown} s, load before {load:.1f}, "
                f"sum {total:.6f}",
                flush=True,
            )
    for what, times in (("by the clock", walls), ("processor time of the busiest", busiest)):
        ratio = sum(times[1]) / sum(times[2])
        report(f"one worker / two, {n_rows:,} rows, {what}", ratio, "at least", 1.7)


def loopback_bytes():
    """Bytes that the loopback interface has carried."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    [line] = [line for line in lines if line.strip().startswith("lo:")]
    return int(line.split(":")[1].split()[0])


def moved(work):
    """Bytes on the loopback interface during a piece of work."""
    before = loopback_bytes()
    work()
    return loopback_bytes() - before


def count_bytes(client, error_estimator, n_rows):
    """Print what moves: the model, the rows and the scores."""
    table = pd.concat([make_rows(part) for part in range(n_rows // ROWS_PER_PART)])
    table = table.reset_index(drop=True)
    n_parts = n_rows // ROWS_PER_PART
    print(
        f"model: {len(pickle.dumps(error_estimator)) / 1e6:.2f} MB; rows: {table.memory_usage().sum() / 1e6:.2f} MB"
    )
    made = dd.from_map(make_rows, range(n_parts), meta=make_rows(0, 0))
    held = dd.from_pandas(table, npartitions=n_parts)
    with tempfile.TemporaryDirectory() as folder:
        table.to_parquet(f"{folder}/rows.parquet")
        options = {"rows_per_part": ROWS_PER_PART, "client": client}
        works = {
            "score_dask, workers make the rows, sum": lambda: (
                score_dask(error_estimator, made).sum(numeric_only=True).compute()
            ),
            "score_dask, workers make the rows, all scores": lambda: score_dask(
                error_estimator, made
            ).compute(),
            "score_dask, the client has the rows, all scores": lambda: score_dask(
                error_estimator, held
            ).compute(),
            "score_table, the client reads a file": lambda: score_table(
                error_estimator, f"{folder}/rows.parquet", f"{folder}/scores", **options
            ),
        }
        for name, work in works.items():
            print(f"{name}: {moved(work) / 1e6:.2f} MB", flush=True)


def main():
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--training-rows", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bytes", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "Sending large graph")
    error_estimator = fitted(options.training_rows)
    place = {"host": "127.0.0.1", "dashboard_address": None}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **place) as cluster,
        Client(cluster) as client,
    ):
        if options.bytes:
            count_bytes(client, error_estimator, options.rows)
        else:
            compare_workers(client, error_estimator, options.rows, options.rounds)


if __name__ == "__main__":
    main()
