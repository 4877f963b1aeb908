"""The search under DTW against the textbook recurrence over the whole matrix."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from surefoot._kernels import _dtw as kernels
from surefoot._kernels import search, store_series


class Laid(NamedTuple):
    """Series, each (channels, time), one after the other."""

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    n_channels: int


def laid_out(series):
    starts = np.cumsum([0, *(one.size for one in series[:-1])])
    lengths = np.array([one.shape[1] for one in series])
    return Laid(np.concatenate([one.ravel() for one in series]), starts, lengths, len(series[0]))


VALUES = st.integers(-50, 50).map(lambda value: value / 8)


def full_dtw(x, y, radius):
    """The textbook recurrence over the whole matrix, on (channels, time) arrays."""
    n, m = x.shape[1], y.shape[1]
    total = np.full((n + 1, m + 1), np.inf)
    total[0, 0] = 0
    for i in range(n):
        for j in range(max(0, i - radius), min(m, i + radius + 1)):
            before = min(total[i, j], total[i, j + 1], total[i + 1, j])
            total[i + 1, j + 1] = before + ((x[:, i] - y[:, j]) ** 2).sum()
    return total[n, m]


def found(x, candidates, radius, n_neighbors):
    """Costs and positions of the nearest candidates, nearest first."""
    query, stored = (
        store_series(batch.values, batch.starts, batch.lengths, batch.n_channels, radius)
        for batch in (laid_out([x]), laid_out(candidates))
    )
    costs, nearest = np.empty((1, n_neighbors)), np.empty((1, n_neighbors), dtype=np.int64)
    own = np.array([-1])
    search(query, own, stored, radius, costs, nearest)
    return costs[0], nearest[0]


@st.composite
def pairs(draw, *, equal=False, n_channels=None, longest=30):
    """Two series and a radius that lets a path through."""
    channels = n_channels or draw(st.integers(1, 3))
    n = draw(st.integers(1, longest))
    m = n if equal else draw(st.integers(1, longest))
    radius = draw(st.integers(abs(n - m), longest + 1))
    x = draw(arrays(float, (channels, n), elements=VALUES))
    y = draw(arrays(float, (channels, m), elements=VALUES))
    return x, y, radius


@given(pairs())
@settings(max_examples=300, deadline=None)
def test_cost_is_that_of_the_full_matrix(pair):
    x, y, radius = pair
    assert found(x, [y], radius, 1)[0][0] == pytest.approx(full_dtw(x, y, radius))


@pytest.mark.parametrize(("n", "m"), [(200, 200), (1, 100), (100, 1), (31, 257), (64, 32)])
@pytest.mark.parametrize("room", [0, 1, 7, 15, 16, 31, 10**6])
@pytest.mark.parametrize("n_channels", [1, 2])
def test_cost_of_long_series(n, m, room, n_channels):
    random, radius = np.random.default_rng(n), abs(n - m) + room
    x = random.normal(size=(n_channels, n)).cumsum(axis=1)
    y = random.normal(size=(n_channels, m)).cumsum(axis=1)
    assert found(x, [y], radius, 1)[0][0] == pytest.approx(full_dtw(x, y, radius))


def cost_within(x, y, radius, cutoff):
    """The recurrence with the bound on the rest of the path, as the search calls it."""
    n, m, channels = x.shape[1], y.shape[1], len(x)
    query, other = laid_out([x]), laid_out([y])
    stored = store_series(query.values, query.starts, query.lengths, channels, radius)
    size, radius = max(n, m) + 2 * kernels.PADDING, min(radius, max(n, m) - 1)
    backwards, padded, rest = np.empty(channels * size), np.empty(channels * size), np.empty(m + 1)
    kernels._pad(query.values, 0, n, channels, True, backwards)
    kernels._pad(other.values, 0, m, channels, False, padded)
    end = ((x[:, -1] - y[:, -1]) ** 2).sum()
    kernels._fill_rest(other.values, 0, m, stored.lower, stored.upper, 0, n, channels, end, rest)
    room = np.empty((4, size)), np.empty((2 * kernels.ROUND, size))
    outside = kernels._outside_window(radius)
    return kernels._dtw_cost(
        backwards, n, padded, m, channels, radius, cutoff, rest, outside, *room
    )


@given(pairs(longest=80), st.floats(0.2, 3))
@settings(max_examples=300, deadline=None)
def test_a_cutoff_never_changes_a_cost_within_it(pair, share):
    x, y, radius = pair
    cost = cost_within(x, y, radius, np.inf)
    cutoff = share * cost
    assert cost_within(x, y, radius, cutoff) == (cost if cost <= cutoff else np.inf)


def test_cost_equal_to_the_cutoff_is_kept():
    x, y = np.array([[0.0, 0.0, 3.0]]), np.array([[0.0, 1.0, 3.0]])
    assert cost_within(x, y, 5, 1.0) == 1.0
    assert cost_within(x, y, 5, np.nextafter(1.0, 0.0)) == np.inf


@given(st.lists(pairs(equal=True, n_channels=1), min_size=3, max_size=3), st.integers(0, 10))
@settings(max_examples=100, deadline=None)
def test_the_nearest_are_found_in_order_whatever_the_bounds_rule_out(triple, radius):
    length = min(x.shape[1] for x, _, _ in triple)
    series = [one[:, :length] for x, y, _ in triple for one in (x, y)]
    expected = [full_dtw(series[0], one, radius) for one in series[1:]]
    costs, nearest = found(series[0], series[1:], radius, 3)
    np.testing.assert_allclose(costs, np.sort(expected)[:3], rtol=1e-12)
    assert_array_equal(nearest, np.argsort(expected, kind="stable")[:3])


@pytest.mark.parametrize("radius", [0, 1, 3, 9, 50])
def test_envelopes_are_sliding_extremes(radius):
    x = np.random.default_rng(0).normal(size=(2, 10))
    batch = laid_out([x])
    stored = store_series(batch.values, batch.starts, batch.lengths, 2, radius)
    for i in range(10):
        near = x[:, max(0, i - radius) : i + radius + 1]
        assert_array_equal(stored.lower.reshape(2, -1)[:, i], near.min(axis=1))
        assert_array_equal(stored.upper.reshape(2, -1)[:, i], near.max(axis=1))
