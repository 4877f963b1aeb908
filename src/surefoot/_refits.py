"""Models refitted on other training rows, by bootstrap samples or by shortcuts that need no refits."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import check_array

from surefoot._models import clone_model
from surefoot._sklearn_private import neighbor_weights
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints


def bootstrap_models(
    estimator: Any, X: Any, y: NDArray[Any], *, n_resamples: int, random: Any, n_jobs: int | None
) -> list[Any]:
    """Clones fitted on bootstrap samples of the rows; for a classifier the samples are stratified.

    Each class keeps its number of rows, so that no sample lacks a class.
    """
    parts = [np.arange(len(y))]
    if is_classifier(estimator):
        parts = [np.flatnonzero(y == label) for label in np.unique(y)]
    draws = [
        np.concatenate([part[random.randint(len(part), size=len(part))] for part in parts])
        for _ in range(n_resamples)
    ]
    fits = (
        delayed(clone_model(estimator).fit)(take_rows(X, rows), take_rows(y, rows))
        for rows in draws
    )
    return list(Parallel(n_jobs=n_jobs)(fits))


# Exact classes: a subclass may fit otherwise.
LINEAR = (LinearRegression, Ridge, RidgeClassifier)
NEAREST = (KNeighborsClassifier, KNeighborsRegressor)
FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)

# A row with a leverage this close to 1 determines a coefficient alone: without it the fit is not unique.
FULL_LEVERAGE = 1 - 1e-9


class LinearLeaveOneOut:
    """Least squares or ridge regression, with leave-one-out fits from the hat matrix.

    With A = ZᵀZ + penalty, residuals e and leverages h, leaving out row i changes the coefficients
    by −A⁻¹zᵢ eᵢ/(1 − hᵢ), exactly (Sherman and Morrison 1950). Z has a column of ones if there is
    an intercept; centring makes that column orthogonal to the others.
    """

    def __init__(self, X: Floats, Y: Floats, penalty: Floats, *, fit_intercept: bool) -> None:
        self.n_rows = len(X)
        self.center = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
        self.share = 1 / self.n_rows if fit_intercept else 0.0
        left, scale, self.axes = svd(X - self.center, full_matrices=False)
        kept = scale > scale.max(initial=0.0) * max(X.shape) * np.finfo(np.float64).eps
        self.is_full_rank = bool(kept.all() and len(scale) == X.shape[1])
        self.left, self.axes, scale = left[:, kept], self.axes[kept], scale[kept]
        # One column of factors per target, since each may have a penalty of its own.
        self.factors = (scale / (scale**2 + penalty[:, None])).T
        shrunk = scale[:, None] * self.factors
        level = Y.mean(axis=0) if fit_intercept else np.zeros(Y.shape[1])
        fitted = self.left @ (shrunk * (self.left.T @ (Y - level))) + level
        self.residuals = Y - fitted
        self.leverage = self.share + self.left**2 @ shrunk

    def changes(self, X: Any) -> Floats:
        """Change of each output when a training row is left out, shape (n, n_rows, n_outputs)."""
        along = (np.asarray(X, dtype=np.float64) - self.center) @ self.axes.T
        scaled = self.residuals / (1 - self.leverage)
        return np.stack(
            [
                -(self.share + (along * factors) @ self.left.T) * error
                for factors, error in zip(self.factors.T, scaled.T, strict=True)
            ],
            axis=2,
        )


class NeighborsLeaveOneOut:
    """Nearest-neighbour model: when one of the k is left out, the next nearest row takes its place."""

    def __init__(self, model: Any, Y: Floats) -> None:
        self.model, self.targets = model, Y
        self.n_rows = len(Y)

    def changes(self, X: Any) -> Floats:
        """Change of each output when a neighbour is left out, shape (n, k, n_outputs); other rows change nothing."""
        k = self.model.n_neighbors
        distances, near = self.model.kneighbors(X, n_neighbors=k + 1)
        full = self._vote(distances[:, :k], near[:, :k])
        places = np.arange(k + 1)
        return np.stack(
            [self._vote(distances[:, places != j], near[:, places != j]) - full for j in range(k)],
            axis=1,
        )

    def _vote(self, distances: Floats, near: Ints) -> Floats:
        """Weighted mean of the neighbours' targets."""
        weights = neighbor_weights(distances, self.model.weights)
        weights = np.ones_like(distances) if weights is None else weights
        total = np.einsum("nk,nkc->nc", weights, self.targets[near])
        return np.asarray(total / weights.sum(axis=1, keepdims=True))


def exact_leave_one_out(
    model: Any, X: Any, y: Any
) -> LinearLeaveOneOut | NeighborsLeaveOneOut | None:
    """Exact shortcut to leave-one-out fits of a model on these rows; None if there is none.

    The outputs are predictions of a regressor, `decision_function` of a RidgeClassifier, and class
    probabilities of nearest neighbours.
    """
    y = np.asarray(y)
    if issparse(X) or y.ndim != 1 or model.__class__ not in (*LINEAR, *NEAREST):
        return None
    X = check_array(X, dtype=np.float64)
    return _linear(model, X, y) if model.__class__ in LINEAR else _nearest(model, X, y)


def _linear(model: Any, X: Floats, y: NDArray[Any]) -> LinearLeaveOneOut | None:
    """Shortcut for a linear model; None where it would not be exact."""
    alpha = np.atleast_1d(np.asarray(getattr(model, "alpha", 0.0), dtype=np.float64))
    if getattr(model, "positive", False) or getattr(model, "class_weight", None) is not None:
        return None
    if isinstance(model, RidgeClassifier):
        y = LabelBinarizer(neg_label=-1).fit_transform(y)
    Y = y.reshape(len(y), -1).astype(np.float64)
    penalty = np.broadcast_to(alpha, Y.shape[1:])
    shortcut = LinearLeaveOneOut(X, Y, penalty, fit_intercept=model.fit_intercept)
    is_unique = bool((penalty > 0).all()) or shortcut.is_full_rank
    return shortcut if is_unique and (shortcut.leverage < FULL_LEVERAGE).all() else None


def _nearest(model: Any, X: Floats, y: NDArray[Any]) -> NeighborsLeaveOneOut | None:
    """Shortcut for a nearest-neighbour model; None where it would not be exact."""
    if model.n_neighbors >= len(X) or model.metric == "precomputed":
        return None
    Y = y[:, None] == np.unique(y) if is_classifier(model) else y[:, None]
    return NeighborsLeaveOneOut(clone(model).fit(X, y), Y.astype(np.float64))


def jackknife_variance(changes: Floats, n_rows: int) -> Floats:
    """Jackknife variance from the changes when single rows are left out, which are along the second axis.

    It is (n − 1)/n times the summed squared deviations from the mean change; rows that are not listed change
    the output by 0.
    """
    around = (changes**2).sum(axis=1) - changes.sum(axis=1) ** 2 / n_rows
    return np.asarray((n_rows - 1) / n_rows * np.maximum(around, 0.0))


class InfinitesimalJackknife:
    """Variance of a fitted forest's prediction over training sets, from its trees, without refits.

    With N how often each tree drew each row, the sum over rows of Cov(N, prediction)² estimates the variance.
    The bias of this sum due to the limited number of trees is subtracted. The Monte Carlo variance, by which
    another forest on the same rows would differ (the trees' variance over their number), is added.
    """

    def __init__(self, forest: Any) -> None:
        n_rows = int(forest._n_samples)  # noqa: SLF001 - number of rows that trees drew from
        counts = np.array(
            [np.bincount(drawn, minlength=n_rows) for drawn in forest.estimators_samples_],
            dtype=np.float64,
        )
        counts -= counts.mean(axis=0)
        self.n_trees = len(counts)
        # Σᵢ Cov(Nᵢ, t)² = tᵀ(NNᵀ)t / B²: the matrix is trees by trees, however many rows there are.
        self.products = counts @ counts.T

    def variance(self, answers: Floats) -> Floats:
        """Variance of the mean of the trees' predictions, given with shape (n, n_trees)."""
        around = answers - answers.mean(axis=1, keepdims=True)
        tree_variance = (around**2).mean(axis=1)
        raw = np.einsum("nb,bc,nc->n", around, self.products, around, optimize=True)
        by_chance = np.trace(self.products) * tree_variance
        from_rows = np.maximum(raw - by_chance, 0.0) / self.n_trees**2
        return np.asarray(from_rows + tree_variance / self.n_trees)


def infinitesimal_jackknife(model: Any) -> InfinitesimalJackknife | None:
    """Infinitesimal jackknife of a fitted forest; None for any other model, or if its trees did not draw rows."""
    if model.__class__ not in FORESTS or not model.bootstrap or len(model.estimators_) < 2:
        return None
    return InfinitesimalJackknife(model)


def tree_answers(model: Any, X: Any) -> Floats:
    """Class probabilities or predictions of each tree, shape (n, n_trees, n_outputs)."""
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    rows = model._validate_X_predict(X)  # noqa: SLF001 - rows in the form that the trees take
    answers = np.stack(
        [getattr(tree, method)(rows, check_input=False) for tree in model.estimators_], axis=1
    )
    return answers if answers.ndim == 3 else answers[:, :, None]
