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
def test_same_as_dtaidistance(window):
    dtaidistance = pytest.importorskip("dtaidistance.dtw")
    # It counts the diagonal in: a window of 1 allows no shift.
    limit = {} if window is None else {"window": window + 1}

    for seed in range(5):
        x, y = random_pair(seed, m=30 if window is not None else 43)
        expected = dtaidistance.distance(x, y, **limit)
        assert dtw_distance(x, y, window=window) == pytest.approx(expected)


def test_series_of_one_point():
    assert dtw_distance([1], [4]) == 3
    assert dtw_distance([1], [2, 3]) == pytest.approx(5**0.5)


@pytest.mark.parametrize(
    ("x", "y", "window", "sentence"),
    [
        ([1, 2, 3], [1, 2, 3, 4, 5, 6], 2, "lengths 3 and 6: it must allow at least 3"),
        (np.zeros((2, 5)), np.zeros((3, 5)), None, "3 channels, but 2 are expected"),
        ([], [1, 2], None, "minimum of 1 is required"),
        ([1, np.inf], [1, 2], None, "^Input x contains infinity or a value too large for dtype"),
        ([1, 2], [1, -np.inf], None, "^Input y contains infinity or a value too large for dtype"),
        ([1, np.nan], [1, 2], None, r"^Input x contains NaN\.$"),
        ([1, 2], [np.nan, 2], None, r"^Input y contains NaN\.$"),
        ([1, 2], [0, -1e155], None, r"^y has a value of size 1e\+155, whose square overflows"),
    ],
)
def test_what_has_no_distance_gets_one_sentence(x, y, window, sentence):
    with pytest.raises(ValueError, match=sentence):
        dtw_distance(x, y, window=window)


def test_a_window_may_be_any_number_of_steps():
    x, y = random_pair(1)

    assert dtw_distance(x, y, window=10**30) == dtw_distance(x, y)
