"""Before there is a model, the rows asked about come from every group of the pool, and are no outliers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.naive_bayes import GaussianNB

from surefoot.active_learning import DEFAULT_STRATEGY, ActiveLearner, query

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
SIZES = [300, 80, 20, 8]


def groups(random_state, n_outliers=0):
    """Four groups of very different sizes, sorted, and outliers far from each other."""
    draw = np.random.default_rng(random_state)
    y = np.repeat(np.arange(4), SIZES)
    X = CENTRES[y] + draw.normal(scale=0.5, size=(len(y), 2))
    angles = np.linspace(0, 6, n_outliers)
    far = 5 + 40 * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([X, far]), np.concatenate([y, np.full(n_outliers, 9)])


@pytest.mark.parametrize("random_state", range(5))
def test_four_questions_see_four_groups(random_state):
    X, y = groups(random_state)
    chosen = query(DEFAULT_STRATEGY, None, X, 4, random_state=random_state)
    assert set(y[chosen]) == {0, 1, 2, 3}


@pytest.mark.parametrize("random_state", range(5))
def test_groups_come_before_outliers(random_state):
    X, y = groups(random_state, n_outliers=6)
    chosen = query(DEFAULT_STRATEGY, None, X, 8, random_state=random_state)
    assert {0, 1, 2, 3} <= set(y[chosen])
    assert (y[chosen] == 9).sum() <= 2


def test_it_goes_on_where_no_row_is_labelled():
    X, y = groups(0)
    known = np.flatnonzero(y < 2)[::7]
    chosen = query(DEFAULT_STRATEGY, None, X, 2, X=X[known], y=y[known], random_state=0)
    assert set(y[chosen]) == {2, 3}


def test_a_batch_of_copies_is_avoided():
    X = np.vstack([np.zeros((100, 2)), [[1.0, 1.0]] * 3, [[2.0, 0.0]] * 3])
    chosen = query(DEFAULT_STRATEGY, None, X, 3, random_state=0)
    assert len(np.unique(X[chosen], axis=0)) == 3


@pytest.mark.parametrize("n_pool", [1, 3])
def test_a_pool_smaller_than_the_batch_is_asked_about_whole(n_pool):
    chosen = query(DEFAULT_STRATEGY, None, np.arange(2.0 * n_pool).reshape(-1, 2), 10)
    assert_array_equal(np.sort(chosen), np.arange(n_pool))


def mixed_columns(X, y):
    """Numbers with gaps, categories, a text of each row, and a column without any value."""
    return {
        "size": [None if row % 9 == 0 else float(value) for row, value in enumerate(X[:, 0])],
        "kind": [f"kind {label}" if row % 25 else None for row, label in enumerate(y)],
        "note": [f"row {row}" for row in range(len(y))],
        "empty": [None] * len(y),
    }


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_categories_texts_and_gaps(frame):
    X, y = groups(0)
    chosen = query(DEFAULT_STRATEGY, None, frame(mixed_columns(X, y)), 8, random_state=0)
    assert set(y[chosen]) == {0, 1, 2, 3}


def test_sparse_rows_by_their_direction():
    y = np.repeat(np.arange(5), 40)
    X = (
        np.random.default_rng(0).uniform(0, 0.1, size=(200, 20))
        + np.repeat(np.eye(5), 4, axis=1)[y]
    )
    chosen = query(DEFAULT_STRATEGY, None, csr_array(X), 5, random_state=0)
    assert set(y[chosen]) == set(range(5))


def test_texts_without_columns_are_drawn():
    texts = np.array([f"text {row}" for row in range(30)], dtype=object)
    chosen = query(DEFAULT_STRATEGY, None, texts, 5, random_state=0)
    assert len(set(chosen)) == 5


def test_random_rows_are_random_from_the_start():
    X, y = groups(0)
    chosen = query("random", None, X, 100, random_state=0)
    assert_array_equal(chosen, np.random.RandomState(0).permutation(len(y))[:100])


def test_a_large_pool_is_no_slower_than_a_part_of_it():
    X = np.random.default_rng(0).normal(size=(50_000, 3))
    assert len(set(query(DEFAULT_STRATEGY, None, X, 5, random_state=0))) == 5


def test_a_learner_starts_with_it_and_goes_on_after_labels_of_one_class():
    X, y = groups(1)
    learner = ActiveLearner(GaussianNB(), random_state=0)
    same = y == 0
    learner.teach(X[same][:5], y[same][:5])
    assert 0 not in y[learner.query(X, 3)]
