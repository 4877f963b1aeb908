"""Rows with equal inputs: copies are one group and count once, and training rows are recognised."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, vstack
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._copies import group_copies, hash_rows
from surefoot.abstention import Promise
from surefoot.indicators import Confidence, NeighborDistance

rng = np.random.default_rng(0)
NUMBERS = rng.normal(size=(200, 4))


def labels_of(X):
    return (X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 0).astype(int)


def mixed():
    letters, days = np.array(list("abc"))[np.arange(200) % 3], pd.date_range("2026", periods=200)
    return pd.DataFrame({"x": NUMBERS[:, 0], "letter": letters, "day": days})


def test_equal_rows_have_equal_hashes_in_every_kind_of_table():
    frame = mixed()
    hashes = hash_rows(frame)
    assert len(set(hashes.tolist())) == 200
    assert_array_equal(hash_rows(pl.from_pandas(frame)), hashes)
    assert_array_equal(hash_rows(frame.iloc[::-1]), hashes[::-1])
    assert_array_equal(hash_rows(csr_array(NUMBERS)), hash_rows(csr_array(NUMBERS.copy())))
    assert hash_rows(np.array([[0.0, np.nan]])) == hash_rows(np.array([[-0.0, -np.nan]]))
    assert hash_rows(np.array([[1.0, 2.0]])) != hash_rows(np.array([[2.0, 1.0]]))


@pytest.mark.parametrize(
    "table", [NUMBERS, mixed(), csr_array(NUMBERS)], ids=["array", "frame", "sparse"]
)
def test_copies_are_a_group_and_count_once(table):
    order = np.r_[np.arange(200), np.arange(200)]
    doubled = (
        vstack([table, table], format="csr")
        if isinstance(table, csr_array)
        else (table.iloc[order] if isinstance(table, pd.DataFrame) else table[order])
    )
    groups, distinct, *_ = group_copies(doubled)
    assert_array_equal(groups[:200], groups[200:])
    assert len(set(groups.tolist())) == 200
    assert_array_equal(distinct, np.arange(400) < 200)


def test_rows_without_copies_and_rows_that_are_equal_by_coincidence_stay_apart():
    assert group_copies(NUMBERS).groups is None
    coins = rng.integers(0, 2, size=(300, 5)).astype(float)
    assert group_copies(coins).groups is None
    given = np.arange(300) // 3
    assert_array_equal(group_copies(coins, given).groups, given)


def test_a_frequent_row_is_no_copy_and_hides_no_copies():
    bought_nothing = np.zeros((100, 4))
    assert group_copies(np.vstack([NUMBERS, bought_nothing])).groups is None
    copied = group_copies(np.vstack([NUMBERS, NUMBERS[:30], bought_nothing]))
    assert_array_equal(copied.groups[:30], copied.groups[200:230])
    assert len(set(copied.groups.tolist())) == 300  # one for each row but the copies
    assert copied.distinct.sum() == 300


@pytest.mark.parametrize(
    ("n_equal", "is_text", "is_frequent"), [(4, False, False), (4, True, True), (11, False, True)]
)
def test_more_equal_rows_of_a_table_than_texts_are_copies(n_equal, is_text, is_frequent):
    rows = np.vstack([NUMBERS[:40], np.repeat(NUMBERS[:1], n_equal - 1, axis=0)])
    texts = np.array([f"text {row[0]}" for row in rows], dtype=object)
    for table in (texts, csr_array(rows)) if is_text else (rows,):
        assert (group_copies(table).groups is None) == is_frequent


def test_copies_join_the_groups_of_the_user():
    # Rows 0 to 3 twice. Copies link 1 with 5, and through group 6 the rows 2, 3, 6 and 7.
    rows = np.vstack([NUMBERS[:4], NUMBERS[:4]])
    groups = group_copies(rows, ["a", "b", "c", "d", "a", "f", "g", "g"]).groups
    assert len(set(groups.tolist())) == 3
    assert groups[0] == groups[4] != groups[1] == groups[5]
    assert len(set(groups[[2, 3, 6, 7]].tolist())) == 1


@pytest.mark.parametrize(
    "cv", [5, KFold(5, shuffle=True, random_state=0)], ids=["folds", "splitter"]
)
def test_no_model_learns_from_a_copy_of_the_row_that_it_is_tested_on(cv):
    X = np.repeat(NUMBERS, 2, axis=0)
    y = rng.integers(0, 2, size=200).repeat(2)  # nothing but copies can tell
    forest = RandomForestClassifier(20, random_state=0)
    model = IndividualErrorClassifier(forest, indicators=Confidence(), cv=cv, random_state=0).fit(
        X, y
    )
    assert 0.35 < model.held_out_.losses.mean() < 0.65


def test_training_rows_are_recognised_and_keep_their_held_out_estimate():
    X, y = NUMBERS, labels_of(NUMBERS)
    model = IndividualErrorClassifier(RandomForestClassifier(20, random_state=0), random_state=0)
    held_out, known = model.fit(X, y).held_out_, model.judge(X)
    assert known.known.all()
    assert (known.error >= held_out.error).all()
    assert_array_equal(known.error, model.predict_error(X))
    fresh = model.judge(np.vstack([X[:1], X[:5] + 0.01]))
    assert_array_equal(fresh.known, [True, False, False, False, False, False])
    promise = Promise.from_held_out(held_out, 0.4)
    assert promise.kept
    assert not promise.apply(known).accepted.any()


def test_no_row_is_known_where_rows_are_equal_by_coincidence():
    X = rng.integers(0, 2, size=(300, 5)).astype(float)
    model = IndividualErrorClassifier(LogisticRegression(), indicators=Confidence(), random_state=0)
    assert not model.fit(X, labels_of(X)).judge(X).known.any()


def test_a_frozen_model_that_has_seen_its_rows_is_found_out():
    X, y = NUMBERS, labels_of(NUMBERS)
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="it has probably learned from these rows"):
        model = IndividualErrorClassifier(FrozenEstimator(forest), random_state=0).fit(X, y)
    assert model.held_out_.seen
    assert not Promise.from_held_out(model.held_out_).kept
    elsewhere = np.random.default_rng(5).normal(size=(2000, 4))
    honest = clone(forest).fit(elsewhere, labels_of(elsewhere))
    honest = IndividualErrorClassifier(FrozenEstimator(honest), random_state=0).fit(X, y)
    assert not honest.held_out_.seen


class FittedElsewhere(RandomForestClassifier):
    """Model that cannot be fitted again."""

    def fit(self, X, y, sample_weight=None):
        if getattr(self, "random_state", None) == "elsewhere":
            raise RuntimeError("there is no licence to train here")
        return super().fit(X, y, sample_weight)


def test_a_model_that_cannot_be_fitted_again_is_doubted_in_one_sentence():
    X, y = NUMBERS, labels_of(NUMBERS)
    forest = FittedElsewhere(50, random_state=0).fit(X, y)
    forest.random_state = "elsewhere"
    with pytest.warns(UserWarning, match="no licence to train here.*has not learned from these"):
        model = IndividualErrorClassifier(FrozenEstimator(forest), random_state=0).fit(X, y)
    assert not model.held_out_.seen


def test_intervals_count_each_copy_once():
    # Every row five times: 38 different rows cannot support 99 % intervals, which need 99 of them.
    X = np.repeat(NUMBERS[:38], 5, axis=0)
    y = X[:, 0] + np.random.default_rng(2).normal(size=38).repeat(5)
    model = IndividualErrorRegressor(Ridge(), indicators=NeighborDistance(), cv=2, random_state=0)
    assert np.isinf(model.fit(X, y).predict_interval(X[:3] + 0.01, confidence=0.99)).all()
