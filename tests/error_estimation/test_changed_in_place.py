"""What is passed to `fit` may be changed in place afterwards: no judgement moves by a bit."""

import tracemalloc
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from surefoot import (
    AbstainingClassifier,
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    KernelKNeighborsClassifier,
    LocallyRecalibratedClassifier,
    LocalSensitivity,
    RecalibratedClassifier,
    StriveClassifier,
    assess,
    assess_predictions,
)
from surefoot.abstention import Promise
from surefoot.active_learning import ActiveLearner
from surefoot.indicators import NeighborDisagreement
from surefoot.neighborhoods import NeighborhoodIndex

RNG = np.random.default_rng(0)
N = 120
NUMBERS = RNG.normal(size=(N, 4))
CODES = RNG.integers(0, 3, N)
Y = (NUMBERS[:, 0] + CODES + RNG.normal(size=N) > 1).astype(int)
MISSING = np.where(RNG.random((N, 4)) < 0.1, np.nan, NUMBERS)


def numeric_frame():
    return pd.DataFrame(NUMBERS.copy(), columns=list("abcd"))


def mixed_frame():
    frame = pd.DataFrame(MISSING.copy(), columns=list("abcd"))
    return frame.assign(plan=pd.Categorical.from_codes(CODES, ["free", "paid", "trial"]))


def fill_array(X):
    X[:] = 99.0


def fill_sparse(X):
    X.data[:] = 99.0


def fill_frame(X):
    X.loc[:, ["a", "b", "c", "d"]] = 99.0
    if "plan" in X:
        X.loc[:, "plan"] = "free"


def clip_frame(X):
    X.clip(-0.1, 0.1, inplace=True)  # noqa: PD002 - as users do


def raise_frame(X):
    X.loc[X["a"] > 0, "a"] = 0.0


def fill_polars(X):
    for place in range(N):
        X[place, "a"] = 99.0


TREES = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
CASES = {
    "array": (GaussianNB(), NUMBERS.copy, fill_array),
    "array, a model that keeps its rows": (
        KNeighborsClassifier(algorithm="brute"),
        NUMBERS.copy,
        fill_array,
    ),
    "array with missing values": (TREES, MISSING.copy, fill_array),
    "array of objects": (
        GaussianNB(),
        lambda: NUMBERS.astype(object),
        lambda X: X.__setitem__(slice(None), 99.0),
    ),
    "sparse": (LogisticRegression(), lambda: csr_array(np.abs(NUMBERS)), fill_sparse),
    "frame": (GaussianNB(), numeric_frame, fill_frame),
    "clipped frame": (GaussianNB(), numeric_frame, clip_frame),
    "some rows of a frame": (GaussianNB(), numeric_frame, raise_frame),
    "mixed frame": (TREES, mixed_frame, fill_frame),
    "polars": (GaussianNB(), lambda: pl.DataFrame(NUMBERS.copy(), list("abcd")), fill_polars),
}


@pytest.mark.parametrize("case", CASES)
def test_judgements_stay_when_the_table_is_changed(case):
    model, make, change = CASES[case]
    X = make()
    y, weights = Y.copy(), np.where(Y == 1, 1.0, 0.5)
    groups = np.repeat(np.arange(N // 2), 2)
    estimator = IndividualErrorClassifier(model, cv=3, random_state=0, sets=True)
    takes_weights = not isinstance(model, KNeighborsClassifier)
    estimator.fit(X, y, sample_weight=weights if takes_weights else None, groups=groups)
    new = make()[:30]
    before, sets = estimator.judge(new), estimator.predict_set(new)
    held_out, promise = deepcopy(estimator.held_out_), Promise.from_held_out(estimator.held_out_)
    change(X)
    y[:], weights[:], groups[:] = 1 - y, 7.0, 0
    after = estimator.judge(new)
    assert_array_equal(estimator.predict_set(new), sets)
    assert Promise.from_held_out(estimator.held_out_) == promise
    for name in ("rows", "truth", "prediction", "scores", "error", "groups", "losses", "novel"):
        assert_array_equal(getattr(estimator.held_out_, name), getattr(held_out, name))
    assert_array_equal(after.error, before.error)
    assert_array_equal(after.prediction, before.prediction)
    assert_array_equal(after.novel, before.novel)
    assert_array_equal(after.known, before.known)
    for name, values in before.columns.items():
        assert_array_equal(after.columns[name], values)
    for name, values in before.stability.items():
        assert_array_equal(after.stability[name], values)
    assert_array_equal(estimator.held_out_.truth, Y[estimator.held_out_.rows])


@pytest.mark.parametrize("make", [NUMBERS.copy, numeric_frame])
def test_intervals_stay_when_the_table_is_changed(make):
    X, y, new = make(), NUMBERS[:, 0] + CODES, make()[:30]
    estimator = IndividualErrorRegressor(Ridge(), cv=3, random_state=0).fit(X, y)
    before = estimator.predict_interval(new), estimator.predict_residual(new)
    X[:], y[:] = 99.0, 0.0
    assert_array_equal(estimator.predict_interval(new), before[0])
    assert_array_equal(estimator.predict_residual(new), before[1])


def test_arrow_cannot_be_changed_and_is_judged_as_the_array():
    table = pa.table(dict(zip("abcd", NUMBERS.T, strict=True)))
    of_arrow = IndividualErrorClassifier(GaussianNB(), cv=3, random_state=0).fit(table, Y)
    of_array = IndividualErrorClassifier(GaussianNB(), cv=3, random_state=0).fit(NUMBERS, Y)
    assert_allclose(of_arrow.judge(table).error, of_array.judge(NUMBERS).error, rtol=1e-9)


def outputs_of(action, X):
    """What an action says of rows, by any of its methods."""
    if hasattr(action, "judge"):
        return action.judge(X).error
    if hasattr(action, "predict_accepted"):
        return action.predict_accepted(X)
    names = "predict_proba", "decision_function", "transform"
    return next(getattr(action, name) for name in names if hasattr(action, name))(X)


GIVEN = (NUMBERS[:, 0] > 0).astype(int)
ACTIONS = {
    "an indicator": lambda X, y: LocalSensitivity(GaussianNB()).fit(X, y),
    "an indicator of a model that keeps its rows": lambda X, y: LocalSensitivity(
        KNeighborsClassifier(algorithm="brute")
    ).fit(X, y),
    "abstaining": lambda X, y: AbstainingClassifier(GaussianNB(), coverage=0.7, random_state=0).fit(
        X, y
    ),
    "recalibration": lambda X, y: RecalibratedClassifier(GaussianNB(), cv=3).fit(X, y),
    "local recalibration": lambda X, y: LocallyRecalibratedClassifier(GaussianNB(), cv=3).fit(X, y),
    "active learning": lambda X, y: ActiveLearner(GaussianNB(), random_state=0).fit(X, y),
    "votes": lambda X, y: KernelKNeighborsClassifier().fit(X, y),
    "strive": lambda X, y: StriveClassifier(
        [("bayes", GaussianNB()), ("near", KNeighborsClassifier(algorithm="brute"))], cv=3
    ).fit(X, y),
    "assess": lambda X, y: assess(GaussianNB().fit(X[::2], y[::2]), X, y, random_state=0, cv=3),
}


@pytest.mark.parametrize("of_frames", [False, True])
@pytest.mark.parametrize("case", ACTIONS)
def test_actions_keep_copies(case, of_frames):
    X, y = NUMBERS.copy(), Y.copy()
    X = pd.DataFrame(X, columns=list("abcd")) if of_frames else X
    new = X[:20].copy()
    action = ACTIONS[case](X, y)
    before = outputs_of(action, new)
    X[:], y[:] = 99.0, 0
    assert_array_equal(outputs_of(action, new), before)


@pytest.mark.parametrize("of_frames", [False, True])
def test_rows_are_copied_once(of_frames):
    """The copy, and the rows in the neighbour space."""
    X = np.random.default_rng(0).normal(size=(4_000, 100))
    y = (X[:, 0] > 0).astype(int)
    table = pd.DataFrame(X) if of_frames else X
    tracemalloc.start()
    NeighborDisagreement(FrozenEstimator(GaussianNB().fit(table, y))).fit(table, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.9 < peak / X.nbytes < 2.5


def test_given_predictions_are_copied():
    X, y, predictions, probabilities = NUMBERS.copy(), Y.copy(), GIVEN.copy(), GIVEN * 0.6 + 0.2
    estimator = assess_predictions(X, y, predictions, probabilities, random_state=0, cv=3)
    new = NUMBERS[:30], GIVEN[:30].copy(), GIVEN[:30] * 0.6 + 0.2
    before = estimator.judge(*new)
    X[:], y[:], predictions[:], probabilities[:] = 99.0, 0, 0, 0.0
    after = estimator.judge(*new)
    assert_array_equal(after.error, before.error)
    assert_array_equal(after.novel, before.novel)


def test_a_neighborhood_index_keeps_copies():
    X, y = NUMBERS.copy(), Y.copy()
    index = NeighborhoodIndex(GaussianNB().fit(X, y), X, y, n_neighbors=3)
    [before] = index.map(lambda near: (near.distances, near.labels), NUMBERS[:9], 0)
    X[:], y[:] = 99.0, 2
    [after] = index.map(lambda near: (near.distances, near.labels), NUMBERS[:9], 0)
    assert_array_equal(after[0], before[0])
    assert_array_equal(after[1], before[1])
