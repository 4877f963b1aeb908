"""How far the nearest training rows are."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.indicators import NeighborDistance


def test_the_logarithm_of_the_mean_distance_by_brute_force():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    found = NeighborDistance(pipeline, n_neighbors=(1, 4)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    moved = StandardScaler().fit(X).transform(X + 0.03)
    nearest = np.sort(cdist(moved, scaled), axis=1)
    expected = np.log(np.column_stack([nearest[:, 0], nearest[:, :4].mean(axis=1)]))
    assert_allclose(found.transform(X + 0.03), expected)
    assert_allclose(found.score_samples(X + 0.03), -expected[:, 1])
    assert_array_equal(found.get_feature_names_out(), ["log_distance_1", "log_distance_4"])


def test_no_distance_is_finite_and_below_every_other():
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat([0, 1], 10)
    found = NeighborDistance(LogisticRegression(), n_neighbors=5).fit(X, y)
    same, near = found.transform([[0.0], [1e-6]])[:, 0]
    assert np.isfinite(same)
    assert same < near


def test_sparse_rows_have_the_cosine():
    X = csr_array(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]))
    found = NeighborDistance(LogisticRegression(), n_neighbors=3).fit(X, [0, 0, 1])
    assert_allclose(found.transform(csr_array(np.array([[3.0, 0.0]]))), [[np.log(1 / 3)]])
