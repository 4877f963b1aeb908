"""Abstention on models whose scores and errors are known, on every kind of input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupShuffleSplit, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from surefoot.abstention import AbstainingClassifier, threshold_for_risk
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Confidence, LocalSensitivity, NeighborError
from surefoot.resampling import HoldoutSplit


class Known(ClassifierMixin, BaseEstimator):
    """Says "a" of every row, and that its error is the first column."""

    def fit(self, X, y):
        self.classes_ = np.array(["a", "b"])
        return self

    def predict(self, X):
        return np.full(len(X), "a")

    def predict_error(self, X):
        return np.asarray(X)[:, 0]


def known():
    return FrozenEstimator(Known().fit([[0]], ["a"]))


def light(model):
    """An error estimator that costs little: it knows the model's own confidence only."""
    return IndividualErrorClassifier(model, indicators=Confidence(), cv=3, random_state=0)


def rows(n_rows=600):
    return make_classification(n_rows, 5, n_redundant=0, flip_y=0.1, random_state=0)


def test_the_threshold_of_a_known_score():
    # The estimated error is k / 100; the 60 rows with the lowest are right, the others wrong.
    X = np.arange(100)[:, None] / 100
    y = np.where(np.arange(100) < 60, "a", "b")
    model = AbstainingClassifier(known(), max_risk=0.1).fit(X, y)
    # 50 rows or more, or all 100, with half the 5 % each; the last k with P(at most k − 60 errors) <= 0.025.
    assert model.n_held_out_ == 100
    assert_allclose(model.coverage_, 0.61)
    assert_allclose(model.risk_, 1 / 61)
    assert model.risk_bound_ == 0.1
    assert_array_equal(model.predict_accepted(X), np.arange(100) < 61)
    assert_array_equal(model.decide(X[59:63]), ["a", "a", None, None])
    assert_array_equal(model.predict(X), np.full(100, "a"))


def test_a_share_of_rows():
    X = np.arange(100)[:, None] / 100
    y = np.where(np.arange(100) < 60, "a", "b")
    model = AbstainingClassifier(known(), coverage=0.3, confidence=0.9).fit(X, y)
    assert model.coverage_ == 0.3
    assert model.risk_ == 0
    assert_allclose(model.risk_bound_, 1 - 0.1 ** (1 / 30))
    everything = AbstainingClassifier(known(), coverage=1.0).fit(X, y)
    assert everything.predict_accepted([[7.0]]).all()


def test_it_says_so_when_no_threshold_keeps_the_limit():
    X, y = np.arange(40)[:, None] / 40, np.full(40, "a")
    with pytest.warns(
        UserWarning, match=r"so few rows can promise 0\.072 at best, even if none is wrong"
    ):
        model = AbstainingClassifier(known(), max_risk=0.05).fit(X, y)
    assert model.threshold_ == np.inf
    assert model.coverage_ == 0
    assert np.isnan(model.risk_)
    assert np.isnan(model.risk_bound_)
    assert not model.predict_accepted(X).any()
    assert_array_equal(model.predict(X), y)
    with pytest.warns(
        UserWarning, match="there are too many errors, or the score does not separate them"
    ):
        AbstainingClassifier(known(), max_risk=0.1).fit(X, np.full(40, "b"))


def test_the_rows_set_aside_are_new_to_model_and_score():
    X, y = rows()
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(set(np.asarray(X)[:, 0].tolist()))
            return super().fit(X, y, sample_weight)

    splitter = GroupShuffleSplit(1, test_size=0.25, random_state=0)
    groups = np.arange(600) // 4
    [(_, aside)] = splitter.split(X, y, groups)
    model = AbstainingClassifier(light(Spy()), max_risk=0.3, held_out=splitter)
    model.fit(X, y, groups=groups)
    assert model.n_held_out_ == len(aside)
    assert not set(X[aside, 0].tolist()) & set.union(*seen)
    by_share = AbstainingClassifier(light(Spy()), max_risk=0.3, held_out=0.25, random_state=0)
    assert by_share.fit(X, y, groups=groups).threshold_ == model.threshold_


def test_any_indicator_is_a_score():
    X, y = rows()
    for indicator in (Confidence(), LocalSensitivity(n_neighbors=5), NeighborError()):
        model = AbstainingClassifier(GaussianNB(), indicator, coverage=0.5, random_state=0)
        accepted = model.fit(X, y).predict_accepted(X)
        wrong = model.predict(X) != y
        assert wrong[accepted].mean() < wrong[~accepted].mean()
        expected = model.indicator_.score_samples(X) >= model.threshold_
        assert not (accepted & ~expected).any()
        assert (accepted != expected).mean() < 0.02  # rows that are novel
        assert not model.predict_accepted(X + 100).any()


def test_a_frozen_model_with_a_frozen_indicator_uses_all_rows():
    X, y = rows()
    frozen = FrozenEstimator(GaussianNB().fit(X[:300], y[:300]))
    indicator = FrozenEstimator(Confidence(frozen).fit(X[:300]))
    model = AbstainingClassifier(frozen, indicator, coverage=0.4).fit(X[300:], y[300:])
    assert model.n_held_out_ == 300
    assert model.estimator_ is frozen
    best = frozen.predict_proba(X[300:]).max(axis=1)
    assert model.threshold_ == np.sort(best)[-120]
    partly = AbstainingClassifier(frozen, Confidence(), coverage=0.4).fit(X[300:], y[300:])
    assert partly.n_held_out_ == 90


def test_a_model_that_estimates_its_errors_is_asked_itself():
    X, y = rows()
    estimator = light(GaussianNB()).fit(X[:300], y[:300])
    model = AbstainingClassifier(FrozenEstimator(estimator), coverage=0.4).fit(X[300:], y[300:])
    assert model.n_held_out_ == 300
    assert_allclose(model.threshold_, np.sort(1 - estimator.predict_error(X[300:]))[-120])


def test_rows_without_weight_do_not_choose_the_threshold():
    X, y = np.arange(100)[:, None] / 100, np.full(100, "a")
    weight = (np.arange(100) < 50).astype(float)
    model = AbstainingClassifier(known(), coverage=0.5).fit(X, y, weight, groups=np.arange(100))
    assert model.n_held_out_ == 50
    assert model.predict_accepted(X).sum() == 25


def test_a_limit_is_promised_by_groups():
    # 40 groups of five: the 20 groups with the lowest estimates are right as a whole, half of the others wrong.
    groups = np.repeat(np.arange(40), 5)
    X, y = groups[:, None] / 40, np.where((groups < 20) | (groups % 2 == 0), "a", "b")
    model = AbstainingClassifier(known(), max_risk=0.2).fit(X, y, groups=groups)
    expected = threshold_for_risk(1 - X[:, 0], y == "b", 0.2, groups=groups)
    assert (model.threshold_, model.coverage_) == (expected.score, expected.n_answered / 200)
    by_rows = AbstainingClassifier(known(), max_risk=0.2).fit(X, y)
    assert 0 < model.coverage_ < by_rows.coverage_


def test_the_bound_of_a_share_of_rows_counts_groups():
    groups = np.repeat(np.arange(40), 5)
    X, y = groups[:, None] / 40, np.full(200, "a")
    model = AbstainingClassifier(known(), coverage=1.0).fit(X, y, groups=groups)
    # As for 40 rows without an error, but for the bet that is a thousandth below the highest.
    assert_allclose(model.risk_bound_, 1 - 0.05 ** (1 / 40), rtol=2e-3)
    half = AbstainingClassifier(known(), coverage=0.5).fit(X, y, groups=groups)
    least = 1 - 0.05 ** (1 / 20)  # lower bets, made with 40 groups in mind, cost a little
    assert least < half.risk_bound_ < 1.05 * least
    alone = AbstainingClassifier(known(), coverage=1.0).fit(X, y, groups=np.arange(200))
    assert_allclose(alone.risk_bound_, 1 - 0.05 ** (1 / 200))


def test_it_says_what_so_few_groups_can_promise():
    groups = np.repeat(np.arange(12), 50)
    X, y = np.arange(600)[:, None] / 600, np.full(600, "a")
    sentence = (
        r"by the 12 groups set aside, of 600 rows, and no row will be answered: "
        r"so few groups can promise 0\.22 at best, even if none is wrong"
    )
    with pytest.warns(UserWarning, match=sentence):
        AbstainingClassifier(known(), max_risk=0.1).fit(X, y, groups=groups)
    with pytest.warns(UserWarning, match="there are too many errors"):
        AbstainingClassifier(known(), max_risk=0.3).fit(X, np.full(600, "b"), groups=groups)


def test_frames_texts_as_labels_and_sparse_rows():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = AbstainingClassifier(light(GaussianNB()), coverage=0.8, random_state=0)
    decided = model.fit(X, names).decide(X)
    answered = pd.notna(decided)
    assert (decided[answered] == names[answered]).mean() > 0.95
    assert_array_equal(model.feature_names_in_, X.columns)
    rows = csr_array(X.to_numpy())
    sparse = AbstainingClassifier(light(LogisticRegression()), coverage=0.8, random_state=0)
    assert 90 < pd.notna(sparse.fit(rows, y).decide(rows)).sum() < 150


def test_probabilities_only_if_the_model_has_them():
    assert hasattr(AbstainingClassifier(GaussianNB()), "predict_proba")
    assert not hasattr(AbstainingClassifier(LinearSVC()), "predict_proba")
    X, y = rows(200)
    model = AbstainingClassifier(LinearSVC(), Confidence(), coverage=0.5, random_state=0)
    assert model.fit(X, y).predict_accepted(X).any()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({}, "max_risk=None and coverage=None: exactly one of them must be given"),
        ({"max_risk": 0.1, "coverage": 0.5}, "exactly one of them must be given"),
        ({"max_risk": 0.0}, "max_risk == 0.0, must be > 0"),
        ({"coverage": 1.5}, "coverage == 1.5, must be <= 1"),
        ({"coverage": 0.5, "confidence": 1.0}, "confidence == 1.0, must be < 1"),
        ({"coverage": 0.5, "held_out": 1}, "held_out == 1, must be < 1"),
        (
            {"coverage": 0.5, "held_out": KFold(3)},
            r"held_out=KFold\(.*\) makes 3 splits: it may make one",
        ),
        (
            {"coverage": 0.5, "estimator": LinearRegression()},
            "is no classifier, and only classifiers can abstain",
        ),
        (
            {"coverage": 0.5, "indicator": FrozenEstimator(Confidence())},
            "indicator is frozen and estimator is not",
        ),
    ],
)
def test_one_sentence_for_a_wrong_parameter(parameters, sentence):
    X, y = rows(60)
    model = clone(AbstainingClassifier(GaussianNB())).set_params(**parameters)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, y)


def test_one_sentence_for_what_is_no_indicator():
    X, y = rows(60)
    with pytest.raises(TypeError, match="indicator='confidence' is no indicator"):
        AbstainingClassifier(GaussianNB(), "confidence", coverage=0.5).fit(X, y)
    with pytest.raises(ValueError, match="y has one class only, 1"):
        AbstainingClassifier(GaussianNB(), coverage=0.5).fit(X, np.ones(60))


def test_rows_set_aside_without_weight_get_one_sentence():
    X, y = make_classification(100, random_state=0)
    cv = HoldoutSplit(0.3, random_state=0)
    weight = np.ones(100)
    weight[next(cv.split(X, y))[1]] = 0
    model = AbstainingClassifier(LogisticRegression(), Confidence(), coverage=0.5, held_out=cv)
    with pytest.raises(ValueError, match="have weight 0: some must count"):
        model.fit(X, y, sample_weight=weight)
