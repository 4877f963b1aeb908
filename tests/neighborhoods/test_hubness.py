import numpy as np
import pytest
from scipy.stats import skew

from surefoot.neighborhoods import hubness, infect_hubs

# Row 3 is the nearest of everyone; rows 0, 1 and 3 are one class.
NEIGHBORS = [[3, 1], [3, 0], [3, 1], [0, 1], [3, 2], [3, 0]]
Y = ["a", "a", "b", "a", "b", "b"]


def test_occurrences_are_counted_by_agreement():
    found = hubness(NEIGHBORS, Y)

    np.testing.assert_array_equal(found.occurrences, [3, 3, 1, 5, 0, 0])
    np.testing.assert_array_equal(found.good_occurrences, [2, 2, 1, 2, 0, 0])
    np.testing.assert_array_equal(found.bad_occurrences, [1, 1, 0, 3, 0, 0])
    # Deviations from the mean 2: 1, 1, -1, 3, -2, -2; squares sum to 20, cubes to 12.
    assert found.skewness == pytest.approx((12 / 6) / (20 / 6) ** 1.5)


def test_hubs_are_good_or_bad_by_the_majority_of_their_occurrences():
    # Of 20 rows, 0 and 1 are in nearly all lists: 19 times each, against a mean of 2.
    neighbors = [[1, 2]] + [[0, 2]] + [[0, 1]] * 18
    y = np.array(["a", "b"] + ["a"] * 18)

    found = hubness(neighbors, y)

    np.testing.assert_array_equal(found.good_hubs, [0])
    np.testing.assert_array_equal(found.bad_hubs, [1])


def test_equal_occurrences_have_no_skewness():
    assert hubness([[1], [2], [0]], [0, 0, 1]).skewness == 0


def test_skewness_is_that_of_scipy():
    random = np.random.default_rng(0)
    neighbors = random.integers(0, 30, size=(30, 4))

    found = hubness(neighbors, random.integers(0, 2, size=30))

    assert found.skewness == pytest.approx(skew(np.bincount(neighbors.ravel(), minlength=30)))


def test_best_hubs_get_a_class_of_their_own():
    # 1-occurrences: row 3 has 5, of them 2 good; row 0 has 1, good.
    assert infect_hubs(Y, NEIGHBORS, 1 / 6).tolist() == ["a", "a", "b", "noise", "b", "b"]
    assert infect_hubs(Y, NEIGHBORS, 2 / 6).tolist() == ["noise", "a", "b", "noise", "b", "b"]


def test_the_new_class_of_numbers_is_above_all_others():
    y = np.array([4, 4, 7, 4, 7, 7])

    infected = infect_hubs(y, NEIGHBORS, 0.2)

    np.testing.assert_array_equal(infected, [4, 4, 7, 8, 7, 7])
    assert y.max() == 7  # the caller's labels stay


def test_no_fraction_changes_nothing():
    np.testing.assert_array_equal(infect_hubs(Y, NEIGHBORS, 0), Y)


@pytest.mark.parametrize("fraction", [-0.1, 1.1])
def test_fraction_is_a_share(fraction):
    with pytest.raises(ValueError, match="fraction"):
        infect_hubs(Y, NEIGHBORS, fraction)


def test_indices_out_of_range_are_refused():
    with pytest.raises(ValueError, match="neighbors holds indices from 0 to 9"):
        hubness([[9], [0]], [0, 1])


def test_a_class_named_noise_is_refused():
    with pytest.raises(ValueError, match="class named 'noise' already"):
        infect_hubs(["noise", "a"], [[1], [0]], 0.5)
