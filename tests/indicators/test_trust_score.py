"""The ratio of distances to classes, by hand and by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot.indicators import TrustScore


def always(label):
    return DummyClassifier(strategy="constant", constant=label)


def test_by_hand():
    X, y = [[0.0], [1.0], [5.0], [7.0]], ["a", "a", "b", "c"]
    # From 2: "a" at 1, "b" at 3, "c" at 5.
    for label, ratio in (("a", 3 / 1), ("b", 1 / 3), ("c", 1 / 5)):
        found = TrustScore(always(label)).fit(X, y)
        assert_allclose(found.transform([[2.0]]), [[np.log(ratio)]])
        assert_allclose(found.score_samples([[2.0]]), np.log(ratio))
    assert_array_equal(found.get_feature_names_out(), ["log_trust"])


def test_by_brute_force():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000)
    rows = X + 0.02
    nearest = np.column_stack([cdist(rows, X[y == c]).min(axis=1) for c in range(3)])
    predicted = model.fit(X, y).predict(rows)[:, None]
    own = np.take_along_axis(nearest, predicted, axis=1)[:, 0]
    other = np.where(np.arange(3) == predicted, np.inf, nearest).min(axis=1)
    assert_allclose(TrustScore(model).fit(X, y).score_samples(rows), np.log(other / own))


def test_a_row_on_top_of_its_class_is_finite():
    found = TrustScore(always(0)).fit([[0.0], [0.0], [1.0]], [0, 0, 1])
    scores = found.score_samples([[0.0], [1.0], [0.5]])
    assert np.isfinite(scores).all()
    assert scores[0] > scores[2] > scores[1]
    assert_allclose(scores[2], 0.0, atol=1e-9)


def test_a_class_without_rows_has_nothing_to_compare():
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(LogisticRegression(max_iter=1000).fit(X, y))
    two = TrustScore(frozen).fit(X[:100], y[:100])
    assert_allclose(two.score_samples(X[145:]), 0.0)
    one = TrustScore(frozen).fit(X[:50], y[:50])
    assert_allclose(one.score_samples(X), 0.0)


def test_sparse_rows_have_the_cosine():
    X = csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    found = TrustScore(always(0)).fit(X, [0, 1]).score_samples(csr_array([[1.0, 2.0]]))
    assert_allclose(found, np.log((1 - 2 / np.sqrt(5)) / (1 - 1 / np.sqrt(5))))


def test_what_it_cannot_judge_gets_one_sentence():
    with pytest.raises(ValueError, match="TrustScore needs a classifier"):
        TrustScore(LinearRegression()).fit([[0.0], [1.0]], [0.0, 1.0])
    frozen = FrozenEstimator(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(ValueError, match="TrustScore needs labels"):
        TrustScore(frozen).fit([[0.0], [1.0]])
