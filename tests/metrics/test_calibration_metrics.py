from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from surefoot.metrics import brier_decomposition, smooth_calibration_error

PROBABILITY = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))
ROWS = st.lists(st.tuples(st.integers(0, 1), PROBABILITY), min_size=1, max_size=30)


def draw(n_rows, seed, power=1.0):
    """Labels that are calibrated if the power is 1."""
    rng = np.random.default_rng(seed)
    probability = rng.uniform(size=n_rows)
    return rng.uniform(size=n_rows) < probability**power, probability


def integrated(y, probability, width):
    """∫ |mean residual under a kernel with its mirror images|, between the roots where it is smooth."""
    images = np.arange(-4, 5)[:, None] * 2.0
    centers = np.concatenate([probability + images, -probability + images])

    def remaining(at):
        return ((y - probability) * norm.pdf(at, centers, width)).sum() / len(y)

    grid = np.linspace(0, 1, 4001)
    values = np.array([remaining(at) for at in grid])
    turns = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    roots = [brentq(remaining, grid[i], grid[i + 1]) for i in turns]
    ends = np.unique(np.concatenate([[0.0, 1.0], roots, probability]))
    pieces = [quad(remaining, a, b)[0] for a, b in pairwise(ends)]
    # Between two roots the sign stays; probabilities only help quad to see narrow peaks.
    return np.abs(pieces).sum()


def test_calibration_errors_by_hand():
    # Masses 1/2 at 0 and -1/2 at 1: what of each has crossed the middle cancels as much of the other. The
    # mirror images of 0 are the even numbers; what stays within 1/2 of one has not crossed.
    def error(width):
        even = np.arange(-50, 51) * 2.0
        kept = norm.cdf(even + 0.5, scale=width) - norm.cdf(even - 0.5, scale=width)
        return 2 * kept.sum() - 1

    expected = brentq(lambda width: error(width) - width, 0.01, 1.0)
    assert smooth_calibration_error([1, 0], [0, 1]) == pytest.approx(expected, abs=1e-8)
    # What is exactly calibrated has no error, and residuals of one sign never cancel.
    assert smooth_calibration_error([0, 1, 1], [0.0, 1.0, 1.0]) == 0.0
    assert smooth_calibration_error([0, 0, 1], [1 / 3] * 3) == pytest.approx(0.0, abs=1e-12)
    assert smooth_calibration_error(np.ones(3), [0.1, 0.35, 0.9]) == pytest.approx(1.65 / 3)


@pytest.mark.parametrize(("n_rows", "power"), [(2, 1.0), (40, 3.0)])
def test_error_is_its_own_bandwidth_in_the_integral(n_rows, power):
    y, probability = draw(n_rows, seed=n_rows, power=power)

    error = smooth_calibration_error(y, probability)

    assert integrated(y, probability, error) == pytest.approx(error, abs=1e-6)


def test_error_is_that_of_the_population_with_many_rows():
    # E[label | p] = p³ < p: the residual has one sign, and its mean is 1/2 - 1/4.
    error = smooth_calibration_error(*draw(200_000, seed=2, power=3.0))

    assert error == pytest.approx(0.25, abs=0.005)
    assert smooth_calibration_error(*draw(100_000, seed=1)) < 0.01  # calibrated


@settings(max_examples=50, deadline=None)
@given(ROWS, st.floats(-1e-3, 1e-3))
def test_small_moves_change_it_a_little(rows, move):
    y, probability = np.array(rows, dtype=float).T
    moved = np.clip(probability + move, 0, 1)

    # Each residual changes by |move| at most, and its kernel by |move| √(2/π) / bandwidth.
    error, after = (smooth_calibration_error(y, p) for p in (probability, moved))
    slack = abs(move) * (1 + np.sqrt(2 / np.pi) / max(error, after, 1e-9)) + 1e-6
    assert abs(error - after) <= slack
    assert 0.0 <= error <= np.abs(y - probability).mean() + 1e-9


def test_decomposition_by_hand():
    y = [0, 0, 0, 1, 0, 1]
    probability = [0.2, 0.2, 0.2, 0.2, 0.9, 0.9]

    reliability, resolution, uncertainty = brier_decomposition(y, probability)

    # Shares of ones: 1/4 of four rows, 1/2 of two, 1/3 of all.
    assert reliability == pytest.approx((4 * 0.05**2 + 2 * 0.4**2) / 6)
    assert resolution == pytest.approx((4 * (1 / 12) ** 2 + 2 * (1 / 6) ** 2) / 6)
    assert uncertainty == pytest.approx(2 / 9)


def test_binned_decomposition_by_hand():
    parts = brier_decomposition([0, 1, 1], [0.1, 0.3, 1.0], n_bins=2)

    # Bins {0.1, 0.3}, with mean 0.2 and share 1/2, and {1.0}, with share 1; the share of all is 2/3.
    between = (2 * (1 / 6) ** 2 + (1 / 3) ** 2) / 3
    covariance, variance = (0.1 * 0.5 + 0.1 * 0.5) / 3, 2 * 0.1**2 / 3
    assert parts.reliability == pytest.approx(2 * 0.3**2 / 3)
    assert parts.resolution == pytest.approx(between + 2 * covariance - variance)


@settings(deadline=None)
@given(ROWS, st.none() | st.integers(1, 20))
def test_parts_add_up_to_the_brier_score(rows, n_bins):
    y, probability = np.array(rows, dtype=float).T

    reliability, resolution, uncertainty = brier_decomposition(y, probability, n_bins=n_bins)

    brier = np.mean((probability - y) ** 2)
    assert reliability - resolution + uncertainty == pytest.approx(brier, abs=1e-12)
    assert min(reliability, uncertainty) >= 0
