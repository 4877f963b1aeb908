"""The shortcuts equal refitting."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from surefoot._refits import (
    exact_leave_one_out,
    infinitesimal_jackknife,
    jackknife_variance,
    tree_answers,
)
from surefoot._refits._infinitesimal import InfinitesimalJackknife
from surefoot.resampling import leave_one_out_predict

REGRESSORS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(0.3),
    Ridge(30.0, fit_intercept=False),
    KNeighborsRegressor(4),
    KNeighborsRegressor(3, weights="distance", p=1),
]
CLASSIFIERS = [
    RidgeClassifier(),
    KNeighborsClassifier(5),
    KNeighborsClassifier(4, weights="distance"),
]


def rows(n_rows=60, n_columns=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] + rng.normal(size=n_rows)


def outputs(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    found = model.decision_function(X) if is_classifier(model) else model.predict(X)
    return found.reshape(len(X), -1)


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_held_out_predictions_equal_refitting(model):
    X, y = rows()
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut())
    assert_allclose(leave_one_out_predict(model, X, y), expected, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_held_out_classes_equal_refitting(model, n_classes):
    X, y = rows()
    labels = np.array(["a", "b", "c"])[np.digitize(y, [0.0, 1.0][: n_classes - 1])]
    expected = cross_val_predict(model, X, labels, cv=LeaveOneOut())
    assert_array_equal(leave_one_out_predict(model, X, labels), expected)


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=repr)
def test_the_jackknife_at_new_points_equals_refitting(model):
    X, y = rows()
    y = np.digitize(y, [0.0, 1.0]) if is_classifier(model) else y
    new = np.random.default_rng(1).normal(size=(7, 4))
    refits = [
        outputs(clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)), new)
        for i in range(len(X))
    ]
    expected = (len(X) - 1) * np.var(refits, axis=0)
    changes = exact_leave_one_out(model, X, y).changes(new)
    assert_allclose(jackknife_variance(changes, len(X)), expected, atol=1e-10)


def test_more_columns_than_rows():
    X, y = rows(20, 50)
    expected = cross_val_predict(Ridge(), X, y, cv=LeaveOneOut())
    assert_allclose(leave_one_out_predict(Ridge(), X, y), expected, atol=1e-10)


def test_where_no_shortcut_is_exact_the_model_is_refitted():
    X, y = rows()
    single = np.column_stack([X, np.eye(len(X))[:, 0]])  # one row decides the last coefficient
    double = np.column_stack([X, X[:, 0]])
    for table in (single, double):
        assert exact_leave_one_out(LinearRegression(), table, y) is None
        expected = cross_val_predict(LinearRegression(), table, y, cv=LeaveOneOut())
        assert_allclose(leave_one_out_predict(LinearRegression(), table, y), expected)
    assert exact_leave_one_out(Ridge(positive=True), X, y) is None
    assert exact_leave_one_out(KNeighborsRegressor(60), X, y) is None
    assert exact_leave_one_out(LogisticRegression(), X, y > 0) is None
    assert exact_leave_one_out(Ridge(), csr_array(X), y) is None
    assert exact_leave_one_out(Ridge(), X, np.column_stack([y, y])) is None


def test_constant_columns():
    X, y = rows()
    X[:, 2] = 5.0
    expected = cross_val_predict(Ridge(), X, y, cv=LeaveOneOut())
    assert_allclose(leave_one_out_predict(Ridge(), X, y), expected, atol=1e-10)


def test_one_row_gets_one_sentence():
    with pytest.raises(ValueError, match="fewer than two rows"):
        leave_one_out_predict(Ridge(), [[1.0]], [1.0])


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
