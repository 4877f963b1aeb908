"""Learners of errors: from own confidence or from a prior, against an optimiser, and how far rows move them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import norm, rankdata, spearmanr
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier
from surefoot._logistic import fit_logistic, smoothed_targets
from surefoot.error_estimation import ErrorPrior
from surefoot.error_estimation._error_probability import ShrunkLogisticRegression
from surefoot.indicators import Confidence, NeighborDistance


def draw(n_rows, seed=0, other=0.0, n_columns=3):
    """Log-odds of being right, other columns of which the first may matter, and what came of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 1 + n_columns)) * [1.5, *[1.0] * n_columns] + [
        1.0,
        *[0] * n_columns,
    ]
    chance = expit(-X[:, 0] + other * X[:, 1])
    return X, (rng.random(n_rows) < chance).astype(int), chance


# Penalties of the intercept and of own confidence are 0.01 and 1; the strongest one of other columns is 10 a row.


def test_the_weights_are_the_optimum_for_the_penalty_that_was_chosen():
    X, y, _ = draw(200, other=1.0)
    found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    target = smoothed_targets(y, np.ones(200))
    pull = np.array([0.01, 1.0, *[found.penalty_ * 200] * 3])
    prior = np.array([-X[:, 0].mean(), -X[:, 0].std(), 0, 0, 0])

    def loss(w):
        odds = w[0] + Z @ w[1:]
        return (np.logaddexp(0, odds) - target * odds).sum() + 0.5 * pull @ (w - prior) ** 2

    best = minimize(loss, prior, tol=1e-10).x
    assert_allclose([found.line_.intercept, *found.line_.coef], best, atol=1e-3)
    assert_allclose(found.predict_proba(X)[:, 1], expit(best[0] + Z @ best[1:]), atol=1e-3)


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
    assert found.penalty_ == 10
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
        pull = np.array([0.01, 1.0, *[found.penalty_ * rest.sum()] * 3])
        target = smoothed_targets(y[rest], np.ones(rest.sum()))
        w = fit_logistic(Z[rest], target, np.ones(rest.sum()), pull, prior).weights
        assert_allclose(logit(found.held_out_probability_[~rest]), Z[~rest] @ w, atol=1e-3)


def test_columns_go_no_further_than_they_were_seen_but_for_doubt():
    X, y, _ = draw(300, other=1.0)
    found = ShrunkLogisticRegression(n_own=1, random_state=0).fit(X, y)
    far = np.array([[0, X[:, 1].max(), 0, 0], [0, 1e6, 0, 0]])
    assert_allclose(*found.predict_proba(far))
    surest, surer, doubted, more = found.predict_proba(np.outer([9, 99, -9, -20], [1, 0, 0, 0]))
    assert_allclose(surest, surer)
    assert doubted[1] < more[1]


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
    assert free.line_.coef[1] < -0.5
    share_kept = held.line_.coef[1] / free.line_.coef[1]
    assert share_kept < 0.5 if holds else share_kept > 0.9


# A prior over tables

NAMES = ["a__log_odds", "b__x"]


def case(random, weights, *, n_rows=400, level=-1.5):
    """Two standard normal columns, and errors by a logistic model of them."""
    columns = random.normal(size=(n_rows, 2))
    return columns, (random.random(n_rows) < expit(level + columns @ weights)).astype(int)


def two_columns(mean, variance):
    """Prior of two columns."""
    return ErrorPrior(1, tuple(NAMES), np.array(mean), np.diag([variance] * 2), ("t",), 1)


def test_the_estimate_is_the_most_probable_one():
    random = np.random.default_rng(1)
    (columns, wrong), prior = case(random, [-1.0, 0.5], n_rows=80), two_columns([-0.5, 1.0], 0.25)
    # Log-odds as they are, the other column by its ranks.
    rows = np.column_stack([columns[:, 0], norm.ppf((rankdata(columns[:, 1]) - 0.5) / 80)])
    n_wrong = wrong.sum()
    target = np.where(wrong == 1, (n_wrong + 1) / (n_wrong + 2), 1 / (80 - n_wrong + 2))

    def minus_log_posterior(at):
        log_odds = at[0] + rows @ at[1:]
        ridge = ((at[1:] - prior.mean[:2]) ** 2).sum() / (2 * 0.25)
        level = at[0] - np.log((n_wrong + 1) / (80 - n_wrong + 1))
        return (np.logaddexp(0, log_odds) - target * log_odds).sum() + ridge + 0.005 * level**2

    best = minimize(minus_log_posterior, np.zeros(3), tol=1e-10).x
    gaps = np.abs(prior.estimate(columns, wrong, columns) - expit(best[0] + rows @ best[1:]))
    assert np.median(gaps) < 0.002  # the first and the last ranks are cut a little
    assert gaps.max() < 0.05


def test_many_errors_prevail_over_a_wrong_prior_and_few_do_not():
    wrong_prior = two_columns([1.5, 0.0], 0.1)
    new_columns, new_wrong = case(np.random.default_rng(1), [-2.0, 0.0])
    aurocs = []
    for n_rows in (12, 3000):
        known = case(np.random.default_rng(0), [-2.0, 0.0], n_rows=n_rows)
        aurocs.append(roc_auc_score(new_wrong, wrong_prior.estimate(*known, new_columns)))
    assert aurocs[0] < 0.3
    assert aurocs[1] > 0.8


def test_what_is_saved_is_loaded(tmp_path):
    prior = two_columns([-0.5, 1.0], 0.25)
    prior.save(tmp_path / "prior.json")
    again = ErrorPrior.load(tmp_path / "prior.json")
    assert (again.columns, again.tables, again.n_cases) == (prior.columns, ("t",), 1)
    assert_allclose(again.covariance, prior.covariance, atol=1e-6)
    assert_array_equal(again.mean, prior.mean)


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"version": 1}'], ids=["empty", "list", "part"])
def test_a_file_that_is_no_prior(tmp_path, text):
    path = tmp_path / "prior.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="holds no prior"):
        ErrorPrior.load(path)


def test_the_prior_that_ships_has_weights_for_its_columns():
    prior = ErrorPrior.shipped()
    assert len(prior.tables) > 50
    assert prior.mean.shape == (len(prior.columns),)
    assert np.linalg.eigvalsh(prior.covariance).min() > 0


def test_the_default_starts_from_it_and_others_do_without():
    X, y = make_classification(120, 6, flip_y=0.2, random_state=0)
    model = IndividualErrorClassifier(GaussianNB(), random_state=0)
    default = clone(model).fit(X, y)
    assert default.prior_.columns == tuple(default.get_column_names())
    without = clone(model).set_params(prior=None).fit(X, y)
    assert without.prior_ is None
    assert np.abs(without.predict_error(X) - default.predict_error(X)).max() > 1e-3
    others = clone(model).set_params(indicators=[Confidence(), NeighborDistance()]).fit(X, y)
    assert others.prior_ is None
    learner = clone(model).set_params(learner=GaussianNB()).fit(X, y)
    assert learner.prior_ is None


def test_a_prior_of_other_columns_and_something_else_are_refused():
    X, y = make_classification(60, 6, random_state=0)
    with pytest.raises(ValueError, match="other columns than the indicators have"):
        IndividualErrorClassifier(GaussianNB(), prior=two_columns([0, 0], 1)).fit(X, y)
    with pytest.raises(ValueError, match="prior='best' is not known"):
        IndividualErrorClassifier(GaussianNB(), prior="best").fit(X, y)


def test_normal_scores_are_those_of_the_ranks_and_log_odds_stay():
    columns, prior = np.array([[3.0, 1e9], [-1.0, 0.0], [0.5, 5.0]]), two_columns([0, 0], 1)
    # The first of three rows has a third of the normal distribution, cut off at the rank of half a row.
    first = (norm.ppf(0.5 / 4) + norm.ppf(1 / 3)) / 2
    expected = np.column_stack([columns[:, 0], [-first, first, 0]])
    assert_allclose(prior.normal_scores(columns, columns), expected, atol=0.01)


def test_a_set_that_the_rows_cannot_support_is_refused():
    X, y = make_blobs(60, centers=[[-5, 0], [5, 0]], random_state=0)
    model = IndividualErrorClassifier(LogisticRegression(), sets=True, random_state=0).fit(X, y)
    assert model.predict_set(X, 0.98).any(axis=1).all()
    with pytest.raises(ValueError, match=r"0\.99"):
        model.predict_set(X, 0.99)
