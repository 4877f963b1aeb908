"""Parts of one's own: an indicator that learns, a neighbour search, and outputs without a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification, make_regression
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._models import GivenOutputs
from surefoot.indicators import Confidence, Indicator, NeighborDisagreement, SecondOpinion


class NearestMean(Indicator):
    """Distance to the nearest class mean, which it learns."""

    learns = True

    def __init__(self, estimator=None, *, space="auto", metric="auto"):
        self.estimator, self.space, self.metric = estimator, space, metric

    def needed_neighbors(self, n_rows):
        return 1

    def learn(self, rows, labels):
        self.means_ = np.array([rows[labels == label].mean(axis=0) for label in np.unique(labels)])
        return self

    def columns(self, neighborhood):
        gaps = neighborhood.rows[:, None, :] - self.means_
        return np.sqrt((gaps**2).sum(axis=2)).min(axis=1)[:, None]

    def trust(self, neighborhood):
        return -self.columns(neighborhood)[:, 0]

    def get_feature_names_out(self, input_features=None):
        return np.array(["distance"], dtype=object)


def test_an_indicator_of_ones_own_learns_from_the_other_folds_only():
    X, y = make_classification(120, 4, flip_y=0.2, random_state=0)
    indicators = [Confidence(), NearestMean()]
    model = IndividualErrorClassifier(LogisticRegression(), indicators=indicators, cv=KFold(4))
    found = model.fit(X, y).held_out_.columns["NearestMean"][:, 0]
    for train, test in KFold(4).split(X):
        means = [X[train][y[train] == label].mean(axis=0) for label in (0, 1)]
        expected = np.min([np.linalg.norm(X[test] - mean, axis=1) for mean in means], axis=0)
        assert_allclose(found[test], expected)
    means = [X[y == label].mean(axis=0) for label in (0, 1)]
    expected = np.min([np.linalg.norm(X + 0.1 - mean, axis=1) for mean in means], axis=0)
    assert_allclose(model.judge(X + 0.1).columns["NearestMean"][:, 0], expected)


class FirstColumnSearch(BaseEstimator):
    """Neighbours by the first column alone."""

    def fit(self, X, y=None):
        self.search_ = NearestNeighbors().fit(X[:, :1])
        return self

    def kneighbors(self, X, n_neighbors):
        return self.search_.kneighbors(X[:, :1], n_neighbors)


def test_a_neighbour_search_of_ones_own_finds_the_neighbours_of_every_fold():
    X, y = make_classification(120, 4, flip_y=0.2, random_state=0)
    near = NeighborDisagreement(n_neighbors=5, metric=FirstColumnSearch())
    model = IndividualErrorClassifier(
        LogisticRegression(), indicators=[Confidence(), near], cv=KFold(4)
    ).fit(X, y)
    found = model.held_out_.columns["NeighborDisagreement"][:, 0]
    for train, test in KFold(4).split(X):
        order = np.argsort(np.abs(X[test, :1] - X[train, 0]), axis=1)[:, :5]
        predicted = LogisticRegression().fit(X[train], y[train]).predict(X[test])
        assert_allclose(found[test], (y[train][order] != predicted[:, None]).mean(axis=1))


def test_an_unknown_metric_gets_one_sentence():
    with pytest.raises(ValueError, match="a neighbour search with fit and kneighbors, or one of"):
        NeighborDisagreement(LogisticRegression(), metric="near").fit([[0.0], [1.0]], [0, 1])


def columns_of(judgement, names):
    return np.hstack([judgement.columns[name] for name in names])


def test_outputs_without_a_model_are_judged_like_those_of_a_model():
    X, y = make_classification(400, 5, flip_y=0.2, random_state=0)
    model = LogisticRegression().fit(X[:100], y[:100])
    rows, labels, new = X[100:300], y[100:300], X[300:]
    indicators = [Confidence(), NeighborDisagreement(), SecondOpinion(random_state=0)]
    settings = {"indicators": indicators, "random_state": 0}
    at_hand = IndividualErrorClassifier(FrozenEstimator(model), **settings)
    at_hand.set_params(indicators=[Confidence(response="predict_proba"), *indicators[1:]])
    given = IndividualErrorClassifier(FrozenEstimator(GivenOutputs([0, 1])), **settings)

    expected = at_hand.fit(rows, labels).judge(new)
    found = given.fit(np.hstack([rows, model.predict_proba(rows)]), labels).judge(
        np.hstack([new, model.predict_proba(new)])
    )

    assert_array_equal(found.prediction, expected.prediction)
    names = ["Confidence", "NeighborDisagreement", "SecondOpinion"]
    assert_allclose(columns_of(found, names), columns_of(expected, names), atol=1e-9)
    assert_allclose(found.error, expected.error, atol=1e-6)
    assert_array_equal(found.novel, expected.novel)


def test_stability_without_a_model_is_the_change_to_the_outputs_of_the_neighbours():
    X, y = make_regression(200, 3, noise=5, random_state=0)
    predictions = LinearRegression().fit(X[:80], y[:80]).predict(X)
    table = np.column_stack([X, predictions])
    given = IndividualErrorRegressor(FrozenEstimator(GivenOutputs()), random_state=0)
    found = given.fit(table[80:], y[80:]).judge(table[:80])

    assert_array_equal(found.prediction, predictions[:80])
    scaled = X / X[80:].std(axis=0)
    near = NearestNeighbors(n_neighbors=10).fit(scaled[80:]).kneighbors(scaled[:80])[1]
    change = predictions[80:][near] - predictions[:80, None]
    assert_allclose(found.shift, change.mean(axis=1))
    assert_allclose(found.worst, change.min(axis=1))
