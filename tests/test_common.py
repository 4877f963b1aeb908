"""scikit-learn's own checks over every public estimator."""

import inspect
from importlib import import_module
from pkgutil import iter_modules

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import surefoot
from surefoot import (
    AbstainingClassifier,
    Confidence,
    DeferringClassifier,
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    KernelKNeighborsClassifier,
    LocallyRecalibratedClassifier,
    LocalSelectionClassifier,
    LocalSelectionRegressor,
    LocalSensitivity,
    RecalibratedClassifier,
    TrustWeightedClassifier,
)
from surefoot.active_learning import ActiveLearner
from surefoot.ensemble import BoostingClassifier, FilterBoostingClassifier, StriveClassifier
from surefoot.indicators import (
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    ResamplingSpread,
    SecondOpinion,
    TrustScore,
    VoteDisagreement,
)
from surefoot.time_series import DTWNeighbors, KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier


def public_estimators():
    """Estimator classes that any public package exports."""
    packages = [m.name for m in iter_modules(surefoot.__path__) if m.ispkg and m.name[0] != "_"]
    found = set()
    for package in packages:
        module = import_module(f"surefoot.{package}")
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if (
                inspect.isclass(value)
                and issubclass(value, BaseEstimator)
                and not inspect.isabstract(value)
            ):
                found.add(value)
    return found


SMALL_TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
SMALL_REGRESSOR = DecisionTreeRegressor(max_depth=2, random_state=0)


# Error estimators of little work.
CHEAP = {"indicators": Confidence(), "cv": 2, "random_state": 0}
LINE = IndividualErrorClassifier(LogisticRegression(), **CHEAP)
TREE = IndividualErrorClassifier(SMALL_TREE, **CHEAP)
RIDGE = IndividualErrorRegressor(
    Ridge(), SMALL_REGRESSOR, indicators=NeighborDistance(), cv=2, random_state=0
)

# Every public estimator is here once, with a model if it needs one, and with settings of little work.
INSTANCES = [
    KernelKNeighborsClassifier(),
    Confidence(LogisticRegression()),
    LocalSensitivity(LogisticRegression()),
    ResamplingSpread(GaussianNB(), n_resamples=5),
    VoteDisagreement(BaggingClassifier(n_estimators=5, random_state=0)),
    NeighborDisagreement(LogisticRegression()),
    NeighborDistance(LogisticRegression()),
    NeighborError(GaussianNB(), cv=2),
    SecondOpinion(GaussianNB(), n_trees=4),
    TrustScore(LogisticRegression()),
    LINE,
    RIDGE,
    AbstainingClassifier(LogisticRegression(), Confidence(), coverage=0.8),
    DeferringClassifier([("cheap", TREE), ("expensive", SMALL_TREE)], cv=2),
    LocalSelectionClassifier([("tree", TREE)], cv=2),
    LocalSelectionRegressor([("ridge", RIDGE)], cv=2),
    TrustWeightedClassifier([("tree", TREE)], cv=2),
    StriveClassifier([("bayes", GaussianNB())], Confidence(), cv=2),
    RecalibratedClassifier(LogisticRegression(), cv=2, random_state=0),
    LocallyRecalibratedClassifier(LogisticRegression(), cv=2, random_state=0),
    DTWNeighbors(),
    KNeighborsDTWClassifier(),
    LocalKNeighborsDTWClassifier(),
    BoostingClassifier(n_estimators=5),
    FilterBoostingClassifier(GaussianNB()),
    ActiveLearner(LogisticRegression()),
]

# Other settings, for which other code is run.
VARIANTS = [
    KernelKNeighborsClassifier(n_neighbors=3, kernel="cosine"),
    LocalSensitivity(GaussianNB(), per_class=True),
    ResamplingSpread(RidgeClassifier(), per_class=True),
    ResamplingSpread(RandomForestClassifier(5, random_state=0)),
    StriveClassifier([("line", LogisticRegression()), ("tree", SMALL_TREE)], cv=3),
    StriveClassifier([("bayes", GaussianNB())], threshold="f1", passthrough=True, cv=2),
    RecalibratedClassifier(GaussianNB(), LocalSensitivity(), cv=3, random_state=0),
    BoostingClassifier("real", 10, criterion="error"),
    BoostingClassifier("gentle", 5, DecisionTreeClassifier(max_depth=2)),
    BoostingClassifier("modest", 10),
    BoostingClassifier(estimator=GaussianNB(), n_estimators=5, resample=True),
]

# Default settings of those that have much inside, for checks of what they compute.
DEFAULTS = [
    SecondOpinion(LogisticRegression()),
    IndividualErrorClassifier(LogisticRegression(), random_state=0),
    IndividualErrorRegressor(Ridge(), random_state=0),
    AbstainingClassifier(LogisticRegression(), coverage=0.8, random_state=0),
    DeferringClassifier([("cheap", GaussianNB()), ("expensive", SMALL_TREE)], random_state=0),
    LocalSelectionClassifier([("bayes", GaussianNB()), ("tree", SMALL_TREE)], random_state=0),
    LocalSelectionRegressor([("ridge", Ridge()), ("tree", SMALL_REGRESSOR)], random_state=0),
    TrustWeightedClassifier([("bayes", GaussianNB()), ("tree", SMALL_TREE)], random_state=0),
    StriveClassifier(
        [("line", LogisticRegression()), ("tree", SMALL_TREE)], LocalSensitivity(per_class=True)
    ),
    RecalibratedClassifier(LogisticRegression(), LocalSensitivity(), random_state=0),
    LocallyRecalibratedClassifier(LogisticRegression(), random_state=0),
    BoostingClassifier(),
    FilterBoostingClassifier(random_state=0),
]
DEFAULT_CHECKS = [
    estimator_checks.check_fit_idempotent,
    estimator_checks.check_methods_subset_invariance,
    estimator_checks.check_methods_sample_order_invariance,
    estimator_checks.check_estimators_pickle,
]


def test_every_public_estimator_is_checked():
    assert {type(instance) for instance in INSTANCES} == public_estimators()


WEIGHT_CHECKS = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]
WEIGHTS_ARE_NO_COPIES = (
    "a repeated row is one more neighbour, or in another fold; a weighted one is not"
)


MODEST_COUNTS_ROWS = (
    "Modest inverts the weights, row by row: two copies are not one of twice the weight"
)
DRAWN_BY_WEIGHT = "rows are drawn or left out: a copy is one more row, a weight is not"


COPIES_ARE_ONE_GROUP = "copies of a row are held out together; rows with weights are held out alone"
TAKE_DENSE_WEIGHTS = (
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    DeferringClassifier,
)

SEES_ROWS = (
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    SecondOpinion,  # its other models take no weights
    TrustScore,
    AbstainingClassifier,
    StriveClassifier,
)


def expected_failures(estimator):
    if isinstance(estimator, BoostingClassifier):
        return boosting_failures(estimator)
    if isinstance(estimator, (ResamplingSpread, VoteDisagreement)):
        return dict.fromkeys(WEIGHT_CHECKS, DRAWN_BY_WEIGHT)
    if isinstance(estimator, TAKE_DENSE_WEIGHTS):
        return {WEIGHT_CHECKS[0]: COPIES_ARE_ONE_GROUP}
    if isinstance(estimator, (RecalibratedClassifier, LocallyRecalibratedClassifier)):
        return dict.fromkeys(WEIGHT_CHECKS, COPIES_ARE_ONE_GROUP)
    if not isinstance(estimator, SEES_ROWS):
        return {}
    return dict.fromkeys(WEIGHT_CHECKS, WEIGHTS_ARE_NO_COPIES)


def boosting_failures(estimator):
    if estimator.resample:
        return {WEIGHT_CHECKS[0]: DRAWN_BY_WEIGHT}
    return {WEIGHT_CHECKS[0]: MODEST_COUNTS_ROWS} if estimator.variant == "modest" else {}


def with_slow_twins(checks):
    """Checks, of which those are slow that differ from another in the container or the precision of a table alone."""
    names, pairs = checks.args
    params = []
    for pair in pairs:
        estimator, check = getattr(pair, "values", pair)
        is_twin = "readonly_memmap" in check.keywords or "sparse_matrix" in check.func.__name__
        marks = [*getattr(pair, "marks", ()), *([pytest.mark.slow] if is_twin else [])]
        params.append(pytest.param(estimator, check, marks=marks))
    return pytest.mark.parametrize(names, params, **checks.kwargs)


@with_slow_twins(parametrize_with_checks(INSTANCES, expected_failed_checks=expected_failures))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_of_other_settings(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("check", DEFAULT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", DEFAULTS, ids=lambda e: type(e).__name__)
def test_scikit_learn_checks_of_the_defaults(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("estimator", INSTANCES, ids=lambda e: type(e).__name__)
def test_documentation_names_every_parameter(estimator):
    doc = inspect.getdoc(type(estimator))
    assert all(f"\n{name} : " in doc for name in estimator.get_params(deep=False))
