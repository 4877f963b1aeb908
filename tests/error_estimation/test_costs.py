"""Expected costs by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logit

from surefoot.error_estimation._judgement import check_costs, cost_factor, expected_cost

COSTS = np.array([[0.0, 10.0, 1.0], [2.0, 0.5, 3.0], [4.0, 5.0, 0.0]])  # truth by prediction


def test_three_classes_by_hand():
    scores = np.log([[0.5, 0.3, 0.2]])
    # Class 1 is predicted; if wrong, the truth is 0 or 2 as 5 to 2: 5/7 · 10 + 2/7 · 5 = 60/7.
    found = expected_cost(COSTS, scores, np.array([1]), np.array([0.4]))
    assert_allclose(found, 0.4 * 60 / 7 + 0.6 * 0.5)


def test_two_classes_by_hand():
    costs = np.array([[0.0, 7.0], [2.0, 0.0]])
    scores = np.array([[logit(0.8)], [logit(0.3)]])
    found = expected_cost(costs, scores, np.array([1, 0]), np.array([0.1, 0.5]))
    assert_allclose(found, [0.1 * 7, 0.5 * 2])


def test_a_certain_model_has_no_other_class_to_weigh():
    scores = np.array([[800.0, -800.0, -800.0]])
    found = expected_cost(COSTS, scores, np.array([0]), np.array([0.2]))
    assert_allclose(found, 0.2 * (2.0 + 4.0) / 2)


def test_equal_costs_are_the_probability_of_an_error():
    rng = np.random.default_rng(0)
    scores, wrong = rng.normal(size=(50, 4)), rng.random(50)
    found = expected_cost(1 - np.eye(4), scores, scores.argmax(axis=1), wrong)
    assert_allclose(found, wrong)


def test_the_factor_makes_the_mean_right():
    paid, estimated = np.array([0.0, 4.0, 2.0]), np.array([1.0, 1.0, 2.0])
    assert cost_factor(paid, estimated, None) == pytest.approx(6 / 4)
    assert cost_factor(paid, estimated, np.array([1.0, 0.0, 1.0])) == pytest.approx(2 / 3)
    assert cost_factor(np.zeros(3), estimated, None) == 1.0
    assert cost_factor(paid, np.zeros(3), None) == 1.0


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        ([[0, 1]], r"loss must be 2 × 2 costs of zero or more.* shape \(1, 2\)"),
        (1 - np.eye(3), r"loss must be 2 × 2 costs of zero or more.* shape \(3, 3\)"),
        ([[0, -1], [1, 0]], "loss must be 2 × 2 costs of zero or more.* least entry of -1"),
        ([[0, np.nan], [1, 0]], "loss contains NaN"),
        ([0, 1], "2D array"),
    ],
)
def test_what_is_no_cost_matrix_gets_one_sentence(loss, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_costs(loss, 2)
