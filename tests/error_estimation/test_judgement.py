"""A judgement: one pass in which the model is asked once, what it is made of, and errors in costs."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import (
    FixedThresholdClassifier,
    KFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.error_estimation._judgement import expected_cost
from surefoot.indicators import (
    Confidence,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
)

QUICK = [Confidence(), NeighborDisagreement(n_neighbors=5, space="scaled")]
MODELS = {
    "line": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0)),
    "boosting": HistGradientBoostingClassifier(max_iter=5),
    "no probabilities": LinearSVC(),
    "threshold": FixedThresholdClassifier(LogisticRegression(), threshold=0.8),
}


def labelled(n_classes=2):
    return make_classification(
        240, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )


def quick(model=None, **settings):
    settings = {"indicators": QUICK, "random_state": 0, **settings}
    return IndividualErrorClassifier(LogisticRegression() if model is None else model, **settings)


@cache
def fitted():
    return quick().fit(*labelled())


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


SEVERAL_SPACES = [
    Confidence(),
    NeighborDisagreement(),
    LocalSensitivity(metric="manhattan"),
    NeighborDisagreement(space=StandardScaler()),
]


@pytest.mark.parametrize("indicators", ["auto", SEVERAL_SPACES])
def test_the_model_is_asked_once_about_a_row_by_each_method(indicators):
    X, y = labelled()
    model = quick(Counting(), indicators=indicators).fit(X[:200], y[:200])
    Counting.asked.clear()
    model.judge(X[200:])
    counts = times_asked(X[200:])
    assert set(counts.values()) == {1}
    assert len(counts) == 40 * 3  # predict, predict_proba and decision_function


@pytest.mark.parametrize(
    ("name", "n_classes"), [*((name, 2) for name in MODELS), ("pipeline", 3), ("boosting", 3)]
)
def test_a_classifiers_judgement_is_what_its_methods_say(name, n_classes):
    X, y = labelled(n_classes)
    model = quick(MODELS[name], indicators="auto").fit(X[:180], y[:180])
    judgement = model.judge(X[180:])
    assert_array_equal(judgement.prediction, model.predict(X[180:]))
    assert_allclose(judgement.error, model.predict_error(X[180:]))
    assert_array_equal(judgement.novel, model.predict_novelty(X[180:]))
    alone = LocalSensitivity(FrozenEstimator(model.estimator_), n_neighbors=10, space="scaled")
    columns = alone.fit(X[:180], y[:180]).transform(X[180:])
    assert_allclose(np.column_stack([judgement.worst, judgement.flips]), columns[:, 2:])
    assert_allclose(judgement.columns["LocalSensitivity"], columns)
    assert (judgement.interval, judgement.residual) == (None, None)
    if hasattr(model, "predict_proba"):
        assert_allclose(judgement.probabilities, model.predict_proba(X[180:]))
    else:
        assert judgement.probabilities is model.held_out_.probabilities is None


@pytest.mark.parametrize("corrected", [False, True])
def test_a_regressors_judgement_is_what_its_methods_say(corrected):
    X, y = make_regression(200, 4, noise=20, random_state=0)
    y += 30 * np.sin(X[:, 0] * 3)
    model = IndividualErrorRegressor(Ridge(), corrected=corrected, cv=3, random_state=0).fit(X, y)
    judgement = model.judge(X[:30], confidence=0.8)
    assert_allclose(judgement.prediction, model.predict(X[:30]))
    assert_allclose(judgement.error, model.predict_error(X[:30]))
    assert_allclose(judgement.residual, model.predict_residual(X[:30]))
    assert_allclose(judgement.interval, model.predict_interval(X[:30], confidence=0.8))
    assert (judgement.flips, judgement.probabilities) == (None, None)
    assert list(judgement.to_frame()) == [
        "prediction", "estimated_error", "low", "high", "residual",
        "shift", "spread", "worst", "novel", "known",
    ]  # fmt: skip


def test_the_frame_has_the_promised_columns():
    X, y = labelled()
    judgement = quick().fit(X, np.array(["no", "yes"])[y]).judge(X[:5])
    assert list(judgement.to_frame()) == [
        "prediction", "probability_no", "probability_yes", "estimated_error",
        "shift", "spread", "worst", "flips", "novel", "known",
    ]  # fmt: skip
    answered = replace(judgement, accepted=judgement.error < 0.2).to_frame()
    assert list(answered)[-1] == "accepted"
    assert_array_equal(answered["accepted"], answered["estimated_error"] < 0.2)


def test_a_confidence_that_is_no_share_is_one_sentence():
    with pytest.raises(ValueError, match=r"confidence == 1\.5, must be < 1"):
        fitted().judge(labelled()[0], confidence=1.5)


# Held-out rows


def test_held_out_is_a_judgement_of_the_training_rows_with_their_groups():
    X, y = labelled()
    groups = np.repeat(np.arange(40), 6)
    model = quick().fit(X, y, groups=groups)
    held_out = model.held_out_
    assert_array_equal(held_out.groups, groups[held_out.rows])
    assert len(held_out) == 240
    assert [*held_out.to_frame(), "known"] == list(model.judge(X[:2]).to_frame())
    assert_array_equal(held_out.losses, held_out.prediction != y[held_out.rows])


def test_held_out_scores_and_probabilities_are_those_of_cross_validation():
    X, y = labelled()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    held_out = quick(cv=folds).fit(X, y).held_out_
    for method, found in [
        ("predict_proba", held_out.probabilities),
        ("decision_function", held_out.scores[:, 0]),
    ]:
        expected = cross_val_predict(LogisticRegression(), X, y, cv=folds, method=method)
        assert_allclose(found, expected)


def test_a_part_of_the_held_out_rows_is_a_judgement_of_these():
    held_out = quick(loss=[[0, 1], [5, 0]]).fit(*labelled()).held_out_
    part = held_out.take([7, 3])
    assert part.rows.tolist() == held_out.rows[[7, 3]].tolist()
    assert part.probabilities.tolist() == held_out.probabilities[[7, 3]].tolist()
    assert {len(column) for column in part.columns.values()} == {2}
    assert (part.classes is held_out.classes, part.costs is held_out.costs) == (True, True)


def test_held_out_stability_of_a_regressor_is_out_of_fold():
    X, y = make_regression(120, 3, noise=10, random_state=0)
    folds = KFold(4, shuffle=True, random_state=0)
    model = IndividualErrorRegressor(Ridge(), indicators=NeighborDistance(), cv=folds)
    held_out = model.fit(X, y).held_out_
    space = FunctionTransformer(lambda rows: rows / X.std(axis=0))  # that of all rows
    for train, test in folds.split(X):
        alone = LocalSensitivity(Ridge(), n_neighbors=10, space=space).fit(X[train], y[train])
        expected = alone.transform(X[test])
        assert_allclose(held_out.shift[test], expected[:, 0], atol=1e-9)
        assert_allclose(held_out.spread[test], expected[:, 1], atol=1e-9)


# Neighbours, stability and reasons


def test_neighbors_are_the_nearest_training_rows_by_scaled_columns():
    X, y = labelled()
    X *= [1, 10, 100, 1000, 1]
    model = quick().fit(X[:150], y[:150])
    scaled = X / X[:150].std(axis=0)
    assert_allclose(model.coordinates(X[:7]), scaled[:7])
    distances, rows = model.kneighbors(X[150:], n_neighbors=3)
    every = pairwise_distances(scaled[150:], scaled[:150])
    assert_array_equal(rows, every.argsort(axis=1)[:, :3])
    assert_allclose(distances, np.sort(every, axis=1)[:, :3])
    with pytest.raises(ValueError, match="n_neighbors == 400, must be <= 1"):
        model.kneighbors(X[:2], n_neighbors=400)


def test_neighbors_among_a_sample_of_the_rows_are_named_by_their_place_in_the_table():
    X, y = labelled()
    model = quick(max_reference_rows=50).fit(X, y)
    assert len(model.reference_rows_) == 50
    distances, rows = model.kneighbors(X[model.reference_rows_], n_neighbors=1)
    assert_array_equal(rows[:, 0], model.reference_rows_)  # each is its own nearest
    assert_allclose(distances, 0, atol=1e-6)


def test_reasons_of_a_single_indicator_are_its_distance_from_typical():
    X, y = labelled()
    model = quick(indicators=[NeighborDistance(space="scaled")]).fit(X, y)
    column = model.held_out_.columns["NeighborDistance"]
    typical = np.median(column, axis=0, keepdims=True)
    learned = model.learner_.predict_proba
    assert_allclose(model.explain_error()[:, 0], learned(column)[:, 1] - learned(typical)[:, 1])


# Costs: truth by prediction

COSTS = np.array([[0.0, 10.0, 1.0], [2.0, 0.5, 3.0], [4.0, 5.0, 0.0]])


def test_expected_costs_by_hand():
    # Class 1 is predicted; if wrong, the truth is 0 or 2 as 5 to 2: 5/7 · 10 + 2/7 · 5 = 60/7.
    found = expected_cost(COSTS, np.log([[0.5, 0.3, 0.2]]), np.array([1]), np.array([0.4]))
    assert_allclose(found, 0.4 * 60 / 7 + 0.6 * 0.5)
    # A model that is certain has no other class to weigh.
    certain = np.array([[800.0, -800.0, -800.0]])
    found = expected_cost(COSTS, certain, np.array([0]), np.array([0.2]))
    assert_allclose(found, 0.2 * (2.0 + 4.0) / 2)
    two, scores = np.array([[0.0, 7.0], [2.0, 0.0]]), np.array([[logit(0.8)], [logit(0.3)]])
    found = expected_cost(two, scores, np.array([1, 0]), np.array([0.1, 0.5]))
    assert_allclose(found, [0.1 * 7, 0.5 * 2])
    rng = np.random.default_rng(0)
    scores, wrong = rng.normal(size=(50, 4)), rng.random(50)
    assert_allclose(expected_cost(1 - np.eye(4), scores, scores.argmax(axis=1), wrong), wrong)


def test_own_doubt_is_one_minus_the_probability_of_the_class_or_its_expected_cost():
    """With the costs, answering 0 costs three times its probability of 1, and answering 1 its probability of 0."""
    X, y = make_classification(200, flip_y=0.2, random_state=0)
    plain, costly = (
        IndividualErrorClassifier(LogisticRegression(), loss=loss, random_state=0)
        .fit(X, y)
        .held_out_
        for loss in (None, [[0, 1], [3, 0]])
    )
    assert_allclose(plain.own_doubt, 1 - plain.probabilities.max(axis=1))
    own = np.where(
        costly.prediction == 0, 3 * costly.probabilities[:, 1], costly.probabilities[:, 0]
    )
    assert_allclose(costly.own_doubt, own)
    assert_array_equal(plain.lead, np.abs(plain.scores[:, 0]))
    assert replace(plain, probabilities=None).own_doubt.argmax() == plain.lead.argmin()
    assert replace(plain, classes=None).own_doubt is None


def test_the_pool_of_second_opinions_is_what_their_column_is_made_of():
    X, y = make_classification(200, flip_y=0.2, random_state=0)
    held_out = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X, y).held_out_
    of_predicted = held_out.pooled[np.arange(200), held_out.prediction]
    assert_allclose(held_out.columns["SecondOpinion"][:, 0], logit(of_predicted))
    assert_allclose(held_out.pooled.sum(axis=1), 1)
