"""Errors of neighbours, out of fold: by hand, by brute force, and refused where they would be none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_diabetes, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from surefoot._crossfit import build_panel
from surefoot.indicators import NeighborError


def rows(n_rows=200):
    return make_classification(n_rows, 4, n_redundant=0, flip_y=0.2, random_state=0)


def near_mean(values, queries, X, n_neighbors):
    near = np.argsort(cdist(queries, X), axis=1)[:, :n_neighbors]
    return values[near].mean(axis=1)


def test_the_share_of_out_of_fold_errors_by_brute_force():
    (X, y), folds = rows(), StratifiedKFold(4)
    wrong = cross_val_predict(SVC(), X, y, cv=folds) != y
    found = NeighborError(SVC(), n_neighbors=(6, 20), cv=folds).fit(X, y).transform(X + 0.1)
    assert_allclose(found[:, 0], near_mean(wrong, X + 0.1, X, 6))
    assert_allclose(found[:, 2], near_mean(wrong, X + 0.1, X, 20))


def test_weights_by_hand():
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 0])
    model = LogisticRegression().fit(X, y)
    scores = np.array([[-1.0], [-1.0], [1.0]])  # right, wrong, wrong
    panel = build_panel(
        {"errors": NeighborError(n_neighbors=3)}, model=model, X=X, y=y, held_out_scores=scores
    )
    found = next(iter(panel(np.array([[0.5]])).columns.values()))
    # Distances 1/2, 1/2 and 5/2 weigh 5, 5 and 1 elevenths.
    assert_allclose(found, [[2 / 3, 6 / 11]])


def test_residuals_are_truth_minus_prediction_by_brute_force():
    X, y = load_diabetes(return_X_y=True)
    residual = y - cross_val_predict(LinearRegression(), X, y, cv=KFold(3))
    found = NeighborError(LinearRegression(), n_neighbors=1, cv=KFold(3)).fit(X, y)
    assert_allclose(found.transform(X + 1e-9)[:, 0], residual)
    assert_allclose(found.transform(X + 1e-9)[:, 1], np.abs(residual))
    assert_allclose(found.score_samples(X + 1e-9), -np.abs(residual))
    assert_array_equal(found.get_feature_names_out(), ["residual_1", "absolute_residual_1"])


def test_a_neighbour_that_was_never_held_out_counts_as_the_average_row():
    X, y = load_diabetes(return_X_y=True)
    cv = TimeSeriesSplit(3)
    found = NeighborError(LinearRegression(), n_neighbors=1, cv=cv).fit(X, y).transform(X + 1e-9)
    expected = np.full(len(y), np.nan)
    for train, test in cv.split(X):
        expected[test] = y[test] - LinearRegression().fit(X[train], y[train]).predict(X[test])
    expected[np.isnan(expected)] = np.nanmean(expected)
    assert_allclose(found[:, 0], expected)


def test_an_error_is_not_that_of_a_model_that_saw_the_row():
    X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2
    by_heart = KNeighborsClassifier(1)
    found = NeighborError(by_heart).fit(X, y).transform(X)
    assert 0.4 < found[:, 0].mean() < 0.6  # by heart the model is always right


def test_weights_reach_the_models_of_the_folds():
    X, y = rows()
    weight = np.where(y == 1, 20.0, 1.0)
    told = np.empty(len(y))
    for train, test in KFold(4).split(X):
        model = LogisticRegression().fit(X[train], y[train], sample_weight=weight[train])
        told[test] = model.predict(X[test])
    found = NeighborError(LogisticRegression(), n_neighbors=5, cv=KFold(4)).fit(X, y, weight)
    assert_allclose(found.transform(X + 0.1)[:, 0], near_mean(told != y, X + 0.1, X, 5))


def test_a_frozen_model_is_refused_alone():
    X, y = rows()
    frozen = FrozenEstimator(SVC().fit(X, y))
    with pytest.raises(
        TypeError, match="NeighborError does not know which rows a frozen model was"
    ):
        NeighborError(frozen).fit(X, y)


def test_without_out_of_fold_scores_there_is_one_sentence():
    X, y = rows()
    panel = build_panel({"errors": NeighborError()}, model=SVC().fit(X, y), X=X, y=y)
    with pytest.raises(ValueError, match="The neighbours have no out-of-fold scores"):
        panel(X)
