"""The votes of any ensemble's members, counted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from surefoot.ensemble import BoostingClassifier
from surefoot.indicators import VoteDisagreement

LABELS = np.array(["b", "c", "a"])
PAIR = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]


def iris():
    X, y = load_iris(return_X_y=True)
    return X, LABELS[y]


ENSEMBLES = [
    BaggingClassifier(n_estimators=6, max_features=3, random_state=0),
    RandomForestClassifier(6, random_state=0),
    ExtraTreesClassifier(6, random_state=0),
    VotingClassifier(PAIR, voting="soft"),
    StackingClassifier(PAIR, cv=3),
    AdaBoostClassifier(n_estimators=6, random_state=0),
    BoostingClassifier(n_estimators=6),
]


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda model: type(model).__name__)
def test_members_vote_for_labels(model):
    """Most members of a decent ensemble are right, whatever code they were fitted to."""
    X, y = iris()
    frozen = FrozenEstimator(model.fit(X, y))
    votes = VoteDisagreement(frozen, per_class=True).fit(X).transform(X)
    # Without the right code of the labels a third would agree at most.
    assert votes[np.arange(150), np.searchsorted(model.classes_, y)].mean() > 0.6


def test_columns_count_the_votes():
    X, y = iris()
    bag = BaggingClassifier(
        DecisionTreeClassifier(max_depth=1), n_estimators=9, random_state=0
    ).fit(X, y)
    votes = np.column_stack([member.predict(X) for member in bag.estimators_]).astype(int)
    told = np.searchsorted(bag.classes_, bag.predict(X))
    found = VoteDisagreement(FrozenEstimator(bag)).fit(X)
    assert_allclose(found.transform(X)[:, 0], (votes != told[:, None]).mean(axis=1))
    shares = np.array([np.bincount(row, minlength=3) / 9 for row in votes])
    entropy = [-sum(p * np.log(p) for p in row if p > 0) for row in shares]
    assert_allclose(found.transform(X)[:, 1], entropy, atol=1e-12)
    assert_allclose(found.score_samples(X), (votes == told[:, None]).mean(axis=1))
    signed = VoteDisagreement(FrozenEstimator(bag), per_class=True).fit(X)
    assert_allclose(signed.transform(X), shares)
    assert list(signed.get_feature_names_out()) == ["votes_a", "votes_b", "votes_c"]


@pytest.mark.parametrize(
    "model",
    [
        BaggingRegressor(n_estimators=5, random_state=0),
        RandomForestRegressor(5, random_state=0),
        VotingRegressor(
            [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=2))]
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_regressors_spread(model):
    X, y = load_diabetes(return_X_y=True)
    model.fit(X, y)
    told = np.column_stack([member.predict(X) for member in model.estimators_])
    found = VoteDisagreement(FrozenEstimator(model)).fit(X)
    assert_allclose(found.transform(X)[:, 0], told.std(axis=1), rtol=1e-5)
    assert_allclose(found.score_samples(X), -told.std(axis=1), rtol=1e-5)
    assert list(found.get_feature_names_out()) == ["spread"]


@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=1000), GradientBoostingClassifier(n_estimators=2)]
)
def test_a_model_without_voters_gets_one_sentence(model):
    with pytest.raises(ValueError, match=f"{type(model).__name__} has no members that vote"):
        VoteDisagreement(model).fit(*iris())


def test_one_against_the_rest_has_no_vote():
    indicator = VoteDisagreement(BoostingClassifier("real", 3)).fit(*iris())
    with pytest.raises(ValueError, match="there is no vote among all classes"):
        indicator.transform(iris()[0])
