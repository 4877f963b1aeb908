"""The algorithms by hand, by scikit-learn where it has them, and the bound at every round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.ensemble import BoostingClassifier

VARIANTS = ["discrete", "real", "gentle", "modest"]


def rows(n_rows=300, n_classes=2, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    score = X[:, 0] + X[:, 1] * X[:, 2] + noise * rng.normal(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_discrete_is_scikit_learns_round_by_round(n_classes):
    X, y = rows(400, n_classes)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=60).fit(X, y)
    ours = BoostingClassifier(n_estimators=60).fit(X, y)
    found = [(prediction != y).mean() for prediction in ours.staged_predict(X)]
    expected = [(prediction != y).mean() for prediction in theirs.staged_predict(X)]
    assert_allclose(found, expected)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_)
    assert_allclose(2 * ours.estimator_weights_, theirs.estimator_weights_)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["gini", "error"]))
def test_the_training_error_is_never_above_the_bound(seed, resample, criterion):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, size=(40, 3)), rng.integers(0, 2, 40)
    weight = rng.integers(0, 4, 40)
    weight[:2], y[:2] = 1, [0, 1]
    model = BoostingClassifier(
        n_estimators=30, resample=resample, criterion=criterion, random_state=seed
    )
    try:
        model.fit(X, y, weight)
    except ValueError as error:  # a drawn set may mislead the very first stump
        assert "worse than chance" in str(error) and resample  # noqa: PT017, PT018
        return
    errors = [np.average(told != y, weights=weight) for told in model.staged_predict(X)]
    bound = model.training_error_bound_
    assert (np.array(errors) <= bound + 1e-12).all()
    edges = 0.5 - model.estimator_errors_
    assert_allclose(bound, np.cumprod(np.sqrt(np.maximum(1 - 4 * edges**2, 0))), atol=1e-12)
    assert (bound <= np.exp(-2 * np.cumsum(edges**2)) + 1e-12).all()


def leaf_values(X, y, weights, model, formula):
    """What a formula of the class weights gives on each side of the model's first stump."""
    stump = model.estimators_[0]
    right = X[:, stump.column] > stump.threshold
    sides = []
    for side in (~right, right):
        positive, negative = weights[side & (y == 1)].sum(), weights[side & (y == 0)].sum()
        sides.append(formula(positive, negative))
    return np.where(right, sides[1], sides[0])


@pytest.mark.parametrize(
    ("variant", "formula"),
    [
        ("real", lambda p, n: 0.5 * np.log(p / n)),
        ("gentle", lambda p, n: (p - n) / (p + n)),
        # In the first round D and D̄ are both uniform.
        ("modest", lambda p, n: p * (1 - p) - n * (1 - n)),
    ],
)
def test_the_first_round_by_hand(variant, formula):
    X, y = rows(100)
    model = BoostingClassifier(variant, n_estimators=1).fit(X, y)
    expected = leaf_values(X, y, np.full(100, 0.01), model, formula)
    assert_allclose(model.decision_function(X), expected)


def test_the_second_round_of_modest_uses_inverted_weights():
    X, y = rows(80)
    model = BoostingClassifier("modest", n_estimators=2).fit(X, y)
    first, both = model.staged_decision_function(X)
    D = np.exp(-np.where(y == 1, first, -first))
    D /= D.sum()
    inverted = (1 - D) / (1 - D).sum()
    stump = model.estimators_[1]
    right = X[:, stump.column] > stump.threshold
    gains = []
    for side in (~right, right):
        P = [D[side & (y == c)].sum() for c in (0, 1)]
        Q = [inverted[side & (y == c)].sum() for c in (0, 1)]
        gains.append(P[1] * (1 - Q[1]) - P[0] * (1 - Q[0]))
    assert_allclose(both - first, np.where(right, gains[1], gains[0]))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_tree_of_depth_one_is_a_stump(variant, n_classes):
    X, y = rows(200, n_classes)
    X = X.astype(np.float32).astype(float)
    stumps = BoostingClassifier(variant, n_estimators=15).fit(X, y)
    tree = DecisionTreeClassifier(max_depth=1)
    trees = BoostingClassifier(variant, n_estimators=15, estimator=tree, random_state=0).fit(X, y)
    assert_allclose(stumps.decision_function(X), trees.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("variant", ["real", "gentle", "modest"])
def test_three_classes_are_each_against_the_rest(variant):
    X, y = rows(200, 3)
    model = BoostingClassifier(variant, n_estimators=10).fit(X, y)
    for c in range(3):
        alone = BoostingClassifier(variant, n_estimators=10).fit(X, y == c)
        assert_allclose(model.decision_function(X)[:, c], alone.decision_function(X))
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


def test_gentle_takes_a_regressor():
    X, y = rows()
    model = BoostingClassifier("gentle", 1, Ridge()).fit(X, y)
    assert_allclose(model.decision_function(X), Ridge().fit(X, 2 * y - 1).predict(X))


def test_rows_can_be_drawn_for_learners_without_weights():
    X, y = rows()
    model = BoostingClassifier(estimator=KNeighborsClassifier(25), n_estimators=10, resample=True)
    with pytest.raises(ValueError, match="takes no sample_weight: with resample=True"):
        clone(model).set_params(resample=False).fit(X, y)
    again = [clone(model).set_params(random_state=0).fit(X, y).predict(X) for _ in range(2)]
    assert_array_equal(*again)
    assert (again[0] == y).mean() > 0.7


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_error_and_chance_end_it_in_words(variant):
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    model = BoostingClassifier(variant).fit(X, y)
    assert model.stop_reason_ == "round 1: its learner makes no error and is the last"
    assert_array_equal(model.predict(X), y)
    if variant == "discrete":
        assert model.training_error_bound_ == [0]
    model = BoostingClassifier(variant).fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert (
        model.stop_reason_ == "round 1: its learner's weighted error 0.5 is no better than chance"
    )
    assert len(model.estimators_) == 1


def test_chance_in_a_later_round_drops_that_learner():
    X, y = [[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]], [0, 0, 1, 1, 1, 0]
    model = BoostingClassifier().fit(X, y)
    # After round 1 the rows that are alike have even odds: there is nothing left to find.
    assert model.stop_reason_.startswith("round 2: its learner's weighted error 0.5")
    assert len(model.estimators_) == 1


class Contrary(ClassifierMixin, BaseEstimator):
    """Always predicts the other class."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.answers_ = np.unique(y), 1 - np.asarray(y)
        return self

    def predict(self, X):
        return self.answers_


@pytest.mark.parametrize(
    ("model", "y", "weight", "sentence"),
    [
        (BoostingClassifier(), [1, 1, 1], None, "one class only with any weight, 1"),
        (BoostingClassifier(), [0, 1, 1], [1, 0, 0], "one class only with any weight, 0"),
        (BoostingClassifier(), [0, 1, 1], [0, 0, 0], "must contain at least one non-zero"),
        (BoostingClassifier(), [0, 1, 1], [1, -1, 1], "Negative values in data"),
        (BoostingClassifier("logit"), [0, 1, 1], None, "variant='logit' is not known"),
        (BoostingClassifier(criterion="mse"), [0, 1, 1], None, "criterion='mse' is not known"),
        (BoostingClassifier(n_estimators=0), [0, 1, 1], None, "n_estimators == 0"),
        (BoostingClassifier(estimator=Contrary()), [0, 1, 1], None, "worse than chance"),
    ],
)
def test_what_cannot_be_boosted_gets_one_sentence(model, y, weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit([[0.0], [1.0], [2.0]], y, weight)


@pytest.mark.parametrize(
    ("variant", "estimator"),
    [("real", SVC()), ("gentle", SVC()), ("discrete", Ridge()), ("real", Ridge())],
)
def test_a_learner_that_does_not_fit_the_variant_gets_one_sentence(variant, estimator):
    with pytest.raises(TypeError, match=f"does not fit variant='{variant}'"):
        BoostingClassifier(variant, estimator=estimator).fit([[0.0], [1.0]], [0, 1])


def test_weights_are_repeated_rows():
    X, y = rows(60)
    counts = np.random.default_rng(0).integers(0, 4, 60)
    for variant in ("discrete", "real", "gentle"):
        weighted = BoostingClassifier(variant, 10).fit(X, y, counts)
        repeated = BoostingClassifier(variant, 10).fit(X.repeat(counts, axis=0), y.repeat(counts))
        assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


def test_a_draw_of_one_class_is_drawn_again_and_then_ends_it():
    X = np.arange(6.0)[:, None]
    weight = [1e-12, 1, 1, 1, 1, 1]
    model = BoostingClassifier(
        resample=True, n_estimators=3, random_state=0, estimator=GaussianNB()
    )
    with pytest.raises(ValueError, match="Boosting cannot begin, round 1: the rows drawn"):
        model.fit(X, [0, 1, 1, 1, 1, 1], weight)
