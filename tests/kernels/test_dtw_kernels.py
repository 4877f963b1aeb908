import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surefoot._kernels import LANES, dtw_cost, envelopes, n_cells, reverse_channels
from surefoot._kernels._dtw_band import PADDING, X_FAR, Y_FAR, band_cost, pad_band
from surefoot._kernels._dtw_bounds import (
    aligned_cost,
    end_costs,
    inner_gaps,
    rest_of_rows,
)
from surefoot._kernels._dtw_strips import strip_cost
from surefoot._search._series import lay_out_list

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


def kernel_dtw(x, y, radius, cutoff=np.inf, *, with_rest=True):
    """The kernel with the bounds on the rest of the path, as the search calls it."""
    both = lay_out_list([x, y])
    n, m, size = x.shape[1], y.shape[1], max(x.shape[1], y.shape[1]) + 1
    lower, upper = np.zeros_like(both.values), np.zeros_like(both.values)
    envelopes(both.values, both.starts, both.lengths, len(x), radius, lower, upper)
    rows, columns = np.zeros(size), np.zeros(size)
    at = int(both.starts[1])
    if with_rest:
        end = end_costs(both.values, 0, n, both.values, at, m, len(x))[1]
        rest_of_rows(both.values, 0, n, lower, upper, at, m, len(x), end, rows)
        rest_of_rows(both.values, at, m, lower, upper, 0, n, len(x), end, columns)
    backwards = np.zeros(len(x) * (n + LANES))
    reverse_channels(both.values, 0, n, len(x), backwards)
    cells = np.full(n_cells(m), np.nan)
    return dtw_cost(backwards, n, both.values, at, m, len(x), radius, cutoff, rows, columns, cells)


def kernel_padded(x, y, radius, cutoff=np.inf, *, with_rest=True):
    """The kernel for a narrow window, or none, as the search calls it, on (1, time) arrays."""
    both = lay_out_list([x, y])
    n, m, at = x.shape[1], y.shape[1], int(both.starts[1])
    lower, upper = np.zeros_like(both.values), np.zeros_like(both.values)
    reach = 10**6 if radius is None else radius
    envelopes(both.values, both.starts, both.lengths, 1, reach, lower, upper)
    rows, rest = np.zeros(n + 1), np.zeros(m + 2 * PADDING + 3)
    if with_rest:
        end = end_costs(both.values, 0, n, both.values, at, m, 1)[1]
        rest_of_rows(both.values, 0, n, lower, upper, at, m, 1, end, rows)
        rest_of_rows(both.values, at, m, lower, upper, 0, n, 1, end, rest[PADDING:])
    backwards, padded = np.full(n + 2 * PADDING, np.nan), np.full(m + 2 * PADDING, np.nan)
    pad_band(both.values, 0, n, X_FAR, backwards, True)
    pad_band(both.values, at, m, Y_FAR, padded, False)
    cells = np.full(n_cells(max(n, m)), np.nan)
    if radius is None:
        return strip_cost(backwards, n, padded, m, cutoff, rows, rest, cells)
    return band_cost(backwards, n, padded, m, radius, cutoff, rest, cells)


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

    assert kernel_dtw(x, y, radius) == pytest.approx(full_dtw(x, y, radius))


@given(pairs(), st.floats(0.2, 3))
@settings(max_examples=300, deadline=None)
def test_a_cutoff_never_changes_a_cost_within_it(pair, share):
    x, y, radius = pair
    cost = kernel_dtw(x, y, radius, with_rest=False)
    cutoff = share * cost

    kernel_cost = kernel_dtw(x, y, radius, cutoff)

    assert kernel_cost == (cost if cost <= cutoff else np.inf)


@given(pairs(n_channels=1), st.floats(0.2, 3))
@settings(max_examples=500, deadline=None)
def test_narrow_window_gives_the_same_cost_to_the_last_digit(pair, share):
    x, y, radius = pair
    cost = kernel_dtw(x, y, radius, with_rest=False)
    cutoff = share * cost

    assert kernel_padded(x, y, radius, with_rest=False) == cost
    assert kernel_padded(x, y, radius, cutoff) == (cost if cost <= cutoff else np.inf)


@given(pairs(n_channels=1, longest=80), st.floats(0.2, 3))
@settings(max_examples=500, deadline=None)
def test_strips_give_the_same_cost_to_the_last_digit(pair, share):
    x, y, _ = pair
    cost = kernel_dtw(x, y, 10**6, with_rest=False)
    cutoff = share * cost

    assert kernel_padded(x, y, None, with_rest=False) == cost
    assert kernel_padded(x, y, None, cutoff) == (cost if cost <= cutoff else np.inf)


@pytest.mark.parametrize(("n", "m"), [(200, 200), (1, 100), (100, 1), (31, 257), (64, 32)])
def test_strips_on_long_series(n, m):
    random = np.random.default_rng(n)
    x, y = random.normal(size=(1, n)).cumsum(axis=1), random.normal(size=(1, m)).cumsum(axis=1)
    cost = full_dtw(x, y, 10**6)

    assert kernel_padded(x, y, None) == pytest.approx(cost)
    assert kernel_padded(x, y, None, cost * (1 + 1e-9)) == pytest.approx(cost)
    assert kernel_padded(x, y, None, cost * (1 - 1e-9)) == np.inf


@pytest.mark.parametrize("radius", [0, 1, 7, 8, 15, 16, 31])
def test_narrow_window_on_long_series(radius):
    random = np.random.default_rng(radius)
    x, y = random.normal(size=(1, 200)).cumsum(axis=1), random.normal(size=(1, 200)).cumsum(axis=1)

    assert kernel_padded(x, y, radius) == pytest.approx(full_dtw(x, y, radius))


def test_cost_equal_to_the_cutoff_is_kept():
    x, y = np.array([[0.0, 0.0, 3.0]]), np.array([[0.0, 1.0, 3.0]])

    assert kernel_dtw(x, y, 5, cutoff=1.0) == 1.0
    assert kernel_dtw(x, y, 5, cutoff=np.nextafter(1.0, 0.0)) == np.inf


@given(pairs())
@settings(max_examples=300, deadline=None)
def test_bounds_are_never_above_the_cost(pair):
    x, y, radius = pair
    both = lay_out_list([x, y])
    n, m, at = x.shape[1], y.shape[1], int(both.starts[1])
    lower, upper = np.zeros_like(both.values), np.zeros_like(both.values)
    envelopes(both.values, both.starts, both.lengths, len(x), radius, lower, upper)

    first, last = end_costs(both.values, 0, n, both.values, at, m, len(x))
    there = inner_gaps(both.values, 0, n, lower, upper, at, m, len(x))
    back = inner_gaps(both.values, at, m, lower, upper, 0, n, len(x))

    assert first + last + max(there, back) <= full_dtw(x, y, radius) * (1 + 1e-12)


@given(pairs(equal=True))
@settings(deadline=None)
def test_aligned_cost_is_never_below_the_cost(pair):
    x, y, radius = pair
    both = lay_out_list([x, y])

    aligned = aligned_cost(both.values, 0, both.values, int(both.starts[1]), x.shape[1], len(x))

    assert aligned == pytest.approx(((x - y) ** 2).sum())
    assert aligned >= full_dtw(x, y, radius) * (1 - 1e-12)


@pytest.mark.parametrize("radius", [0, 1, 3, 9, 50])
def test_envelopes_are_sliding_extremes(radius):
    x = np.random.default_rng(0).normal(size=(2, 10))
    batch = lay_out_list([x])
    lower, upper = np.zeros_like(batch.values), np.zeros_like(batch.values)

    envelopes(batch.values, batch.starts, batch.lengths, 2, radius, lower, upper)

    for i in range(10):
        near = x[:, max(0, i - radius) : i + radius + 1]
        np.testing.assert_array_equal(lower.reshape(2, -1)[:, i], near.min(axis=1))
        np.testing.assert_array_equal(upper.reshape(2, -1)[:, i], near.max(axis=1))
