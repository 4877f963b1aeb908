"""How many rows must neighbours be searched in? AUGRC of IndividualErrorClassifier against `max_reference_rows`.

Six large tables, up to 40,000 rows to learn from and 10,000 to test on. Each figure is the AUGRC of the estimated
error divided by that of the exact search over all training rows: 1.01 is 1 % worse. Classes with fewer than 20 rows
are left out. Needs `pmlb` and `tabular` in $SUREFOOT_DATA, and pandas:

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/reference_rows.py --models logistic knn
"""

import argparse
import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import report
from reproduction.data import fetch_table
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.metrics import augrc_loss

TABLES = ["magic_gamma", "krkopt", "shuttle", "connect_4", "fars", "sleep"]
SIZES = [1_000, 2_500, 5_000, 10_000, 20_000]
DEFAULT = IndividualErrorClassifier(None).max_reference_rows
MOST_TRAINING, MOST_TEST, RAREST = 40_000, 10_000, 20
MODELS = {
    "logistic": LogisticRegression(max_iter=300),
    "knn": KNeighborsClassifier(),
    "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=0),
}


def load(name):
    """Rows and classes of a table, without its rarest classes."""
    X, y = fetch_table(name)
    labels, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[counts >= RAREST])
    return X[kept], y[kept]


def measure(X, X_test, y, y_test, model, size):
    """AUGRC of the estimated error and of own confidence, seconds of the fit, microseconds to judge a row."""
    start = time.process_time()
    error_estimator = IndividualErrorClassifier(model, max_reference_rows=size, random_state=0).fit(
        X, y
    )
    fitted = time.process_time()
    judgement = error_estimator.judge(X_test)
    judged = time.process_time()
    wrong = judgement.prediction != y_test
    own = augrc_loss(wrong, 1 - judgement.probabilities.max(axis=1))
    microseconds = 1e6 * (judged - fitted) / len(y_test)
    return augrc_loss(wrong, judgement.error), own, fitted - start, microseconds


def main():
    """Print a line for each table and model, and what the default loses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument(
        "--sizes", nargs="*", type=int, default=SIZES, help=f"with {DEFAULT} among them"
    )
    options = parser.parse_args()
    print(
        f"{'':24}{'all/own':>10}"
        + "".join(f"{size:>10,}" for size in options.sizes)
        + "  fit s, judge µs"
    )
    losses = []
    for kind in options.models:
        for name in options.tables:
            X, y = load(name)
            n_test = min(MOST_TEST, len(y) // 4)
            parts = train_test_split(
                X,
                y,
                train_size=min(MOST_TRAINING, len(y) - n_test),
                test_size=n_test,
                random_state=0,
                stratify=y,
            )
            model = make_pipeline(StandardScaler(), MODELS[kind])
            exact, own, *_ = measure(*parts, model, len(y))
            ratios, costs = {}, {}
            for size in options.sizes:
                loss, _, *costs[size] = measure(*parts, model, size)
                ratios[size] = loss / exact
            losses.append(ratios[DEFAULT])
            figures = "".join(f"{ratio:10.4f}" for ratio in ratios.values())
            seconds, microseconds = costs[DEFAULT]
            cost = f"  {seconds:.1f} s, {microseconds:.0f} µs"
            print(f"{kind:10}{name:14}{exact / own:10.3f}{figures}{cost}", flush=True)
    report(
        f"AUGRC with {DEFAULT:,} rows / all, geometric mean",
        np.exp(np.log(losses).mean()),
        "at most",
        1.01,
    )
    report(f"AUGRC with {DEFAULT:,} rows / all, worst", max(losses), "at most", 1.01)


if __name__ == "__main__":
    main()
