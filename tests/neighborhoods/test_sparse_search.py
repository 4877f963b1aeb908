"""The search among sparse rows finds what scikit-learn's brute force finds, whichever way it goes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn import config_context
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot.neighborhoods._search import neighbor_search


def some_rows(n_rows, seed, density=0.1):
    rng = np.random.default_rng(seed)
    return csr_array(random_array((n_rows, 50), density=density, random_state=rng, format="csr"))


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_neighbours_are_those_of_brute_force(metric, n_jobs, monkeypatch):
    monkeypatch.setattr("surefoot.neighborhoods._search.MOST_QUERIES", 16)
    X, queries = some_rows(300, 0), some_rows(50, 1)
    distances, indices = neighbor_search(X, metric, 7, n_jobs).kneighbors(queries)
    brute = NearestNeighbors(n_neighbors=7, metric=metric, algorithm="brute").fit(X.toarray())
    expected, near = brute.kneighbors(queries.toarray())
    assert_allclose(distances, expected, atol=1e-12)
    assert_array_equal(indices, near)


@pytest.mark.parametrize(("density", "kind"), [(0.1, "SparseNeighbors"), (0.6, "RowSearch")])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_full_rows_are_searched_as_dense_ones(density, kind, metric):
    X, queries = some_rows(200, 0, density), some_rows(20, 1, density)
    search = neighbor_search(X, metric, 5)
    assert type(search).__name__ == kind
    expected = NearestNeighbors(metric=metric, algorithm="brute").fit(X.toarray())
    distances, _ = expected.kneighbors(queries.toarray())
    assert_allclose(search.kneighbors(queries, 5)[0], distances, atol=1e-12)


def test_full_rows_beyond_the_working_memory_are_never_made_dense():
    with config_context(working_memory=0.001):
        search = neighbor_search(some_rows(200, 0, 0.6), "cosine", 5)
    assert type(search).__name__ == "SparseNeighbors"


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_a_row_finds_itself_at_no_distance(metric):
    X = some_rows(100, 0, density=0.2)
    distances, indices = neighbor_search(X, metric, 1).kneighbors(X)
    assert_array_equal(indices[:, 0], np.arange(100))
    assert_allclose(distances, 0.0, atol=1e-15)


def test_values_in_parts_and_wide_indices_are_one_value():
    parts = csr_matrix(([1.0, 2.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 12))
    assert not parts.has_canonical_format
    wide = csr_array(parts)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for rows in (parts, wide):
        distances, indices = neighbor_search(rows, "euclidean", 2).kneighbors(rows)
        assert_array_equal(indices, [[0, 1], [1, 0]])
        assert_allclose(distances, [[0, np.sqrt(10)]] * 2)
    assert parts.nnz == 3  # the caller's rows are as they were


def texts():
    fuel = ["oil and gas prices", "gas and coal", "coal or oil", "oil prices rise"]
    grain = ["wheat and corn", "corn prices", "oats and wheat", "corn or oats"]
    return (fuel + grain) * 3, ["fuel"] * 4 + ["grain"] * 4


def test_texts_without_a_known_term_are_trusted_least_and_get_numbers():
    X, y = texts()
    model = make_pipeline(TfidfVectorizer(), KernelKNeighborsClassifier(3, kernel="cosine"))
    stability = LocalSensitivity(model, n_neighbors=3).fit(X, y * 3)
    new = ["oil and coal", "", "never seen before", "wheat"]
    columns, trust = stability.transform(new), stability.score_samples(new)
    assert np.isfinite(columns).all()
    assert_array_equal(columns[1], columns[2])
    assert_array_equal(columns[1, :3], 0.0)
    assert trust[1] == trust[2] == -1e12
    assert min(trust[0], trust[3]) > 0
