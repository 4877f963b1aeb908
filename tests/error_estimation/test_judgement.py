"""One judgement: everything that is said of a row, from one pass in which the model is asked once."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import Confidence, LocalSensitivity, NeighborDisagreement

MODELS = {
    "line": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0)),
    "boosting": HistGradientBoostingClassifier(max_iter=5),
    "no probabilities": LinearSVC(),
    "threshold": FixedThresholdClassifier(LogisticRegression(), threshold=0.8),
    "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3),
}


def labelled(n_classes=2):
    return make_classification(
        240, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )


class Counting(ClassifierMixin, BaseEstimator):
    """A logistic regression that writes down which rows it is asked about, by method."""

    asked: list = []  # noqa: RUF012 - clones write into the same list

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def _ask(self, method, X):
        self.asked.extend((method, row.tobytes()) for row in np.asarray(X))
        return getattr(self.model_, method)(X)

    def predict(self, X):
        return self._ask("predict", X)

    def predict_proba(self, X):
        return self._ask("predict_proba", X)

    def decision_function(self, X):
        return self._ask("decision_function", X)


def times_asked(rows):
    keys = {row.tobytes() for row in rows}
    return Counter((m, row) for m, row in Counting.asked if row in keys)


@pytest.mark.parametrize(
    "indicators",
    [
        "auto",
        [
            Confidence(),
            NeighborDisagreement(),
            LocalSensitivity(metric="manhattan"),
            NeighborDisagreement(space=StandardScaler()),
        ],
    ],
)
def test_the_model_is_asked_once_about_a_row_by_each_method(indicators):
    X, y = labelled()
    sure = IndividualErrorClassifier(Counting(), indicators=indicators, random_state=0)
    sure.fit(X[:200], y[:200])
    Counting.asked.clear()
    sure.judge(X[200:])
    counts = times_asked(X[200:])
    assert set(counts.values()) == {1}
    assert len(counts) == 40 * 3  # predict, predict_proba and decision_function


def test_held_out_rows_are_predicted_once_by_each_method():
    X, y = labelled()
    Counting.asked.clear()
    IndividualErrorClassifier(Counting(), indicators=Confidence(), random_state=0).fit(X, y)
    assert set(times_asked(X).values()) == {1}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_a_classifiers_judgement_is_what_its_methods_say(name, n_classes):
    if n_classes == 3 and name == "threshold":
        pytest.skip("a threshold needs two classes")
    X, y = labelled(n_classes)
    sure = IndividualErrorClassifier(MODELS[name], random_state=0).fit(X[:180], y[:180])
    judgement = sure.judge(X[180:])
    assert_array_equal(judgement.prediction, sure.predict(X[180:]))
    assert_allclose(judgement.error, sure.predict_error(X[180:]))
    assert_array_equal(judgement.novel, sure.predict_novelty(X[180:]))
    alone = LocalSensitivity(FrozenEstimator(sure.estimator_), n_neighbors=10, space="scaled")
    columns = alone.fit(X[:180], y[:180]).transform(X[180:])
    assert_allclose(np.column_stack([judgement.worst, judgement.flips]), columns[:, 2:])
    assert_allclose(judgement.columns["LocalSensitivity"], columns)
    assert judgement.interval is None
    assert judgement.residual is None
    if hasattr(sure, "predict_proba"):
        assert_allclose(judgement.probabilities, sure.predict_proba(X[180:]))
    else:
        assert judgement.probabilities is None


@pytest.mark.parametrize("corrected", [False, True])
def test_a_regressors_judgement_is_what_its_methods_say(corrected):
    X, y = make_regression(200, 4, noise=20, random_state=0)
    y += 30 * np.sin(X[:, 0] * 3)
    sure = IndividualErrorRegressor(Ridge(), corrected=corrected, random_state=0).fit(X, y)
    judgement = sure.judge(X[:30], confidence=0.8)
    assert_allclose(judgement.prediction, sure.predict(X[:30]))
    assert_allclose(judgement.error, sure.predict_error(X[:30]))
    assert_allclose(judgement.residual, sure.predict_residual(X[:30]))
    assert_allclose(judgement.interval, sure.predict_interval(X[:30], confidence=0.8))
    assert judgement.flips is None
    assert judgement.probabilities is None


def test_the_frame_has_the_promised_columns():
    X, y = labelled()
    labels = np.array(["no", "yes"])[y]
    frame = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X, labels)
    judgement = frame.judge(X[:5])
    assert list(judgement.to_frame()) == [
        "prediction", "probability_no", "probability_yes", "estimated_error",
        "shift", "spread", "worst", "flips", "novel",
    ]  # fmt: skip
    accepted = judgement.with_accepted(judgement.error < 0.2).to_frame()
    assert list(accepted)[-1] == "accepted"
    assert_array_equal(accepted["accepted"], accepted["estimated_error"] < 0.2)
    numbers = IndividualErrorRegressor(LinearRegression(), random_state=0).fit(X, X[:, 0] + y)
    assert list(numbers.judge(X[:5]).to_frame()) == [
        "prediction", "estimated_error", "low", "high", "residual",
        "shift", "spread", "worst", "novel",
    ]  # fmt: skip


def test_held_out_is_a_judgement_of_the_training_rows_with_their_groups():
    X, y = labelled()
    groups = np.repeat(np.arange(40), 6)
    sure = IndividualErrorClassifier(LogisticRegression(), random_state=0)
    held_out = sure.fit(X, y, groups=groups).held_out_
    assert_array_equal(held_out.groups, groups[held_out.rows])
    assert len(held_out) == 240
    assert list(held_out.to_frame()) == list(sure.judge(X[:2]).to_frame())
    assert_array_equal(held_out.losses, held_out.prediction != y[held_out.rows])


def test_a_part_of_the_held_out_rows_is_a_judgement_of_these():
    sure = IndividualErrorClassifier(LogisticRegression(), loss=[[0, 1], [5, 0]], random_state=0)
    held_out = sure.fit(*labelled()).held_out_
    part = held_out.take([7, 3])
    assert part.rows.tolist() == held_out.rows[[7, 3]].tolist()
    assert part.probabilities.tolist() == held_out.probabilities[[7, 3]].tolist()
    assert {len(column) for column in part.columns.values()} == {2}
    assert (part.classes is held_out.classes, part.costs is held_out.costs) == (True, True)


def test_held_out_stability_of_a_regressor_is_out_of_fold():
    X, y = make_regression(120, 3, noise=10, random_state=0)
    folds = KFold(4, shuffle=True, random_state=0)
    held_out = IndividualErrorRegressor(Ridge(), cv=folds, random_state=0).fit(X, y).held_out_
    space = FunctionTransformer(lambda rows: rows / X.std(axis=0))  # that of all rows
    for train, test in folds.split(X):
        alone = LocalSensitivity(Ridge(), n_neighbors=10, space=space).fit(X[train], y[train])
        expected = alone.transform(X[test])
        assert_allclose(held_out.shift[test], expected[:, 0], atol=1e-9)
        assert_allclose(held_out.spread[test], expected[:, 1], atol=1e-9)


def test_a_confidence_that_is_no_share_is_one_sentence():
    X, y = labelled()
    sure = IndividualErrorClassifier(LogisticRegression(), indicators=Confidence()).fit(X, y)
    with pytest.raises(ValueError, match=r"confidence == 1\.5, must be < 1"):
        sure.judge(X, confidence=1.5)


def test_a_frame_is_judged_like_its_numbers():
    X, y = labelled()
    table = pd.DataFrame(X, columns=list("abcde"))
    sure = IndividualErrorClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    plain = sure.set_params(random_state=0).fit(X, y).judge(X[:9])
    framed = sure.fit(table, y).judge(table.iloc[:9])
    assert_allclose(framed.to_frame().astype(float), plain.to_frame().astype(float))
