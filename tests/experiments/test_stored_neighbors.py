import numpy as np
import pytest
from sklearn.base import clone

from surefoot.experiments._stored_neighbors import StoredNeighbors, stored_lists
from surefoot.neighborhoods import DTWNeighbors


@pytest.fixture
def series():
    return np.random.default_rng(0).normal(size=(60, 12)).cumsum(axis=1)


def as_rows(numbers):
    return np.asarray(numbers)[:, None]


@pytest.mark.parametrize("length", [59, 12, 6])
def test_finds_what_a_search_among_the_training_series_finds(tmp_path, series, length):
    # With 6 entries a list, most are too short once a third is removed, and searched again.
    train, test = np.arange(0, 40), np.arange(40, 60)
    lists = stored_lists(series, tmp_path / "lists.npz", length=length, n_jobs=1)
    stored = StoredNeighbors(lists).fit(as_rows(train))
    direct = DTWNeighbors(5).fit(series[train])

    for actual, expected in (
        (stored.kneighbors(as_rows(test), 5), direct.kneighbors(series[test])),
        (stored.kneighbors(n_neighbors=5), direct.kneighbors()),
    ):
        np.testing.assert_allclose(actual[0], expected[0])
        np.testing.assert_array_equal(actual[1], expected[1])


def test_more_than_was_stored_is_searched(tmp_path, series):
    lists = stored_lists(series, tmp_path / "lists.npz", length=3, n_jobs=1)

    actual = StoredNeighbors(lists).fit(as_rows(range(60))).kneighbors(n_neighbors=8)

    expected = DTWNeighbors(8).fit(series).kneighbors()
    np.testing.assert_array_equal(actual[1], expected[1])


def test_lists_are_read_from_disk_the_second_time(tmp_path, series, monkeypatch):
    file = tmp_path / "deep" / "lists.npz"
    first = stored_lists(series, file, length=5, n_jobs=1)
    monkeypatch.setattr(DTWNeighbors, "fit", None)  # a search would fail

    again = stored_lists(series, file, length=5, n_jobs=1)

    np.testing.assert_array_equal(first.indices, again.indices)


def test_lists_of_other_series_are_not_believed(tmp_path, series):
    file = tmp_path / "lists.npz"
    stored_lists(series[::-1].copy(), file, length=5, n_jobs=1)

    lists = stored_lists(series, file, length=5, n_jobs=1)

    expected = DTWNeighbors(5).fit(series).kneighbors(return_distance=False)
    np.testing.assert_array_equal(lists.indices, expected)


def test_clones_share_the_lists(tmp_path, series):
    lists = stored_lists(series, tmp_path / "lists.npz", length=5, n_jobs=1)

    assert clone(StoredNeighbors(lists)).lists is lists
