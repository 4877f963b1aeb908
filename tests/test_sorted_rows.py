"""Rows in any order: a number of folds gives what it gives for shuffled rows, a splitter is used as it is."""

from functools import cache
from importlib import import_module
from inspect import isclass, signature
from pkgutil import iter_modules

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import surefoot
from surefoot.abstention import AbstainingClassifier, DeferringClassifier
from surefoot.active_learning import query
from surefoot.ensemble import StriveClassifier, TrustWeightedClassifier
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import Confidence, NeighborDistance, NeighborError
from surefoot.recalibration import LocallyRecalibratedClassifier, RecalibratedClassifier
from surefoot.selection import LocalSelectionClassifier

N_ROWS, N_GROUPS = 400, 5
NEAR, NEARER, WIDE = (KNeighborsClassifier(n) for n in (5, 3, 25))

# Estimators with `cv` that are not in the table below, and why.
ELSEWHERE = {
    "LocalKNeighborsDTWClassifier": "takes a splitter, or leaves one out; never a number",
    "LocalSelectionRegressor": "shares its base with LocalSelectionClassifier",
    "ReliabilityReport": "tests/report",
}


def draw(n_rows, seed=0):
    """Rows of hidden groups, each in a place of its own and with classes the other way round than the group before."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, N_GROUPS, n_rows)
    offset = rng.normal(size=(n_rows, 2))
    turned = np.where(groups % 2 == 0, 1, -1)
    above = turned * offset[:, 1] + 0.3 * rng.normal(size=n_rows)
    X = offset + np.column_stack([4 * groups, np.zeros(n_rows)])
    return X, (above > 0).astype(int), 3 * groups + above, groups


TABLE = draw(N_ROWS)
NEW, NEW_Y, _, _ = draw(1000, seed=1)
ORDERS = {
    "shuffled": np.arange(N_ROWS),
    "by target": np.argsort(TABLE[2] + 100 * TABLE[1], kind="stable"),  # classes, then numbers
    "by group": np.argsort(TABLE[3], kind="stable"),
}


def judge(model, cv, random_state):
    """Error estimator of a classifier that costs little."""
    return IndividualErrorClassifier(
        model, indicators=Confidence(), cv=cv, random_state=random_state
    )


def judge_numbers(model, cv, random_state):
    """Error estimator of a regressor that costs little."""
    return IndividualErrorRegressor(
        model, LinearRegression(), indicators=NeighborDistance(), cv=cv, random_state=random_state
    )


# Each function fits an estimator, and returns losses, or errors of estimated losses, of held-out or new rows.


def error_of_classifier(X, y, target, cv, random_state):
    return judge(NEAR, cv, random_state).fit(X, y).held_out_.losses


def error_of_regressor(X, y, target, cv, random_state):
    model = judge_numbers(KNeighborsRegressor(), cv, random_state)
    return model.fit(X, target).held_out_.losses


def recalibration(X, y, target, cv, random_state):
    model = RecalibratedClassifier(NEAR, cv=cv, random_state=random_state).fit(X, y)
    return (model.predict_proba(NEW)[:, 1] - NEW_Y) ** 2


def local_recalibration(X, y, target, cv, random_state):
    model = LocallyRecalibratedClassifier(NEAR, cv=cv, random_state=random_state).fit(X, y)
    return (model.predict_proba(NEW)[:, 1] - NEW_Y) ** 2


def strive(X, y, target, cv, random_state):
    model = StriveClassifier(
        [("near", NEAR), ("wide", WIDE)], cv=cv, random_state=random_state
    ).fit(X, y)
    return (model.held_out_scores_[:, 0] > model.thresholds_[0]) != y


def selection(X, y, target, cv, random_state):
    models = [(f"{m.n_neighbors}", judge(m, cv, random_state)) for m in (NEAR, WIDE)]
    model = LocalSelectionClassifier(models, cv=cv, random_state=random_state).fit(X, y)
    return model.held_out_.losses[:, 0]


def trust_weighting(X, y, target, cv, random_state):
    models = [("near", NEAR), ("wide", WIDE)]
    model = TrustWeightedClassifier(models, Confidence(), cv=cv, random_state=random_state)
    return model.fit(X, y).held_out_.losses[:, 0]


def deferral(X, y, target, cv, random_state):
    models = [("cheap", judge(WIDE, cv, random_state)), ("expensive", NEAR)]
    model = DeferringClassifier(models, cv=cv, random_state=random_state).fit(X, y)
    n_right = round(N_ROWS * model.deferral_curve_.accuracy[-1])  # by the expensive model alone
    return np.repeat([0, 1], [n_right, N_ROWS - n_right])


def abstention(X, y, target, cv, random_state):
    model = AbstainingClassifier(
        judge(NEAR, cv, random_state), coverage=0.8, random_state=random_state
    )
    return model.fit(X, y).indicator_.held_out_.losses


def abstention_by_neighbors(X, y, target, cv, random_state):
    model = AbstainingClassifier(
        NEAR, NeighborError(n_neighbors=1), coverage=0.8, random_state=random_state
    )
    return -model.fit(X, y).indicator_.score_samples(X)


def errors_of_neighbors(X, y, target, cv, random_state):
    model = NeighborError(NEAR, n_neighbors=1, cv=cv, random_state=random_state).fit(X, y)
    return model.transform(X)[:, 0]


def active_learning(X, y, target, cv, random_state):
    model = KNeighborsClassifier().fit(X, y)
    chosen = query("error", model, NEW, 100, X=X, y=y, random_state=random_state)
    return model.predict(NEW[chosen]) != NEW_Y[chosen]


TAKES_CV = {
    error_of_classifier: IndividualErrorClassifier,
    error_of_regressor: IndividualErrorRegressor,
    recalibration: RecalibratedClassifier,
    local_recalibration: LocallyRecalibratedClassifier,
    strive: StriveClassifier,
    selection: LocalSelectionClassifier,
    trust_weighting: TrustWeightedClassifier,
    deferral: DeferringClassifier,
    abstention: AbstainingClassifier,
    errors_of_neighbors: NeighborError,
}
HAS_FOLDS_OF_ITS_OWN = [abstention_by_neighbors, active_learning]
EVERY_ONE = [*TAKES_CV, *HAS_FOLDS_OF_ITS_OWN]


@cache
def losses(measure, order, cv=5, random_state=0):
    X, y, target, _ = (column[ORDERS[order]] for column in TABLE)
    return np.asarray(measure(X, y, target, cv, random_state), dtype=np.float64)


def standard_errors_between(one, other):
    """Difference of two means, in standard errors."""
    error = np.sqrt(one.var() / len(one) + other.var() / len(other))
    return (one.mean() - other.mean()) / error


@pytest.mark.parametrize("order", ["by target", "by group"])
@pytest.mark.parametrize("measure", EVERY_ONE)
def test_sorted_rows_give_what_shuffled_rows_give(measure, order):
    expected, found = losses(measure, "shuffled"), losses(measure, order)
    assert abs(standard_errors_between(found, expected)) < 3


@pytest.mark.parametrize("measure", TAKES_CV)
def test_a_splitter_that_does_not_shuffle_is_used_as_it_is(measure):
    expected, found = losses(measure, "shuffled"), losses(measure, "by group", KFold(N_GROUPS))
    assert standard_errors_between(found, expected) > 5  # each fold lacks most of a group
    same = losses(measure, "shuffled", KFold(N_GROUPS))  # rows in no order: nothing is lacking
    assert abs(standard_errors_between(same, expected)) < 3


def test_every_estimator_with_folds_is_tested():
    names = {kind.__name__ for kind in TAKES_CV.values()} | set(ELSEWHERE)
    packages = (
        import_module(f"surefoot.{module.name}")
        for module in iter_modules(surefoot.__path__)
        if module.ispkg and module.name[0] != "_" and module.name != "integrations"
    )
    public = [getattr(package, name) for package in packages for name in package.__all__]
    with_folds = {
        each.__name__ for each in public if isclass(each) and "cv" in signature(each).parameters
    }
    assert with_folds | {"AbstainingClassifier"} == names


# Models of one ensemble


@pytest.mark.parametrize("random_state", [None, 0])
@pytest.mark.parametrize("ensemble", [LocalSelectionClassifier, TrustWeightedClassifier])
def test_models_of_an_ensemble_have_the_same_folds(ensemble, random_state):
    X, y, _, _ = TABLE
    models = [
        ("near", NEAR),
        ("judged", judge(NEARER, 3, 7)),
        ("line", LogisticRegression()),
    ]
    settings = (
        {"cv": 3} if ensemble is LocalSelectionClassifier else {"cv": 3, "indicator": Confidence()}
    )
    fitted = ensemble(models, random_state=random_state, **settings).fit(X[:100], y[:100])
    first, *others = (each.held_out_.splits for each in fitted.error_estimators_)
    for splits in others:
        assert_array_equal(splits, first)
    assert (np.diff(first) != 0).mean() > 0.5  # shuffled


@pytest.mark.parametrize("cheap", [NEARER, judge(NEARER, 5, 7)])
def test_both_models_of_a_deferral_have_the_same_folds(cheap):
    # Both models are one: if the folds are too, no call saves anything, however rows are held out.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    model = DeferringClassifier([("cheap", cheap), ("expensive", NEARER)]).fit(X, y)
    assert np.ptp(model.deferral_curve_.accuracy) == 0
    assert 0.3 < model.deferral_curve_.accuracy[0] < 0.7


def test_an_error_estimator_with_another_number_of_folds_keeps_it():
    X, y, _, _ = TABLE
    models = [("three", judge(NEAR, 3, 0)), ("five", judge(NEAR, 5, 0))]
    fitted = LocalSelectionClassifier(models).fit(X, y)
    assert [each.n_splits_ for each in fitted.error_estimators_] == [3, 5]
