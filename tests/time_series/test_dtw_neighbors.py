import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from surefoot.time_series import DTWNeighbors


@njit
def full_cost(x, y, radius):
    """The whole matrix, row by row, on (channels, time) arrays."""
    n, m = x.shape[1], y.shape[1]
    before = np.full(m + 1, np.inf)
    before[0] = 0.0
    for i in range(n):
        row = np.full(m + 1, np.inf)
        for j in range(max(0, i - radius), min(m, i + radius + 1)):
            cost = 0.0
            for c in range(len(x)):
                cost += (x[c, i] - y[c, j]) ** 2
            row[j + 1] = cost + min(before[j], before[j + 1], row[j])
        before = row
    return before[m]


def brute_force(queries, series, radius, n_neighbors, *, exclude_self=False):
    """Every distance in full, then a stable sort: nearest first, ties by index."""
    distances = np.array([[full_cost(x, y, radius) for y in series] for x in queries]) ** 0.5
    if exclude_self:
        np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(distances, nearest, axis=1), nearest


def walks(random, n_series, length, n_channels=1):
    return random.normal(size=(n_series, n_channels, length)).cumsum(axis=2)


@pytest.mark.parametrize("window", [None, 0, 0.03, 0.1, 7])
@pytest.mark.parametrize("n_neighbors", [1, 9])
def test_finds_what_brute_force_finds(window, n_neighbors):
    random = np.random.default_rng(0)
    series, queries = walks(random, 60, 40), walks(random, 15, 40)
    radius = {None: 40, 0: 0, 0.03: 1, 0.1: 4, 7: 7}[window]

    model = DTWNeighbors(n_neighbors, window=window).fit(series[:, 0])
    distances, indices = model.kneighbors(queries[:, 0])

    expected = brute_force(queries, series, radius, n_neighbors)
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12)
    np.testing.assert_array_equal(indices, expected[1])


@pytest.mark.parametrize("window", [None, 3])
def test_channels_are_warped_together(window):
    random = np.random.default_rng(1)
    series, queries = walks(random, 30, 21, 3), walks(random, 8, 21, 3)

    distances, indices = DTWNeighbors(4, window=window).fit(series).kneighbors(queries)

    expected = brute_force(queries, series, window or 21, 4)
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12)
    np.testing.assert_array_equal(indices, expected[1])


@pytest.mark.parametrize("window", [None, 12])
def test_series_of_unequal_lengths(window):
    random = np.random.default_rng(2)
    series = [walks(random, 1, length)[0] for length in random.integers(10, 22, size=30)]
    queries = [walks(random, 1, length)[0] for length in (10, 15, 21)]

    model = DTWNeighbors(5, window=window).fit([one[0] for one in series])
    distances, indices = model.kneighbors([one[0] for one in queries])

    expected = brute_force(queries, series, window or 100, 5)
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12)
    np.testing.assert_array_equal(indices, expected[1])


def test_without_queries_a_series_is_not_its_own_neighbor():
    series = walks(np.random.default_rng(3), 40, 25)

    distances, indices = DTWNeighbors(6).fit(series[:, 0]).kneighbors()

    expected = brute_force(series, series, 25, 6, exclude_self=True)
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12)
    np.testing.assert_array_equal(indices, expected[1])


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from([None, 0, 2]))
@settings(max_examples=60, deadline=None)
def test_ties_never_break_the_order(seed, n_neighbors, window):
    # Few levels and short series: most distances tie.
    random = np.random.default_rng(seed)
    series = random.integers(0, 2, size=(20, 1, 6)).astype(float)
    queries = random.integers(0, 2, size=(4, 1, 6)).astype(float)

    found = (
        DTWNeighbors(n_neighbors, window=window)
        .fit(series)
        .kneighbors(queries, return_distance=False)
    )

    radius = 6 if window is None else window
    np.testing.assert_array_equal(found, brute_force(queries, series, radius, n_neighbors)[1])


@pytest.mark.parametrize(
    ("X", "size"),
    [
        ([[0.0, 1e200], [1e200, 0.0]], "1e+200"),
        ([[0.0, 1.0], [-2.5e151, 0.0]], "2.5e+151"),
        ([[0.0, 1.0], [3e300, 0.0, 1.0]], "3e+300"),
        ([[[0.0, 1.0], [1e160, 0.0]]], "1e+160"),
    ],
)
def test_values_whose_squares_overflow_are_refused(X, size):
    sentence = f"X has a value of size {size}, whose square overflows: it may have values of size 1e+150 at most."

    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        DTWNeighbors(1).fit(X)


def test_the_largest_values_have_distances():
    X = np.array([[1.0, -1.0, 0.5], [-1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])

    small, large = (DTWNeighbors(2).fit(scale * X).kneighbors() for scale in (1.0, 1e150))

    np.testing.assert_array_equal(large[1], small[1])
    np.testing.assert_allclose(large[0], 1e150 * small[0])


@pytest.mark.parametrize("window", [8, 2**63 - 1, 2**63, 10**30])
def test_a_window_beyond_every_length_sets_no_limit(window):
    X = np.random.default_rng(0).normal(size=(6, 8))

    limited, free = (DTWNeighbors(3, window=w).fit(X).kneighbors() for w in (window, None))

    np.testing.assert_array_equal(limited[0], free[0])
    np.testing.assert_array_equal(limited[1], free[1])


def test_fraction_of_the_longest_training_series_is_rounded_down():
    X = np.zeros((3, 100))

    assert DTWNeighbors(1, window=0.29).fit(X).radius_ == 29
    assert DTWNeighbors(1, window=0.299).fit(X).radius_ == 29
    assert DTWNeighbors(1, window=1.0).fit(X).radius_ == 100


def test_nan_is_refused():
    with pytest.raises(ValueError, match="contains NaN"):
        DTWNeighbors().fit([[0.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ValueError, match="series 1 of X contains NaN"):
        DTWNeighbors().fit([[0.0, 1.0], [1.0, np.nan, 2.0]])


def test_more_neighbors_than_series_are_refused():
    model = DTWNeighbors(3).fit(np.zeros((3, 5)))

    assert model.kneighbors(np.zeros((1, 5)))[0].shape == (1, 3)
    with pytest.raises(ValueError, match=r"n_neighbors=3 .* it may be at most 2"):
        model.kneighbors()
    with pytest.raises(ValueError, match=r"n_neighbors=4 .* it may be at most 3"):
        model.kneighbors(np.zeros((1, 5)), n_neighbors=4)


def test_window_that_forbids_every_path_is_refused():
    model = DTWNeighbors(1, window=2).fit([np.zeros(5), np.zeros(7)])

    with pytest.raises(ValueError, match="lengths 5 and 8: it must allow at least 3"):
        model.kneighbors([np.zeros(8), np.zeros(6)])
    with pytest.raises(ValueError, match="lengths 5 and 8"):
        DTWNeighbors(1, window=2).fit([np.zeros(5), np.zeros(8)])


@pytest.mark.parametrize("window", [-1, 1.5, -0.1, "wide", True])
def test_window_says_what_it_may_be(window):
    with pytest.raises(ValueError, match=r"window=.* may be None, a fraction"):
        DTWNeighbors(window=window).fit(np.zeros((3, 5)))


def test_other_numbers_of_channels_are_refused():
    with pytest.raises(ValueError, match="X has 3 channels, but 2 are expected"):
        DTWNeighbors(1).fit(np.zeros((3, 2, 5))).kneighbors(np.zeros((1, 3, 5)))
    with pytest.raises(ValueError, match="Series 1 of X has 1 channels and series 0 has 2"):
        DTWNeighbors(1).fit([np.zeros((2, 5)), np.zeros((1, 4))])


@pytest.mark.parametrize("X", [np.zeros((2, 2, 2, 2)), [np.zeros((1, 2, 3)), np.zeros((1, 2, 4))]])
def test_too_many_dimensions_are_refused(X):
    with pytest.raises(ValueError, match=r"has [34] dimensions"):
        DTWNeighbors(1).fit(X)
