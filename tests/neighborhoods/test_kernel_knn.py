"""Equation 4 by hand and by brute force, and the cached approximation against the exact search."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.metrics.pairwise import cosine_similarity, linear_kernel, rbf_kernel

from surefoot import KernelKNeighborsClassifier, LocalSensitivity
from surefoot.datasets import make_friedman_problem


def brute_force(similarity, y, n_neighbors, classes):
    """Equation 4 for every class, from the full matrix of similarities."""
    scores = np.zeros((len(similarity), len(classes)))
    for i, row in enumerate(similarity):
        near = np.argsort(-row, kind="stable")[:n_neighbors]
        for c, label in enumerate(classes):
            scores[i, c] = np.where(y[near] == label, row[near], -row[near]).sum()
    return scores


def test_two_neighbours_by_hand():
    # Query 0.5 between a "no" at distance 0.5 and a "yes" at 1.5; the row at 9 is no neighbour.
    model = KernelKNeighborsClassifier(2, gamma=0.5).fit([[0.0], [2.0], [9.0]], ["no", "yes", "no"])
    assert_allclose(model.decision_function([[0.5]]), np.exp(-1.125) - np.exp(-0.125))
    assert model.predict([[0.5]]) == ["no"]


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        ("rbf", lambda A, B: rbf_kernel(A, B, gamma=0.7)),
        ("cosine", cosine_similarity),
        (linear_kernel, linear_kernel),
    ],
)
@pytest.mark.parametrize("container", [np.asarray, csr_array, csr_matrix])
def test_three_classes_by_brute_force(kernel, function, container):
    rng = np.random.default_rng(0)
    X_train, X_test, y_train = rng.normal(size=(80, 4)), rng.normal(size=(70, 4)), np.arange(80) % 3
    model = KernelKNeighborsClassifier(7, kernel=kernel, gamma=0.7).fit(container(X_train), y_train)
    expected = brute_force(function(X_test, X_train), y_train, 7, [0, 1, 2])
    assert_allclose(model.decision_function(container(X_test)), expected, atol=1e-6)
    assert_array_equal(model.predict(container(X_test)), expected.argmax(axis=1))


def test_gamma_scale_is_that_of_support_vector_machines():
    X = np.array([[0.0, 1.0], [2.0, 5.0], [1.0, 1.0]])
    expected = 1 / (2 * X.var())
    for rows in (X, csr_array(X)):
        assert_allclose(KernelKNeighborsClassifier().fit(rows, [0, 1, 1]).gamma_, expected)


@pytest.mark.parametrize("kernel", ["rbf", "cosine"])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_the_cache_holds_all_a_sample_needs_when_it_holds_everything(kernel, container):
    # With twice as many cached neighbours as there are rows, cached and exact must agree.
    X, y = make_friedman_problem(2, 30, random_state=0)
    X_test, _ = make_friedman_problem(2, 20, random_state=1)
    columns = [
        LocalSensitivity(
            KernelKNeighborsClassifier(15, kernel=kernel, sample_neighbors=mode), n_neighbors=8
        )
        .fit(container(X), y)
        .transform(container(X_test))
        for mode in ("cached", "exact")
    ]
    assert_allclose(columns[0], columns[1], atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel": "laplace"}, "kernel='laplace' is not known: it may be 'rbf', 'cosine' or"),
        (
            {"gamma": "wide"},
            "gamma='wide' is not known: it may be 'scale', 'auto' or a positive number",
        ),
        (
            {"n_neighbors": "all"},
            "n_neighbors='all' is not known: it may be 'log' or a positive int",
        ),
        ({"n_neighbors": 0}, "n_neighbors == 0, must be >= 1"),
        ({"gamma": -1.0}, "gamma == -1.0, must be > 0"),
        (
            {"sample_neighbors": "some"},
            "sample_neighbors='some' is not known: it may be 'cached', 'exact'",
        ),
    ],
)
def test_wrong_parameters_get_one_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelKNeighborsClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])
