"""Parts of one's own: an indicator that learns, and a neighbour search."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import IndividualErrorClassifier
from surefoot.indicators import Confidence, Indicator, NeighborDisagreement
from surefoot.neighborhoods import NeighborSearch


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


class ComparedByFirst(NeighborSearch, BaseEstimator):
    """Search by the first column, as a model offers it."""

    def fit(self, rows):
        self.rows = rows
        return self

    def kneighbors(self, X, n_neighbors):
        gaps = np.abs(X[:, :1] - self.rows[:, 0])
        near = np.argsort(gaps, axis=1)[:, :n_neighbors]
        return np.take_along_axis(gaps, near, axis=1), near


class OfferingRegression(LogisticRegression):
    """Logistic regression that compares rows by their first column, and says what an error estimator learns from."""

    def neighbor_search(self):
        return ComparedByFirst()

    def error_indicators(self):
        return [Confidence(), NeighborDisagreement(n_neighbors=5, space="scaled")]


def test_a_model_brings_its_own_search_and_indicators():
    X, y = make_classification(120, 4, flip_y=0.2, random_state=0)
    model = IndividualErrorClassifier(OfferingRegression(), cv=KFold(4)).fit(X, y)
    assert list(model.get_indicator_names()) == [
        "Confidence",
        "NeighborDisagreement",
        "SecondOpinion",
    ]
    found = model.held_out_.columns["NeighborDisagreement"][:, 0]
    for train, test in KFold(4).split(X):
        order = np.argsort(np.abs(X[test, :1] - X[train, 0]), axis=1)[:, :5]
        predicted = LogisticRegression().fit(X[train], y[train]).predict(X[test])
        assert_allclose(found[test], (y[train][order] != predicted[:, None]).mean(axis=1))
    inside = make_pipeline(StandardScaler(), CalibratedClassifierCV(OfferingRegression(), cv=3))
    index = NeighborDisagreement(inside).fit(X, y).index_
    assert isinstance(index.search, ComparedByFirst)


def test_an_unknown_metric_gets_one_sentence():
    with pytest.raises(ValueError, match="a neighbour search with fit and kneighbors, or one of"):
        NeighborDisagreement(LogisticRegression(), metric="near").fit([[0.0], [1.0]], [0, 1])
