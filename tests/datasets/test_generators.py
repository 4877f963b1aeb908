"""Generators against the formulas of their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.datasets import (
    make_cylinder_bell_funnel,
    make_friedman_problem,
    make_subscriptions,
    make_synthetic_control,
)

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


@pytest.mark.parametrize("problem", [0, 6, "1", True])
def test_an_unknown_problem_is_named(problem):
    with pytest.raises(
        ValueError, match=f"problem={problem!r} is not known: it may be 1, 2, 3, 4 or 5"
    ):
        make_friedman_problem(problem)


@pytest.mark.parametrize(
    ("make", "length", "n_classes"),
    [(make_cylinder_bell_funnel, 128, 3), (make_synthetic_control, 60, 6)],
)
def test_shape_shares_and_repeatability(make, length, n_classes):
    X, y = make(10 * n_classes, random_state=0)
    again, _ = make(10 * n_classes, random_state=0)

    assert X.shape == (10 * n_classes, length)
    assert_array_equal(np.unique(y, return_counts=True)[1], [10] * n_classes)
    assert_array_equal(X, again)


def test_cylinder_bell_and_funnel_have_the_means_of_their_formulas():
    X, y = make_cylinder_bell_funnel(6000, random_state=0)
    starts, widths = np.arange(16, 33)[:, None, None], np.arange(32, 97)[None, :, None]
    place = (np.arange(1, 129) - starts) / widths
    inside = (place >= 0) & (place <= 1)

    for name, shape in (("cylinder", 1), ("bell", place), ("funnel", 1 - place)):
        expected = (6 * inside * shape).mean(axis=(0, 1))
        # 2000 series with a standard deviation of at most 3.5 at each time: 0.4 is 5 of theirs.
        assert_allclose(X[y == name].mean(axis=0), expected, atol=0.4)
        assert_allclose(X[y == name][:, :15].var(axis=0).mean(), 1, atol=0.05)


def test_control_charts_have_the_moments_of_their_formulas():
    X, y = make_synthetic_control(12000, random_state=0)
    t = np.arange(1, 61)
    after = np.clip((t - 20) / 20, 0, 1)

    expected = {
        "normal": 30 + 0 * t,
        "increasing": 30 + 0.35 * t,
        "decreasing": 30 - 0.35 * t,
        "upward": 30 + 13.75 * after,
        "downward": 30 - 13.75 * after,
    }
    for name, mean in expected.items():
        assert_allclose(X[y == name].mean(axis=0), mean, atol=1)
    # 2 r(t) is uniform from -6 to 6, of variance 12; a sine adds E(a^2) / 2 = 79.2.
    assert X[y == "normal"].var() == pytest.approx(12, rel=0.03)
    assert X[y == "cyclic"].var() == pytest.approx(12 + (15**3 - 10**3) / 15 / 2, rel=0.03)


def test_new_customers_with_a_monthly_contract_are_hard_to_foresee():
    X, y = make_subscriptions(20_000, random_state=0)
    hard = (X["tenure"] <= 6) & (X["contract"] == "monthly")
    share = (y[hard] == "leaves").mean()
    assert 0.35 < share < 0.5  # near a coin
    half = X[[f"usage_{month}" for month in (1, 2, 3)]].sum(axis=1)
    other = X[[f"usage_{month}" for month in (4, 5, 6)]].sum(axis=1)
    growing = (other - half > 15) & ~hard
    assert (y[growing] == "leaves").mean() < 0.05
    assert (y[(half - other > 15) & ~hard] == "leaves").mean() > 0.8


def test_customers_have_missing_values_and_a_date():
    X, _ = make_subscriptions(2000, random_state=0)
    assert 0.01 < X["usage_1"].isna().mean() < 0.03
    assert 0.07 < X["payment"].isna().mean() < 0.13
    months = (np.datetime64("2026-06-30") - X["signed_up"]).dt.days // 30
    assert (months == X["tenure"]).all()


@pytest.mark.parametrize(
    "make", [make_cylinder_bell_funnel, make_synthetic_control, make_subscriptions]
)
def test_no_rows_are_refused(make):
    with pytest.raises(ValueError, match="n_samples == 0, must be >= 1"):
        make(0)
