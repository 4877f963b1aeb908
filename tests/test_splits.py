import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot._splits import learner_folds, resolve_cv, splits_in_time


@given(st.lists(st.integers(0, 30), min_size=12, max_size=80), st.integers(2, 5))
def test_later_rows_are_held_out_once_by_all_the_earlier_ones(times, n_folds):
    times = np.array(times)
    if len(np.unique(times)) < n_folds + 1:
        with pytest.raises(ValueError, match="different times"):
            splits_in_time(times, n_folds)
        return
    splits = splits_in_time(times, n_folds)
    assert len(splits) == n_folds
    for train, test in splits:
        assert times[train].max() < times[test].min()
        assert set(train) == set(np.flatnonzero(times < times[test].min()))
    held_out = np.concatenate([test for _, test in splits])
    assert len(set(held_out)) == len(held_out)
    assert set(held_out) | set(splits[0][0]) == set(range(len(times)))


@pytest.mark.parametrize("stratified", [True, False])
def test_a_number_of_folds_is_shuffled_by_its_seed_and_a_splitter_is_not(stratified):
    y = np.repeat([0, 1], 50)

    def first_fold(cv, random_state):
        splitter = resolve_cv(cv, y, stratified=stratified, random_state=random_state)
        return next(iter(splitter.split(y, y)))[1]

    assert np.array_equal(first_fold(5, 0), first_fold(5, 0))
    assert not np.array_equal(first_fold(5, 0), first_fold(5, 1))
    assert np.diff(first_fold(5, 0)).max() > 1  # not a block of rows
    given_splits = [(np.arange(50), np.arange(50, 100))]
    assert np.array_equal(first_fold(given_splits, 0), np.arange(50, 100))


@pytest.mark.parametrize("seed", range(5))
def test_folds_of_a_learner_are_not_those_of_the_models_with_the_same_seed(seed):
    models = resolve_cv(5, np.arange(100.0), stratified=False, random_state=seed)
    held_out = {frozenset(test) for _, test in models.split(np.arange(100))}
    learned = {frozenset(test) for _, test in learner_folds(100, None, seed)}
    assert not held_out & learned
    assert sorted(row for fold in learned for row in fold) == list(range(100))
    assert learned == {frozenset(test) for _, test in learner_folds(100, None, seed)}


def test_folds_of_a_learner_keep_groups_together_are_drawn_and_spread_a_rare_class():
    sizes = np.repeat([1, 2, 3], [300, 40, 10])
    groups = np.repeat(np.random.default_rng(0).permutation(350), sizes)
    y = np.isin(groups, np.unique(groups)[:7]).astype(int)  # in seven groups of 350

    def tests(seed, y=None):
        return [test for _, test in learner_folds(len(groups), groups, seed, y)]

    for labels in (None, y):
        folds = tests(0, labels)
        assert sorted(np.concatenate(folds)) == list(range(len(groups)))
        assert sum(len(np.unique(groups[test])) for test in folds) == 350  # none is in two folds
        assert max(map(len, folds)) - min(map(len, folds)) <= 6  # of 82
        assert all(map(np.array_equal, folds, tests(0, labels)))
        assert not all(map(np.array_equal, folds, tests(1, labels)))
    counts = sorted(len(np.unique(groups[test][y[test] == 1])) for test in tests(0, y))
    assert counts == [1, 1, 1, 2, 2]
