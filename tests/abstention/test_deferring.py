"""Deferral by hand, by counted calls, and against deferring at random."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot.abstention import DeferringClassifier
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Confidence


class Oracle(ClassifierMixin, BaseEstimator):
    """Knows the label of every row of `rings`, and counts how often it is asked."""

    calls = 0

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        type(self).calls += len(X)
        return truth(np.asarray(X))


def truth(X):
    return np.where(np.abs(X[:, 0]) < 0.3, np.floor(5 * X[:, 1]) % 2, X[:, 0] > 0).astype(int)


def middle(n_rows, seed):
    """Easy at both sides; in the middle stripes that a line cannot follow."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n_rows, 2))
    return X, truth(X)


def light(model):
    """An error estimator that costs little: it knows the model's own confidence only."""
    return IndividualErrorClassifier(model, indicators=Confidence(), random_state=0)


PAIR = [("cheap", light(LogisticRegression())), ("expensive", Oracle())]


def test_the_value_is_what_is_saved_among_such_rows():
    """The second model knows the truth where the first one says 1, and says the same where it says 0."""
    X, y = middle(3000, 0)
    cheap = LogisticRegression().fit(X, y)

    class Half(Oracle):
        def predict(self, X):
            return np.where(cheap.predict(X) == 1, truth(np.asarray(X)), 0)

    pair = [("cheap", light(FrozenEstimator(cheap))), ("half", FrozenEstimator(Half().fit(X, y)))]
    model = DeferringClassifier(pair).fit(X, y)
    expected = np.where(cheap.predict(X) == 1, model.error_estimator_.predict_error(X), 0.0)
    assert_allclose(model.predict_value(X), expected, atol=0.06)


def test_the_expensive_model_is_called_for_deferred_rows_only():
    X, y = middle(1000, 0)
    X_new, y_new = middle(1000, 1)
    model = DeferringClassifier(PAIR, budget=0.15)
    Oracle.calls = 0
    model.fit(X, y)
    assert Oracle.calls == 1000
    Oracle.calls = 0
    defer = model.predict_defer(X_new)
    assert Oracle.calls == 0
    predicted = model.predict(X_new)
    assert Oracle.calls == defer.sum()
    assert_array_equal(predicted[defer], y_new[defer])
    cheap = model.named_estimators_["cheap"].predict(X_new)
    assert_array_equal(predicted[~defer], cheap[~defer])


def test_the_budget_goes_where_it_is_worth_most():
    X, y = middle(1500, 0)
    X_new, y_new = middle(3000, 1)
    model = DeferringClassifier(PAIR, budget=0.2).fit(X, y)
    defer = model.predict_defer(X_new)
    assert abs(defer.mean() - 0.2) < 0.05
    alone = model.named_estimators_["cheap"].score(X_new, y_new)
    at_random = alone + defer.mean() * (1 - alone)
    assert model.score(X_new, y_new) > at_random + 0.03
    curve = model.deferral_curve_
    assert_allclose(curve.accuracy[[0, -1]], [alone, 1.0], atol=0.03)
    reached = np.interp(defer.mean(), curve.calls, curve.accuracy)
    assert abs(reached - model.score(X_new, y_new)) < 0.03


def test_costs():
    (X, y), (X_new, _) = middle(1000, 0), middle(1000, 1)
    free, fair, unaffordable = (
        DeferringClassifier(PAIR, costs=costs).fit(X, y) for costs in [(0, 1), (0.2, 1), (2, 1)]
    )
    assert_array_equal(fair.predict_defer(X_new), fair.predict_value(X_new) > 0.2)
    assert free.predict_defer(X_new).mean() > fair.predict_defer(X_new).mean() > 0
    assert not unaffordable.predict_defer(X_new).any()
    both = DeferringClassifier(PAIR, costs=(0, 1), budget=0.05).fit(X, y)
    assert 0 < both.predict_defer(X_new).mean() < 0.1


def test_an_expensive_model_that_is_no_better_is_not_asked():
    X, y = middle(600, 0)
    guesses = KNeighborsClassifier(1).fit(X, np.random.default_rng(0).permutation(y))
    pair = [PAIR[0], ("expensive", FrozenEstimator(guesses))]
    assert DeferringClassifier(pair, budget=0.5).fit(X, y).predict_defer(X).mean() < 0.2


def test_strings_frames_weights_and_groups():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pair = [("cheap", GaussianNB()), ("expensive", DecisionTreeClassifier(max_depth=3))]
    model = DeferringClassifier(pair, random_state=0)
    model.fit(X, names, sample_weight=np.ones(150), groups=np.arange(150) % 30)
    assert (model.predict(X) == names).mean() > 0.93
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert not hasattr(DeferringClassifier([pair[0], ("svm", LinearSVC())]), "predict_proba")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"estimators": PAIR[:1]},
            "estimators names 1 models: it may name two, the cheap one first",
        ),
        ({"expensive": "drop"}, "it may name two"),
        ({"budget": 1.5}, "budget == 1.5, must be <= 1"),
        ({"costs": (1, 0)}, r"costs=\(1, 0\) are no prices"),
        ({"costs": (1, 2, 3)}, r"costs=\(1, 2, 3\) are no prices"),
    ],
)
def test_one_sentence_for_a_wrong_parameter(parameters, sentence):
    X, y = middle(60, 0)
    with pytest.raises(ValueError, match=sentence):
        DeferringClassifier(PAIR).set_params(**parameters).fit(X, y)


def test_a_splitter_that_draws_holds_out_the_same_rows_for_both():
    X, y = make_classification(150, flip_y=0.3, random_state=0)
    models = [("cheap", GaussianNB()), ("expensive", GaussianNB())]
    found = DeferringClassifier(models, cv=ShuffleSplit(3, test_size=0.2), random_state=0).fit(X, y)
    # The same model twice saves nothing, whichever rows are asked about.
    assert_allclose(found.deferral_curve_.accuracy, found.deferral_curve_.accuracy[0])


def test_both_models_are_compared_on_the_same_held_out_rows():
    X, y = make_classification(150, flip_y=0.3, random_state=0)
    twice, labels = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    pair = [("cheap", light(GaussianNB())), ("expensive", DecisionTreeClassifier(max_depth=2))]
    model = DeferringClassifier(pair, random_state=0).fit(twice, labels)
    held_out = model.held_out_
    assert_array_equal(held_out.losses, held_out.prediction != labels[held_out.rows, None])
    assert_array_equal(held_out.error[:, 0], model.error_estimator_.held_out_.error)
    assert held_out.error.shape == (300, 1)
