import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm
from sklearn.metrics import mean_pinball_loss

from surefoot.metrics import interval_coverage_score, interval_width, winkler_loss

INTERVALS = [[0, 2], [2, 3], [1, 5], [5, 9]]
NUMBERS = st.floats(-100, 100)


def test_by_hand():
    y = [1, 2, 6, 3]  # inside, at the end, 1 above, 2 below

    assert interval_coverage_score(y, INTERVALS) == 0.5
    assert interval_coverage_score([0, 3], INTERVALS[:2]) == 1.0  # both ends belong to the interval
    assert interval_width(INTERVALS) == (2 + 1 + 4 + 4) / 4
    assert winkler_loss(y, INTERVALS) == pytest.approx((2 + 1 + 4 + 4 + 20 * (1 + 2)) / 4)
    assert winkler_loss(y, INTERVALS, 0.5) == pytest.approx((11 + 4 * 3) / 4)


@settings(deadline=None)
@given(arrays(float, (12, 3), elements=NUMBERS), st.floats(0.05, 0.95))
def test_winkler_loss_is_the_pinball_loss_of_both_ends(rows, confidence):
    y, intervals = rows[:, 0], np.sort(rows[:, 1:], axis=1)
    tail = (1 - confidence) / 2

    # Gneiting and Raftery 2007, eq. 43, is two quantile scores over half the tail.
    pinball = sum(
        mean_pinball_loss(y, end, alpha=level)
        for end, level in zip(intervals.T, (tail, 1 - tail), strict=True)
    )
    assert winkler_loss(y, intervals, confidence) == pytest.approx(pinball / tail, abs=1e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_true_quantiles_lose_least(confidence):
    truth = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    best = norm.ppf((1 + confidence) / 2)
    halves = best * np.array([0.8, 0.9, 1.0, 1.1, 1.2])

    losses = [winkler_loss(truth, np.full((20_000, 2), [-h, h]), confidence) for h in halves]

    assert np.argmin(losses) == 2
    # Integrating the fine by parts leaves 2 φ(q) / ((1 - confidence) / 2).
    assert losses[2] == pytest.approx(4 * norm.pdf(best) / (1 - confidence), rel=1e-3)


def test_infinite_intervals_cover_and_are_infinitely_wide():
    intervals = [[-np.inf, np.inf], [0, np.inf], [0, 1]]

    assert interval_coverage_score([5, -1, 0.5], intervals) == pytest.approx(2 / 3)
    assert interval_width(intervals) == np.inf
    assert winkler_loss([5, -1, 0.5], intervals) == np.inf
    assert interval_width(intervals, sample_weight=[0, 0, 2]) == 1.0
