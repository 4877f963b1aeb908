import numpy as np
import pytest

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


def test_groups_are_held_out_as_a_whole():
    groups = np.repeat(["a", "b", "c", "d", "e"], [2, 4, 6, 8, 10])
    for seed in range(20):
        [(train, test)] = HoldoutSplit(0.4, random_state=seed).split(groups, groups=groups)
        assert not set(groups[train]) & set(groups[test])
        assert set(train.tolist()) | set(test.tolist()) == set(range(30))
        assert 2 <= len(test) <= 20


@pytest.mark.parametrize(
    ("share", "n_rows", "groups", "sentence"),
    [
        *((share, 9, None, "above 0 and below 1") for share in (0, 1, -0.5, "half", True)),
        (0.1, 3, None, "leaves one part empty"),
        (0.5, 4, [1, 1, 1, 1], "groups has one group only"),
    ],
)
def test_a_split_that_is_not_possible_gets_one_sentence(share, n_rows, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        next(HoldoutSplit(share).split(range(n_rows), groups=groups))
