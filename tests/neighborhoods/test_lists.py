import numpy as np
import pytest

from surefoot._series import complete_lists, drop_own

DISTANCES = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
INDICES = np.array([[4, 2, 3], [0, 1, 2]])


def test_short_lists_are_searched_again_and_deeper():
    allowed = np.array([False, False, True, True, False, False, True])
    asked = []

    def search_again(rows, length):
        asked.append((rows.tolist(), length))
        return np.arange(7.0)[None], np.arange(7)[None]

    distances, indices = complete_lists(DISTANCES, INDICES, allowed, 2, search_again)

    np.testing.assert_array_equal(indices, [[2, 3], [2, 3]])
    np.testing.assert_array_equal(distances, [[2, 3], [2, 3]])
    assert asked == [([1], 6)]


def test_too_few_rows_to_choose_from_are_refused():
    allowed = np.array([True, False, False, False, False])

    with pytest.raises(ValueError, match="fewer than 2 series"):
        complete_lists(
            DISTANCES, INDICES, allowed, 2, lambda rows, _: (DISTANCES[rows], INDICES[rows])
        )


def test_own_row_or_else_the_last_is_dropped():
    distances, indices = drop_own(DISTANCES, INDICES, np.array([2, 9]))

    np.testing.assert_array_equal(indices, [[4, 3], [0, 1]])
    np.testing.assert_array_equal(distances, [[1, 3], [4, 5]])
