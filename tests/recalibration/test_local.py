"""Local recalibration against a general optimiser, row by row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from surefoot import (
    KernelKNeighborsClassifier,
    LocallyRecalibratedClassifier,
    RecalibratedClassifier,
)


def two_regimes(n_rows, seed):
    """Scores that mean what they say on the left, and the opposite on the right."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    y = (np.sin(3 * X[:, 1]) * np.sign(X[:, 0]) + rng.normal(scale=0.3, size=n_rows) > 0).astype(
        int
    )
    return X, y


class Vertical(SVC):
    """Its scores mean the opposite on one side."""

    def decision_function(self, X):
        return np.asarray(X)[:, 1] * 4


def line_by_hand(distances, scores, y, model):
    """Offset and slope from the neighbours alone, by a general optimiser; the ridge is towards the global line."""
    center, scale = scores.mean(), scores.std()
    b, a = model.global_weights_[0]
    prior = np.array([b + a * center, a * scale])
    near = np.argsort(distances)[: model.n_neighbors]
    weight = np.exp(-0.5 * (distances[near] / (distances[near].max() / 2)) ** 2)
    weight[distances[near] == 0] = 0.0  # the row itself
    targets = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / ((1 - y).sum() + 2))[near]
    standard = (scores[near] - center) / scale

    def loss(line):
        logits = line[0] + line[1] * standard
        data = (weight * (np.logaddexp(0, logits) - targets * logits)).sum()
        return data + model.ridge / 8 * ((line - prior) ** 2).sum()

    w0, w1 = minimize(loss, prior, tol=1e-12).x
    return w0 - w1 * center / scale, w1 / scale


@pytest.mark.parametrize("ridge", [0.1, 10.0])
def test_weights_and_local_share_are_those_of_a_general_optimiser(ridge):
    X, y = two_regimes(150, 0)
    folds = StratifiedKFold(5)
    model = LocallyRecalibratedClassifier(Vertical(), n_neighbors=40, ridge=ridge, cv=folds)
    model.fit(X, y)
    scores = cross_val_predict(Vertical(), X, y, cv=folds, method="decision_function")
    b, a = model.global_weights_[0]
    offset, slope = np.array(
        [line_by_hand(np.linalg.norm(X - row, axis=1), scores, y, model) for row in X]
    ).T
    start = (expit(b + a * scores) - y) ** 2
    saved = {0.0: 0.0}
    for share in (0.25, 0.5, 0.75, 1.0):
        log_odds = (1 - share) * (b + a * scores) + share * (offset + slope * scores)
        gain = start - (expit(log_odds) - y) ** 2
        saved[share] = gain.sum() - np.sqrt((gain**2).sum())
    assert model.local_share_ == max(saved, key=saved.get) > 0
    new, share = X[:6] + 0.05, model.local_share_
    for row, w0, w1 in zip(new, *model.local_weights(new), strict=True):
        line = np.array(line_by_hand(np.linalg.norm(X - row, axis=1), scores, y, model))
        assert_allclose([w0, w1], (1 - share) * np.array([b, a]) + share * line, atol=2e-4)


def test_a_heavy_ridge_is_the_global_recalibration():
    X, y = two_regimes(300, 0)
    folds = StratifiedKFold(10)
    model = LocallyRecalibratedClassifier(SVC(), ridge=1e9, cv=folds, random_state=0).fit(X, y)
    offset, slope = model.local_weights(X[:20])
    assert_allclose(offset, model.global_weights_[0, 0], atol=1e-5)
    assert_allclose(slope, model.global_weights_[0, 1], atol=1e-5)
    globally = RecalibratedClassifier(SVC(), cv=folds, random_state=0).fit(X, y).calibrators_[0]
    assert_allclose(model.global_weights_[0], [globally.intercept, globally.coef[0]])


def test_no_more_rows_are_local_than_asked_for():
    # A cached kernel vote searches 2k neighbours for itself; the recalibration must not use them all.
    X, y = two_regimes(200, 0)
    cached, exact = (
        LocallyRecalibratedClassifier(
            KernelKNeighborsClassifier(15, sample_neighbors=mode), n_neighbors=16, random_state=0
        )
        .fit(X, y)
        .local_weights(X[:20] + 0.01)
        for mode in ("cached", "exact")
    )
    assert_allclose(cached, exact)


def test_three_classes_have_a_line_each():
    X, y = load_iris(return_X_y=True)
    model = LocallyRecalibratedClassifier(SVC(), cv=5, random_state=0).fit(
        X, np.array(["a", "b", "c"])[y]
    )
    offset, slope = model.local_weights(X[:7])
    assert offset.shape == slope.shape == (7, 3)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.predict(X) == np.array(["a", "b", "c"])[y]).mean() > 0.9


def test_a_ridge_of_zero_is_refused():
    with pytest.raises(ValueError, match="ridge == 0, must be > 0"):
        LocallyRecalibratedClassifier(SVC(), ridge=0, random_state=0).fit(*two_regimes(50, 0))
