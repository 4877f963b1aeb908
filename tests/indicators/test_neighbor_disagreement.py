"""Shares of contradicting neighbours, by hand and by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

from surefoot.indicators import NeighborDisagreement

ONE = DummyClassifier(strategy="constant", constant="b")


def test_shares_by_hand():
    X, y = [[0.0], [1.0], [3.0], [6.0]], ["a", "b", "b", "a"]
    found = NeighborDisagreement(ONE, n_neighbors=(1, 2, 4)).fit(X, y).transform([[2.0]])
    # Distances 1 (b), 1 (b), 2 (a), 4 (a), of which "a" contradicts; weights 1, 1, 1/2, 1/4.
    assert_allclose(found, [[0, 0, 0, 0, 1 / 2, (3 / 4) / (11 / 4)]])


def test_the_share_is_that_of_brute_force():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    rows = X + 0.01
    found = NeighborDisagreement(LogisticRegression(max_iter=1000), n_neighbors=7).fit(X, y)
    distances = cdist(rows, X)
    near = np.argsort(distances, axis=1, kind="stable")[:, :7]
    wrong = y[near] != model.predict(rows)[:, None]
    weight = 1 / np.take_along_axis(distances, near, axis=1)
    columns = found.transform(rows)
    assert_allclose(columns[:, 1], (wrong * weight).sum(axis=1) / weight.sum(axis=1), atol=1e-2)
    assert_allclose(columns[:, 0], wrong.mean(axis=1), atol=1e-12)


def test_a_neighbour_at_no_distance_decides_and_nothing_divides_by_zero():
    found = NeighborDisagreement(ONE, n_neighbors=3).fit([[0.0]] * 3, ["a", "b", "b"])
    assert_allclose(found.transform([[0.0]]), [[1 / 3, 1 / 3]])
    found = NeighborDisagreement(ONE, n_neighbors=3).fit([[0.0], [1.0], [1.0]], ["a", "b", "b"])
    assert found.transform([[0.0]])[0, 1] > 0.99


def test_targets_around_a_regression_by_hand():
    X, y = [[0.0], [1.0], [2.0], [10.0]], [0.0, 3.0, 3.0, 50.0]
    nearest = NeighborDisagreement(KNeighborsRegressor(1), n_neighbors=2).fit(X, y)
    found = nearest.transform([[0.25]])
    # The model says 0; targets 0 and 3 at distances 1/4 and 3/4 weigh 3/4 and 1/4.
    assert_allclose(found, [[0.75, 1.5]])
    assert_allclose(nearest.score_samples([[0.25]]), [-0.75])


def test_log_many_and_more_than_there_are():
    X, y = load_iris(return_X_y=True)
    found = NeighborDisagreement(LogisticRegression(max_iter=1000), n_neighbors=("log", 500))
    assert NeighborDisagreement(n_neighbors="log").needed_neighbors(64) == 13
    columns = found.fit(X, y).transform(X[:50])
    assert_allclose(columns[:, 2], 2 / 3)  # of all 150 rows, two thirds are of another class


@pytest.mark.parametrize(
    ("n_neighbors", "sentence"),
    [((), "n_neighbors is empty"), (0, "n_neighbors"), ((3, -1), "n_neighbors"), ("ln", "'ln'")],
)
def test_wrong_numbers_of_neighbours_get_one_sentence(n_neighbors, sentence):
    with pytest.raises(ValueError, match=sentence):
        NeighborDisagreement(ONE, n_neighbors=n_neighbors).fit([[0.0], [1.0]], ["a", "b"])
