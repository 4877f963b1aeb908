"""Locally weighted learning, a regressor that scikit-learn lacks."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_scalar, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._typing import Floats, Mask

# Rows predicted at a time, which bounds the memory.
BATCH_SIZE = 256
# Share of the weight below which a side of a stump counts as empty.
TRACE = 1e-9


class LocallyWeightedRegressor(RegressorMixin, BaseEstimator):
    """Regressor that fits a decision stump for every row it predicts, to the rows around it.

    A training row's weight falls linearly with its distance, from 1 at the row to predict to almost
    nothing at the farthest neighbour (locally weighted learning, Atkeson, Moore and Schaal 1997, as
    WEKA's `LWL` does it by default). Columns should be on one scale.

    Parameters
    ----------
    n_neighbors : int, default=None
        Training rows that have a weight; None means all.
    n_cuts : int, default=32
        Quantiles of each column at which a stump may cut.

    Examples
    --------
    >>> X, y = [[0], [1], [2], [10], [11], [12]], [0, 0, 6, 9, 9, 9]
    >>> LocallyWeightedRegressor(n_neighbors=3).fit(X, y).predict([[0.5], [11.0]]).round(2)
    array([0., 9.])
    """

    def __init__(self, n_neighbors: int | None = None, *, n_cuts: int = 32) -> None:
        self.n_neighbors = n_neighbors
        self.n_cuts = n_cuts

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows, and note on which side of each cut they are."""
        if self.n_neighbors is not None:
            check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        check_scalar(self.n_cuts, "n_cuts", Integral, min_val=1)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.cuts_ = np.quantile(X, np.arange(1, self.n_cuts + 1) / (self.n_cuts + 1), axis=0)
        self.offset_ = float(y.mean())  # sums of small numbers lose fewer digits
        self._X_fit, self._y_fit = X, y - self.offset_
        self._below = below_cuts(X, self.cuts_).astype(np.float64)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        predicted = np.empty(len(X))
        for batch in gen_batches(len(X), BATCH_SIZE):
            weights = linear_weights(euclidean_distances(X[batch], self._X_fit), self.n_neighbors)
            asked = below_cuts(X[batch], self.cuts_)
            predicted[batch] = stump_predictions(weights, self._y_fit, self._below, asked)
        return predicted + self.offset_


def below_cuts(X: Floats, cuts: Floats) -> Mask:
    """Whether each row is at or below each cut through each column, shape (rows, all cuts)."""
    return (X[:, None, :] <= cuts).reshape(len(X), -1)


def linear_weights(distances: Floats, n_neighbors: int | None) -> Floats:
    """Weights from 1 at no distance to almost 0 at the last neighbour's, and 0 beyond."""
    n_rows = distances.shape[1]
    last = n_rows - 1 if n_neighbors is None else min(n_neighbors, n_rows) - 1
    reach = np.partition(distances, last, axis=1)[:, [last]]
    # The last neighbour keeps a trace of weight, lest a single one have none.
    return np.maximum(1.0001 - distances / np.where(reach > 0, reach, 1), 0)


def stump_predictions(weights: Floats, y: Floats, below: Floats, asked: Mask) -> Floats:
    """For each row of weights, the answer of the stump with the least weighted squared error.

    `below` says which training rows are below which cut, `asked` which rows to predict are. The
    error is least where the sum of m² / w over a stump's two sides is greatest, with w the weight
    of a side and m the weighted sum of its targets.
    """
    weight, moment = weights.sum(axis=1, keepdims=True), (weights @ y)[:, None]
    left, left_moment = weights @ below, (weights * y) @ below
    right, right_moment = weight - left, moment - left_moment
    empty = np.minimum(left, right) < TRACE * weight
    left, right = np.where(empty, 1, left), np.where(empty, 1, right)
    scores = np.where(empty, -np.inf, left_moment**2 / left + right_moment**2 / right)
    best = scores.argmax(axis=1)[:, None]
    answer = np.where(asked, left_moment / left, right_moment / right)
    answer = np.where(empty, moment / weight, answer)  # every side of every cut may be empty
    return np.take_along_axis(answer, best, axis=1)[:, 0]
