"""Intervals and gains, by hand and against the truth of a generator."""

import numpy as np
import pytest
from scipy.stats import binomtest

from surefoot._words import change_words
from surefoot.report._statistics import difference_interval, relative_gain


def rows(n_rows):
    return {"units": np.arange(n_rows), "fits": np.arange(n_rows) % 5, "confidence": 0.9}


def test_by_hand():
    before, after = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])
    gain = relative_gain(before, after, units=np.arange(3), fits=np.zeros(3), confidence=0.9)
    # Half of the loss is gone. Influences (2 − 1.5, 0 − 0.5, 1 − 1) / 2 have the variance 0.0625, t with two
    # degrees of freedom is 2.92 at 90 %, and the variance counts twice: 2.92 · √(2 · 0.0625 / 3).
    reach = 2.91999 * np.sqrt(2 * 0.0625 / 3)
    assert gain == pytest.approx((0.5, 0.5 - reach, min(1.0, 0.5 + reach)), abs=1e-4)


def test_no_gain_is_above_the_error_itself():
    gain = relative_gain(np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(4), counts=True, **rows(4))
    assert gain.value == gain.high == 1


def outside(draw_losses, n_draws=600, **settings):
    """How often the gain on new rows lies outside the interval from others."""
    draw, misses = np.random.default_rng(0), 0
    for _ in range(n_draws):
        old, new = draw_losses(draw), draw_losses(draw)
        gain = relative_gain(*old, **settings)
        again = 1 - new[1].mean() / new[0].mean()
        misses += not gain.low <= again <= gain.high
    return misses


def test_new_rows_show_a_gain_within_the_interval_nine_times_in_ten():
    def draw_losses(draw):
        difficulty = draw.random(200)
        return [(draw.random(200) < share * difficulty) * 1.0 for share in (0.5, 0.4)]

    misses = outside(draw_losses, counts=True, **rows(200))
    assert binomtest(misses, 600, 0.1, alternative="greater").pvalue > 0.01
    assert misses > 30  # nor is it so wide that it says nothing


def test_rows_of_a_group_are_not_independent():
    groups = np.repeat(np.arange(30), 10)

    def draw_losses(draw):
        change = np.repeat(draw.normal(size=30), 10)
        return 5.0 + change, np.full(300, 5.0)

    misses = outside(draw_losses, units=groups, fits=np.zeros(300), confidence=0.9)
    assert binomtest(misses, 600, 0.1, alternative="greater").pvalue > 0.01
    assert outside(draw_losses, **rows(300)) > 180  # as if there were ten times as many


def test_other_fits_teach_otherwise():
    fits = np.repeat(np.arange(5), 40)

    def draw_losses(draw):
        change = np.repeat(draw.normal(size=5), 40)
        return 9.0 + change + draw.normal(size=200), np.full(200, 9.0)

    misses = outside(draw_losses, units=np.arange(200), fits=fits, confidence=0.9)
    assert binomtest(misses, 600, 0.1, alternative="greater").pvalue > 0.01


def gain_of(*ends):
    """Gain with a value, and the ends of its interval."""
    gain = relative_gain(np.ones(4), np.zeros(4), **rows(4))
    return gain._replace(**dict(zip(("value", "low", "high"), ends, strict=True)))


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((0.05, 0.01, 0.09), "helps"),
        ((0.015, 0.01, 0.02), "would not help"),  # certain, and too small to matter
        ((0.0, -0.05, 0.05), "would not help"),
        ((0.08, -0.01, 0.17), "cannot tell"),
    ],
)
def test_verdicts(ends, verdict):
    assert gain_of(*ends).verdict == verdict


def test_a_loss_is_more_of_it_with_its_interval_flipped():
    words = change_words((-0.12, -0.3, 0.04), "it", "fewer mistakes", "more mistakes", "times {}")
    assert words == "12 % more mistakes (−4 % to 30 %) than it"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((-1.9, -2.5, -1.0), "190 % more (100 % to 250 %) than it"),
        ((-2.0, -2.5, -1.0), "3 times as much (2 to 3.5 times) as it"),
        ((-485.988, -900, 0.5), "487 times as much (0.5 to 901 times) as it"),
    ],
)
def test_from_three_times_on_it_is_a_factor(change, words):
    assert change_words(change, "it", "less", "more", "times as much {} as") == words


@pytest.mark.parametrize("in_group", [1, 10])
def test_an_interval_of_a_difference_holds_as_often_as_it_says(in_group):
    """Few mistakes inside, more outside, shared within groups: 95 % of the intervals contain the true difference."""
    rng = np.random.default_rng(0)
    n_draws, missed = 200, 0
    units = np.arange(600) // in_group
    inside = units % 4 == 0
    chance = np.where(inside, 0.05, 0.2)
    for _ in range(n_draws):
        losses = (rng.random(600)[units] < chance).astype(float)
        low, high = difference_interval(losses, inside, units, 0.95, is_share=True)
        missed += not low <= -0.15 <= high
    assert missed <= n_draws * 0.05 + 3 * np.sqrt(n_draws * 0.05 * 0.95)


def test_few_units_show_no_difference():
    units = np.repeat(np.arange(8), 10)
    losses = (units < 3).astype(float)
    assert difference_interval(losses, units < 3, units, 0.95, is_share=True) == (None, None)
