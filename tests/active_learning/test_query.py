"""Each strategy asks for the rows that a hand count gives; before there is a model, rows of every group are asked."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from surefoot import LocalSensitivity
from surefoot.active_learning import query
from surefoot.indicators import ResamplingSpread

DOUBTS = ["confidence", "error", "margin", "sensitivity", "votes"]


@pytest.fixture
def situation():
    """Twenty labelled rows, a model of them, and a pool of eighty."""
    X, y = make_classification(100, 4, n_redundant=0, random_state=0)
    return GaussianNB().fit(X[:20], y[:20]), X[20:], X[:20], y[:20]


def test_low_confidence_is_asked_about_first(situation):
    model, pool, *_ = situation
    chosen = query("confidence", model, pool, 30, diverse=False)
    margins = np.abs(np.diff(model.predict_proba(pool), axis=1)[:, 0])
    assert_array_equal(chosen, np.argsort(margins)[:30])


def test_the_two_most_probable_classes_decide():
    """The leads are .05, .25 and .1; the most probable classes have .45, .5 and .55.

    In log-odds the leads of the last two would be 1.1 and .4, in probability they are .25 and .1.
    """
    shares = np.array([[0.45, 0.4, 0.15], [0.5, 0.25, 0.25], [0.55, 0.45, 0.0]])
    model = KNeighborsClassifier(20).fit(*table_of_shares(shares))
    pool = 100.0 * np.arange(3)[:, None]
    assert_array_equal(query("margin", model, pool, 3, diverse=False), [0, 2, 1])
    assert_array_equal(query("confidence", model, pool, 3, diverse=False), [0, 1, 2])


def table_of_shares(shares):
    """Twenty rows around each of 0, 100, 200 with these shares of classes."""
    y = [np.repeat(np.arange(3), np.rint(20 * row).astype(int)) for row in shares]
    X = [100.0 * place + np.linspace(-1, 1, 20) for place in range(len(shares))]
    return np.concatenate(X)[:, None], np.concatenate(y)


def test_the_votes_of_an_ensemble_are_its_members(situation):
    _, pool, X, y = situation
    bag = BaggingClassifier(n_estimators=7, random_state=0).fit(X, y)
    positive = np.mean([member.predict(pool) for member in bag.estimators_], axis=0)
    chosen = query("votes", bag, pool, 5, diverse=False)
    assert np.abs(positive[chosen] - 0.5).max() <= np.sort(np.abs(positive - 0.5))[4]


def test_a_committee_is_formed_where_there_is_none(situation):
    model, pool, X, y = situation
    first, again = (query("votes", model, pool, 5, X=X, y=y, random_state=0) for _ in range(2))
    assert_array_equal(first, again)
    assert len(query("votes", SVC().fit(X, y), pool, 5, X=X, y=y, random_state=0)) == 5


@pytest.mark.parametrize("indicator", [LocalSensitivity(), ResamplingSpread(random_state=0)])
def test_any_indicator_is_a_strategy(situation, indicator):
    model, pool, X, y = situation
    chosen = query(indicator, model, pool, 6, X=X, y=y, diverse=False)
    indicator.set_params(estimator=FrozenEstimator(model))
    assert_array_equal(chosen, indicator.fit(X, y).score_samples(pool).argsort(kind="stable")[:6])


def borderline():
    """Sixty labelled rows, noisy around x = 0, and a pool whose first 30 rows lie there and 70 far away.

    Sparse rows have neighbours by angle, under which a far row may be unstable too: not in this draw.
    """
    draw = np.random.default_rng(1)
    X = draw.uniform(-1, 1, size=(60, 2)) * [5, 2]
    far = draw.choice([-1, 1], 70) * draw.uniform(4, 5, 70)
    x = np.concatenate([draw.uniform(-0.3, 0.3, 30), far])
    pool = np.column_stack([x, draw.uniform(-2, 2, 100)])
    return X, (X[:, 0] + draw.normal(size=60) > 0).astype(int), pool


def frame(X):
    return pd.DataFrame(X, columns=["x", "other"])


@pytest.mark.parametrize(
    ("strategy", "kind"),
    [*((each, np.asarray) for each in DOUBTS), ("votes", csr_array), ("sensitivity", frame)],
)
def test_rows_near_the_boundary_are_chosen_from_any_table(strategy, kind):
    X, y, pool = borderline()
    model = FrozenEstimator(LogisticRegression().fit(kind(X), y))
    options = {"X": kind(X), "y": y, "random_state": 0}
    chosen = query(strategy, model, kind(pool), 15, diverse=False, **options)
    assert chosen[:7].max() < 30
    spread = query(strategy, model, kind(pool), 3, **options)  # out of five times as many
    assert len(set(spread)) == 3
    assert set(spread) <= set(chosen)


def test_random_rows_depend_on_nothing_but_the_seed():
    X, y, pool = borderline()
    model = LogisticRegression().fit(X, y)
    draws = [query("random", model, pool, 50, random_state=seed) for seed in range(40)]
    assert all(len(set(draw)) == 50 for draw in draws)
    assert_array_equal(draws[0], query("random", model, np.zeros((100, 2)), 50, random_state=0))
    # Each row is in half of the draws: 20 of 40, with a standard deviation of √10.
    assert np.abs(np.bincount(np.concatenate(draws), minlength=100) - 20).max() < 4.5 * np.sqrt(10)


def test_a_batch_is_spread_out_and_still_doubtful():
    """Two clumps of doubtful rows: one of each is asked about, not two of the first."""
    model = LogisticRegression().fit([[-5.0, 0.0], [5.0, 0.0]], [0, 1])
    first = np.column_stack([np.linspace(0, 0.008, 9), np.zeros(9)])
    pool = np.vstack([first, [[0.01, 8.0]], [[4.0, 0.1], [4.5, 0.2]] * 3])
    assert_array_equal(query("confidence", model, pool, 2, diverse=False), [0, 1])
    chosen = query("confidence", model, pool, 2)
    assert chosen[0] < 9
    assert chosen[1] == 9


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_a_batch_is_the_middles_of_doubtful_groups(seed, n_groups):
    """Groups of five rows at the boundary, each a middle and four rows around it; other rows are far away."""
    draw = np.random.default_rng(seed)
    model = LogisticRegression().fit([[-5.0, 0.0], [5.0, 0.0]], [0, 1])
    heights = 10.0 * draw.permutation(20)[:n_groups]
    around = np.array([[0, 0], [0.02, 0], [-0.02, 0], [0, 0.5], [0, -0.5]])
    groups = [around + np.array([0, height]) for height in heights]
    far = np.column_stack([draw.choice([-4.0, 4.0], 30), draw.uniform(0, 200, 30)])
    pool = np.vstack([*groups, far])
    order = draw.permutation(len(pool))
    chosen = query("margin", model, pool[order], n_groups)
    assert_array_equal(np.sort(order[chosen]), 5 * np.arange(n_groups))


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_copies_of_a_row_are_asked_about_once(kind):
    model = LogisticRegression().fit(kind([[-5.0, 1.0], [5.0, 1.0]]), [0, 1])
    others = np.column_stack([np.linspace(1, 4, 6), np.ones(6)])
    pool = np.vstack([np.tile([0.01, 1.0], (60, 1)), others])
    chosen = query("confidence", model, kind(pool), 4)
    assert (chosen < 60).sum() == 1
    everything = query("confidence", model, kind(pool), 10)  # there are seven different rows only
    assert set(range(60, 66)) <= set(everything)
    assert len(set(everything)) == 10
    assert len(np.unique(pool[query("margin", None, kind(pool), 3)], axis=0)) == 3


def test_equal_doubts_are_not_asked_in_the_order_of_the_pool():
    """A sorted pool of which the model knows nothing: its top rows are no better than others."""
    model = LogisticRegression().fit([[1.0, 0.0], [-1.0, 0.0]], [0, 1])
    pool = np.column_stack([np.zeros(200), np.zeros(200)])
    chosen = query("confidence", model, pool, 40, diverse=False)
    assert 60 < chosen.mean() < 140  # 100 ± 4.5 · 9


def test_a_function_is_a_strategy(situation):
    model, pool, *_ = situation

    def largest_first_column(model, pool, X, y, batch_size, random_state):
        return np.argsort(-pool[:, 0])[:batch_size]

    assert query(largest_first_column, model, pool)[0] == pool[:, 0].argmax()
    with pytest.raises(ValueError, match="it must return up to 1 different positions below 80"):
        query(lambda *_: [99], model, pool)


@pytest.mark.parametrize("strategy", [*DOUBTS, "random"])
def test_a_class_with_one_row(strategy):
    X, y = make_classification(60, 4, n_redundant=0, random_state=0)
    labels = np.append(y[:19], 2)
    model = RandomForestClassifier(5, random_state=0).fit(X[:20], labels)
    chosen = query(strategy, model, X[20:], 6, X=X[:20], y=labels, random_state=0)
    assert len(set(chosen)) == 6


@pytest.mark.parametrize("strategy", ["margin", "random"])
def test_a_model_of_one_class_is_no_model(strategy):
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    model = RandomForestClassifier(3).fit(X[:2], ["a", "a"])
    options = {"X": X[:2], "random_state": 0}
    expected = query(strategy, None, X, 2, **options)
    assert_array_equal(query(strategy, model, X, 2, **options), expected)


@pytest.mark.parametrize(
    ("changed", "error", "sentence"),
    [
        ({"strategy": "greedy"}, ValueError, "strategy='greedy' is not known"),
        ({"batch_size": 0}, ValueError, "batch_size == 0"),
        ({"X_pool": np.empty((0, 4))}, ValueError, "X_pool has no rows"),
        ({"estimator": GaussianNB()}, NotFittedError, "not fitted"),
        ({"strategy": "sensitivity"}, ValueError, "X and y must be given"),
        ({"strategy": "votes"}, ValueError, "X and y must be given"),
    ],
)
def test_what_cannot_be_asked_gets_one_sentence(situation, changed, error, sentence):
    model, pool, *_ = situation
    options = {"strategy": "confidence", "estimator": model, "X_pool": pool, **changed}
    with pytest.raises(error, match=sentence):
        query(**options)


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


@pytest.mark.parametrize("random_state", range(3))
def test_four_rows_come_from_four_groups_and_groups_come_before_outliers(random_state):
    X, y = groups(random_state)
    chosen = query("margin", None, X, 4, random_state=random_state)
    assert set(y[chosen]) == {0, 1, 2, 3}
    X, y = groups(random_state, n_outliers=6)
    chosen = query("margin", None, X, 8, random_state=random_state)
    assert {0, 1, 2, 3} <= set(y[chosen])
    assert (y[chosen] == 9).sum() <= 2


def test_it_goes_on_where_no_row_is_labelled():
    X, y = groups(0)
    known = np.flatnonzero(y < 2)[::7]
    chosen = query("margin", None, X, 2, X=X[known], y=y[known], random_state=0)
    assert set(y[chosen]) == {2, 3}


def test_a_pool_smaller_than_the_batch_is_asked_about_whole():
    pool = np.arange(6.0).reshape(-1, 2)
    model = GaussianNB().fit(pool, [0, 1, 1])
    for chosen in (query("margin", None, pool, 10), query("random", model, pool, 10)):
        assert_array_equal(np.sort(chosen), np.arange(3))


def mixed_columns(X, y):
    """Numbers with missing values, categories, a different string in each row, and an empty column."""
    return {
        "size": [None if row % 9 == 0 else float(value) for row, value in enumerate(X[:, 0])],
        "kind": [f"kind {label}" if row % 25 else None for row, label in enumerate(y)],
        "note": [f"row {row}" for row in range(len(y))],
        "empty": [None] * len(y),
    }


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_categories_strings_and_missing_values(frame):
    X, y = groups(0)
    chosen = query("margin", None, frame(mixed_columns(X, y)), 8, random_state=0)
    assert set(y[chosen]) == {0, 1, 2, 3}


def test_strings_without_columns_are_drawn():
    texts = np.array([f"text {row}" for row in range(30)], dtype=object)
    chosen = query("margin", None, texts, 5, random_state=0)
    assert len(set(chosen)) == 5
