"""Platt's logistic recalibration on any number of columns (Platt 1999; Bennett 2007, equation 3)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from surefoot._models import smoothed_targets
from surefoot._typing import Floats, Ints

# Inverse of the penalty, which must have no effect even on kernel votes, whose scores can be as small as 1e-9.
NEGLIGIBLE_PENALTY = 1e8


class PlattCalibrator(ClassifierMixin, BaseEstimator):
    """Logistic regression of a 0/1 target on standardised columns, with Platt's smoothed targets.

    The target of each of the N₊ positive rows is (N₊+1)/(N₊+2), that of each of the N₋ negative rows 1/(N₋+2):
    the solution stays finite even where the columns separate the classes.
    """

    def fit(self, X: Floats, y: Ints, sample_weight: Floats | None = None) -> Self:
        """Fit on out-of-fold columns."""
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        self.classes_ = np.array([0, 1])
        self.scaler_ = StandardScaler().set_output(transform="default").fit(X, sample_weight=weight)
        positive = smoothed_targets(y, weight)
        # A target between 0 and 1 becomes two rows, one of either label, with its share of the weight.
        self.logistic_ = LogisticRegression(C=NEGLIGIBLE_PENALTY, solver="newton-cholesky").fit(
            np.tile(self.scaler_.transform(X), (2, 1)),
            np.repeat([1, 0], len(y)),
            sample_weight=np.concatenate([positive * weight, (1 - positive) * weight]),
        )
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities of 0 and 1."""
        return self.logistic_.predict_proba(self.scaler_.transform(X))


def class_targets(codes: Ints, n_classes: int) -> list[NDArray[Any]]:
    """0/1 targets of the calibrators: of the positive class for two classes, else of each class."""
    calibrated = [1] if n_classes == 2 else range(n_classes)
    return [(codes == c).astype(np.int64) for c in calibrated]


def as_probabilities(positive: Floats) -> Floats:
    """Probabilities of all classes, which sum to 1, from the calibrators' outputs of shape (n, 1 or n_classes)."""
    if positive.shape[1] == 1:
        return np.hstack([1 - positive, positive])
    total = positive.sum(axis=1, keepdims=True)
    even = np.full_like(positive, 1 / positive.shape[1])
    return np.divide(positive, total, out=even, where=total > 0)
