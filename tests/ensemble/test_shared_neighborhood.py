"""A neighbourhood that models share, against one of each."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.ensemble._shared_neighborhood import SharedNeighborhood, index_for, may_share
from surefoot.neighborhoods import (
    KernelKNeighborsClassifier,
    Neighborhood,
    NeighborhoodIndex,
)


def sparse_rows(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 15)) * (rng.random((n_rows, 15)) < 0.3)
    X[[5, n_rows - 1]] = 0.0  # empty documents
    return csr_array(X), (rng.random((n_rows, 2)) < 0.4).astype(int)


MODELS = {
    "linear": LogisticRegression(),
    "bayes": BernoulliNB(),
    "neighbors": KernelKNeighborsClassifier(5, kernel="cosine"),
    "searching": KernelKNeighborsClassifier(5, kernel="cosine", sample_neighbors="exact"),
}


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("sampling", ["voronoi", "midpoint", "uniform", "axis"])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_sees_what_it_would_see_alone(name, sampling, dense):
    X, y = sparse_rows()
    X, metric = (X.toarray() if dense else X), "cosine"
    model = MODELS[name].fit(X[:60], y[:60, 1])
    other = KernelKNeighborsClassifier(5, kernel="cosine").fit(X[:60], y[:60, 0])
    shared = NeighborhoodIndex(other, X[:60], n_neighbors=10, metric=metric)
    first, found = Neighborhood(shared, X[60:]), {}
    index = index_for(shared, model, y[:60, 1])
    fractions = np.random.default_rng(0).random(10)
    alone = Neighborhood(
        NeighborhoodIndex(model, X[:60], y[:60, 1], n_neighbors=10, metric=metric), X[60:]
    )
    expected = alone.sample_scores(7, sampling, fractions)
    for _ in range(2):  # the second finds what the first one made
        seen = SharedNeighborhood(index, first, found)
        assert_allclose(seen.scores, alone.scores, atol=1e-12)
        assert_array_equal(seen.labels, alone.labels)
        assert_allclose(seen.sample_scores(7, sampling, fractions), expected, atol=1e-9)


def test_other_labels_for_the_same_rows():
    X, y = sparse_rows()
    first = KernelKNeighborsClassifier(5, kernel="cosine").fit(X[:60], y[:60, 0])
    second = first.with_labels(y[:60, 1])
    alone = KernelKNeighborsClassifier(5, kernel="cosine").fit(X[:60], y[:60, 1])
    assert_allclose(second.decision_function(X[60:]), alone.decision_function(X[60:]))
    assert second._rows is first._rows
    assert not np.array_equal(first._codes, second._codes)


def test_weights_of_neighbours_add_up_to_votes():
    X, y = sparse_rows()
    model = KernelKNeighborsClassifier(5, gamma=0.7).fit(X[:60].toarray(), y[:60, 0])
    near = np.argsort(((X[60:].toarray()[:, None] - X[:60].toarray()) ** 2).sum(axis=2))[:, :10]
    weights = model.cell_weights(X[60:].toarray(), near, 4)
    votes = (weights * np.where(y[near, 0] == 1, 1, -1)[:, None, :]).sum(axis=2)
    assert_allclose(votes, model.cached_cell_scores(X[60:].toarray(), near, 4))
    assert ((weights > 0).sum(axis=2) == 5).all()


def test_who_may_share():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    plain = LogisticRegression().fit(X, y)
    assert may_share([plain, plain], X)
    assert not may_share([plain], np.where(X > 1, np.nan, X))
    assert not may_share([plain, make_pipeline(StandardScaler(), plain).fit(X, y)], X)
    scaled = make_pipeline(ColumnTransformer([("scale", StandardScaler(), [0])]), plain)
    assert not may_share([VotingClassifier([("one", scaled)]).fit(X, y)], X)


def test_frames_are_not_shared():
    pd = pytest.importorskip("pandas")
    X, y = pd.DataFrame({"a": np.arange(20.0)}), np.arange(20) % 2
    assert not may_share([LogisticRegression().fit(X, y)], X)
