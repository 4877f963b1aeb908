"""The shortcuts equal refitting."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from surefoot._refits import (
    InfinitesimalJackknife,
    exact_leave_one_out,
    infinitesimal_jackknife,
    jackknife_variance,
    tree_answers,
)


def rows(n_rows=60, n_columns=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, -1] = 5.0  # a constant column changes nothing
    return X, X[:, 0] + rng.normal(size=n_rows)


def outputs(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    found = model.decision_function(X) if is_classifier(model) else model.predict(X)
    return found.reshape(len(X), -1)


@pytest.mark.parametrize(
    ("model", "n_classes", "n_columns"),
    [
        (Ridge(0.3), None, 4),
        (Ridge(30.0, fit_intercept=False), None, 4),
        (Ridge(), None, 80),
        (KNeighborsRegressor(4), None, 4),
        (KNeighborsRegressor(3, weights="distance", p=1), None, 4),
        (RidgeClassifier(), 2, 4),
        (RidgeClassifier(), 3, 4),
        (KNeighborsClassifier(5), 3, 4),
        (KNeighborsClassifier(4, weights="distance"), 2, 4),
    ],
)
def test_changes_equal_refitting(model, n_classes, n_columns):
    X, y = rows(n_columns=n_columns)
    if n_classes:
        y = np.array(["a", "b", "c"])[np.digitize(y, [0.0, 1.0][: n_classes - 1])]
    new = np.vstack([X[:3], np.random.default_rng(1).normal(size=(4, n_columns))])
    refits = [
        outputs(clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)), new)
        for i in range(len(X))
    ]
    changes = exact_leave_one_out(model, X, y).changes(new)
    expected = (len(X) - 1) * np.var(refits, axis=0)
    assert_allclose(jackknife_variance(changes, len(X)), expected, atol=1e-10)
    moved = np.stack(refits, axis=1) - outputs(clone(model).fit(X, y), new)[:, None, :]
    assert_allclose(changes.sum(axis=1), moved.sum(axis=1), atol=1e-10)
    assert_allclose(abs(changes).max(axis=1), abs(moved).max(axis=1), atol=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_changes_of_least_squares_equal_refitting(fit_intercept):
    X, y = rows()
    X, model = X[:, :3], LinearRegression(fit_intercept=fit_intercept)
    moved = [
        clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X)
        - clone(model).fit(X, y).predict(X)
        for i in range(len(X))
    ]
    changes = exact_leave_one_out(model, X, y).changes(X)
    assert_allclose(changes[:, :, 0].T, moved, atol=1e-10)


def test_there_is_no_shortcut_where_it_would_not_be_exact():
    X, y = rows()
    single = np.column_stack([X[:, :3], np.eye(len(X))[:, 0]])  # one row decides a coefficient
    double = np.column_stack([X[:, :3], X[:, 0]])
    assert exact_leave_one_out(LinearRegression(), single, y) is None
    assert exact_leave_one_out(LinearRegression(), double, y) is None
    assert exact_leave_one_out(Ridge(positive=True), X, y) is None
    assert exact_leave_one_out(KNeighborsRegressor(60), X, y) is None
    assert exact_leave_one_out(LogisticRegression(), X, y > 0) is None
    assert exact_leave_one_out(Ridge(), csr_array(X), y) is None
    assert exact_leave_one_out(Ridge(), X, np.column_stack([y, y])) is None


def test_the_infinitesimal_jackknife_is_the_sum_of_squared_covariances():
    X, y = rows(30)
    forest = RandomForestRegressor(400, max_depth=2, random_state=0).fit(X, y)
    answers = tree_answers(forest, X[:5])
    assert_allclose(answers.mean(axis=1)[:, 0], forest.predict(X[:5]))
    counts = np.array([np.bincount(drawn, minlength=30) for drawn in forest.estimators_samples_])
    for row, found in zip(
        answers[:, :, 0], infinitesimal_jackknife(forest).variance(answers[:, :, 0]), strict=True
    ):
        around = row - row.mean()
        covariance = (counts - counts.mean(axis=0)).T @ around / 400
        by_chance = counts.var(axis=0).sum() * row.var() / 400
        expected = max((covariance**2).sum() - by_chance, 0) + row.var() / 400
        assert_allclose(found, expected)


def test_the_infinitesimal_jackknife_estimates_the_variance_over_training_sets():
    """Of a bag of means, the variance of the mean: about s²/n, besides the bag's own."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        y, drawn = rng.normal(size=25), rng.integers(25, size=(300, 25))
        bag = SimpleNamespace(_n_samples=25, estimators_samples_=list(drawn))
        found.append(InfinitesimalJackknife(bag).variance(y[drawn].mean(axis=1)[None, :])[0])
    assert_allclose(np.mean(found), 1 / 25, rtol=0.1)


def test_trees_that_drew_nothing_have_no_infinitesimal_jackknife():
    X, y = rows(20)
    forest = RandomForestRegressor(5, bootstrap=False, random_state=0).fit(X, y)
    assert infinitesimal_jackknife(forest) is None
