"""Choosing a model for each row, or weighing the votes of all, against the model that is best on average.

Twelve tables with classes and six with numbers to predict, half of the rows to learn from and half to test on, at most
1500 in each, two seeds. Run `SUREFOOT_DATA=... python research/selection.py`; DESlib is compared if installed.
`--seeds 1 --rows 500` for a quick look.
"""

import argparse
import time

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import validate_data

from reproduction.data import fetch_table, list_tables
from surefoot.ensemble import TrustWeightedClassifier
from surefoot.selection import LocalSelectionClassifier, LocalSelectionRegressor


def scaled(model):
    """The model after a scaler."""
    return make_pipeline(StandardScaler(), model)


CLASSIFIERS = [
    ("linear", scaled(LogisticRegression(max_iter=2000))),
    ("neighbours", scaled(KNeighborsClassifier(9))),
    ("forest", RandomForestClassifier(50, random_state=0)),
    ("svm", scaled(SVC())),
]
REGRESSORS = [
    ("linear", scaled(RidgeCV())),
    ("neighbours", scaled(KNeighborsRegressor(9))),
    ("forest", RandomForestRegressor(50, random_state=0)),
    ("svm", scaled(SVR(C=10.0))),
]


def split(name, seed, most_rows):
    """Rows to learn from and rows to test on; texts become columns of 0 and 1."""
    X, y = fetch_table(name)
    if hasattr(X, "columns"):
        import pandas as pd

        X = pd.get_dummies(X, dtype=float).to_numpy()
    classes = y if name in list_tables("classification", "tabular") else None
    size = min(most_rows, len(y) // 2)
    return train_test_split(
        X, y, train_size=size, test_size=size, random_state=seed, stratify=classes
    )


def best_by_cross_validation(pool, X, y, scoring):
    """The pool's model that does best out of fold, fitted on all rows."""
    scores = [cross_val_score(model, X, y, cv=5, scoring=scoring).mean() for _, model in pool]
    return clone(pool[int(np.argmax(scores))][1]).fit(X, y)


def dynamic_selection(X, y):
    """DESlib's methods on the same pool, which learns from half of the rows; none if it is not installed."""
    try:
        from deslib.des import KNORAE, KNORAU, METADES
    except ImportError:
        return {}
    if not hasattr(
        BaseEstimator, "_validate_data"
    ):  # DESlib 0.3.7 needs what scikit-learn 1.7 dropped
        setattr(BaseEstimator, "_validate_data", validate_data)  # noqa: B010
    X_pool, X_rest, y_pool, y_rest = train_test_split(
        X, y, test_size=0.5, random_state=0, stratify=y
    )
    pool = [
        clone(model)
        .set_params(**({"svc__probability": True} if name == "svm" else {}))
        .fit(X_pool, y_pool)
        for name, model in CLASSIFIERS
    ]
    methods = (METADES, KNORAU, KNORAE)
    return {
        m.__name__: m(pool_classifiers=pool, random_state=0).fit(X_rest, y_rest) for m in methods
    }


def with_judges_of(fitted, vote):
    """A vote of models that were fitted and judged elsewhere: the costly part, and the same for both."""
    vars(vote).update({name: value for name, value in vars(fitted).items() if name.endswith("_")})
    vote.max_errors_ = fitted.held_out_.losses.mean(axis=0)
    return vote


def classify(name, seed, most_rows):
    """Accuracy of every method on one split of a table."""
    X, X_test, y, y_test = split(name, seed, most_rows)
    selection = LocalSelectionClassifier(CLASSIFIERS, random_state=0).fit(X, y)
    methods = {
        "best single": best_by_cross_validation(CLASSIFIERS, X, y, "accuracy"),
        "LocalSelection": selection,
        "TrustWeighted": with_judges_of(selection, TrustWeightedClassifier(CLASSIFIERS)),
        "  abstain": with_judges_of(
            selection, TrustWeightedClassifier(CLASSIFIERS, mode="abstain")
        ),
        "hard vote": VotingClassifier(CLASSIFIERS).fit(X, y),
        "stacking": StackingClassifier(CLASSIFIERS).fit(X, y),
        **dynamic_selection(X, y),
    }
    return {method: model.score(X_test, y_test) for method, model in methods.items()}


def regress(name, seed, most_rows):
    """Root mean squared error of every method on one split of a table."""
    X, X_test, y, y_test = split(name, seed, most_rows)
    methods = {
        "best single": best_by_cross_validation(REGRESSORS, X, y, "neg_root_mean_squared_error"),
        "LocalSelection": LocalSelectionRegressor(REGRESSORS, random_state=0).fit(X, y),
        "mean vote": VotingRegressor(REGRESSORS).fit(X, y),
        "stacking": StackingRegressor(REGRESSORS).fit(X, y),
    }
    return {
        method: root_mean_squared_error(y_test, model.predict(X_test))
        for method, model in methods.items()
    }


def run(task, measure, seeds, most_rows):
    """One row of measures for each table and seed."""
    cases = []
    for name in list_tables(task, "tabular"):
        for seed in range(seeds):
            start = time.perf_counter()
            found = measure(name, seed, most_rows)
            cases.append(found)
            told = "  ".join(f"{method.strip()} {value:.4g}" for method, value in found.items())
            print(f"{name:18}{seed}  {told}  ({time.perf_counter() - start:.0f} s)", flush=True)
    return cases


def summarize(title, changes):
    """Mean, spread and worst of what each method changes against the best single model."""
    print(f"\n{title}\n{'':18}{'mean':>8}{'spread':>8}{'worst':>8}{'better':>8}{'worse':>8}")
    for method, change in changes.items():
        better, worse = (change > 0).sum(), (change < 0).sum()
        print(
            f"{method:18}{change.mean():8.2f}{change.std():8.2f}{change.min():8.2f}{better:8}{worse:8}"
        )


def gains(cases, measure):
    """What each method gains on the best single model, in every case."""
    methods = [method for method in cases[0] if method != "best single"]
    return {
        method: np.array([measure(case[method], case["best single"]) for case in cases])
        for method in methods
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=1500, help="most rows in each half")
    parser.add_argument("--task", choices=["classification", "regression"], help="both by default")
    chosen = parser.parse_args()
    if chosen.task != "regression":
        labels = run("classification", classify, chosen.seeds, chosen.rows)
        points = gains(labels, lambda own, best: 100 * (own - best))
        summarize("Accuracy, points above the best single model", points)
    if chosen.task != "classification":
        numbers = run("regression", regress, chosen.seeds, chosen.rows)
        shares = gains(numbers, lambda own, best: 100 * (1 - own / best))
        summarize("Root mean squared error, % below the best single model", shares)
