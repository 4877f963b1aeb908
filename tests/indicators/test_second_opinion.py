"""What other models say of a prediction, asked one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.indicators import SecondOpinion


def test_log_odds_of_the_predicted_class():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = SecondOpinion(tree, opinions=[("bayes", GaussianNB())]).fit(X, y)
    chances = GaussianNB().fit(X, y).predict_proba(X)[np.arange(150), tree.fit(X, y).predict(X)]
    expected = logit(np.clip(chances, 1 / 302, 1 - 1 / 302))
    assert_allclose(found.transform(X)[:, 0], expected)
    assert_allclose(found.score_samples(X), expected)
    assert_array_equal(found.get_feature_names_out(), ["bayes_log_odds"])


def test_names_as_labels_and_the_mean_of_several():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    opinions = [("a", GaussianNB()), ("b", DummyClassifier(strategy="uniform"))]
    found = SecondOpinion(GaussianNB(), opinions=opinions).fit(X, names).transform(X)
    numbers = SecondOpinion(GaussianNB(), opinions=opinions).fit(X, y)
    assert_allclose(found, numbers.transform(X))
    assert_allclose(found[:, 1], logit(1 / 3))
    assert_allclose(numbers.score_samples(X), found.mean(axis=1))


def test_a_class_that_the_opinion_does_not_know_is_hardly_likely():
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(LogisticRegression(max_iter=1000).fit(X, y))
    found = SecondOpinion(frozen, opinions=[("bayes", GaussianNB())]).fit(X[:100], y[:100])
    assert_allclose(found.transform(X[145:])[:, 0], logit(1 / 202))
    alone = SecondOpinion(frozen, random_state=0).fit(X[:50], y[:50])
    assert_allclose(alone.transform(X[[0, 149]])[:, 0], [logit(101 / 102), logit(1 / 102)])


def test_half_a_vote_more_on_either_side_of_an_ensemble():
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(GaussianNB(), 4, random_state=0)
    found = SecondOpinion(GaussianNB(), opinions=[("bag", bag)]).fit(X, y).transform(X)[:, 0]
    chances = bag.fit(X, y).predict_proba(X)[np.arange(150), GaussianNB().fit(X, y).predict(X)]
    assert chances.max() > 0.999
    assert_allclose(found, np.log((4 * chances + 0.5) / (4 * (1 - chances) + 0.5)))


def test_the_number_of_trees():
    X, y = load_iris(return_X_y=True)
    few = SecondOpinion(GaussianNB(), n_trees=3, random_state=0).fit(X, y)
    assert dict(few.opinions_)["trees"].n_members == 3
    # Votes of three trees, and half a vote on either side.
    assert_allclose(np.unique(np.abs(few.transform(X)[:, 0])).max(), np.log(3.5 / 0.5))
    with pytest.raises(ValueError, match="n_trees"):
        SecondOpinion(GaussianNB(), n_trees=0).fit(X, y)


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
    assert_allclose(sparse.transform(csr_array(X))[:, 0], dense.transform(X)[:, 0])


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
