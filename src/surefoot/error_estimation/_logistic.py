"""What logistic regressions of errors share: labels of right and wrong, folds, and probabilities from log-odds."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._typing import Floats

# Penalty of the intercept, towards its prior: almost none, since every row informs it.
LEVEL = 1e-2

FOLDS = 5


class ErrorLogisticRegression(ClassifierMixin, BaseEstimator):
    """Base of logistic regressions that estimate the probability of an error."""

    classes_: NDArray[Any]
    random_state: Any

    @abstractmethod
    def _log_odds(self, X: Floats) -> Floats:
        """Log-odds of being wrong."""

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of being right and of being wrong."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        wrong = expit(self._log_odds(X))
        return np.column_stack([1 - wrong, wrong])

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the second of `classes_` if the prediction is more likely wrong than right."""
        wrong = self.predict_proba(X)[:, 1] > 0.5
        return np.asarray(self.classes_[wrong.astype(np.int64)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _folds(self, y: Any, weight: Floats, groups: Any) -> Any:
        """Folds of the rows, groups kept together; the rows themselves if there are too few errors to divide."""
        if min(np.count_nonzero(weight[y == 1]), np.count_nonzero(weight[y == 0])) < 2:
            every = np.arange(len(y))
            return [(every, every)]
        if groups is not None and len(np.unique(groups)) > 1:
            return GroupKFold(min(FOLDS, len(np.unique(groups)))).split(y, groups=groups)
        rarest = min(int(y.sum()), int(len(y) - y.sum()))
        folds = StratifiedKFold(min(FOLDS, rarest), shuffle=True, random_state=self.random_state)
        return folds.split(y, y)


def two_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Classes 0 and 1, of which one may be missing in y, or the two labels of y; raises for any other y."""
    check_classification_targets(y)
    labels = np.unique(y)
    if np.isin(labels, [0, 1]).all():
        return np.array([0, 1])
    if len(labels) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}."
        )
    if len(labels) < 2:
        raise ValueError(f"y has one class only, {labels[0]!r}: it may hold 0 and 1.")
    return labels
