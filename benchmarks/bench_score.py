"""`surefoot score` on 50,000 rows and 30 columns with boosting: one pass against the methods asked one by one.

With `--before SRC`, the `src` folder of an older checkout, that version fits and scores the same table too,
in turns with this one; processor times of whole commands are compared, and the figures that both write.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from bench_report import make_table
from timing import report

N_FITTED, N_SCORED = 10_000, 50_000
TURNS = 3
TARGET = "target"

# Written by both versions, if the older one is from before one judgement.
SHARED = ["prediction", "estimated_error", "shift", "spread", "novel"]

ONE_BY_ONE = """
import sys
from pathlib import Path
import pandas as pd
from surefoot.model_files import load
error_estimator, table = load(Path(sys.argv[1])), pd.read_parquet(sys.argv[2])
X = table[list(error_estimator.feature_names_in_)]
for start in range(0, len(X), 10_000):
    part = X.iloc[start : start + 10_000]
    if sys.argv[3] == "judge":
        error_estimator.judge(part)
    else:
        for method in ("predict", "predict_proba", "predict_error", "predict_novelty"):
            getattr(error_estimator, method)(part)
"""


def seconds_of(command, source=None):
    """Processor seconds of a command in a process of its own, on one thread."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best_of_turns(*runs):
    """Shortest time of each of several functions that take turns."""
    return np.min([[run() for run in runs] for _ in range(TURNS)], axis=0)


def main():
    """Print ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path)
    before = parser.parse_args().before
    surefoot = Path(sys.executable).with_name("surefoot")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = make_table(N_FITTED + N_SCORED)
        table[:N_FITTED].to_parquet(folder / "fit.parquet", index=False)
        table[N_FITTED:].drop(columns=TARGET).to_parquet(folder / "new.parquet", index=False)
        fit = [surefoot, "fit", folder / "fit.parquet", "--target", TARGET]
        score = [surefoot, "score"]
        now, data = folder / "now.skops", folder / "new.parquet"
        seconds_of([*fit, "--out", now])
        by_one = [sys.executable, "-c", ONE_BY_ONE, now, data]
        together, apart = best_of_turns(
            lambda: seconds_of([*by_one, "judge"]), lambda: seconds_of([*by_one, "methods"])
        )
        report("five methods one by one / judge, 50,000 × 30", apart / together, "at least", 1.5)
        if before is None:
            return
        old, out = folder / "old.skops", folder / "scores.parquet"
        seconds_of([*fit, "--out", old], before)
        new, was = best_of_turns(
            lambda: seconds_of([*score, now, data, "--out", out]),
            lambda: seconds_of([*score, old, data, "--out", folder / "was.parquet"], before),
        )
        report("surefoot score before / now, 50,000 × 30", was / new, "at least", 2)
        ours, theirs = pd.read_parquet(out), pd.read_parquet(folder / "was.parquet")
        for column in SHARED:
            same = (ours[column] == theirs[column]).mean()
            print(f"  {column:<16} equal in {same:.4%} of rows")


if __name__ == "__main__":
    main()
