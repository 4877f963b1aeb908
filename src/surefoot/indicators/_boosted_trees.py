"""Boosted symmetric trees: a quick classifier, and the plain arrays that it consists of."""

from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._kernels import boost_symmetric_trees
from surefoot._sklearn_private import check_sample_weight
from surefoot._typing import Floats, Ints

N_BINS = 32
DEPTH = 5
# Step of each round, and curvature added to each leaf, about that of four rows that are even odds.
RATE = 0.15
PENALTY = 1.0
# Most columns that a level of a tree chooses from, and most rows times outputs that a tree learns from: of more, some
# are drawn for each (stochastic gradient boosting, Friedman 2002), so that the cost hardly grows with the table.
MOST_COLUMNS = 16
MOST_VALUES = 8_000
LEAST_ROWS = 1_000
# Most rows that the bins of the columns are taken from.
MOST_BINNED = 10_000


class BoostedTrees(ClassifierMixin, BaseEstimator):
    """Classifier by boosted symmetric trees (oblivious trees, as in CatBoost), a fraction of a second to fit.

    Parameters
    ----------
    n_rounds : int, default=60
        Number of trees.
    random_state : int, RandomState or None, default=None
        Seed of the rows and columns that each tree learns from, where there are many.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    columns_, thresholds_ : ndarray of shape (n_rounds, depth)
        Split of each level: rows with a value above the threshold go to the upper half. Column -1 splits none.
    leaves_ : ndarray of shape (n_rounds, 2 ** depth, n_outputs)
        Values that each tree adds to the log-odds, or to the outputs of a softmax.
    start_ : ndarray of shape (n_outputs,)
        Outputs before the first tree.
    """

    def __init__(self, n_rounds: int = 60, *, random_state: Any = None) -> None:
        self.n_rounds = n_rounds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the trees on complete rows of numbers."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class only: there is nothing to learn.")
        targets = np.eye(len(self.classes_))[codes]
        shares = np.clip(weight @ targets / weight.sum(), 1e-12, 1)
        if len(self.classes_) == 2:
            targets, self.start_ = targets[:, 1:], logit(shares[1:])
        else:
            self.start_ = np.log(shares)
        random = check_random_state(self.random_state)
        binned = X[_draws(random, (), len(X), MOST_BINNED)]
        edges = [bin_edges(column) for column in binned.T]
        bins = np.array(
            [np.searchsorted(cut, column) for cut, column in zip(edges, X.T, strict=True)],
            dtype=np.uint8,
        )
        n_drawn = max(LEAST_ROWS, MOST_VALUES // targets.shape[1])
        drawn = _draws(random, (self.n_rounds,), len(X), n_drawn)
        considered = _draws(random, (self.n_rounds, DEPTH), X.shape[1], MOST_COLUMNS)
        self.columns_, cuts, self.leaves_ = boost_symmetric_trees(
            bins, targets, weight, self.start_, drawn, considered, N_BINS, RATE, PENALTY
        )
        self.thresholds_ = _thresholds(self.columns_, cuts, edges)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        outputs = self.start_ + sum_of_leaves(X, self.columns_, self.thresholds_, self.leaves_)
        if outputs.shape[1] > 1:
            return np.asarray(softmax(outputs, axis=1))
        positive = expit(outputs[:, 0])
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _draws(random: np.random.RandomState, shape: tuple[int, ...], n: int, most: int) -> Ints:
    """Numbers below n, ascending and different, for each place of a shape: all, or `most` drawn evenly."""
    if n <= most:
        return np.broadcast_to(np.arange(n), (*shape, n)).copy()
    draws = [random.choice(n, most, replace=False) for _ in range(prod(shape))]
    return np.sort(np.reshape(draws, (*shape, most)), axis=-1)


def sum_of_leaves(rows: Floats, columns: Ints, thresholds: Floats, leaves: Floats) -> Floats:
    """Sum over the trees of the values of each row's leaf, (n_rows, n_outputs)."""
    outputs = np.zeros((len(rows), leaves.shape[2]))
    by_column = np.ascontiguousarray(rows.T)
    for splits, limits, values in zip(columns, thresholds, leaves, strict=True):
        leaf = np.zeros(len(rows), dtype=np.int64)
        for column, limit in zip(splits, limits, strict=True):
            leaf *= 2
            if column >= 0:
                leaf += by_column[column] > limit
        outputs += values[leaf]
    return outputs


def bin_edges(column: Floats) -> Floats:
    """Thresholds between the bins of a column, at most 31: half way between two values, near quantiles of many."""
    values = np.unique(column)
    below = np.arange(len(values) - 1)
    if len(values) > N_BINS:
        shares = np.arange(1, N_BINS) / N_BINS
        quantiles = np.quantile(column, shares, method="lower")
        below = np.unique(np.searchsorted(values[:-1], quantiles[quantiles < values[-1]]))
    return values[below] / 2 + values[below + 1] / 2  # halves first: their sum is never too large


def _thresholds(columns: Ints, cuts: Ints, edges: list[Floats]) -> Floats:
    """Values of the splits: the upper edge of the bin that a split is at; the last bin has none."""
    limits = [np.append(edge, np.inf) for edge in edges]
    flat = [
        limits[column][cut] if column >= 0 else np.inf
        for column, cut in zip(columns.ravel(), cuts.ravel(), strict=True)
    ]
    return np.reshape(flat, columns.shape)
