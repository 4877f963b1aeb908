"""The model is asked once about a row and the samples around it, and says of the row what it says of it alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor

N_ROWS, N_NEW = 150, 40
RNG = np.random.default_rng(0)
NUMBERS = pd.DataFrame(RNG.normal(size=(N_ROWS + N_NEW, 3)), columns=list("abc"))
MIXED = NUMBERS.assign(plan=pd.Categorical(RNG.choice(["free", "paid", "trial"], len(NUMBERS))))
MIXED.loc[::5, "a"] = np.nan
TWO = np.where(NUMBERS["b"] + RNG.normal(size=len(NUMBERS)) > 0, "yes", "no")
THREE = np.digitize(NUMBERS["b"] + RNG.normal(size=len(NUMBERS)), [-0.5, 0.5])
BOOSTING = {"max_iter": 5, "categorical_features": "from_dtype"}

CASES = {
    "two classes": (HistGradientBoostingClassifier(**BOOSTING), MIXED, TWO, 1),
    "three classes": (HistGradientBoostingClassifier(**BOOSTING), MIXED, THREE, 1),
    "forest": (RandomForestClassifier(5, random_state=0), NUMBERS, THREE, 1),
    "numbers": (HistGradientBoostingRegressor(**BOOSTING), MIXED, NUMBERS["c"].to_numpy(), 1),
    "unknown": (GaussianNB(), NUMBERS, TWO, 2),  # its `predict` may be anything
    "single": (SVC(), NUMBERS.astype(np.float32), TWO, 2),
    "a line": (LogisticRegression(), NUMBERS.astype(np.float32), TWO, 5),  # its methods call others
}


@pytest.fixture(params=CASES)
def case(request):
    """Fitted error estimator, new rows, and the most calls of the model that one row may take."""
    model, X, y, most = CASES[request.param]
    is_number = y.dtype.kind == "f"
    kind = IndividualErrorRegressor if is_number else IndividualErrorClassifier
    return kind(model, cv=2, random_state=0).fit(X[:N_ROWS], y[:N_ROWS]), X[N_ROWS:], most


def test_outputs_are_those_of_the_model_to_the_bit(case):
    error_estimator, X, _ = case
    model, judgement = error_estimator.estimator_, error_estimator.judge(X)
    np.testing.assert_array_equal(judgement.prediction, model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(judgement.probabilities, model.predict_proba(X))
    alone = np.concatenate([error_estimator.judge(X[i : i + 1]).error for i in range(N_NEW)])
    # Products of single precision differ in their last bits between one row and forty, on some processors.
    rounding = 1e-5 if X.to_numpy().dtype == np.float32 else 1e-12
    np.testing.assert_allclose(alone, judgement.error, rtol=rounding)


def counting(method, calls):
    """The method of a model, which also notes how many rows it was asked for."""

    def asked(rows):
        calls.append(len(rows))
        return method(rows)

    return asked


def test_one_row_takes_one_call(case, monkeypatch):
    error_estimator, X, most = case
    expected, calls = error_estimator.judge(X[:1]), []
    model = error_estimator.estimator_
    for method in {"predict", "predict_proba", "decision_function"} & {*dir(model)}:
        monkeypatch.setattr(model, method, counting(getattr(model, method), calls))
    judgement = error_estimator.judge(X[:1])
    assert len(calls) == most
    assert max(calls) > 10 or isinstance(model, LogisticRegression)  # the samples are among them
    assert judgement.error == expected.error
