"""Friedman's problems against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.datasets import make_friedman_problem

I = np.arange(1, 11)  # noqa: E741


@pytest.mark.parametrize(("problem", "means"), [(1, np.sqrt(I) / 2), (2, np.sqrt(11 - I) / 2)])
def test_the_two_gaussians(problem, means):
    X, y = make_friedman_problem(problem, 40_000, random_state=0)
    assert_allclose(y.mean(), 0.5, atol=0.01)
    assert_allclose(X[y == 0].mean(axis=0), 0.0, atol=0.03)
    assert_allclose(X[y == 0].var(axis=0), 1.0, atol=0.04)
    assert_allclose(X[y == 1].mean(axis=0), means, atol=0.03)
    assert_allclose(X[y == 1].var(axis=0), 1 / np.sqrt(I), rtol=0.04)


@pytest.mark.parametrize(
    ("problem", "rule", "share"),
    [
        (3, lambda x: sum(x**2 / I) > 2.5, 0.51),
        (4, lambda x: sum(x**2) > 9.8, 0.46),
        (5, lambda x: sum(x) > 0, 0.5),
    ],
)
def test_the_rules_and_the_papers_share_of_positives(problem, rule, share):
    X, y = make_friedman_problem(problem, 20_000, random_state=0)
    assert_array_equal(y[:200], [rule(x) for x in X[:200]])
    assert_allclose(y.mean(), share, atol=0.015)
    assert_allclose(X.std(axis=0), 1.0, atol=0.03)


def test_the_same_seed_draws_the_same_rows():
    assert_array_equal(make_friedman_problem(3, 9, 5)[0], make_friedman_problem(3, 9, 5)[0])


@pytest.mark.parametrize("problem", [0, 6, "1", True])
def test_an_unknown_problem_is_named(problem):
    with pytest.raises(
        ValueError, match=f"problem={problem!r} is not known: it may be 1, 2, 3, 4 or 5"
    ):
        make_friedman_problem(problem)
