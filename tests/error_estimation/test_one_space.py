"""Held-out rows and new rows from one source look alike, to every column and to the estimated error."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor

N_ROWS = 1000
MOST_DIFFERENT = 0.12


def normal(rng, n=2 * N_ROWS, d=6):
    return rng.standard_normal((n, d))


def signs(rng, X, noise=1.0):
    """Two classes of a linear rule with an interaction."""
    return (X[:, 0] + X[:, 1] * X[:, 2] + noise * rng.standard_normal(len(X)) > 0).astype(int)


def standardised(table):
    """Table that the user scaled by the training rows, before the model."""
    return (table - table[:N_ROWS].mean(axis=0)) / table[:N_ROWS].std(axis=0)


def binary_and_standardised(rng):
    X = np.hstack([normal(rng, d=3), (normal(rng, d=8) > 0.7).astype(float)])
    return standardised(X), signs(rng, X + 1.5 * X[:, [3]] * X[:, [4]])


def raw_scales(rng):
    X = normal(rng)
    return X * 10.0 ** np.arange(-2, 4) + 7, signs(rng, X)


def one_hot(rng):
    codes, X = rng.integers(0, 6, size=(2 * N_ROWS, 2)), normal(rng, d=3)
    effects = rng.standard_normal((2, 6))
    y = signs(rng, X + effects[np.arange(2), codes].sum(axis=1)[:, None])
    return np.hstack([X, *(np.eye(6)[column] for column in codes.T)]), y


def one_missing_value(rng):
    X = normal(rng) * [1, 20, 1, 1, 1, 300]
    y = signs(rng, X / [1, 20, 1, 1, 1, 300])
    X[17, 5] = np.nan
    return X, y


def seven_classes(rng):
    centers = 2 * rng.standard_normal((7, 6))
    y = rng.integers(0, 7, 2 * N_ROWS)
    return standardised(normal(rng) + centers[y]), y


def mixed_frame(rng):
    X = normal(rng, d=4)
    town = np.array(["Rome", "Oslo", "Lima", "Cairo"])[rng.integers(0, 4, len(X))]
    y = signs(rng, X + (town == "Oslo")[:, None])
    frame = pd.DataFrame(X, columns=list("abcd")).assign(town=pd.Categorical(town))
    frame.loc[rng.random(len(X)) < 0.1, "a"] = np.nan
    return frame, y


def heights(rng, X):
    return np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + (0.2 + (X[:, 3] > 0)) * rng.standard_normal(len(X))


def standardised_numbers(rng):
    X = np.hstack([normal(rng, d=4), (normal(rng, d=6) > 0).astype(float)])
    return standardised(X), heights(rng, X) + 2 * X[:, 4] * X[:, 5]


def raw_numbers(rng):
    X = normal(rng)
    return X * 10.0 ** np.arange(-2, 4), heights(rng, X)


def missing_numbers(rng):
    X = normal(rng) * [1, 1, 1, 1, 50, 1]
    y = heights(rng, X)
    X[23, 4] = np.nan
    return X, y


CLASSIFICATION = (
    binary_and_standardised, raw_scales, one_hot, one_missing_value, seven_classes, mixed_frame,
)  # fmt: skip
REGRESSION = (standardised_numbers, raw_numbers, missing_numbers)
QUICK = (
    (mixed_frame, "boosting"), (binary_and_standardised, "forest"),
    (standardised_numbers, "linear"), (missing_numbers, "boosting"),
)  # fmt: skip
WITH_MISSING = (one_missing_value, mixed_frame, missing_numbers)

CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(50, min_samples_leaf=2, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=40, random_state=0),
}
REGRESSORS = {
    "linear": LinearRegression(),
    "forest": RandomForestRegressor(50, random_state=0),
    "boosting": HistGradientBoostingRegressor(max_iter=40, random_state=0),
}


def cases(makers, models):
    for make in makers:
        for name, model in models.items():
            if name == "boosting" or make not in WITH_MISSING:
                kind = (
                    HistGradientBoostingClassifier(max_iter=40, categorical_features="from_dtype")
                    if make is mixed_frame
                    else model
                )
                marks = () if (make, name) in QUICK or name == "logistic" else pytest.mark.slow
                yield pytest.param(make, kind, id=f"{make.__name__}-{name}", marks=marks)


def halves(table, y):
    return table[:N_ROWS], y[:N_ROWS], table[N_ROWS:], y[N_ROWS:]


def most_different(held_out, new):
    """Largest two-sample Kolmogorov-Smirnov statistic over all columns, with the name of the column."""
    return max(
        (ks_2samp(held_out[name][:, i], new[name][:, i], method="asymp").statistic, f"{name} {i}")
        for name in held_out
        for i in range(held_out[name].shape[1])
    )


@pytest.mark.parametrize(("make", "model"), list(cases(CLASSIFICATION, CLASSIFIERS)))
def test_a_classifier_describes_new_rows_as_held_out_rows(make, model):
    X, y, X_new, y_new = halves(*make(np.random.default_rng(0)))
    error_estimator = IndividualErrorClassifier(model, random_state=0).fit(X, y)
    judgement = error_estimator.judge(X_new)
    different, column = most_different(error_estimator.held_out_.columns, judgement.columns)
    assert different <= MOST_DIFFERENT, column
    mistakes = (judgement.prediction != y_new).sum()
    assert 0.8 <= judgement.error.sum() / mistakes <= 1.25


@pytest.mark.parametrize(("make", "model"), list(cases(REGRESSION, REGRESSORS)))
def test_a_regressor_describes_new_rows_as_held_out_rows(make, model):
    X, y, X_new, y_new = halves(*make(np.random.default_rng(0)))
    error_estimator = IndividualErrorRegressor(model, corrected=True, random_state=0).fit(X, y)
    judgement = error_estimator.judge(X_new)
    different, column = most_different(error_estimator.held_out_.columns, judgement.columns)
    assert different <= MOST_DIFFERENT, column
    errors = np.abs(judgement.prediction - y_new)
    assert 0.8 <= judgement.error.sum() / errors.sum() <= 1.25
    inside = (judgement.interval[:, 0] <= y_new) & (y_new <= judgement.interval[:, 1])
    assert 0.87 <= inside.mean() <= 0.94
