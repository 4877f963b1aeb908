"""Shuffled folds against folds of rows that stand together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_1samp
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from surefoot.checks import compare_fold_orders


def test_the_order_of_independent_rows_does_not_matter():
    alarms = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(300, 4))
        y = X[:, 0] + draw.normal(size=300)
        alarms += compare_fold_orders(Ridge(), X, y).matters
        alarms += compare_fold_orders(DecisionTreeClassifier(max_depth=4), X, y > 0).matters
    assert alarms == 0


def test_rows_of_persons_that_stand_together_are_noticed():
    draw = np.random.default_rng(0)
    person = np.repeat(np.arange(50), 8)
    X = draw.normal(size=(50, 3))[person] + 0.05 * draw.normal(size=(400, 3))
    y = (draw.normal(size=50) > 0)[person]
    orders = compare_fold_orders(KNeighborsClassifier(3), X, y)
    assert orders.matters
    assert not orders.sorted_by_target
    assert orders.shuffled < 0.05
    assert orders.ordered > 0.3
    shuffled = draw.permutation(400)
    assert not compare_fold_orders(KNeighborsClassifier(3), X[shuffled], y[shuffled]).matters


def test_drift_is_noticed():
    time = np.linspace(0, 1, 400)
    draw = np.random.default_rng(0)
    X = np.column_stack([time, draw.normal(size=400)])
    y = 3 * np.sin(6 * time) + X[:, 1] + 0.2 * draw.normal(size=400)
    assert compare_fold_orders(KNeighborsRegressor(5), X, y).matters


def test_a_class_that_a_fold_lacks_is_wrong_in_every_row():
    X = np.repeat(np.arange(5.0), 40)[:, None]
    y = np.repeat(["a", "b", "c", "d", "e"], 40)
    orders = compare_fold_orders(LogisticRegression(max_iter=1000), X, y)
    assert orders.ordered == 1
    assert orders.sorted_by_target
    assert orders.matters
    two = compare_fold_orders(LogisticRegression(), X[:80], y[:80], cv=2)
    assert two.ordered == 1  # each half has one class only, and there is nothing to fit


def test_figures_are_those_of_cross_validation():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(100, 2))
    y = X[:, 0] + draw.normal(size=100)
    losses = np.abs(y - cross_val_predict(Ridge(), X, y, cv=KFold(5, shuffle=True, random_state=1)))
    orders = compare_fold_orders(Ridge(), X, y, losses=losses)
    in_order = cross_val_predict(Ridge(), X, y, cv=KFold(5))
    assert_allclose([orders.shuffled, orders.ordered], [losses.mean(), np.abs(y - in_order).mean()])
    assert orders.n_rows == 100


def test_up_to_fifty_rows_are_compared_by_students_test():
    draw = np.random.default_rng(0)
    X, losses = draw.normal(size=(40, 1)), draw.random(40)
    y = X[:, 0] + draw.normal(size=40)
    in_order = np.abs(y - cross_val_predict(Ridge(), X, y, cv=KFold(5)))
    orders = compare_fold_orders(Ridge(), X, y, losses=losses)
    expected = ttest_1samp(in_order - losses, 0, alternative="greater").pvalue
    assert orders.p_value == pytest.approx(expected)
    same = compare_fold_orders(Ridge(), X, y, losses=in_order)
    assert same.p_value == 1


def test_a_long_table_is_compared_in_blocks():
    rows = []

    class Remembering(Ridge):
        def predict(self, X):
            rows.extend(X[:, 0].astype(int).tolist())
            return super().predict(X)

    X = np.arange(10_000.0)[:, None]
    orders = compare_fold_orders(Remembering(), X, np.sin(X[:, 0]), max_rows=500)
    assert orders.n_rows == 500
    assert sorted(rows[:500]) == rows[:500]  # folds of rows that stand together
    assert rows[:10] == list(range(10))
    assert rows[499] == 9_999
    assert np.diff(rows[:500]).max() < 250  # from everywhere in the table


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"cv": 1}, "cv == 1, must be >= 2"),
        ({"cv": 20}, "too few for 20 folds"),
        ({"max_rows": 3}, "max_rows"),
    ],
)
def test_bad_settings_are_one_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        compare_fold_orders(Ridge(), np.zeros((30, 1)), np.arange(30.0), **settings)


def test_a_frozen_model_has_no_folds():
    model = FrozenEstimator(Ridge().fit([[0], [1]], [0, 1]))
    with pytest.raises(ValueError, match="fitted on no fold"):
        compare_fold_orders(model, np.zeros((30, 1)), np.arange(30.0))
