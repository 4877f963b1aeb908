"""Weak learners of boosting, all fitted to one table with different weights.

A learner is over class codes 0, 1, ...; it predicts them (`codes`), the probability of the second class
(`positive_share`), and the number of each row's region, its leaf or its predicted class (`regions`).
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from surefoot._kernels import (
    many_class_split,
    presort_columns,
    side_weights,
    two_class_error_split,
    two_class_gini_split,
)
from surefoot._models import fit_model
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints


class Stump(NamedTuple):
    """A split of one column, with the weight of each class on either side.

    Attributes
    ----------
    column : int
        Position of the column.
    threshold : float
        Rows with at most this value are on the left.
    weights : ndarray of shape (2, n_classes)
        Weight of each class on the left and on the right.
    """

    column: int
    threshold: float
    weights: Floats

    def regions(self, X: Floats) -> Ints:
        """Side of each row: 0 for the left, 1 for the right."""
        return (X[:, self.column] > self.threshold).astype(np.int64)

    def codes(self, X: Floats) -> Ints:
        """Class with the most weight on each row's side."""
        shares = self.weights / self.weights.sum(axis=1, keepdims=True)
        heaviest = shares.round(12).argmax(axis=1)  # rounded: a tie goes to the first class
        return heaviest[self.regions(X)]

    def positive_share(self, X: Floats) -> Floats:
        """Share of the second class on each row's side."""
        return (self.weights[:, 1] / self.weights.sum(axis=1))[self.regions(X)]


class StumpFactory:
    """Factory of stumps; the columns are sorted once, for all weights."""

    def __init__(self, X: Floats, n_classes: int, criterion: str) -> None:
        self.X = np.asfortranarray(X)  # a stump reads one column
        self.n_classes, self.by_error = n_classes, criterion == "error"
        self.order, self.cuts = presort_columns(np.ascontiguousarray(self.X.T))

    def fit(self, codes: Ints, weights: Floats, random: Any) -> Stump:
        """Fit the stump with the lowest weighted impurity or error; without a split if none helps."""
        column, place = self._best_split(codes, weights)
        if column < 0:
            column, threshold = 0, np.inf
        else:
            low, high = self.X[self.order[column, place : place + 2].astype(np.int64), column]
            middle = low + (high - low) / 2
            threshold = float(middle if middle < high else low)
        table = side_weights(self.X[:, column], threshold, codes, weights, self.n_classes)
        if not table[1].any():  # no row is on the right: predict there as on the left
            table[1] = table[0]
        return Stump(int(column), threshold, table)

    def fit_drawn(self, codes: Ints, drawn: Ints, random: Any) -> Stump:
        """Fit a stump with weights proportional to how often each row was drawn."""
        return self.fit(codes, np.bincount(drawn, minlength=len(codes)) / len(drawn), random)

    def _best_split(self, codes: Ints, weights: Floats) -> tuple[int, int]:
        if self.n_classes > 2:
            return many_class_split(
                self.order, self.cuts, codes, weights, self.n_classes, self.by_error
            )
        split = two_class_error_split if self.by_error else two_class_gini_split
        return split(self.order, self.cuts, weights * (2.0 * codes - 1.0))


class ModelLearner:
    """A fitted scikit-learn model as a weak learner."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def codes(self, X: Any) -> Ints:
        """Predicted class codes."""
        return np.asarray(self.model.predict(X), dtype=np.int64)

    def positive_share(self, X: Any) -> Floats:
        """Estimated probability of the second class; a regressor's output is mapped from [−1, 1] to [0, 1]."""
        if is_regressor(self.model):
            return (np.asarray(self.model.predict(X), dtype=np.float64) + 1) / 2
        probabilities = self.model.predict_proba(X)
        shares = np.zeros((len(probabilities), 2))  # the drawn rows may lack a class
        shares[:, self.model.classes_] = probabilities
        return shares[:, 1]

    def regions(self, X: Any) -> Ints:
        """Leaves of a tree, else the predicted class."""
        if hasattr(self.model, "apply") and hasattr(self.model, "tree_"):
            return np.asarray(self.model.apply(X), dtype=np.int64)
        return self.codes(X)


class ModelFactory:
    """Factory of weak learners that are clones of a scikit-learn model."""

    def __init__(self, X: Any, estimator: Any) -> None:
        self.X, self.estimator = X, estimator

    def fit(self, codes: Ints, weights: Floats, random: Any) -> ModelLearner:
        """Fit to rows whose weights are 1 on average, as most learners expect."""
        return self._fitted(self.X, codes, weights * len(weights), random)

    def fit_drawn(self, codes: Ints, drawn: Ints, random: Any) -> ModelLearner:
        """Fit to the drawn rows."""
        return self._fitted(take_rows(self.X, drawn), codes[drawn], None, random)

    def _fitted(self, X: Any, codes: Ints, weights: Floats | None, random: Any) -> ModelLearner:
        model = clone_with_drawn_seeds(self.estimator, random)
        target = 2.0 * codes - 1.0 if is_regressor(model) else codes
        return ModelLearner(fit_model(model, X, target, weights))


WeakLearner = Stump | ModelLearner
LearnerFactory = StumpFactory | ModelFactory


def takes_weights(estimator: Any) -> bool:
    """True if a model, or the last step of a pipeline, can be fitted with `sample_weight`."""
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return bool(has_fit_parameter(estimator, "sample_weight"))


def clone_with_drawn_seeds(estimator: Any, random: Any) -> Any:
    """Clone of a model, and a new seed for each `random_state` in it."""
    seeded = [n for n in estimator.get_params() if n.split("__")[-1] == "random_state"]
    seeds = {name: random.randint(np.iinfo(np.int32).max) for name in seeded}
    return clone(estimator).set_params(**seeds)
