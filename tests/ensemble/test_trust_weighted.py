"""The vote of experts against sums by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.ensemble import TrustWeightedClassifier
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Confidence


def light(model):
    """A judge that costs little: it knows the model's own confidence only."""
    return IndividualErrorClassifier(model, indicators=Confidence(), cv=3, random_state=0)


EXPERTS = [("bayes", light(GaussianNB())), ("nearest", light(KNeighborsClassifier(3)))]


def stripes(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    left = (X[:, 1] > 0) ^ (rng.random(n_rows) < 0.3)
    right = np.floor(4 * X[:, 1]) % 2 == 0
    return X, np.where(X[:, 0] < 0, left, right).astype(int)


def test_a_model_without_probabilities_votes_with_its_class():
    X, y = stripes(200, 0)
    labels = np.array(["a", "b"])[y]
    model = TrustWeightedClassifier(
        [("svm", light(LinearSVC())), ("tree", light(DecisionTreeClassifier(max_depth=2)))]
    ).fit(X, labels)
    model.vote_share_ = 1.0  # the vote alone
    svm, tree = model.estimators_
    votes = [svm.predict(X)[:, None] == model.classes_, tree.predict_proba(X)]
    weights = model.local_weights(X)
    assert_allclose(model.predict_proba(X), weights[:, :1] * votes[0] + weights[:, 1:] * votes[1])


def test_weights_are_log_odds_of_being_right_counted_from_guessing():
    X, y = load_iris(return_X_y=True)
    model = TrustWeightedClassifier(EXPERTS).fit(X, y)
    model.vote_share_ = 1.0  # the vote alone
    found = model.local_weights(X)
    for row in range(0, 150, 10):
        errors = [float(judge.predict_error(X[[row]])[0]) for judge in model.error_estimators_]
        errors = [min(max(e, 1 / 302), 301 / 302) for e in errors]
        odds = [max(0.0, np.log((1 - e) * 2 / e)) for e in errors]
        assert_allclose(found[row], np.array(odds) / sum(odds), rtol=1e-6)
    votes = [m.predict_proba(X) for m in model.estimators_]
    expected = found[:, :1] * votes[0] + found[:, 1:] * votes[1]
    assert_allclose(model.predict_proba(X), expected)
    assert_array_equal(model.predict(X), expected.argmax(axis=1))


def test_a_doubtful_expert_abstains():
    X, y = stripes(600, 0)
    model = TrustWeightedClassifier(EXPERTS, mode="abstain").fit(X, y)
    model.vote_share_ = 1.0  # the vote alone
    errors = np.column_stack([judge.predict_error(X) for judge in model.error_estimators_])
    assert_allclose(model.max_errors_, model.held_out_.losses.mean(axis=0))
    votes = errors <= model.max_errors_
    expected = np.where(votes.any(axis=1, keepdims=True), votes, True)
    assert_allclose(model.local_weights(X), expected / expected.sum(axis=1, keepdims=True))
    nobody = TrustWeightedClassifier(EXPERTS, mode="abstain", max_error=0.0).fit(X, y)
    nobody.vote_share_ = 1.0
    together = VotingClassifier([(n, m.estimator) for n, m in EXPERTS], voting="soft").fit(X, y)
    assert_allclose(nobody.predict_proba(X), together.predict_proba(X))


def test_a_vote_that_saves_no_errors_is_the_best_model_alone():
    # A line between the classes is right wherever it can be; a tree of one leaf knows nothing.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    constant = DecisionTreeClassifier(max_leaf_nodes=2, max_features=1, random_state=0)
    experts = [("none", light(constant)), ("bayes", light(GaussianNB()))]
    model = TrustWeightedClassifier(experts).fit(X, np.where(rng.random(300) < 0.1, 1 - y, y))
    assert model.best_name_ in ("none", "bayes")
    best = model.named_estimators_[model.best_name_]
    assert model.vote_share_ == 0.0
    assert_array_equal(model.predict(X), best.predict(X))
    assert_allclose(model.predict_proba(X), best.predict_proba(X))


def test_the_share_of_the_vote_is_learned_on_held_out_rows():
    X, y = stripes(900, 0)
    experts = [
        ("smooth", light(KNeighborsClassifier(60))),
        ("sharp", light(KNeighborsClassifier(1))),
    ]
    model = TrustWeightedClassifier(experts).fit(X, y)
    held_out, best = model.held_out_, list(model.named_estimators_).index(model.best_name_)
    assert best == held_out.losses.mean(axis=0).argmin()
    odds = np.log(1 / np.clip(held_out.error, 1 / 1802, 1801 / 1802) - 1).clip(min=0)
    odds[odds.sum(axis=1) == 0] = 1.0
    trust = odds / odds.sum(axis=1, keepdims=True)
    votes = np.stack([judge.held_out_.probabilities for judge in model.error_estimators_], axis=1)
    saved = {0.0: 0.0}
    for share in (0.25, 0.5, 0.75, 1.0):
        weights = (1 - share) * np.eye(2)[best] + share * trust
        predicted = (weights[:, :, None] * votes).sum(axis=1).argmax(axis=1)
        gain = held_out.losses[:, best] - (predicted != y)
        saved[share] = gain.sum() - np.sqrt((gain**2).sum())
    assert model.vote_share_ == max(saved, key=saved.get)


def test_strings_weights_groups_and_frozen_experts():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frozen = FrozenEstimator(GaussianNB().fit(X[::2], names[::2]))
    model = TrustWeightedClassifier(
        [("frozen", light(frozen)), ("tree", light(DecisionTreeClassifier()))]
    )
    model.fit(X[1::2], names[1::2], sample_weight=np.ones(75))
    assert (model.predict(X) == names).mean() > 0.93
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_one_sentence_for_bad_input():
    X, y = stripes(60, 0)
    with pytest.raises(ValueError, match="mode='veto' is not known: it may be 'weight', 'abstain'"):
        TrustWeightedClassifier(EXPERTS, mode="veto").fit(X, y)
    with pytest.raises(ValueError, match="max_error == 2, must be <= 1"):
        TrustWeightedClassifier(EXPERTS, mode="abstain", max_error=2).fit(X, y)
