"""Models that judge quickly, and tables for them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import Confidence


def make_rows(n_rows, seed=0):
    """Two numbers, a whole number and a text."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows),
            "spent": rng.normal(size=n_rows),
            "visits": rng.integers(0, 9, n_rows),
            "plan": rng.choice(["free", "paid", "team"], n_rows),
        }
    )


def labels_of(X, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    return np.where(X["spent"] + (X["plan"] == "paid") + noise > 0, "yes", "no")


def make_model(final):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["plan"]), remainder="passthrough"
    )
    return make_pipeline(encode, final)


@pytest.fixture(scope="session")
def rows():
    return make_rows(300, seed=2)


@pytest.fixture(scope="session")
def classifier():
    X = make_rows(200)
    model = make_model(LogisticRegression(max_iter=1000))
    error_estimator = IndividualErrorClassifier(
        model, indicators=Confidence(), cv=2, random_state=0
    )
    return error_estimator.fit(X, labels_of(X))


@pytest.fixture(scope="session")
def regressor():
    X = make_rows(200)
    y = X["age"] + 5 * (X["plan"] == "paid") + np.random.default_rng(3).normal(size=200)
    model = make_model(LinearRegression())
    return IndividualErrorRegressor(model, cv=2, random_state=0).fit(X, y)
