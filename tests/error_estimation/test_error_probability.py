"""The default learner, against an optimiser of its own, and in what it leaves to the model's confidence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from surefoot._models import smoothed_targets
from surefoot._shrunk import fit_logistic
from surefoot.error_estimation._error_probability import (
    LEVEL,
    LIGHT,
    PENALTIES,
    ShrunkLogisticRegression,
)


def draw(n_rows, seed=0, other=0.0, n_columns=3):
    """Log-odds of being right, other columns of which the first may matter, and what came of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 1 + n_columns)) * [1.5, *[1.0] * n_columns] + [
        1.0,
        *[0] * n_columns,
    ]
    chance = expit(-X[:, 0] + other * X[:, 1])
    return X, (rng.random(n_rows) < chance).astype(int), chance


def test_targets_by_hand():
    y, weight = np.array([1, 0, 0, 0]), np.array([2.0, 1.0, 1.0, 0.5])
    assert_allclose(smoothed_targets(y, weight), [3 / 4, *[1 / 4.5] * 3])


def test_newtons_optimum_is_that_of_an_independent_optimiser():
    rng = np.random.default_rng(0)
    rows, target, weight = rng.normal(size=(60, 3)), rng.random(60), rng.random(60)
    pull, prior = np.array([0.01, 2.0, 30.0]), np.array([0.5, -1.0, 1.0])

    def loss(w):
        odds = rows @ w
        ridge = 0.5 * pull @ (w - prior) ** 2
        return weight @ (np.logaddexp(0, odds) - target * odds) + ridge

    found = fit_logistic(rows, target, weight, pull, prior, np.array([9.0, -9.0, 9.0]))
    assert_allclose(found, minimize(loss, np.zeros(3), tol=1e-12).x, atol=1e-4)


def test_the_weights_are_the_optimum_for_the_penalty_that_was_chosen():
    X, y, _ = draw(200, other=1.0)
    found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    target = smoothed_targets(y, np.ones(200))
    pull = np.array([LEVEL, LIGHT, *[found.penalty_ * 200] * 3])
    prior = np.array([-X[:, 0].mean(), -X[:, 0].std(), 0, 0, 0])

    def loss(w):
        odds = w[0] + Z @ w[1:]
        return (np.logaddexp(0, odds) - target * odds).sum() + 0.5 * pull @ (w - prior) ** 2

    best = minimize(loss, prior, tol=1e-10).x
    assert_allclose([found.intercept_, *found.coef_], best, atol=1e-3)
    assert_allclose(found.predict_proba(X)[:, 1], expit(best[0] + Z @ best[1:]), atol=1e-3)


def test_it_is_calibrated_where_the_truth_is_known():
    X, y, chance = draw(2000, other=1.0)
    fresh, _, truth = draw(2000, seed=1, other=1.0)
    found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y).predict_proba(fresh)[:, 1]
    # Five weights from 2000 rows: an error of about sqrt(5 / 2000) in the log-odds, a quarter in P.
    assert np.abs(found - truth).mean() < 0.02
    assert_allclose(found.mean(), chance.mean(), atol=0.03)


def test_columns_that_say_nothing_hardly_matter():
    losses = []
    for seed in range(10):
        X, y, _ = draw(80, seed, n_columns=20)
        fresh, came, _ = draw(2000, 100 + seed, n_columns=20)
        found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y).predict_proba(fresh)
        own = roc_auc_score(came, -fresh[:, 0])
        losses.append(own - roc_auc_score(came, found[:, 1]))
    assert np.mean(losses) < 0.01


def test_a_column_that_matters_is_used():
    X, y, _ = draw(500, other=2.0)
    fresh, came, truth = draw(2000, 1, other=2.0)
    found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y).predict_proba(fresh)[:, 1]
    assert roc_auc_score(came, found) > roc_auc_score(came, truth) - 0.01
    assert roc_auc_score(came, truth) > roc_auc_score(came, -fresh[:, 0]) + 0.1


@pytest.mark.parametrize("n_errors", [0, 1])
@pytest.mark.parametrize("is_wrong", [True, False])
def test_without_evidence_the_models_own_confidence_ranks(n_errors, is_wrong):
    X, _, _ = draw(300, n_columns=5)
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]  # more of the model's own, all alike
    y = np.zeros(300, dtype=int)
    y[:n_errors] = 1
    y = y if is_wrong else 1 - y
    found = ShrunkLogisticRegression(n_own=2).fit(X, y)
    assert found.penalty_ == PENALTIES[0]
    chance = found.predict_proba(X)[:, 1]
    assert spearmanr(chance, -X[:, 0]).statistic > 0.999
    assert_allclose(chance.mean(), smoothed_targets(y, np.ones(300)).mean(), atol=1e-3)
    assert ((chance > 0) & (chance < 1)).all()


def test_a_row_is_estimated_without_its_group():
    X, y, _ = draw(100, other=1.0)
    groups = np.arange(100) % 5
    found = ShrunkLogisticRegression(n_own=1).fit(X, y, groups=groups)
    Z = np.column_stack([np.ones(100), (X - X.mean(axis=0)) / X.std(axis=0)])
    prior = np.array([-X[:, 0].mean(), -X[:, 0].std(), 0, 0, 0])
    for group in range(5):
        rest = groups != group
        pull = np.array([LEVEL, LIGHT, *[found.penalty_ * rest.sum()] * 3])
        target = smoothed_targets(y[rest], np.ones(rest.sum()))
        w = fit_logistic(Z[rest], target, np.ones(rest.sum()), pull, prior, prior)
        assert_allclose(logit(found.held_out_[~rest]), Z[~rest] @ w, atol=1e-3)


def test_a_row_without_weight_does_not_matter():
    X, y, _ = draw(200, other=1.0)
    groups = np.arange(200) % 5
    plain = ShrunkLogisticRegression(n_own=1).fit(X, y, groups=groups)
    rng = np.random.default_rng(1)
    more = [np.r_[X, rng.normal(size=(50, 4)) * 9], np.r_[y, rng.integers(0, 2, 50)]]
    weight = np.r_[np.ones(200), np.zeros(50)]
    same = ShrunkLogisticRegression(n_own=1).fit(*more, weight, np.r_[groups, np.arange(50) % 5])
    assert same.penalty_ == plain.penalty_
    assert_allclose(same.coef_, plain.coef_, atol=1e-6)
    assert_allclose(same.held_out_[:200], plain.held_out_, atol=1e-6)
    no_error = ShrunkLogisticRegression(n_own=1).fit(X, y, sample_weight=1.0 - y)
    assert no_error.penalty_ == PENALTIES[0]  # errors without weight are none


def test_a_weight_of_two_is_a_row_given_twice():
    X, y, _ = draw(100, other=1.0)
    groups, weight = np.arange(100) % 5, 1 + np.arange(100) % 3 % 2
    weighted = ShrunkLogisticRegression(n_own=1).fit(X, y, weight, groups)
    copies = np.repeat(np.arange(100), weight)
    copied = ShrunkLogisticRegression(n_own=1).fit(X[copies], y[copies], groups=groups[copies])
    assert_allclose(weighted.coef_, copied.coef_, atol=1e-6)
    assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-6)


def test_a_column_that_was_constant_up_to_rounding_says_nothing():
    X, y, _ = draw(100)
    X[:, 1] = 1e-17 * X[:, 1]
    found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y)
    far = X.copy()
    far[:, 1] = 0.3
    assert_allclose(found.predict_proba(far), found.predict_proba(X), atol=0.2)


def test_columns_go_no_further_than_they_were_seen_but_for_doubt():
    X, y, _ = draw(300, other=1.0)
    found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y)
    far = np.array([[0, X[:, 1].max(), 0, 0], [0, 1e6, 0, 0]])
    assert_allclose(*found.predict_proba(far))
    surest, surer, doubted, more = found.predict_proba(np.outer([9, 99, -9, -20], [1, 0, 0, 0]))
    assert_allclose(surest, surer)
    assert doubted[1] < more[1]


def test_separable_columns_stay_finite():
    X = np.linspace(-3, 3, 50)[:, None]
    found = ShrunkLogisticRegression(random_state=0).fit(X, (X[:, 0] < 0).astype(int))
    chance = found.predict_proba(X)[:, 1]
    assert np.isfinite(chance).all()
    assert ((chance > 0.5) == (X[:, 0] < 0)).all()


def test_the_seed_decides_the_folds():
    X, y, _ = draw(100, other=0.5)
    one, same, other = (
        ShrunkLogisticRegression(n_own=1, random_state=seed).fit(X, y).held_out_
        for seed in (0, 0, 1)
    )
    assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize(("n_errors", "holds"), [(6, True), (1500, False)])
def test_a_weight_against_its_direction_needs_many_errors(n_errors, holds):
    random = np.random.default_rng(0)
    own = random.normal(size=4 * n_errors)
    wrong = (np.arange(4 * n_errors) < n_errors).astype(int)
    misleading = random.normal(size=4 * n_errors) - 1.5 * wrong  # lower where it is wrong
    X = np.column_stack([own, misleading])
    free, held = (
        ShrunkLogisticRegression(n_own=1, directions=directions, random_state=0).fit(X, wrong)
        for directions in (None, [-1, 1])
    )
    assert free.coef_[1] < -0.5
    share_kept = held.coef_[1] / free.coef_[1]
    assert share_kept < 0.5 if holds else share_kept > 0.9
