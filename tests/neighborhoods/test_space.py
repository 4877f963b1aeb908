"""The scaled space: columns divided by their spread, two-valued ones by what categories are apart."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex


def index(X, y, model=None, **settings):
    model = (model or LogisticRegression(max_iter=10_000)).fit(X, y)
    return NeighborhoodIndex(model, X, y, n_neighbors=5, **settings)


def test_widths_by_hand():
    rows = np.array([[0.0, 3.0, 7.0, 5.0], [2.0, 3.0, 7.0, 5.0], [4.0, 7.0, 7.0, 5.0]])
    widths = index(rows, [0, 1, 1], space="scaled").space.width
    assert_allclose(widths[0], np.sqrt(8 / 3))
    assert_allclose(widths[1], 4 * np.sqrt(2))
    assert_allclose(widths[2:], 1.0)  # a column of one value


def test_neighbours_are_those_of_standardised_rows():
    X, y = load_iris(return_X_y=True)
    X = X * [1, 1000, 1, 0.001]
    near = Neighborhood(index(X, y, space="scaled"), X[:20] * 1.01)
    scaler = StandardScaler().fit(X)
    search = NearestNeighbors(n_neighbors=5).fit(scaler.transform(X))
    distances, indices = search.kneighbors(scaler.transform(X[:20] * 1.01))
    assert_array_equal(near.indices, indices)
    assert_allclose(near.distances, distances)


def test_two_values_are_as_far_apart_as_two_categories():
    X = np.array([[1.0, 0.0], [4.0, 5.0], [9.0, 0.0], [16.0, 5.0]])
    found = index(X, [0, 1, 0, 1], space="scaled").space(None, np.array([[0.0, 0.0], [0.0, 5.0]]))
    assert_allclose(np.linalg.norm(found[0] - found[1]), np.sqrt(0.5))


def test_sparse_rows_are_not_scaled():
    X = csr_array(np.eye(6) * np.arange(1, 7))
    found = index(X, [0, 1] * 3, space="scaled")
    assert found.metric == "cosine"
    assert_allclose(found.space.rows.toarray(), X.toarray())


def test_samples_are_made_in_the_models_own_input():
    X, y = load_iris(return_X_y=True)
    found = index(X, y, space="scaled")
    row, near = X[:1] + 0.05, Neighborhood(found, X[:1] + 0.05)
    half_way = (row + X[near.indices[0]]) / 2
    expected = found.model.predictor.decision_function(half_way)
    expected -= expected.mean(axis=1, keepdims=True)
    assert_allclose(near.sample_scores(5, "midpoint")[0], expected)


def test_a_gap_in_a_row_to_judge_stands_at_the_median():
    X, y = load_iris(return_X_y=True)
    found = index(X, y, HistGradientBoostingClassifier(max_iter=3), space="scaled")
    row = X[:1].copy()
    row[0, 2] = np.nan
    filled = row.copy()
    filled[0, 2] = np.median(X[:, 2])
    assert_allclose(
        Neighborhood(found, row).distances, Neighborhood(found, filled).distances, atol=1e-12
    )


def test_part_of_the_rows_is_scaled_like_all_of_them():
    rng = np.random.default_rng(0)
    X = StandardScaler().fit_transform(
        np.column_stack([rng.normal(size=60), np.arange(60) % 4 == 0])
    )
    y = np.arange(60) % 2
    whole, part = index(X, y, space="scaled"), slice(0, 40)
    alone = index(X[part], y[part], space="scaled")
    alike = index(X[part], y[part], space="scaled", like=whole)
    assert_allclose(whole.space.rows, X)  # scaled already
    assert not np.allclose(alone.space.rows, X[part])  # no column has a deviation of one here
    assert_allclose(alike.space.rows, X[part])


def test_part_without_missing_values_is_encoded_like_the_rows_with_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) * [1, 100]
    X[7, 0] = np.nan
    y = np.arange(80) % 2
    whole = index(X, y, HistGradientBoostingClassifier())
    part = index(X[20:], y[20:], HistGradientBoostingClassifier(), like=whole)
    assert_allclose(part.space.rows, whole.space.rows[20:])  # imputed and scaled by all rows


def test_fewer_rows_use_as_many_neighbors_and_one_limit_of_log_odds():
    X, y = load_iris(return_X_y=True)
    whole = index(X, y)
    part = index(X[::5], y[::5], like=whole, n_trained=150)
    assert part.n_reference == 150
    assert part.model.least_probability == whole.model.least_probability == 1 / 302
