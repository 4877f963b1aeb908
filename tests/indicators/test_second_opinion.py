"""What other models say of a prediction, asked one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.indicators import SecondOpinion
from surefoot.neighborhoods import Neighborhood


def pooled_by_hand(chances, predicted, least):
    """Log-odds of the predicted classes by the geometric mean of clipped probabilities, normalised."""
    mean = np.prod([np.clip(each, least, 1 - least) for each in chances], axis=0) ** (
        1 / len(chances)
    )
    own = (mean / mean.sum(axis=1, keepdims=True))[np.arange(len(mean)), predicted]
    return np.log(own / (1 - own))


def test_log_odds_of_the_predicted_class():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = SecondOpinion(tree, opinions=[("bayes", GaussianNB())]).fit(X, y)
    chances = GaussianNB().fit(X, y).predict_proba(X)
    expected = pooled_by_hand([chances], tree.fit(X, y).predict(X), 1 / 302)
    assert_allclose(found.transform(X)[:, 0], expected)
    assert_allclose(found.score_samples(X), expected)
    assert_array_equal(found.get_feature_names_out(), ["log_odds"])


def test_names_as_labels_and_the_pool_of_several():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    opinions = [("a", GaussianNB()), ("b", LogisticRegression(C=0.01))]
    found = SecondOpinion(GaussianNB(), opinions=opinions).fit(X, names).transform(X)
    numbers = SecondOpinion(GaussianNB(), opinions=opinions).fit(X, y)
    assert_allclose(found, numbers.transform(X))
    chances = [model.fit(X, y).predict_proba(X) for _, model in opinions]
    expected = pooled_by_hand(chances, GaussianNB().fit(X, y).predict(X), 1 / 302)
    assert_allclose(found[:, 0], expected)


def test_a_class_that_the_opinion_does_not_know_is_hardly_likely():
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(LogisticRegression(max_iter=1000).fit(X, y))
    found = SecondOpinion(frozen, opinions=[("bayes", GaussianNB())]).fit(X[:100], y[:100])
    assert found.transform(X[145:])[:, 0].max() <= logit(1 / 202)
    alone = SecondOpinion(frozen, random_state=0).fit(X[:50], y[:50])
    sure, never = alone.transform(X[[0, 149]])[:, 0]
    assert sure > logit(0.98)
    assert never < logit(0.02)


def test_half_a_vote_more_on_either_side_of_an_ensemble():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    bag = BaggingClassifier(GaussianNB(), 4, random_state=0)
    found = SecondOpinion(GaussianNB(), opinions=[("bag", bag)]).fit(X, y).transform(X)[:, 0]
    chances = bag.fit(X, y).predict_proba(X)
    chances = chances[np.arange(100), GaussianNB().fit(X, y).predict(X) - 1]
    assert chances.max() > 0.999
    assert_allclose(found, np.log((4 * chances + 0.5) / (4 * (1 - chances) + 0.5)))


def test_the_number_of_trees():
    X, y = load_iris(return_X_y=True)
    few = SecondOpinion(GaussianNB(), n_trees=3, random_state=0).fit(X, y)
    assert dict(few.opinions_)["trees"].n_members == 3
    with pytest.raises(ValueError, match="n_trees"):
        SecondOpinion(GaussianNB(), n_trees=0).fit(X, y)


def test_further_opinions_beside_the_default_ones():
    X, y = load_iris(return_X_y=True)
    bayes = ("bayes", GaussianNB())
    found = SecondOpinion(GaussianNB(), opinions=["default", bayes], random_state=0).fit(X, y)
    names = [name for name, _ in found.opinions_]
    assert names == ["trees", "boosting", "linear", "gaussian", "kernel", "bayes"]
    assert_allclose(found.weights_, [0, *[1 / 6] * 6])


@pytest.mark.parametrize("opinions", [["default", ("trees", GaussianNB())], ["default"] * 2])
def test_two_opinions_of_one_name_get_one_sentence(opinions):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"several models named '(trees|boosting)'"):
        SecondOpinion(GaussianNB(), opinions=opinions, random_state=0).fit(X, y)


def test_the_learned_pool_makes_the_labels_as_likely_as_any_other():
    X, y = load_iris(return_X_y=True)
    found = SecondOpinion(GaussianNB(), opinions=[("a", GaussianNB()), ("b", GaussianNB())])
    found.fit(X, y)
    random = np.random.default_rng(0)
    truth = random.dirichlet([0.5, 0.5, 0.5], 400)
    codes = np.array([random.choice(3, p=p) for p in truth])
    # The model knows half of the odds, the first opinion nothing, the second all of them.
    guesses = random.dirichlet([1, 1, 1], 400)
    own = np.sqrt(truth) / np.sqrt(truth).sum(axis=1, keepdims=True)
    weights, of_pool = found.learn_pool([own, guesses, truth], codes, random_state=0)
    assert_allclose(found.weights_, [0, 0.5, 0.5])  # learning leaves it as it was
    least = found.index_.model.least_probability
    logs = np.log(np.clip([own, guesses, truth], least, 1 - least))

    def loss(at):
        total = np.tensordot(at, logs, 1)
        surprise = np.log(np.exp(total).sum(axis=1)) - total[np.arange(400), codes]
        return surprise.sum() + 5 * ((at - 1 / 3) ** 2).sum()

    around = weights + random.normal(0, 0.1, size=(300, 3))
    assert loss(weights) <= min(map(loss, around)) + 1e-3
    assert abs(weights[1]) < 0.1
    # Out of fold the column is near the true log-odds of what the model predicts.
    chances = np.clip(truth[np.arange(400), own.argmax(axis=1)], 0.01, 0.99)
    log_odds = found.log_odds(of_pool, own.argmax(axis=1))
    assert np.corrcoef(log_odds, logit(chances))[0, 1] > 0.97
    assert_allclose(of_pool.sum(axis=1), 1)


def test_gaussian_classes_against_the_linear_discriminant_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    centred = X - np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    shrinkage = LedoitWolf(assume_centered=True).fit(centred).shrinkage_
    covariance = (1 - shrinkage) * np.cov(centred.T, ddof=0)
    covariance += shrinkage * np.trace(centred.T @ centred / 150) / 4 * np.eye(4)
    expected = LinearDiscriminantAnalysis(
        solver="lsqr", covariance_estimator=FixedCovariance(covariance)
    ).fit(X, names)
    opinion = SecondOpinion(GaussianNB(), space="scaled", random_state=0).fit(X, names)
    found = clone(dict(opinion.opinions_)["gaussian"]).fit(X, names)
    assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-9)


class FixedCovariance(BaseEstimator):
    """Covariance that is known."""

    def __init__(self, covariance_):
        self.covariance_ = covariance_

    def fit(self, X):
        """Nothing to do."""
        return self


def test_gap_and_spread_of_a_regression_by_hand():
    X, y = load_diabetes(return_X_y=True)
    bag = BaggingRegressor(LinearRegression(), 5, random_state=0)
    opinions = [("mean", DummyRegressor()), ("bag", bag)]
    found = SecondOpinion(LinearRegression(), opinions=opinions).fit(X, y)
    mean_gap, bag_gap, spread = found.transform(X).T
    model = LinearRegression().fit(X, y)
    assert_allclose(mean_gap, y.mean() - model.predict(X))
    told = [member.predict(X) for member in bag.fit(X, y).estimators_]
    assert_allclose(bag_gap, np.mean(told, axis=0) - model.predict(X), atol=1e-9)
    assert_allclose(spread, np.std(told, axis=0), atol=1e-9)
    assert_allclose(found.score_samples(X), -(np.abs(mean_gap) + np.abs(bag_gap)) / 2)
    assert_array_equal(found.get_feature_names_out(), ["mean_gap", "bag_gap", "bag_spread"])


def test_sparse_rows():
    X, y = load_iris(return_X_y=True)
    sparse = SecondOpinion(LogisticRegression(max_iter=1000), random_state=0).fit(csr_array(X), y)
    dense = SecondOpinion(LogisticRegression(max_iter=1000), random_state=0).fit(X, y)
    names = [name for name, _ in sparse.opinions_]
    assert names == ["trees", "linear"]
    of_dense = dict(dense.opinions_)["trees"].predict_proba(X)
    assert_allclose(sparse.opinions_[0][1].predict_proba(csr_array(X)), of_dense)
    assert (sparse.transform(csr_array(X)) > 0).mean() > 0.9


@pytest.mark.parametrize(
    "opinions", [[], [GaussianNB()], [("a", "b")], [("a", GaussianNB(), 1)], "ab"]
)
def test_what_is_no_opinion_gets_one_sentence(opinions):
    with pytest.raises(ValueError, match="are no models: they may be several pairs"):
        SecondOpinion(GaussianNB(), opinions=opinions).fit([[0.0], [1.0]], [0, 1])


def test_an_opinion_without_probabilities_and_rows_without_labels_get_one_sentence():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"opinions has svc=LinearSVC\(\) without predict_proba"):
        SecondOpinion(GaussianNB(), opinions=[("svc", LinearSVC())]).fit(X, y)
    with pytest.raises(ValueError, match="SecondOpinion needs labels"):
        SecondOpinion(FrozenEstimator(GaussianNB().fit(X, y))).fit(X)


def test_the_kernel_learns_from_ten_thousand_rows_at_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_200, 2))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    opinion = SecondOpinion(GaussianNB(), n_trees=2, random_state=0).fit(X, y)
    fitted = dict(opinion.opinions_)
    assert fitted["kernel"][0].n_samples_seen_ == 10_000
    assert fitted["linear"][0].n_samples_seen_ == 10_200


@pytest.mark.parametrize(("n_rows", "depth"), [(200, 4), (3_199, 4), (3_200, 5), (12_800, 7)])
def test_boosted_trees_are_deeper_where_their_leaves_have_a_hundred_rows(n_rows, depth):
    X = np.random.default_rng(0).normal(size=(n_rows, 1))
    opinion = SecondOpinion(GaussianNB(), n_trees=1, random_state=0).fit(X, X[:, 0] > 0)
    assert dict(opinion.opinions_)["boosting"].depth == depth


@pytest.mark.parametrize("scaler", [{}, {"with_mean": False}, {"with_std": False}])
def test_probabilities_are_those_of_the_opinion_itself(scaler):
    X, y = load_iris(return_X_y=True)
    own = make_pipeline(StandardScaler(**scaler), LogisticRegression(max_iter=1000))
    opinion = SecondOpinion(GaussianNB(), opinions=[("own", own)]).fit(X, y)
    [(_, fitted)] = opinion.opinions_
    rows = opinion.index_.coordinates(X)
    neighborhood = Neighborhood(opinion.index_, X)
    opinion.columns(neighborhood)
    asked = neighborhood.opinions["own"]
    assert_allclose(asked, fitted.predict_proba(rows), rtol=1e-9)


def test_a_class_of_one_row_among_many_is_known_to_the_kernel():
    X = np.random.default_rng(0).normal(size=(30_000, 1))
    y = np.zeros(len(X), dtype=int)
    y[17] = 1  # a third of the rows is drawn, nearly always without this one
    for seed in range(2):
        opinion = SecondOpinion(GaussianNB(), n_trees=1, random_state=seed).fit(X, y)
        assert_array_equal(dict(opinion.opinions_)["kernel"].classes_, [0, 1])
