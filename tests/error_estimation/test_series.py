"""The default error estimator around a classifier of time series: neighbours under DTW, in every action."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from surefoot import IndividualErrorClassifier
from surefoot.datasets import make_cylinder_bell_funnel
from surefoot.time_series import (
    KNeighborsDTWClassifier,
    LocalKNeighborsDTWClassifier,
    dtw_distance,
)


def shapes(n_series):
    """Cylinders, bells and funnels of length 16, with so much noise that some are taken for others."""
    X, y = make_cylinder_bell_funnel(450, random_state=0)
    X = X[:, ::8] + 1.5 * np.random.default_rng(0).normal(size=(450, 16))
    return X[:n_series], y[:n_series]


@pytest.fixture(scope="module")
def single():
    """Error estimator around one nearest neighbour, fitted on 150 series."""
    X, y = shapes(150)
    return IndividualErrorClassifier(KNeighborsDTWClassifier(window=0.2), random_state=0).fit(X, y)


def test_errors_of_a_single_neighbour_are_ranked_though_its_votes_are_unanimous(single):
    X, y = shapes(450)
    judgement = single.judge(X[150:])
    wrong = judgement.prediction != y[150:]
    assert 20 < wrong.sum() < 150
    assert_array_equal(judgement.probabilities.max(axis=1), 1.0)
    assert roc_auc_score(wrong, judgement.error) > 0.75
    assert_allclose(judgement.error.mean(), wrong.mean(), atol=0.08)


def test_a_judgement_is_that_of_the_model(single):
    X = shapes(180)[0][150:]
    judgement, model = single.judge(X), single.estimator_
    assert_array_equal(judgement.prediction, model.predict(X))
    assert_array_equal(judgement.probabilities, model.predict_proba(X))
    assert_allclose(judgement.error, single.predict_error(X))
    assert judgement.to_frame().shape == (30, 11)
    assert np.isfinite(judgement.spread).all()
    assert judgement.flips.max() > 0


def test_rows_of_the_own_fold_are_no_neighbours(single):
    X = shapes(150)[0]
    held_out = single.held_out_
    every = np.array([[dtw_distance(x, n, window=0.2) for n in X] for x in X[:8]])
    every[held_out.splits[:8, None] == held_out.splits] = np.inf
    expected = np.log(np.sort(every, axis=1)[:, :10].mean(axis=1))
    assert_allclose(held_out.columns["NeighborDistance"][:8, 0], expected, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsDTWClassifier(5, window=2),
        LocalKNeighborsDTWClassifier((1, 3), error_neighbors=3, window=2),
    ],
    ids=["five", "local"],
)
def test_one_search_for_all_folds_finds_what_a_search_in_each_fold_finds(model):
    X, y = shapes(60)
    fitted = IndividualErrorClassifier(model, cv=3, random_state=0).fit(X, y)
    # The lists of all rows are made for arrays of float64 only; a frame is searched fold by fold.
    frame = pd.DataFrame(X, columns=[f"t{i}" for i in range(16)])
    other = IndividualErrorClassifier(model, cv=3, random_state=0).fit(frame, y)
    for name, columns in fitted.held_out_.columns.items():
        assert_allclose(columns, other.held_out_.columns[name], err_msg=name)
    assert_array_equal(fitted.held_out_.scores, other.held_out_.scores)
    assert_allclose(fitted.held_out_.shift, other.held_out_.shift)


def test_columns_are_worthless_on_random_labels():
    aurocs = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(500, 3)), random.integers(0, 2, 500)
        model = KNeighborsDTWClassifier(3, window=1)
        held_out = IndividualErrorClassifier(model, random_state=0).fit(X, y).held_out_
        columns = np.hstack(list(held_out.columns.values()))
        aurocs.append([roc_auc_score(held_out.losses, column) for column in columns.T])
    # 0.026 a seed, 0.015 for the mean of three.
    assert_allclose(np.mean(aurocs, axis=0), 0.5, atol=0.05)


def test_series_of_other_forms_get_one_sentence():
    X, y = shapes(30)
    error_estimator = IndividualErrorClassifier(KNeighborsDTWClassifier())
    with pytest.raises(ValueError, match="Expected 2D array, got 3D"):
        error_estimator.fit(X[:, None, :], y)
    with pytest.raises(ValueError, match="X has rows of different lengths"):
        error_estimator.fit([x[: 10 + i % 3] for i, x in enumerate(X)], y)
    with pytest.raises(ValueError, match="NaN"):
        error_estimator.fit(np.where(X > 3, np.nan, X), y)
