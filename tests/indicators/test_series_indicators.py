"""Indicators that compare rows as time series under DTW, by brute force over all pairs and all warping paths."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.indicators import (
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    TrustScore,
)
from surefoot.time_series import (
    DTWNeighbors,
    KNeighborsDTWClassifier,
    LocalKNeighborsDTWClassifier,
    dtw_distance,
)

SEEDED_ERROR = partial(NeighborError, random_state=0)
NEIGHBORS = [LocalSensitivity, NeighborDisagreement, NeighborDistance, SEEDED_ERROR, TrustScore]


def bumps(n_series, length=12):
    """Series of two classes, a bump up or down at any time, with noise."""
    random = np.random.default_rng(0)
    y = np.arange(n_series) % 2
    at = random.uniform(2, length - 2, size=(n_series, 1))
    bump = np.exp(-((np.arange(length) - at) ** 2))
    return bump * (2 * y[:, None] - 1) + 0.3 * random.normal(size=(n_series, length)), y


def all_distances(queries, series, window):
    return np.array([[dtw_distance(x, y, window=window) for y in series] for x in queries])


def paths(i, j):
    """All warping paths from the first cell to (i, j)."""
    if i == j == 0:
        return [[(0, 0)]]
    before = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
    return [[*p, (i, j)] for cell in before if min(cell) >= 0 for p in paths(*cell)]


def aligned_by_hand(x, neighbor, radius):
    """Mean of the neighbour's points that the cheapest of all paths matches with each point of x."""
    allowed = [
        path for path in paths(len(x) - 1, len(x) - 1) if all(abs(i - j) <= radius for i, j in path)
    ]
    best = min(allowed, key=lambda path: sum((x[i] - neighbor[j]) ** 2 for i, j in path))
    return [np.mean([neighbor[j] for i, j in best if i == at]) for at in range(len(x))]


@pytest.mark.parametrize("window", [None, 0, 2, 0.25])
def test_distance_to_neighbors_is_that_of_all_pairs(window):
    X, y = bumps(30)
    near = NeighborDistance(
        LogisticRegression(), n_neighbors=(1, 4), metric=DTWNeighbors(window=window)
    )
    distances = np.sort(all_distances(X[20:], X[:20], window), axis=1)
    expected = [distances[:, :count].mean(axis=1) for count in (1, 4)]
    assert_allclose(near.fit(X[:20], y[:20]).transform(X[20:]), np.log(expected).T, atol=1e-9)


def test_disagreement_and_trust_score_are_those_of_all_pairs():
    X, y = bumps(40)
    y[:6] = 1 - y[:6]
    model = FrozenEstimator(LogisticRegression().fit(X[:25], y[:25]))
    distances = all_distances(X[25:], X[:25], 2)
    differs = y[:25] != model.predict(X[25:])[:, None]
    nearest = np.argsort(distances, axis=1)[:, :5]

    found = NeighborDisagreement(model, n_neighbors=5, metric=DTWNeighbors(window=2)).fit(
        X[:25], y[:25]
    )
    shares = np.take_along_axis(differs, nearest, axis=1).mean(axis=1)
    assert_allclose(found.transform(X[25:])[:, 0], shares)
    assert shares.max() > 0

    found = TrustScore(model, metric=DTWNeighbors(window=2)).fit(X[:25], y[:25])
    other = np.where(differs, distances, np.inf).min(axis=1)
    own = np.where(differs, np.inf, distances).min(axis=1)
    assert_allclose(found.score_samples(X[25:]), np.log(other / own))


def test_errors_of_neighbors_are_those_of_a_classifier_of_other_series():
    X, y = bumps(40)
    y[:8] = 1 - y[:8]
    folds = StratifiedKFold(3)
    found = NeighborError(KNeighborsDTWClassifier(window=1), n_neighbors=4, cv=folds).fit(X, y)
    wrong = np.empty(len(y))
    for train, test in folds.split(X, y):
        nearest = all_distances(X[test], X[train], 1).argmin(axis=1)
        wrong[test] = y[train][nearest] != y[test]
    new = X + 0.1
    near = np.argsort(all_distances(new, X, 1), axis=1)[:, :4]
    assert_allclose(found.transform(new)[:, 0], wrong[near].mean(axis=1))
    assert 0 < wrong.mean() < 1


@pytest.mark.parametrize("indicator", NEIGHBORS)
@pytest.mark.parametrize("space", ["auto", "scaled"])
def test_auto_searches_as_a_dtw_classifier_does(indicator, space):
    X, y = bumps(30)
    model = KNeighborsDTWClassifier(3, window=0.2)
    own = indicator(model, space=space).fit(X[:20], y[:20])
    explicit = indicator(model, metric=DTWNeighbors(window=0.2)).fit(X[:20], y[:20])
    assert own.index_.metric.window == 0.2
    assert_array_equal(own.transform(X[20:]), explicit.transform(X[20:]))
    other = indicator(model, metric="euclidean").fit(X[:20], y[:20])
    assert np.abs(own.transform(X[20:]) - other.transform(X[20:])).max() > 1e-6


def test_a_dtw_classifier_is_known_in_a_pipeline_a_search_and_frozen():
    X, y = bumps(24)
    classifier = KNeighborsDTWClassifier(window=2)
    models = [
        make_pipeline(StandardScaler(), classifier),
        GridSearchCV(classifier, {"n_neighbors": [1, 3]}, cv=3),
        FrozenEstimator(KNeighborsDTWClassifier(window=2).fit(X, y)),
        CalibratedClassifierCV(classifier, cv=3),
        KNeighborsDTWClassifier(neighbors=DTWNeighbors(window=2)),
    ]
    for model in models:
        index = NeighborDistance(model).fit(X, y).index_
        assert index.metric.window == 2
    index = NeighborDistance(RandomForestClassifier(5)).fit(X, y).index_
    assert index.metric == "euclidean"


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsDTWClassifier(3, window=2, weights="distance"),
        LocalKNeighborsDTWClassifier((1, 3), window=2),
        LocalKNeighborsDTWClassifier((1, 3), window=2, cv=StratifiedKFold(2)),
    ],
    ids=["all alike", "local", "local, held out"],
)
def test_votes_by_the_shared_search_are_those_of_the_model(model):
    X, y = bumps(60)
    y[:12] = 1 - y[:12]
    indicator = NeighborDistance(model, n_neighbors=1).fit(X[:40], y[:40])
    fitted = indicator.index_.model.predictor
    (outputs,) = indicator.index_.map(
        lambda near: (near.probabilities, near.answer("predict")), X[40:], 0
    )
    assert_array_equal(outputs[0], fitted.predict_proba(X[40:]))
    assert_array_equal(outputs[1], fitted.predict(X[40:]))
    assert_allclose(outputs[0].sum(axis=1), 1)


@pytest.mark.parametrize(("window", "radius"), [(None, 5), (1, 1)])
def test_samples_lie_on_the_way_to_aligned_neighbors(window, radius):
    random = np.random.default_rng(1)
    X, targets = random.normal(size=(6, 5)), random.normal(size=6)
    model = LinearRegression().fit(X, targets)
    found = LocalSensitivity(
        FrozenEstimator(model),
        n_neighbors=3,
        metric=DTWNeighbors(window=window),
        sampling="midpoint",
    ).fit(X, targets)
    new = random.normal(size=(4, 5))
    near = np.argsort(all_distances(new, X, window), axis=1)[:, :3]
    for x, neighbors, columns in zip(new, near, found.transform(new), strict=True):
        halves = [(x + aligned_by_hand(x, X[n], radius)) / 2 for n in neighbors]
        change = model.predict(halves) - model.predict([x])
        assert_allclose(columns, [change.mean(), change.std(), change.min()])


def test_a_search_that_compares_rows_as_they_are_needs_numbers():
    X = pd.DataFrame({"a": np.arange(8.0), "b": ["x", "y"] * 4})
    for indicator in NEIGHBORS:
        with pytest.raises(ValueError, match=r"DTWNeighbors\(\) compares rows as they are"):
            indicator(DummyClassifier(), metric=DTWNeighbors()).fit(X, [0, 1] * 4)
