"""Upper bounds of the risk against scipy's intervals, the promises, and a known truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest, ttest_1samp

from surefoot.abstention import make_promise, risk_bounds


@pytest.fixture
def rows():
    """400 rows whose probability of a mistake is their estimated error."""
    draw = np.random.default_rng(0)
    estimates = draw.uniform(0, 0.5, size=400)
    return estimates, draw.uniform(size=400) < estimates


def test_mistakes_are_bounded_as_scipy_bounds_them(rows):
    estimates, wrong = rows
    ranked = wrong[np.argsort(estimates)]
    expected = [
        binomtest(int(ranked[:n].sum()), n, alternative="less").proportion_ci(0.9).high
        for n in (4, 100, 400)
    ]
    assert_allclose(risk_bounds(estimates, wrong, [0.01, 0.25, 1], 0.9), expected)


def test_sizes_are_bounded_as_by_students_test(rows):
    sizes = np.abs(np.random.default_rng(1).normal(size=400)) * rows[0]
    ranked = sizes[np.argsort(rows[0])]
    expected = [
        ttest_1samp(ranked[:n], 0, alternative="less").confidence_interval(0.95).high
        for n in (50, 400)
    ]
    assert_allclose(risk_bounds(rows[0], sizes, [0.125, 1]), expected)
    assert risk_bounds(rows[0], sizes, [49 / 400])[0] == np.inf


def test_a_promise_is_not_above_its_bound_by_more_than_a_step(rows):
    estimates, wrong = rows
    groups = np.arange(400) // 4
    for grouped, step in ((None, 1e-9), (groups, 100 ** (1 / 59) - 1)):
        promise = make_promise(estimates, wrong, 0.25, groups=grouped)
        assert promise.kept
        [bound] = risk_bounds(estimates, wrong, [promise.coverage], groups=grouped)
        assert bound <= 0.25 * (1 + step)


def test_part_of_a_run_of_equal_estimates_has_the_higher_bound_of_its_ends():
    estimates, wrong = np.repeat([0.1, 0.2, 0.3], 20), np.repeat([1, 0, 0], 20)
    none, first, second, third = risk_bounds(estimates, wrong, [0.1, 1 / 3, 2 / 3, 1])
    assert none == first == 1
    within = risk_bounds(estimates, wrong, [0.5, 0.9])
    assert_array_equal(within, [first, second])
    assert third < second


def test_groups_that_are_wrong_as_a_whole_are_bounded_in_nearly_every_draw():
    """A fifth of 60 groups of five rows are wrong: the bound is below 0.2 in at most 1 of 20 draws."""
    draw, groups = np.random.default_rng(2), np.repeat(np.arange(60), 5)
    estimates = np.zeros(300)
    bounds = [
        risk_bounds(estimates, (draw.uniform(size=60) < 0.2)[groups], [1], groups=groups)[0]
        for _ in range(40)
    ]
    assert np.mean(np.array(bounds) < 0.2) <= 0.12  # 5 % and two standard errors
    assert np.median(bounds) < 0.45


@pytest.mark.parametrize("coverage", [0, 1.1, np.nan])
def test_a_coverage_is_above_0_and_at_most_1(rows, coverage):
    with pytest.raises(ValueError, match="coverages must be above 0"):
        risk_bounds(*rows, [coverage])
