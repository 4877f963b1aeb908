"""Discrete boosting on stumps against scikit-learn's AdaBoost over depth-one trees: one run, one thread.

Both make the same errors, round by round; then the time to fit, at two sizes, and how it grows with rows.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from surefoot.ensemble import BoostingClassifier
from timing import alternate, report

ROUNDS = 100
THEIR_ROUNDS = 10  # of equal cost each; the time is scaled up


def rows(n_rows):
    """Rows of 20 columns, of which five decide the class, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    return X, (X[:, :5].sum(axis=1) + rng.normal(size=n_rows) > 0).astype(int)


def theirs(n_rounds):
    """scikit-learn's AdaBoost over depth-one trees."""
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=n_rounds)


def same_errors():
    """Largest difference between the training errors of both at any round."""
    X, y = rows(2_000)
    pair = BoostingClassifier(n_estimators=ROUNDS).fit(X, y), theirs(ROUNDS).fit(X, y)
    ours, other = ([(told != y).mean() for told in m.staged_predict(X)] for m in pair)
    return np.abs(np.subtract(ours, other)).max()


def times(n_rows):
    """Seconds of ours and of theirs."""
    X, y = rows(n_rows)
    ours, other = alternate(
        [
            lambda: BoostingClassifier(n_estimators=ROUNDS).fit(X, y),
            lambda: theirs(THEIR_ROUNDS).fit(X, y),
        ],
        repeats=5,
    )
    return ours, other * ROUNDS / THEIR_ROUNDS


if __name__ == "__main__":
    with threadpool_limits(1):
        BoostingClassifier(n_estimators=2).fit(*rows(100))  # compiles
        report("largest difference of training errors, any round", same_errors(), "at most", 0.0)
        ours_5, theirs_5 = times(5_000)
        ours_50, theirs_50 = times(50_000)
        print(f"5,000 rows: {1000 * ours_5:.0f} ms; 50,000 rows: {1000 * ours_50:.0f} ms")
        report("AdaBoost / boosting on stumps, 50,000 x 20", theirs_50 / ours_50, "at least", 60)
        report("AdaBoost / boosting on stumps, 5,000 x 20", theirs_5 / ours_5, "at least", 20)
        report(
            "time for 50,000 rows / 10 times that for 5,000", ours_50 / ours_5 / 10, "at most", 1.5
        )
