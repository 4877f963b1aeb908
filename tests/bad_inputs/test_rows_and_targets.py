"""Rows and targets that no model can use are refused in one sentence, by whatever is fitted on them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from surefoot import (
    AbstainingClassifier,
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    LocalSensitivity,
    StriveClassifier,
    assess,
    assess_predictions,
)
from surefoot.active_learning import ActiveLearner, simulate
from surefoot.checks import check_table
from surefoot.ensemble import BoostingClassifier
from surefoot.neighborhoods import KernelKNeighborsClassifier
from surefoot.report import MonitoringReport, ReliabilityReport
from surefoot.selection import LocalSelectionClassifier

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
NAMES = np.where(Y, "a", "b")
GIVEN = np.where(X[:, 1] > 1, 1 - Y, Y)

FITS = {
    "fit": lambda X, y: IndividualErrorClassifier(GaussianNB(), cv=3).fit(X, y),
    "assess": lambda X, y: assess(GaussianNB().fit(*FIRST), X, y),
    "assess_predictions": lambda X, y: assess_predictions(X, y, GIVEN),
    "an indicator": lambda X, y: LocalSensitivity(GaussianNB()).fit(X, y),
    "abstaining": lambda X, y: AbstainingClassifier(GaussianNB(), coverage=0.9).fit(X, y),
    "strive": lambda X, y: StriveClassifier(MODELS).fit(X, y),
    "selection": lambda X, y: LocalSelectionClassifier(MODELS).fit(X, y),
    "active learning": lambda X, y: ActiveLearner(GaussianNB()).fit(X, y),
    "simulation": lambda X, y: simulate(GaussianNB(), X, y),
    "boosting": lambda X, y: BoostingClassifier().fit(X, y),
    "votes": lambda X, y: KernelKNeighborsClassifier().fit(X, y),
    "report": lambda X, y: ReliabilityReport(GaussianNB(), X, y).summarize(),
    "report of predictions": lambda X, y: ReliabilityReport.from_predictions(X, y, GIVEN),
}
MODELS = [("one", GaussianNB()), ("two", GaussianNB())]
FIRST = X[::2], Y[::2]
NO_TARGET = "Input y contains NaN or None in 1 row, first in row 4"
MIXED = "y has strings, such as '[ab]', and other values, such as 1"
TWICE = "X has more than one column with the name 'a': names must differ"
MASKED = " is a masked array, whose mask would be lost"


def with_none(values):
    values = np.asarray(values).astype(object)
    values[4] = None
    return values


TARGETS = {
    "None among numbers": (with_none(Y), NO_TARGET),
    "None in a list": (with_none(Y).tolist(), NO_TARGET),
    "None among strings": (with_none(NAMES), NO_TARGET),
    "pandas": (pd.Series(with_none(NAMES)), NO_TARGET),
    "polars": (pl.Series(with_none(NAMES).tolist()), NO_TARGET),
    "strings and integers": (np.where(Y, NAMES.astype(object), 1), MIXED),
    "strings and integers in a list": (np.where(Y, NAMES.astype(object), 1).tolist(), MIXED),
    "masked": (np.ma.masked_array(Y, Y == 1), f"y{MASKED}"),
}
ROWS = {
    "masked": (np.ma.masked_array(X, X > 1), f"X{MASKED}"),
    "times": (np.datetime64("2026-01-01") + X.astype("timedelta64[D]"), "X is an array of times"),
    "durations": (X.astype("timedelta64[D]"), "X is an array of times"),
    "lazy": (pl.DataFrame(X).lazy(), r"X is a lazy frame: pass X.collect\(\)"),
    "one name twice": (pd.DataFrame(X, columns=["a", "b", "a"]), TWICE),
    "one name twice in Arrow": (pa.table(list(X.T), names=["a", "b", "a"]), TWICE),
}


@pytest.mark.parametrize("case", TARGETS)
@pytest.mark.parametrize("fit", FITS)
def test_targets(fit, case):
    y, sentence = TARGETS[case]
    with pytest.raises((TypeError, ValueError), match=sentence):
        FITS[fit](X, y)


def test_any_table_is_checked_but_one_that_hides_its_values():
    with pytest.raises(TypeError, match=f"y{MASKED}"):
        check_table(X, TARGETS["masked"][0])
    for rows, sentence in ROWS.values():
        with pytest.raises((TypeError, ValueError), match=sentence):
            check_table(rows, Y)


@pytest.mark.parametrize("case", ["None among numbers", "strings and integers", "masked"])
def test_targets_of_a_regressor(case):
    y, sentence = TARGETS[case]
    with pytest.raises((TypeError, ValueError), match=sentence):
        IndividualErrorRegressor(LinearRegression(), cv=3).fit(X, y)


@pytest.mark.parametrize("case", ROWS)
@pytest.mark.parametrize("fit", FITS)
def test_rows(fit, case):
    rows, sentence = ROWS[case]
    with pytest.raises((TypeError, ValueError), match=sentence):
        FITS[fit](rows, Y)


@pytest.fixture(scope="module")
def asked():
    """Methods that take new rows."""
    error_estimator = IndividualErrorClassifier(GaussianNB(), cv=3, random_state=0).fit(X, Y)
    active = ActiveLearner(GaussianNB()).fit(X, Y)
    return [
        *(error_estimator.judge, error_estimator.predict, error_estimator.predict_error),
        *(error_estimator.predict_set, error_estimator.predict_novelty, error_estimator.kneighbors),
        IndividualErrorRegressor(LinearRegression(), cv=3).fit(X, X[:, 0]).predict_interval,
        LocalSensitivity(GaussianNB()).fit(X, Y).transform,
        AbstainingClassifier(GaussianNB(), coverage=0.9).fit(X, Y).predict_accepted,
        LocalSelectionClassifier(MODELS).fit(X, Y).predict,
        *(active.query, active.predict),
        MonitoringReport(error_estimator).add,
    ]


@pytest.mark.parametrize("case", ROWS)
def test_new_rows(case, asked):
    rows, sentence = ROWS[case]
    for method in asked:
        with pytest.raises((TypeError, ValueError), match=sentence):
            method(rows)


def test_a_model_of_several_labels_a_row():
    class OfTwoLabels(KNeighborsClassifier):
        """As CatBoost's MultiLogloss: labels of one column, predictions of two."""

        def predict(self, X):
            return np.column_stack([super().predict(X)] * 2)

    with pytest.raises(TypeError, match="predicts several targets a row: it must predict one"):
        assess(OfTwoLabels().fit(*FIRST), X, Y)
