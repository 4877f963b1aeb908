"""Time that the judgement of one row takes beyond the model's own call, as a service asks for it.

Run as `python benchmarks/one_row.py`. Each model is asked for the probabilities (or the prediction) of one row, then
the error estimator judges the row, 100 times in turn, with the default number of threads and with one; of a frame also
as a dict, as JSON has it. Medians of the time that passes. Models without threads of their own are asked again while
another process computes: what more threads cost then is surefoot's.
LightGBM is tried where it is installed (`make boosters` has it).
"""

import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import ThreadpoolController

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from timing import report

N_ROWS, N_ASKED, ASKED_MS = 4_000, 100, 8.0
# Most that more threads may cost a row, beyond the model's own call, with a process on the other core.
ASKED_OF_THREADS = 1.5
# The other process computes for so many seconds at most, should this one be killed.
COMPUTE = "import time; end = time.monotonic() + 300\nwhile time.monotonic() < end: pass"


@contextmanager
def busy():
    """Keep another core busy."""
    other = subprocess.Popen([sys.executable, "-c", COMPUTE])
    try:
        yield
    finally:
        other.kill()
        other.wait()


def tables():
    """A numeric frame, one with categories and missing values, and classes."""
    rng = np.random.default_rng(0)
    numeric = pd.DataFrame(rng.normal(size=(N_ROWS, 10)), columns=[f"x{i}" for i in range(10)])
    mixed = numeric.iloc[:, :6].assign(
        plan=pd.Categorical(rng.choice(["free", "paid", "trial"], N_ROWS)),
        place=pd.Categorical(rng.choice(list("abcdefgh"), N_ROWS)),
    )
    mixed.loc[::7, "x1"] = np.nan
    y = (numeric["x0"] + numeric["x2"] + rng.normal(size=N_ROWS) > 0).astype(int).to_numpy()
    return numeric, mixed, y


def models():
    """Name, model and table of each case."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    boosting = {"max_iter": 50, "categorical_features": "from_dtype"}
    yield "logistic regression", logistic, ["array", "wide", "numeric"]
    yield "gradient boosting", HistGradientBoostingClassifier(**boosting), ["numeric", "mixed"]
    yield "boosted regression", HistGradientBoostingRegressor(**boosting), ["numeric", "mixed"]
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        yield "LightGBM", LGBMClassifier(n_jobs=1, verbose=-1), ["numeric", "mixed"]


def cases():
    """Name, fitted error estimator, function of the model alone, rows, and the rows as a service gets them."""
    numeric, mixed, y = tables()
    array = numeric.to_numpy()
    wide = np.hstack([array, np.random.default_rng(1).normal(size=(N_ROWS, 20))])
    given = {"array": array, "wide": wide, "numeric": numeric, "mixed": mixed}
    for name, model, kinds in models():
        is_number = name == "boosted regression"
        kind = IndividualErrorRegressor if is_number else IndividualErrorClassifier
        for table in kinds:
            X = given[table]
            targets = y + numeric["x3"].to_numpy() if is_number else y
            error_estimator = kind(model, random_state=0).fit(X, targets)
            ask = getattr(error_estimator.estimator_, "predict" if is_number else "predict_proba")
            rows = [X[i : i + 1] for i in range(N_ASKED + 5)]
            plain = [
                row if isinstance(X, np.ndarray) else row.to_dict("records")[0] for row in rows
            ]
            yield f"{name}, {table}", error_estimator, ask, rows, plain


def milliseconds(error_estimator, ask, rows, plain, limits):
    """Medians for each number of threads: the model alone, and what judging a row and a dict takes beyond it."""
    times = np.zeros((len(rows), len(limits), 4))
    for i, (row, record) in enumerate(zip(rows, plain, strict=True)):
        for j, limit in enumerate(limits):
            with limit():
                times[i, j, 0] = time.perf_counter()
                ask(row)
                times[i, j, 1] = time.perf_counter()
                error_estimator.judge(row)
                times[i, j, 2] = time.perf_counter()
                error_estimator.judge(record)
                times[i, j, 3] = time.perf_counter()
    own, whole, of_dict = np.median(1e3 * np.diff(times[5:], axis=2), axis=0).T
    return own, whole - own, of_dict - own


def main():
    """Print the times of all models and tables, and what more threads and a busy core cost."""
    controller = ThreadpoolController()
    limits = [nullcontext, lambda: controller.limit(limits=1)]
    print(f"{'':<32}{'other core':<12}{'threads':<9}{'model ms':>9}{'beyond ms':>11}{'dict ms':>9}")
    worst, costs = 0.0, {"idle": [], "busy": []}
    for name, *case in cases():
        has_threads = not name.startswith("logistic")
        for core, state in (("idle", nullcontext), ("busy", busy))[: 1 if has_threads else 2]:
            with state():
                own, of_row, of_dict = milliseconds(*case, limits)
            for j, threads in enumerate(("default", "one")):
                print(
                    f"{name:<32}{core:<12}{threads:<9}{own[j]:>9.2f}{of_row[j]:>11.2f}{of_dict[j]:>9.2f}"
                )
            if core == "idle":
                worst = max(worst, of_row[1], of_dict[1])
            if not has_threads:
                costs[core].append(of_row[0] / of_row[1])
    report("most beyond the model, one thread, ms", worst, "at most", ASKED_MS)
    for core, ratios in costs.items():
        what = f"default threads over one, other core {core}, worst table"
        report(what, max(ratios), "at most", ASKED_OF_THREADS)


if __name__ == "__main__":
    main()
