import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from surefoot.resampling import HoldoutSplit


def test_holds_out_the_share_of_the_rows():
    [(train, test)] = HoldoutSplit(4 / 9, random_state=0).split(np.zeros((90, 2)))

    assert (len(train), len(test)) == (50, 40)
    np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(90))


def test_classes_are_held_out_alike():
    y = np.repeat(["rare", "common"], [9, 81])

    [(_, test)] = HoldoutSplit(1 / 3, random_state=1).split(y, y)

    assert np.count_nonzero(y[test] == "rare") == 3


def test_a_class_of_one_row_goes_to_one_part():
    y = np.r_[0, np.ones(9)]

    [(train, test)] = HoldoutSplit(0.4, random_state=0).split(y, y)

    assert (len(train), len(test)) == (6, 4)


def test_an_int_draws_the_same_split_each_time():
    splitter = HoldoutSplit(0.3, random_state=3)

    [(_, first)], [(_, again)] = splitter.split(range(40)), splitter.split(range(40))
    [(_, other)] = HoldoutSplit(0.3, random_state=4).split(range(40))

    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)


def test_serves_a_grid_search():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)), random.integers(0, 2, size=60)
    splitter = HoldoutSplit(0.25, random_state=0)

    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=splitter).fit(X, y)

    assert search.n_splits_ == 1


@pytest.mark.parametrize("share", [0, 1, -0.5, "half", True])
def test_share_says_what_it_may_be(share):
    with pytest.raises(ValueError, match=r"held_out=.* may be a float above 0 and below 1"):
        next(HoldoutSplit(share).split(range(9)))


def test_an_empty_part_is_refused():
    with pytest.raises(ValueError, match="leaves one part empty"):
        next(HoldoutSplit(0.1).split(range(3)))


def test_groups_are_held_out_as_a_whole():
    groups = np.repeat(["a", "b", "c", "d", "e"], [2, 4, 6, 8, 10])
    for seed in range(20):
        [(train, test)] = HoldoutSplit(0.4, random_state=seed).split(groups, groups=groups)
        assert not set(groups[train]) & set(groups[test])
        assert set(train.tolist()) | set(test.tolist()) == set(range(30))
        assert 2 <= len(test) <= 20


def test_groups_meet_the_share_where_they_can():
    groups = np.repeat(np.arange(50), 4)
    [(_, test)] = HoldoutSplit(0.3, random_state=0).split(groups, groups=groups)
    assert len(test) == 60


def test_one_group_gets_one_sentence():
    with pytest.raises(ValueError, match="groups has one group only"):
        next(HoldoutSplit(0.5).split(range(4), groups=[1, 1, 1, 1]))
