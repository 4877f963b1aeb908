"""The search among dense rows: the answer for a row depends neither on other rows nor on the number of threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from surefoot import IndividualErrorClassifier
from surefoot._sklearn_private import n_search_threads
from surefoot.neighborhoods._search import neighbor_search


@pytest.fixture
def threads_used(monkeypatch):
    """Numbers of OpenMP threads that scikit-learn's searches may use, one for each call."""
    used = []
    search = NearestNeighbors.kneighbors

    def recorded(*args, **kwargs):
        used.append(n_search_threads())
        return search(*args, **kwargs)

    monkeypatch.setattr(NearestNeighbors, "kneighbors", recorded)
    return used


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_row_has_the_same_neighbours_alone_and_among_many(n_threads, metric):
    rng = np.random.default_rng(0)
    # Sums of whole numbers are exact, and at so few places most distances are equal to others.
    rows, queries = rng.integers(1, 3, (2, 3000, 20)).astype(float)
    search = neighbor_search(rows, metric, 15)
    with threadpool_limits(n_threads):
        many = search.kneighbors(queries)
        some = search.kneighbors(queries[:300])
        alone = [search.kneighbors(queries[i : i + 1]) for i in range(300)]
    for of_many, of_some, of_one in zip(many, some, zip(*alone, strict=True), strict=True):
        assert_array_equal(of_some, of_many[:300])
        assert_array_equal(np.concatenate(of_one), of_many[:300])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_neighbours_are_those_of_brute_force(metric):
    rows, queries = np.random.default_rng(0).normal(size=(2, 1500, 20))
    distances, indices = neighbor_search(rows, metric, 5).kneighbors(queries)
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
    search = neighbor_search(rows, "euclidean", 5)
    with threadpool_limits(2):
        n_threads = n_search_threads()
        search.kneighbors(rows)
        assert n_search_threads() == n_threads
    assert len(threads_used) >= 2 * n_threads
    assert set(threads_used) == {1}
