"""The search among dense rows: the answer for a row depends neither on other rows nor on the number of threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

from surefoot import IndividualErrorClassifier
from surefoot.neighborhoods import NeighborhoodIndex


def openmp_threads():
    """Most threads of OpenMP that a call may use here."""
    pools = threadpool_info()
    return max(pool["num_threads"] for pool in pools if pool["user_api"] == "openmp")


def neighbors(rows, metric, n_neighbors):
    """Function that searches the nearest of the rows."""
    labels = np.arange(len(rows)) % 2
    model = LogisticRegression().fit(rows[:10], labels[:10])
    index = NeighborhoodIndex(model, rows, n_neighbors=n_neighbors, metric=metric)
    return lambda queries: index.map(lambda near: (near.distances, near.indices), queries, 0)[0]


@pytest.fixture
def threads_used(monkeypatch):
    """Numbers of OpenMP threads that scikit-learn's searches may use, one for each call."""
    used = []
    search = NearestNeighbors.kneighbors

    def recorded(*args, **kwargs):
        used.append(openmp_threads())
        return search(*args, **kwargs)

    monkeypatch.setattr(NearestNeighbors, "kneighbors", recorded)
    return used


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_row_has_the_same_neighbours_alone_and_among_many(n_threads, metric):
    rng = np.random.default_rng(0)
    # Sums of whole numbers are exact, and at so few places most distances are equal to others.
    rows, queries = rng.integers(1, 3, (2, 3000, 20)).astype(float)
    search = neighbors(rows, metric, 15)
    with threadpool_limits(n_threads):
        many = search(queries)
        some = search(queries[:300])
        alone = [search(queries[i : i + 1]) for i in range(300)]
    for of_many, of_some, of_one in zip(many, some, zip(*alone, strict=True), strict=True):
        assert_array_equal(of_some, of_many[:300])
        assert_array_equal(np.concatenate(of_one), of_many[:300])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_neighbours_are_those_of_brute_force(metric):
    rows, queries = np.random.default_rng(0).normal(size=(2, 1500, 20))
    distances, indices = neighbors(rows, metric, 5)(queries)
    between = cdist(queries, rows, {"manhattan": "cityblock"}.get(metric, metric))
    assert_array_equal(indices, between.argsort(axis=1)[:, :5])
    assert_allclose(distances, np.sort(between, axis=1)[:, :5], rtol=1e-10)


def test_one_row_is_judged_with_one_thread(threads_used):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 20)), rng.integers(0, 2, 400)
    error_estimator = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X, y)
    threads_used.clear()
    with threadpool_limits(2):
        error_estimator.judge(X[:1])
    assert threads_used
    assert set(threads_used) == {1}


def test_many_rows_are_searched_in_several_threads_of_one_each(threads_used):
    rows = np.random.default_rng(0).normal(size=(1000, 20))
    search = neighbors(rows, "euclidean", 5)
    threads_used.clear()
    with threadpool_limits(2):
        search(rows)
        assert openmp_threads() == 2
    assert len(threads_used) > 1
    assert set(threads_used) == {1}


def test_a_row_is_at_no_distance_from_its_copy():
    # So far from the origin that rounding would leave about 1e-6 of a difference of squares.
    rows = 100 + np.random.default_rng(0).normal(size=(300, 50))
    search = neighbors(rows, "euclidean", 2)
    for distances, _ in (search(rows), search(rows[:1])):
        assert (distances[:, 0] == 0).all()
        assert (distances[:, 1] > 1).all()
