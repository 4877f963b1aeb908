"""What IndividualErrorRegressor costs: its fit, judging a row, its file, and the memory that it keeps.

Processor seconds of one process around histogram boosting, on two drawn tables: 10,000 rows of 8 numbers, and 6,160
rows of 18 numbers and 8 categories. The fit stands beside the model's own fits, one on all rows and one for each fold;
judging a row leaves out the model's own calls, which are timed where they happen:

    OMP_NUM_THREADS=1 python benchmarks/bench_regressor.py
"""

import argparse
import ctypes
import gc
import resource
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bench_fit import judge_cost
from error_cost import sample_clock, seconds
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.model_files import load, save
from timing import report

N_NEW = 5_000
# Levels of the categories of the second table.
LEVELS = (2, 3, 4, 5, 6, 8, 12, 20)


def draw_numbers(n_rows=10_000):
    """Rows of 8 numbers, with noise that grows with one of them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows + N_NEW, 8))
    y = 3 * X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + np.abs(X[:, 3])
    y += random.normal(size=len(X)) * (0.3 + np.abs(X[:, 4]))
    return X[:n_rows], y[:n_rows], X[n_rows:]


def draw_categories(n_rows=6_160):
    """Frame of 18 numbers and 8 categories with 2 to 20 levels."""
    random = np.random.default_rng(1)
    numbers = random.normal(size=(n_rows + N_NEW, 18))
    codes = np.column_stack([random.integers(0, n, len(numbers)) for n in LEVELS])
    y = 2 * numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + np.sqrt(codes[:, 7]) * numbers[:, 3]
    y += codes[:, 2] * (codes[:, 0] == 1) + random.normal(size=len(y)) * (0.3 + 0.2 * codes[:, 3])
    frame = pd.DataFrame(numbers, columns=[f"number_{i}" for i in range(18)])
    for place, column in enumerate(codes.T):
        frame[f"category_{place}"] = pd.Categorical([f"level {code}" for code in column])
    return frame[:n_rows], y[:n_rows], frame[n_rows:]


def on_categories(model):
    """Pipeline of a model behind an encoder of categories."""
    categories = make_column_selector(dtype_include="category")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(
        make_column_transformer((encoder, categories), remainder="passthrough"), model
    )


def resident():
    """Megabytes of memory that this process holds, after what is free was given back."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measure(name, model, table, rounds):
    """Print a line; return what was measured."""
    X, y, new = table
    folds = KFold(5, shuffle=True, random_state=0)
    times = []
    error_estimator = None
    before = resident()
    for _ in range(rounds):
        error_estimator = IndividualErrorRegressor(clone(model), random_state=0)
        with sample_clock() as samples:
            whole = seconds(partial(error_estimator.fit, X, y))
        kept = resident() - before
        cross = seconds(partial(cross_val_predict, model, X, y, cv=folds))
        times.append([whole, sum(samples), cross, seconds(partial(clone(model).fit, X, y))])
    whole, samples, cross, once = np.min(times, axis=0)
    beyond, own = judge_cost(error_estimator, new)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        saving = min(seconds(partial(save, error_estimator, path)) for _ in range(rounds))
        loading = min(seconds(partial(load, path)) for _ in range(rounds))
        file = path.stat().st_size / 2**20
    found = {
        "fit": whole,
        "samples": samples,
        "5 folds": cross,
        "beyond": whole - cross - once,
        "ratio": whole / cross,
        "judge µs": beyond,
        "model µs": own,
        "save s": saving,
        "load s": loading,
        "file MB": file,
        "kept MB": kept,
    }
    print(f"{name:24}" + "".join(f"{value:10.2f}" for value in found.values()), flush=True)
    return found


def main():
    """Print the cost of each case, then those that have a limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--forest", action="store_true", help="a forest on the second table, too")
    options = parser.parse_args()
    X, y, _ = draw_numbers(200)
    IndividualErrorRegressor(HistGradientBoostingRegressor(), cv=2).fit(X, y).judge(X)  # compiles
    heads = ("fit", "samples", "5 folds", "beyond", "ratio", "judge µs", "model µs")
    heads += ("save s", "load s", "file MB", "kept MB")
    print(f"{'':24}" + "".join(f"{head:>10}" for head in heads))
    boosting = HistGradientBoostingRegressor(random_state=0)
    run = partial(measure, rounds=options.rounds)
    numbers = run("10,000 x 8, boosting", boosting, draw_numbers())
    table = draw_categories()
    mixed = run("6,160 x 26, boosting", on_categories(boosting), table)
    if options.forest:
        run("6,160 x 26, forest", on_categories(RandomForestRegressor(random_state=0)), table)
    report("10,000 x 8: fit beyond the model's own fits, s", numbers["beyond"], "at most", 5)
    report("10,000 x 8: judging a row beyond the model, µs", numbers["judge µs"], "at most", 60)
    report("6,160 x 26: fit / cross-validation", mixed["ratio"], "at most", 2.5)
    report("6,160 x 26: judging a row beyond the model, µs", mixed["judge µs"], "at most", 150)
    report("6,160 x 26: file, MB", mixed["file MB"], "at most", 8)
    report("6,160 x 26: saving, s", mixed["save s"], "at most", 1)


if __name__ == "__main__":
    main()
