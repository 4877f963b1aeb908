"""A prior over tables: how far rows of a table leave it, and when an estimator does without it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import norm, rankdata
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier
from surefoot.error_estimation import ErrorPrior
from surefoot.indicators import Confidence, NeighborDistance

NAMES = ["a__log_odds", "b__x"]


def case(random, weights, *, n_rows=400, level=-1.5):
    """Two standard normal columns, and errors by a logistic model of them."""
    columns = random.normal(size=(n_rows, 2))
    return columns, (random.random(n_rows) < expit(level + columns @ weights)).astype(int)


def two_columns(mean, variance):
    """Prior of two columns, and no weight of the one that is made from them."""
    covariance = np.diag([variance, variance, 1e-8])
    return ErrorPrior(1, tuple(NAMES), np.array([*mean, 0.0]), covariance, ("t",), 1)


def test_the_estimate_is_the_most_probable_one():
    random = np.random.default_rng(1)
    (columns, wrong), prior = case(random, [-1.0, 0.5], n_rows=80), two_columns([-0.5, 1.0], 0.25)
    rows = norm.ppf((rankdata(columns, axis=0) - 0.5) / 80)
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
    n_weights = len(prior.columns) + 1
    assert prior.mean.shape == (n_weights,)
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
    learner = clone(model).set_params(error_estimator=GaussianNB()).fit(X, y)
    assert learner.prior_ is None


def test_texts_have_no_boosted_opinion_and_so_no_prior():
    random = np.random.default_rng(0)
    rows = csr_array(random.random((80, 12)) * (random.random((80, 12)) < 0.4))
    model = IndividualErrorClassifier(LogisticRegression(), random_state=0)
    assert model.fit(rows, random.integers(0, 2, 80)).prior_ is None


def test_a_prior_of_other_columns_and_something_else_are_refused():
    X, y = make_classification(60, 6, random_state=0)
    with pytest.raises(ValueError, match="other columns than the indicators have"):
        IndividualErrorClassifier(GaussianNB(), prior=two_columns([0, 0], 1)).fit(X, y)
    with pytest.raises(ValueError, match="prior='best' is not known"):
        IndividualErrorClassifier(GaussianNB(), prior="best").fit(X, y)


def test_without_an_error_doubtful_rows_are_found_all_the_same():
    X, y = make_blobs(300, centers=[[-5, 0], [5, 0]], cluster_std=1.2, random_state=0)
    model = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert model.held_out_.losses.sum() == 0
    way = np.column_stack([np.linspace(0, 4, 9), np.zeros(9)])
    errors = model.predict_error(way)
    assert errors[0] > 3 * errors[-1]
    assert_allclose(model.held_out_.error.mean(), 1 / 302, rtol=0.2)


def test_a_column_counts_by_its_ranks_alone():
    (columns, wrong), prior = (
        case(np.random.default_rng(0), [-1.0, 0.5]),
        two_columns([-0.5, 1.0], 0.25),
    )
    bent = np.column_stack([columns[:, 0], np.exp(5 * columns[:, 1])])
    estimates = prior.estimate(columns, wrong, columns)
    assert_allclose(prior.estimate(bent, wrong, bent), estimates, atol=0.02)


def test_normal_scores_are_those_of_the_ranks():
    columns, prior = np.array([[3.0, 1e9], [-1.0, 0.0], [0.5, 5.0]]), two_columns([0, 0], 1)
    # The first of three rows has a third of the normal distribution, cut off at the rank of half a row.
    first = (norm.ppf(0.5 / 4) + norm.ppf(1 / 3)) / 2
    # A third column is the mean chance of another class, which falls with the log-odds.
    expected = np.array([[1, 1, -1], [-1, -1, 1], [0, 0, 0]]) * -first
    assert_allclose(prior.normal_scores(columns, columns), expected, atol=0.01)


def test_a_set_that_the_rows_cannot_support_is_refused():
    X, y = make_blobs(60, centers=[[-5, 0], [5, 0]], random_state=0)
    model = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert model.predict_set(X, 0.98).any(axis=1).all()
    with pytest.raises(ValueError, match=r"0\.99"):
        model.predict_set(X, 0.99)
