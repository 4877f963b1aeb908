import numpy as np
import pytest
import sklearn

from surefoot.time_series._votes import (
    ballots,
    class_occurrences,
    running_votes,
    vote_weights,
    votes_by_size,
)

# Four series in two classes; the lists hold the two nearest others of each.
LISTS = np.array([[1, 2], [0, 2], [3, 1], [2, 1]])
CODES = np.array([0, 0, 1, 1])


def test_rank_weights_are_harmonic():
    np.testing.assert_allclose(vote_weights(np.zeros((1, 3)), "rank"), [[1, 1 / 2, 1 / 3]])


def test_equal_series_outvote_all_others():
    distances = np.array([[0.0, 0.0, 2.0], [1.0, 2.0, 4.0]])

    weights = vote_weights(distances, "distance")

    np.testing.assert_allclose(weights, [[1, 1, 0], [1, 0.5, 0.25]])


def test_weights_may_be_a_function():
    np.testing.assert_allclose(vote_weights(np.array([[1.0, 3.0]]), lambda d: d - 1), [[0, 2]])


def test_occurrences_count_the_second_neighbor_half():
    # Series 1 is the first neighbour of 0 and the second of 2 and 3.
    counts = class_occurrences(LISTS, CODES, 4, 2)

    np.testing.assert_allclose(counts, [[1, 0], [1, 1], [1, 1], [0, 1]])


def test_full_trust_votes_for_the_label_alone():
    shares = ballots(LISTS[:1], CODES, np.zeros((0, 2)), np.inf)

    np.testing.assert_allclose(shares, [[[1, 0], [0, 1]]])


def test_a_neighbor_votes_for_the_classes_it_has_been_near():
    counts = class_occurrences(LISTS, CODES, 4, 2)

    shares = ballots(np.array([[1, 3]]), CODES, counts, 2.0)

    # Series 1: (1 + 2, 1); series 3: (0, 1 + 2).
    np.testing.assert_allclose(shares, [[[3 / 4, 1 / 4], [0, 1]]])


def test_own_contribution_is_that_of_a_search_without_the_row():
    counts = class_occurrences(LISTS, CODES, 4, 2)

    for row in range(4):
        others = np.delete(np.arange(4), row)
        without = class_occurrences(LISTS[others], CODES[others], 4, 2)
        expected = ballots(LISTS[[row]], CODES, without, 1.0)
        shares = ballots(LISTS[[row]], CODES, counts, 1.0, CODES[[row]])
        np.testing.assert_allclose(shares, expected)


def test_votes_run_over_the_numbers_of_neighbors():
    shares = np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]])

    votes = running_votes(shares, np.ones((1, 3)), np.array([1, 3]))

    np.testing.assert_allclose(votes, [[[1, 0], [1 / 3, 2 / 3]]])


@pytest.mark.parametrize("trust", [1.0, np.inf])
def test_batches_change_nothing(trust):
    random = np.random.default_rng(0)
    lists = random.random((50, 5)), random.integers(0, 40, size=(50, 5))
    codes = random.integers(0, 3, size=40)
    arguments = {"trust": trust, "weights": "rank", "sizes": np.array([1, 5])}
    counts = class_occurrences(random.integers(0, 40, size=(40, 5)), codes, 40, 3)

    whole = votes_by_size(lists, codes, counts, **arguments)
    with sklearn.config_context(working_memory=1e-3):
        by_row = votes_by_size(lists, codes, counts, **arguments)

    np.testing.assert_array_equal(whole, by_row)
