import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from surefoot.experiments import _locally_weighted
from surefoot.experiments._locally_weighted import (
    LocallyWeightedRegressor,
    below_cuts,
    linear_weights,
)


@parametrize_with_checks([LocallyWeightedRegressor()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def test_weights_fall_linearly_to_the_last_neighbour():
    weights = linear_weights(np.array([[0.0, 1.0, 2.0, 4.0]]), None)
    np.testing.assert_allclose(weights, [[1, 0.75, 0.5, 0]], atol=2e-4)
    assert weights.min() > 0

    near = linear_weights(np.array([[0.0, 1.0, 2.0, 4.0]]), 3)
    np.testing.assert_allclose(near, [[1, 0.5, 0, 0]], atol=2e-4)
    assert (near > 0).tolist() == [[True, True, True, False]]


def test_weights_on_top_of_all_neighbours_are_equal():
    assert np.ptp(linear_weights(np.zeros((1, 3)), None)) == 0


def test_cuts_belong_to_the_left():
    below = below_cuts(np.array([[1.0, 5.0]]), np.array([[1.0, 4.0], [2.0, 9.0]]))

    assert below.tolist() == [[True, False, True, True]]  # first cuts of both columns, then second


def test_every_row_gets_the_weighted_stump_of_a_decision_tree(monkeypatch):
    monkeypatch.setattr(_locally_weighted, "BATCH_SIZE", 7)  # rows in several batches
    random = np.random.RandomState(0)
    # Whole numbers, so that more cuts than rows find every gap between two values.
    X, X_test = random.randint(20, size=(40, 3)) * 1.0, random.randint(20, size=(15, 3)) * 1.0
    y = 3.0 * (X[:, 1] > 9) + random.normal(size=40)

    predicted = LocallyWeightedRegressor(n_cuts=400).fit(X, y).predict(X_test)

    for row, prediction in zip(X_test, predicted, strict=True):
        distances = np.sqrt(((X - row) ** 2).sum(axis=1))
        weights = 1.0001 - distances / distances.max()
        stump = DecisionTreeRegressor(max_depth=1).fit(X, y, sample_weight=weights)
        assert prediction == pytest.approx(stump.predict([row])[0])


def test_without_a_cut_the_weighted_mean_remains():
    X, y = np.zeros((4, 2)), [1.0, 2.0, 3.0, 6.0]

    assert LocallyWeightedRegressor().fit(X, y).predict([[0, 0]]) == pytest.approx([3.0])


def test_a_single_neighbour_answers_alone():
    X, y = [[0.0], [1.0], [5.0]], [2.0, 4.0, 9.0]

    predicted = LocallyWeightedRegressor(n_neighbors=1).fit(X, y).predict([[0.1], [4.0]])

    np.testing.assert_allclose(predicted, [2, 9])


@pytest.mark.parametrize("parameters", [{"n_neighbors": 0}, {"n_cuts": 0}])
def test_refuses_impossible_parameters(parameters):
    with pytest.raises(ValueError, match="== 0, must be >= 1"):
        LocallyWeightedRegressor(**parameters).fit([[0], [1]], [0, 1])
