"""Rows in an order that means something are looked at more closely; rows in random order hardly ever."""

import numpy as np
import pytest
from scipy.stats import binomtest

from surefoot.report._checks import order_p_value


@pytest.mark.parametrize("kind", ["normal", "skewed", "rare", "ties"])
def test_rows_in_random_order_are_hardly_ever_taken_for_ordered(kind):
    draw, alarms = np.random.default_rng(0), 0
    for _ in range(200):
        table = draw.normal(size=(300, 8))
        if kind == "skewed":
            table = np.exp(3 * table)
        elif kind == "rare":
            table = (table > 2.2) * 1.0  # one in seventy: two that follow each other are no order
        elif kind == "ties":
            table = np.round(table)
        alarms += order_p_value(table) < 0.01
    assert binomtest(alarms, 200, 0.01, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize("kind", ["pairs", "trend", "sorted classes"])
def test_one_ordered_column_among_others_is_seen(kind):
    draw = np.random.default_rng(0)
    table = draw.normal(size=(400, 10))
    if kind == "pairs":  # two rows of one person follow each other
        table[:, 3] = np.repeat(draw.normal(size=200), 2)
    elif kind == "trend":
        table[:, 3] += np.linspace(-1, 1, 400)
    else:
        table[:, 3] = np.repeat([0.0, 1.0], 200)
    assert order_p_value(table) < 0.01
    assert order_p_value(draw.permutation(table)) > 0.01


def test_a_table_that_is_too_short_or_constant_has_no_order():
    assert order_p_value(np.ones((100, 3))) == 1.0
    assert order_p_value(np.arange(15.0)[:, None]) == 1.0
