"""Recalibration against an optimiser of its own, against scikit-learn, and on every kind of input."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from surefoot import (
    Confidence,
    KernelKNeighborsClassifier,
    LocallyRecalibratedClassifier,
    LocalSensitivity,
    RecalibratedClassifier,
)
from surefoot.indicators import Indicator

recalibrate_scores = RecalibratedClassifier.recalibrate_scores


def rows(n_rows=300):
    return make_classification(n_rows, 5, n_redundant=0, flip_y=0.1, random_state=0)


@pytest.mark.parametrize("unit", [1e-6, 300.0])
def test_without_indicators_it_is_platts_recalibration_on_out_of_fold_scores(unit):
    (X, y), folds = rows(), StratifiedKFold(10)

    class InUnit(SVC):
        def decision_function(self, X):
            return unit * super().decision_function(X)

    held_out = cross_val_predict(SVC(), X, y, cv=folds, method="decision_function")
    targets = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / (302 - y.sum()))  # Platt's

    def loss(w):
        logits = w[0] + w[1] * held_out
        return (np.logaddexp(0, logits) - targets * logits).sum()

    offset, slope = minimize(loss, np.zeros(2), tol=1e-12).x
    expected = expit(offset + slope * SVC().fit(X, y).decision_function(X))
    model = RecalibratedClassifier(InUnit(), calibrator="platt", cv=folds, random_state=0)
    assert_allclose(model.fit(X, y).predict_proba(X)[:, 1], expected, atol=1e-4)


def test_separable_scores_stay_finite():
    scores = np.arange(100.0)[:, None]
    found = recalibrate_scores(scores, np.arange(100) // 50, random_state=0)[:, 1]
    assert np.isfinite(found).all()
    assert 0 <= found[0] < 0.1
    assert 0.9 < found[-1] <= 1


def test_probabilities_that_are_right_stay_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (rng.random(400) < expit(2 * X[:, 0])).astype(int)
    truth = FrozenEstimator(LogisticRegression(C=1e6).fit(np.vstack([X] * 3), np.tile(y, 3)))
    X_new = rng.normal(size=(300, 2))
    y_new = (rng.random(300) < expit(2 * X_new[:, 0])).astype(int)
    for kind in (RecalibratedClassifier, LocallyRecalibratedClassifier):
        model = kind(truth, random_state=0).fit(X_new, y_new)
        assert model.is_unchanged_
        assert_array_equal(model.predict_proba(X), truth.predict_proba(X))


def test_it_calibrates_as_well_as_scikit_learns():
    X, y = rows(1500)
    train, test = slice(0, 700), slice(700, None)
    ours = RecalibratedClassifier(LinearSVC(), random_state=0).fit(X[train], y[train])
    theirs = CalibratedClassifierCV(LinearSVC(), cv=10, ensemble=False).fit(X[train], y[train])
    losses = [log_loss(y[test], model.predict_proba(X[test])) for model in (ours, theirs)]
    assert losses[0] < losses[1] + 0.005


def test_three_classes_with_names_on_a_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pipeline = make_pipeline(StandardScaler(), SVC())
    model = RecalibratedClassifier(
        pipeline, [LocalSensitivity(), Confidence()], random_state=0
    ).fit(X, names)
    probabilities = model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(model.classes_, ["setosa", "versicolor", "virginica"])
    assert (model.predict(X) == names).mean() > 0.95
    assert len(model.calibrators_) == 3


def test_a_frozen_model_is_not_fitted_again():
    X, y = rows(600)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:300], y[:300])
    model = RecalibratedClassifier(FrozenEstimator(tree), LocalSensitivity(), random_state=0).fit(
        X[300:], y[300:]
    )
    assert model.estimator_.estimator is tree
    overfit = DecisionTreeClassifier(random_state=0).fit(X[:300], y[:300])
    honest = RecalibratedClassifier(FrozenEstimator(overfit), random_state=0).fit(X[300:], y[300:])
    assert honest.predict_proba(X[:300]).max() < 0.99


def test_weights_reach_the_model_and_the_calibrator():
    X, y = rows()
    weight = np.where(y == 1, 5.0, 1.0)
    plain = (
        RecalibratedClassifier(LogisticRegression(), random_state=0)
        .fit(X, y)
        .predict_proba(X)[:, 1]
    )
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    nested = make_pipeline(StandardScaler(), pipeline)
    search = GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=2)
    vote = VotingClassifier([("a", LogisticRegression())], voting="soft")
    for model in (LogisticRegression(), pipeline, nested, search, vote):
        weighted = (
            RecalibratedClassifier(model, random_state=0)
            .fit(X, y, sample_weight=weight)
            .predict_proba(X)[:, 1]
        )
        assert weighted.mean() > plain.mean() + 0.1
    with pytest.raises(ValueError, match=r"sample_weight was given, but .* takes none"):
        RecalibratedClassifier(KernelKNeighborsClassifier(), random_state=0).fit(
            X, y, sample_weight=weight
        )
    with pytest.raises(ValueError, match=r"sample_weight leaves class .* without weight"):
        RecalibratedClassifier(LogisticRegression(), random_state=0).fit(
            X, y, sample_weight=(y == 1).astype(float)
        )


def test_metadata_routing():
    X, y = rows()
    groups, weight = np.arange(300) // 6, np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        inner = make_pipeline(scaler, LogisticRegression().set_fit_request(sample_weight=True))
        model = RecalibratedClassifier(inner, cv=GroupKFold(5), random_state=0)
        outer = make_pipeline(scaler, model.set_fit_request(groups=True, sample_weight=True))
        routed = outer.fit(X, y, groups=groups, sample_weight=weight).predict_proba(X)
    scaled = StandardScaler().fit_transform(X)
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    direct = RecalibratedClassifier(plain, cv=GroupKFold(5), random_state=0).fit(
        scaled, y, weight, groups
    )
    assert_allclose(routed, direct.predict_proba(scaled))


def test_a_frozen_model_keeps_its_classes():
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(LogisticRegression(max_iter=1000).fit(X, y))
    for kind in (RecalibratedClassifier, LocallyRecalibratedClassifier):
        model = kind(frozen, cv=3, random_state=0).fit(
            X[:101], y[:101]
        )  # one row only of the third class
        assert_array_equal(model.classes_, [0, 1, 2])
        assert (model.predict(X[:100]) == y[:100]).mean() > 0.95
        with pytest.raises(
            ValueError, match="y has class 7, which the frozen estimator does not know"
        ):
            kind(frozen, cv=3, random_state=0).fit(X, np.where(y == 2, 7, y))


@pytest.mark.parametrize("indicators", [None, LocalSensitivity(n_neighbors=5)])
@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_a_gap_that_the_model_takes_is_taken(indicators, gap):
    X, y = load_iris(return_X_y=True)
    boosting = HistGradientBoostingClassifier(max_iter=5)
    complete = RecalibratedClassifier(boosting, indicators, cv=3, random_state=0).fit(X, y)
    X = X.copy()
    X[3, 0] = gap
    assert np.isfinite(complete.predict_proba(X[:5])).all()
    assert (
        RecalibratedClassifier(boosting, indicators, cv=3, random_state=0).fit(X, y).predict(X) == y
    ).mean() > 0.9
    assert (
        LocallyRecalibratedClassifier(boosting, cv=3, random_state=0).fit(X, y).predict(X) == y
    ).mean() > 0.9


def test_indicators_of_two_responses_are_kept_apart_in_any_order():
    X, y = load_iris(return_X_y=True)
    of_odds = LocalSensitivity(response="predict_proba")
    of_values = LocalSensitivity(response="decision_function")

    def probabilities(*indicators):
        model = LogisticRegression(max_iter=1000)
        recalibrated = RecalibratedClassifier(
            model,
            indicators,
            calibrator="platt",
            response="decision_function",
            cv=3,
            random_state=0,
        )
        return recalibrated.fit(X, y).predict_proba(X)

    both = probabilities(of_odds, of_values)
    assert_allclose(both, probabilities(of_values, of_odds), atol=1e-9)
    for alone in (of_odds, of_values):  # either says something that the other does not
        assert np.abs(both - probabilities(alone, alone)).max() > 0.1


def test_texts_that_only_the_model_vectorises():
    texts = ["good fine day", "bad awful night", "fine good", "awful bad"] * 5
    vote = VotingClassifier(
        [("a", make_pipeline(TfidfVectorizer(), LogisticRegression()))], voting="soft"
    )
    model = RecalibratedClassifier(vote, cv=2, random_state=0).fit(texts, ["+", "-", "+", "-"] * 5)
    assert_array_equal(model.predict(["fine", "awful"]), ["+", "-"])
    with pytest.raises(ValueError, match="X is a list of texts"):
        LocalSensitivity(vote).fit(texts, ["+", "-", "+", "-"] * 5)


@pytest.mark.parametrize(
    ("model", "error", "sentence"),
    [
        (
            RecalibratedClassifier(LinearRegression(), random_state=0),
            ValueError,
            "is no classifier, and only those are recalibrated",
        ),
        (
            RecalibratedClassifier(SVC(), calibrator="isotonic", random_state=0),
            ValueError,
            "calibrator='isotonic' is not known: it may be 'platt'",
        ),
        (
            RecalibratedClassifier(SVC(), calibrator=IsotonicRegression(), random_state=0),
            TypeError,
            r"calibrator=IsotonicRegression\(\) has no predict_proba",
        ),
        (
            RecalibratedClassifier(SVC(), "all", random_state=0),
            TypeError,
            "indicators='all' is no indicator: it may be",
        ),
        (
            RecalibratedClassifier(SVC(), [Confidence(), SVC()], random_state=0),
            TypeError,
            "indicators=SVC.* is no indicator",
        ),
    ],
)
def test_wrong_parameters_get_one_sentence(model, error, sentence):
    with pytest.raises(error, match=sentence):
        model.fit(*rows())


class Density(Indicator):
    """An indicator that speaks of the row, not of its classes."""

    def __init__(self, estimator=None, per_class=False):
        self.estimator = estimator
        self.per_class = per_class

    def needed_neighbors(self, n_rows):
        return 5

    def columns(self, neighborhood):
        return neighborhood.distances.mean(axis=1, keepdims=True)

    def trust(self, neighborhood):
        return -neighborhood.distances.mean(axis=1)

    def get_feature_names_out(self, input_features=None):
        return np.array(["distance"], dtype=object)


def test_an_indicator_must_speak_of_every_class():
    X, y = load_iris(return_X_y=True)
    two = RecalibratedClassifier(SVC(), Density(), random_state=0).fit(X[y > 0], y[y > 0])
    assert len(two.calibrators_[0].coef) == 2
    with pytest.raises(ValueError, match="gave 1 columns for 3 calibrated classes"):
        RecalibratedClassifier(SVC(), Density(), random_state=0).fit(X, y)


def test_one_class_gets_one_sentence():
    with pytest.raises(ValueError, match="y has one class only"):
        RecalibratedClassifier(SVC(), random_state=0).fit(np.zeros((5, 2)), np.ones(5))


def test_probabilities_do_not_know_the_labels_of_their_own_row():
    draw = np.random.default_rng(0)
    scores, y = draw.normal(size=(300, 1)), draw.integers(2, size=300)
    found = recalibrate_scores(scores, y, random_state=0)[:, 1]
    for row in (0, 17, 299):
        changed = y.copy()
        changed[row] = 1 - changed[row]
        again = recalibrate_scores(scores, changed, random_state=0)[:, 1]
        assert again[row] == found[row]
        assert (again != found).sum() > 200  # whom the row helps to calibrate


def test_a_group_is_calibrated_by_the_others():
    scores = np.linspace(-2, 2, 100)[:, None]
    y = (scores[:, 0] > 0).astype(int)
    groups = np.repeat([0, 1], 50)  # each group has one class only: all that the other knows
    found = recalibrate_scores(scores, y, groups=groups)[:, 1]
    assert_allclose(found, 1.0 - y)


def test_scores_that_do_not_match_the_classes_are_one_sentence():
    with pytest.raises(ValueError, match="scores has 2 columns, and y 2 classes"):
        recalibrate_scores(np.zeros((4, 2)), [0, 1, 0, 1])
