"""The shortcuts equal refitting."""

from types import SimpleNamespace

import numpy as np
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from surefoot._refits import (
    InfinitesimalJackknife,
    exact_leave_one_out,
    infinitesimal_jackknife,
    tree_answers,
)


def rows(n_rows=60, n_columns=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, -1] = 5.0  # a constant column changes nothing
    return X, X[:, 0] + rng.normal(size=n_rows)


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
