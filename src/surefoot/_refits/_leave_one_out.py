"""Leave-one-out predictions without refits, for models where that is exact."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import check_array, check_consistent_length

from surefoot._sklearn_private import neighbor_weights
from surefoot._typing import Floats, Ints

# A row with a leverage this close to 1 determines a coefficient alone: without it the fit is not unique.
FULL_LEVERAGE = 1 - 1e-9


class LeaveOneOutModel(Protocol):
    """Outputs of the models fitted without one training row each, computed without refits."""

    n_rows: int

    def changes(self, X: Any) -> Floats:
        """Change of each output when a row is left out, shape (n, n_changing, n_outputs).

        The second axis may omit training rows that change nothing.
        """

    def held_out(self) -> Floats:
        """Outputs for each training row by the model fitted without it, shape (n_rows, n_outputs)."""


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
        self.leverage = self.share + self.left**2 @ shrunk
        self.fitted, self.residuals = fitted, Y - fitted

    @property
    def is_exact(self) -> bool:
        """Whether each leave-one-out fit has a unique solution."""
        return bool((self.leverage < FULL_LEVERAGE).all())

    def changes(self, X: Any) -> Floats:
        """Change of the outputs when each training row is left out."""
        along = (np.asarray(X, dtype=np.float64) - self.center) @ self.axes.T
        scaled = self.residuals / (1 - self.leverage)
        return np.stack(
            [
                -(self.share + (along * factors) @ self.left.T) * error
                for factors, error in zip(self.factors.T, scaled.T, strict=True)
            ],
            axis=2,
        )

    def held_out(self) -> Floats:
        """Outputs for each row by the model fitted without it."""
        return self.fitted - self.residuals * self.leverage / (1 - self.leverage)


class NeighborsLeaveOneOut:
    """Nearest-neighbour model: when one of the k is left out, the next nearest row takes its place."""

    def __init__(self, model: Any, Y: Floats) -> None:
        self.model, self.targets = model, Y
        self.n_rows = len(Y)

    def changes(self, X: Any) -> Floats:
        """Change of the outputs when each of the k neighbours is left out."""
        k = self.model.n_neighbors
        distances, near = self.model.kneighbors(X, n_neighbors=k + 1)
        full = self._vote(distances[:, :k], near[:, :k])
        places = np.arange(k + 1)
        return np.stack(
            [self._vote(distances[:, places != j], near[:, places != j]) - full for j in range(k)],
            axis=1,
        )

    def held_out(self) -> Floats:
        """Outputs for each row by its nearest other rows."""
        return self._vote(*self.model.kneighbors())

    def _vote(self, distances: Floats, near: Ints) -> Floats:
        """Weighted mean of the neighbours' targets."""
        weights = neighbor_weights(distances, self.model.weights)
        weights = np.ones_like(distances) if weights is None else weights
        total = np.einsum("nk,nkc->nc", weights, self.targets[near])
        return np.asarray(total / weights.sum(axis=1, keepdims=True))


def exact_leave_one_out(model: Any, X: Any, y: Any) -> LeaveOneOutModel | None:
    """Exact shortcut to leave-one-out fits of a model on these rows; None if there is none.

    The outputs are predictions of a regressor, `decision_function` of a RidgeClassifier, and class
    probabilities of nearest neighbours.
    """
    if issparse(X) or model.__class__ not in SHORTCUTS:
        return None
    X = check_array(X, dtype=np.float64)
    targets = np.asarray(y)
    if targets.ndim != 1:
        return None
    return SHORTCUTS[model.__class__](model, X, targets)


def _linear(model: Any, X: Floats, y: NDArray[Any]) -> LeaveOneOutModel | None:
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
    return shortcut if is_unique and shortcut.is_exact else None


def _neighbors(model: Any, X: Floats, y: NDArray[Any]) -> LeaveOneOutModel | None:
    """Shortcut for a nearest-neighbour model; None where it would not be exact."""
    if model.n_neighbors >= len(X) or model.metric == "precomputed":
        return None
    Y = y[:, None] == np.unique(y) if is_classifier(model) else y[:, None]
    return NeighborsLeaveOneOut(clone(model).fit(X, y), Y.astype(np.float64))


SHORTCUTS = {
    LinearRegression: _linear,
    Ridge: _linear,
    RidgeClassifier: _linear,
    KNeighborsClassifier: _neighbors,
    KNeighborsRegressor: _neighbors,
}


def leave_one_out_predict(
    estimator: Any, X: Any, y: Any, *, n_jobs: int | None = None
) -> NDArray[Any]:
    """Leave-one-out predictions: each row is predicted by a model fitted on all the others.

    `LinearRegression`, `Ridge` and `RidgeClassifier` (by the hat matrix), `KNeighborsClassifier` and
    `KNeighborsRegressor` (by one search) need no refits, and the predictions are exact. Any other model,
    and any pipeline, is fitted once for each row.

    Parameters
    ----------
    estimator : classifier or regressor
        The model.
    X : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows.
    y : array-like of shape (n_rows,)
        Targets.
    n_jobs : int, default=None
        Number of parallel fits, where models are fitted.

    Returns
    -------
    predictions : ndarray of shape (n_rows,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from surefoot.resampling import leave_one_out_predict
    >>> X, y = load_diabetes(return_X_y=True)
    >>> left_out = leave_one_out_predict(Ridge(0.1), X, y)
    >>> fitted = Ridge(0.1).fit(X, y).predict(X)
    >>> print(f"error {abs(y - left_out).mean():.1f}, not {abs(y - fitted).mean():.1f}")
    error 44.5, not 43.7
    """
    check_consistent_length(X, y)
    if len(np.asarray(y)) < 2:
        raise ValueError(
            "X and y have fewer than two rows: without one there is nothing to learn from."
        )
    shortcut = exact_leave_one_out(estimator, X, y)
    if shortcut is None:
        return np.asarray(cross_val_predict(estimator, X, y, cv=LeaveOneOut(), n_jobs=n_jobs))
    outputs = shortcut.held_out()
    if not is_classifier(estimator):
        return outputs[:, 0]
    classes = np.unique(np.asarray(y))
    best = (outputs[:, 0] > 0).astype(int) if outputs.shape[1] == 1 else outputs.argmax(axis=1)
    return np.asarray(classes[best])


def jackknife_variance(changes: Floats, n_rows: int) -> Floats:
    """Jackknife variance from the changes when single rows are left out, which are along the second axis.

    It is (n − 1)/n times the summed squared deviations from the mean change; rows that are not listed change
    the output by 0.
    """
    around = (changes**2).sum(axis=1) - changes.sum(axis=1) ** 2 / n_rows
    return np.asarray((n_rows - 1) / n_rows * np.maximum(around, 0.0))
