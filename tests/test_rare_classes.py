"""Rows of classes that are too rare to be held out are learned from in every fold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from surefoot import IndividualErrorClassifier, RecalibratedClassifier
from surefoot._splits import never_held_out, resolve_cv
from surefoot.indicators import Confidence


def folds(y, cv=5, groups=None):
    """Splits, and the rows that none of them holds out."""
    splitter = resolve_cv(cv, y, stratified=True, random_state=0, groups=groups)
    splits = list(splitter.split(np.zeros(len(y)), y, groups))
    return splits, never_held_out(splitter, splits, len(y)).tolist()


@pytest.mark.parametrize(
    ("counts", "cv", "n_folds", "rare"),
    [
        ([30, 30, 1], 5, 5, [2]),
        ([30, 30, 4, 2], 5, 5, [2, 3]),
        ([30, 30, 5], 5, 5, []),
        ([30, 30, 7], 10, 7, []),  # no handful: there are fewer folds
        ([30, 30, 2], 2, 2, []),  # as many as folds
        ([30, 3], 5, 3, []),  # two classes must be held out
        ([30, 3, 2, 1], 5, 3, [2, 3]),
    ],
)
def test_classes_with_a_handful_of_rows_are_never_held_out(counts, cv, n_folds, rare):
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    splits, never = folds(y, cv)
    assert len(splits) == n_folds
    assert never == np.flatnonzero(np.isin(y, rare)).tolist()
    held_out = np.concatenate([test for _, test in splits])
    assert sorted([*held_out.tolist(), *never]) == list(range(len(y)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_every_training_fold_has_every_class_and_no_group_is_divided(seed):
    draw = np.random.default_rng(seed)
    n_rows = int(draw.integers(20, 80))
    y = draw.choice(6, n_rows, p=[0.4, 0.3, 0.2, 0.06, 0.03, 0.01])
    groups = draw.integers(0, 12, n_rows)
    of_class = [set(groups[y == label]) for label in set(y)]
    alone = set().union(*(names for names in of_class if len(names) == 1))
    if len(set(y[~np.isin(groups, list(alone))])) < 2:
        with pytest.raises(ValueError, match="fewer than two classes"):
            folds(y, groups=groups)
        return
    splits, never = folds(y, groups=groups)
    assert set(np.flatnonzero(np.isin(groups, list(alone)))) <= set(never)
    held_out = np.concatenate([test for _, test in splits])
    assert len(np.unique(held_out)) == len(held_out) == n_rows - len(never)
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(n_rows))
        assert set(y[train]) == set(y)
        assert set(groups[train]).isdisjoint(groups[test])


def test_a_splitter_of_the_user_is_used_as_it_is():
    y = np.array([0, 1] * 10 + [2])
    splitter = KFold(3)
    assert resolve_cv(splitter, y, stratified=True, random_state=0) is splitter
    assert never_held_out(splitter, list(splitter.split(y)), 21).tolist() == []


def test_a_frozen_model_has_every_row_held_out():
    y = np.array([0, 1] * 10 + [2])
    splitter = resolve_cv(5, y, stratified=True, random_state=0, refits=False)
    held_out = np.concatenate([test for _, test in splitter.split(y, y)])
    assert sorted(held_out) == list(range(21))


@pytest.fixture
def table():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(80, 2))
    y = np.where(X[:, 0] + draw.normal(size=80) > 0, "high", "low")
    y[[7, 33]], y[50] = "mid", "top"
    return X, y


def test_an_error_estimator_judges_all_but_the_rare_rows(table):
    X, y = table
    error_estimator = IndividualErrorClassifier(
        LogisticRegression(), indicators=Confidence(), sets=True, random_state=0
    ).fit(X, y)
    assert error_estimator.never_held_out_.tolist() == [7, 33, 50]
    assert error_estimator.held_out_.rows.tolist() == [
        row for row in range(80) if row not in (7, 33, 50)
    ]
    assert error_estimator.classes_.tolist() == ["high", "low", "mid", "top"]
    assert error_estimator.held_out_.probabilities.shape == (77, 4)
    assert error_estimator.predict_set(X).shape == (80, 4)


def test_recalibration_needs_held_out_rows_of_every_class(table):
    X, y = table
    with pytest.raises(ValueError, match="y has one row only of class 'top'"):
        RecalibratedClassifier(LogisticRegression(), random_state=0).fit(X, y)
