"""What IndividualErrorClassifier costs by the number of rows: its fit, and judging a row.

Processor seconds of one process, on drawn tables of 30 columns. The fit stands beside a five-fold cross-validation of
the model; the model's calls on samples, which are timed where they happen, are shown apart. With `--large` instead
boosting on so many rows, which takes some minutes, and its peak memory:

    OMP_NUM_THREADS=1 python benchmarks/bench_fit.py
    OMP_NUM_THREADS=1 python benchmarks/bench_fit.py --large 1000000
"""

import argparse
import resource
from contextlib import contextmanager
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from error_cost import sample_clock, search, seconds
from surefoot._models import FittedModel
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.neighborhoods import Neighborhood
from timing import report

MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "knn": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "forest": RandomForestClassifier(random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}
N_NEW = 10_000


def draw(n_rows):
    """Rows to learn from, their classes, and new rows; about one prediction in ten is wrong."""
    X, y = make_classification(
        n_rows + N_NEW, 30, n_informative=12, flip_y=0.05, class_sep=0.7, random_state=0
    )
    return X[:n_rows], y[:n_rows], X[n_rows:]


@contextmanager
def model_clock():
    """Yield a list that collects the times of the model's calls on the rows themselves and on samples."""
    times, inside = [], []
    methods = [(FittedModel, "__call__"), (Neighborhood, "_asked"), (Neighborhood, "answer")]
    originals = [getattr(kind, name) for kind, name in methods]

    def timed(method, self, inputs):
        answers = []
        inside.append(True)
        elapsed = seconds(lambda: answers.append(method(self, inputs)))
        inside.pop()
        if not inside:
            times.append(elapsed)
        return answers[0]

    for (kind, name), method in zip(methods, originals, strict=True):
        setattr(kind, name, lambda self, inputs, method=method: timed(method, self, inputs))
    try:
        yield times
    finally:
        for (kind, name), method in zip(methods, originals, strict=True):
            setattr(kind, name, method)


def fit_cost(kind, X, y, rounds):
    """Fitted estimator, and the least times of its fit, of the calls on samples in it, and of a cross-validation."""
    error_estimator = IndividualErrorClassifier(MODELS[kind], random_state=0)
    times = []
    for _ in range(rounds):
        with sample_clock() as samples:
            whole = seconds(partial(error_estimator.fit, X, y))
        folds = seconds(
            partial(cross_val_predict, MODELS[kind], X, y, cv=5, method="predict_proba")
        )
        times.append([whole - sum(samples), sum(samples), folds])
    return error_estimator, *np.min(times, axis=0)


def judge_cost(error_estimator, X, rounds=3):
    """Least microseconds to judge a row: beyond the model's own calls, and in them."""
    times = []
    for _ in range(rounds):
        with model_clock() as calls:
            whole = seconds(partial(error_estimator.judge, X))
        # `predict` is called apart from these: it costs as much as the method that is timed alone here.
        calls.append(seconds(partial(error_estimator.predict, X)))
        times.append([whole - sum(calls), sum(calls)])
    return 1e6 * np.min(times, axis=0) / len(X)


def measure(kind, n_rows):
    """Print a line; return the estimator, its fit's times, that of cross-validation, and that of judging a row."""
    X, y, new = draw(n_rows)
    error_estimator, fit, samples, folds = fit_cost(kind, X, y, 3 if n_rows < 5_000 else 1)
    beyond, own = judge_cost(error_estimator, new)
    figures = f"{fit:9.2f}{samples:9.2f}{folds:9.2f}{fit / folds:9.1f}{beyond:9.0f}{own:9.0f}"
    print(f"{kind:10}{n_rows:>9,}{figures}", flush=True)
    return error_estimator, fit, samples, folds, beyond


def small(kinds):
    """Figures at 1,500 to 200,000 rows."""
    X = draw(1_500)[0]
    near = min(seconds(partial(search, X)) for _ in range(3))
    ratios, extra = [], []
    for kind in kinds:
        _, fit, _, folds, _ = measure(kind, 1_500)
        ratios.append(fit / max(4 * folds + near, 0.3))
        extra.append(fit - folds)
    beyond = {n: measure("logistic", n)[4] for n in (5_000,)}
    _, large_fit, samples, _, beyond[40_000] = measure("logistic", 40_000)
    for kind in kinds[1:]:
        measure(kind, 40_000)
    report(
        "fit at 1,500 rows / (4 cross-validations + search, or 0.3 s)", max(ratios), "at most", 1
    )
    report("fit at 1,500 rows beyond cross-validation, s", max(extra), "at most", 1)
    report("fit at 40,000 rows around a logistic regression, s", large_fit + samples, "at most", 8)
    report("judging a row beyond the model's own calls, µs", max(beyond.values()), "at most", 45)


def large(n_rows):
    """Figures at very many rows, beside those at 50,000."""
    new = draw(50_000)[2]
    few = judge_cost(measure("boosting", 50_000)[0], new)
    error_estimator, fit, samples, folds, _ = measure("boosting", n_rows)
    many = judge_cost(error_estimator, new)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report(f"fit at {n_rows:,} rows / cross-validation", (fit + samples) / folds, "at most", 3)
    report("peak memory, GiB", memory, "at most", 6)
    report(f"judging a row: {n_rows:,} / 50,000 rows", many.sum() / few.sum(), "at most", 1)


def main():
    """Print the time of each part, then the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--large", type=int, metavar="ROWS", help="boosting on so many rows alone")
    options = parser.parse_args()
    X, y, _ = draw(300)
    IndividualErrorClassifier(MODELS["knn"], cv=2).fit(X, y)  # compiles the kernels
    heads = ("fit s", "samples", "5 folds", "ratio", "judge µs", "model µs")
    print(f"{'':10}{'rows':>9}" + "".join(f"{head:>9}" for head in heads))
    if options.large:
        large(options.large)
    else:
        small(options.models)


if __name__ == "__main__":
    main()
