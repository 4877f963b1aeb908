"""Checks before judging on simulated tables: false alarms on clean ones, and defects that are noticed.

Clean tables are drawn in twenty kinds (classes and numbers, correlated columns, skewed classes, whole numbers,
categories, gaps, 200 to 20,000 rows), each several times; then each defect is put into them. Every check of
`surefoot.checks`, and `find_label_errors`, sees every table:

    OMP_NUM_THREADS=1 python research/checks.py --draws 5
"""

import argparse
import time
import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

from surefoot.checks import check_table
from surefoot.error_estimation import IndividualErrorClassifier, find_label_errors

LEVEL = 0.002
SIZES = (200, 400, 1000, 3000)


def clean(kind, seed):
    """Table without a defect: frame and target."""
    draw = np.random.default_rng([kind, seed])
    n_rows, n_columns = SIZES[kind % 4], (4, 8, 15)[kind % 3]
    mixing = np.eye(n_columns) + 0.6 * draw.normal(size=(n_columns, n_columns)) / np.sqrt(n_columns)
    X = pd.DataFrame(draw.normal(size=(n_rows, n_columns)) @ mixing).add_prefix("c")
    if kind % 3 == 1:  # whole numbers
        X["c0"] = draw.poisson(4, n_rows)
        X["c1"] = draw.integers(0, 5, n_rows)
        X["c2"] = (10 * X["c2"]).round()
    if kind % 7 == 3:
        X.loc[draw.random(n_rows) < 0.1, "c1"] = np.nan
    signal = 1.5 * X["c0"] - X["c1"].fillna(0) + (X["c2"] * X["c3"] if kind % 2 else 0)
    if kind % 5 == 2:  # categories, some rare
        X["city"] = draw.choice(
            list("abcdefgh"), n_rows, p=[0.5, 0.2, 0.1, 0.08, 0.05, 0.04, 0.02, 0.01]
        )
        signal = signal + (X["city"] == "a")
    if kind % 5 == 3:
        X["age"] = draw.integers(18, 80, n_rows)
        signal = signal + X["age"] / 30
    if kind % 5 == 4:
        X["price"] = draw.lognormal(8, 1, n_rows).round()
    if kind % 6 == 5:  # a small grid: rows that agree are a coincidence
        X = pd.DataFrame(draw.integers(0, 4, (n_rows, 4))).add_prefix("g")
        signal = X["g0"] + X["g1"] * X["g2"]
    signal = np.asarray((signal - signal.mean()) / signal.std())
    return X, _target(kind, signal, draw)


def _target(kind, signal, draw):
    n_rows = len(signal)
    if kind % 4 == 0:  # two classes, often skewed
        odds = (2 + 4 * (kind % 8 > 3)) * signal - 2 * (kind % 3 == 0)
        return np.where(draw.random(n_rows) < expit(odds), "yes", "no")
    if kind % 4 == 2:  # three classes
        noisy = signal + 0.3 * draw.normal(size=n_rows)
        return np.digitize(noisy, np.quantile(noisy, [0.6, 0.9]))
    return signal + (0.3 + 0.7 * (kind % 3 == 0)) * draw.normal(size=n_rows) * (1 + (signal > 0))


def leak(X, y, draw):
    """A column that is the target, more or less."""
    codes = np.unique(y, return_inverse=True)[1] if y.dtype.kind != "f" else y / y.std()
    X["after"] = codes + 0.1 * draw.normal(size=len(y))
    return X, y


def identifier(X, y, draw):
    """A column that counts rows, in any order."""
    X["number"] = draw.permutation(len(y)) + 1000
    return X, y


def equal(X, y, _draw):
    """A column in another unit."""
    X["again"] = 2.54 * X.iloc[:, 2]
    return X, y


def copied(X, y, draw, noise=0.0):
    """A fifth of the rows are copies of others."""
    rows = np.r_[np.arange(len(y)), draw.choice(len(y), len(y) // 5, replace=False)]
    rows = rows[draw.permutation(len(rows))]
    X = X.iloc[rows].reset_index(drop=True)
    for name in X.columns if noise else ():
        if X[name].dtype.kind == "f" and X[name].nunique() > len(X) / 2:
            X[name] += noise * X[name].std() * draw.normal(size=len(X))
    return X, y[rows]


def nearly_copied(X, y, draw):
    """A fifth of the rows are copies of others, with a little noise."""
    return copied(X, y, draw, noise=0.001)


def _persons(y, draw):
    return np.repeat(np.arange(len(y) // 8 + 1), 8)[: len(y)], draw.normal(size=len(y) // 8 + 1)


def entities(X, y, draw):
    """Eight rows a person; half of the target's spread is of the person."""
    person, effects = _persons(y, draw)
    order = draw.permutation(len(y))
    X["person"] = (1000 + 7 * draw.permutation(len(effects)))[person]
    if y.dtype.kind == "f":
        return X.iloc[order].reset_index(drop=True), (y / y.std() + 1.5 * effects[person])[order]
    labels = np.unique(y)
    drawn = labels[(draw.random(len(effects)) * len(labels)).astype(int)]
    return X.iloc[order].reset_index(drop=True), np.where(
        draw.random(len(y)) < 0.6, drawn[person], y
    )[order]


def ordered(X, y, draw):
    """Rows of forty persons stand together, and a column is nearly constant within a person."""
    size = max(1, len(y) // 40)
    place = np.arange(len(y)) // size
    X["measured"] = draw.normal(size=place.max() + 1)[place] + 0.05 * draw.normal(size=len(y))
    if y.dtype.kind == "f":
        return X, y / y.std() + 1.5 * draw.normal(size=place.max() + 1)[place]
    labels = np.unique(y)
    drawn = labels[(draw.random(place.max() + 1) * len(labels)).astype(int)]
    return X, np.where(draw.random(len(y)) < 0.6, drawn[place], y)


def drifting(X, y, draw):
    """The rule changes with the row's place in the table, which a column tells."""
    time_of_row = np.linspace(0, 1, len(y))
    X["hour"] = time_of_row + 0.01 * draw.normal(size=len(y))
    level = 3 * np.sin(7 * time_of_row)
    if y.dtype.kind == "f":
        return X, y / y.std() + level
    labels = np.unique(y)
    return X, np.where(np.abs(level) > 1.5, labels[(level > 0).astype(int)], y)


def flipped(X, y, draw):
    """A tenth of the labels are exchanged."""
    if y.dtype.kind == "f":
        return X, y
    labels = np.unique(y)
    others = labels[
        (np.searchsorted(labels, y) + draw.integers(1, len(labels), len(y))) % len(labels)
    ]
    return X, np.where(draw.random(len(y)) < 0.1, others, y)


DEFECTS = {
    "leaks": leak,
    "identifiers": identifier,
    "equal columns": equal,
    "copies": copied,
    "near copies": nearly_copied,
    "entities": entities,
    "order": ordered,
    "drift": drifting,
    "labels": flipped,
}


def model_for(X, y):
    """Boosting with the categories of the frame, and the frame as it takes it."""
    X = X.copy()
    for name in X.columns:
        if X[name].dtype.kind not in "fiub":
            X[name] = X[name].astype("category")
    kind = HistGradientBoostingRegressor if y.dtype.kind == "f" else HistGradientBoostingClassifier
    return kind(random_state=0, categorical_features="from_dtype"), X


def run_checks(X, y):
    """Codes of the checks that raise an alarm."""
    model, X = model_for(X, y)
    is_number = y.dtype.kind == "f"
    folds = (KFold if is_number else StratifiedKFold)(5, shuffle=True, random_state=0)
    method = "predict" if is_number else "predict_proba"
    output = cross_val_predict(model, X, y, cv=folds, method=method)
    splits = np.empty(len(y), dtype=int)
    for fold, (_, test) in enumerate(folds.split(X, y)):
        splits[test] = fold
    classes = None if is_number else np.unique(y)
    held_out = SimpleNamespace(
        rows=np.arange(len(y)),
        prediction=output if is_number else classes[output.argmax(axis=1)],
        probabilities=None if is_number else output,
        classes=classes,
        groups=None,
        splits=splits,
    )
    alarms = [each.code for each in check_table(X, y, held_out=held_out, estimator=model)]
    if not is_number and _label_alarm(model, X, y):
        alarms.append("labels")
    return alarms


def _label_alarm(model, X, y):
    error_estimator = IndividualErrorClassifier(model, random_state=0).fit(X, y)
    return find_label_errors(error_estimator).p_value < LEVEL


def main():
    """Run all tables and print what was noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--kinds", type=int, nargs="*", default=list(range(20)))
    parser.add_argument("--defects", nargs="*", default=["none", *DEFECTS])
    options = parser.parse_args()
    warnings.simplefilter("error")
    for defect in options.defects:
        counts, total, started = Counter(), 0, time.process_time()
        for kind in options.kinds:
            for seed in range(options.draws):
                X, y = clean(kind, seed)
                if defect != "none":
                    X, y = DEFECTS[defect](X, y, np.random.default_rng([kind, seed, 1]))
                alarms = run_checks(X, y)
                counts.update(alarms)
                total += 1
                print(
                    f"  {defect}, kind {kind}, draw {seed}, {X.shape}: {', '.join(alarms) or '-'}",
                    flush=True,
                )
        print(
            f"{defect}: {total} tables, {dict(counts)}, {time.process_time() - started:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
