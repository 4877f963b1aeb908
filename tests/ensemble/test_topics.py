"""Targets as topics, and folds that spread them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from surefoot.ensemble._topics import as_topics, deal_folds


def test_two_labels_are_one_topic_and_come_back():
    topics = as_topics(["no", "yes", "no"])
    assert_array_equal(topics.indicator, [[0], [1], [0]])
    assert_array_equal(topics.targets(np.array([[0.1], [0.0], [-1.0]])), ["yes", "no", "no"])


def test_more_labels_are_a_topic_each_and_the_highest_score_wins():
    topics = as_topics([3, 5, 9, 5])
    assert_array_equal(topics.indicator, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert_array_equal(topics.targets(np.array([[-3.0, -1.0, -2.0]])), [5])


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_a_matrix_comes_back_as_it_was_given(kind):
    y = kind(np.array([[1, 0], [0, 0], [1, 1]], dtype=np.int8))
    topics = as_topics(y)
    targets = topics.targets(np.array([[0.5, -1.0], [-2.0, 3.0]]))
    assert issparse(targets) == issparse(y)
    assert targets.dtype == np.int8
    assert_array_equal(targets.toarray() if issparse(targets) else targets, [[1, 0], [0, 1]])


def test_every_topic_is_spread_over_the_folds():
    rng = np.random.default_rng(0)
    y = (rng.random((103, 6)) < [0.02, 0.05, 0.1, 0.3, 0.5, 0.03]).astype(int)
    y[:, 0] = 0
    y[[3, 90], 0] = 1  # two rows only
    splits = deal_folds(y, 5, random_state=0)
    tests = [test for _, test in splits]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(103))
    for train, test in splits:
        assert len(np.intersect1d(train, test)) == 0
        assert y[train, 0].any()
    assert {len(test) for test in tests} == {20, 21}


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([1, 1, 1], "one class only, 1"),
        ([[0, 1], [0, 1]], "one class only in every column"),
        (csr_array(np.array([[0, 2], [1, 0]])), "other values than 0 and 1"),
        ([[1, 2], [3, 4]], "1d array"),
        ([], "no rows"),
    ],
)
def test_targets_that_cannot_be_learned_get_one_sentence(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_topics(y)
