"""Reports of small tables, made once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from surefoot.report import ReliabilityReport


@pytest.fixture(scope="session")
def classification_report():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(10, 0.5, n).round(2),
            "city": rng.choice(["Graz", "Lyon", "Oslo"], n),
        }
    )
    chance = 1 / (1 + np.exp(-0.06 * (X["age"] - 45) - 1.5 * (X["city"] == "Oslo") + 0.7))
    y = np.where(rng.random(n) < chance, "yes", "no")
    encoder = make_column_transformer((OneHotEncoder(), ["city"]), remainder=StandardScaler())
    model = make_pipeline(encoder, LogisticRegression())
    names = {"name": "sales.csv", "target": "buys", "by": ["city", "age"]}
    return ReliabilityReport(model, X, y, random_state=0, **names)


@pytest.fixture(scope="session")
def regression_report():
    """Errors that are larger for high values of the first column."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y = X[:250], y[:250]
    noise = np.random.default_rng(0).normal(size=250) * np.where(X["age"] > 50, 200, 0)
    model = make_pipeline(StandardScaler(), Ridge())
    return ReliabilityReport(model, X, y + noise, random_state=0)


@pytest.fixture(scope="session")
def classification_summary(classification_report):
    return classification_report.summarize()


@pytest.fixture(scope="session")
def regression_summary(regression_report):
    return regression_report.summarize()
