import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.time_series import dtw_distance


def random_pair(seed, n=30, m=30, n_channels=None):
    random = np.random.default_rng(seed)
    shape = () if n_channels is None else (n_channels,)
    return random.normal(size=(*shape, n)), random.normal(size=(*shape, m))


def test_distance_by_hand():
    # The 3 is matched with the 1 (a gap of 2), every other point with an equal one.
    assert dtw_distance([0, 0, 3, 0], [0, 1, 0]) == 2


def test_window_zero_is_the_euclidean_distance():
    x, y = random_pair(0)

    assert dtw_distance(x, y, window=0) == pytest.approx(np.linalg.norm(x - y))


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_symmetric_and_zero_for_equal_series(seed, n, m):
    x, y = random_pair(seed, n, m)

    assert dtw_distance(x, y) == dtw_distance(y, x)
    assert dtw_distance(x, x) == 0


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_a_wider_window_is_never_farther(seed):
    x, y = random_pair(seed)

    distances = [dtw_distance(x, y, window=window) for window in (0, 1, 3, 10, None)]

    assert distances == sorted(distances, reverse=True)


@pytest.mark.parametrize("window", [None, 0, 1, 5])
def test_same_as_tslearn(window):
    tslearn = pytest.importorskip("tslearn.metrics")
    limit = {} if window is None else {"sakoe_chiba_radius": window}

    for seed in range(5):
        x, y = random_pair(seed)
        expected = tslearn.dtw(x, y, **limit)
        assert dtw_distance(x, y, window=window) == pytest.approx(expected)


def test_same_as_tslearn_with_channels_and_unequal_lengths():
    tslearn = pytest.importorskip("tslearn.metrics")
    x, y = random_pair(0, 20, 33, n_channels=3)

    assert dtw_distance(x, y) == pytest.approx(tslearn.dtw(x.T, y.T))


@pytest.mark.parametrize("window", [None, 0, 1, 5])
def test_same_as_dtaidistance(window):
    dtaidistance = pytest.importorskip("dtaidistance.dtw")
    # It counts the diagonal in: a window of 1 allows no shift.
    limit = {} if window is None else {"window": window + 1}

    for seed in range(5):
        x, y = random_pair(seed)
        expected = dtaidistance.distance(x, y, **limit)
        assert dtw_distance(x, y, window=window) == pytest.approx(expected)


def test_same_as_dtaidistance_with_unequal_lengths():
    dtaidistance = pytest.importorskip("dtaidistance.dtw")
    x, y = random_pair(1, 20, 33)

    assert dtw_distance(x, y) == pytest.approx(dtaidistance.distance(x, y))


@pytest.mark.parametrize("window", [None, 0.0, 0.1, 0.5])
def test_root_of_aeon_s(window):
    aeon = pytest.importorskip("aeon.distances")

    for seed in range(5):
        x, y = random_pair(seed, n_channels=2)
        expected = aeon.dtw_distance(x, y, window=window) ** 0.5
        assert dtw_distance(x, y, window=window) == pytest.approx(expected)


def test_a_window_that_forbids_every_path_is_refused():
    with pytest.raises(ValueError, match="lengths 3 and 6: it must allow at least 3"):
        dtw_distance([1, 2, 3], [1, 2, 3, 4, 5, 6], window=2)


def test_other_numbers_of_channels_are_refused():
    with pytest.raises(ValueError, match="3 channels, but 2 are expected"):
        dtw_distance(np.zeros((2, 5)), np.zeros((3, 5)))


def test_nan_and_empty_series_are_refused():
    with pytest.raises(ValueError, match="contains NaN"):
        dtw_distance([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        dtw_distance([], [1, 2])


def test_series_of_one_point():
    assert dtw_distance([1], [4]) == 3
    assert dtw_distance([1], [2, 3]) == pytest.approx(5**0.5)


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (
            [1, np.inf],
            [1, 2],
            "Input x contains infinity or a value too large for dtype('float64').",
        ),
        (
            [1, 2],
            [1, -np.inf],
            "Input y contains infinity or a value too large for dtype('float64').",
        ),
        ([1, 2], [np.nan, 2], "Input y contains NaN."),
        (
            [1, 2],
            [0, -1e155],
            "y has a value of size 1e+155, whose square overflows: it may have values of size 1e+150 at most.",
        ),
    ],
)
def test_a_value_without_a_finite_square_is_refused_by_name(x, y, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        dtw_distance(x, y)


def test_a_window_may_be_any_number_of_steps():
    x, y = random_pair(1)

    assert dtw_distance(x, y, window=10**30) == dtw_distance(x, y)
