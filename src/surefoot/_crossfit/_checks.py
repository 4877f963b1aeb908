"""Checks of rows and targets that all actions share; the values of a row are checked by the model itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from surefoot._sklearn_private import check_sample_weight
from surefoot._tables import as_table
from surefoot._typing import Floats
from surefoot._validation import check_class_labels

# Up to so many different numbers may be classes, however few rows there are.
MANY_VALUES = 20


def check_training_rows(
    action: Any, X: Any, y: Any, sample_weight: Any = None
) -> tuple[Any, NDArray[Any], Floats | None]:
    """Rows as a table, targets and weights as arrays; the column names are stored on the action."""
    validate_data(action, X, y, skip_check_array=True)
    X, y = as_table(X), column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if len(y) == 0:
        raise ValueError("X and y have no rows: a minimum of two is required.")
    assert_all_finite(y, input_name="y")
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, y, dtype=np.float64, ensure_non_negative=True
        )
    return X, y, sample_weight


def check_rows(action: Any, X: Any) -> Any:
    """New rows as a table; raises if the action is not fitted or was fitted on other columns."""
    check_is_fitted(action)
    X = as_table(X)
    validate_data(action, X, reset=False, skip_check_array=True)
    return X


def known_classes(estimator: Any, y: NDArray[Any]) -> NDArray[Any]:
    """Classes in y, or those of a frozen model; raises if a class in y is unknown to a frozen model."""
    frozen = isinstance(estimator, FrozenEstimator)
    if not frozen:
        check_are_no_amounts(y)
    check_class_labels(y)
    if not frozen:
        return np.unique(y)
    check_is_fitted(estimator.estimator)
    known = np.asarray(estimator.classes_)
    if unknown := sorted(set(y.tolist()) - set(known.tolist())):
        raise ValueError(f"y has class {unknown[0]!r}, which the frozen estimator does not know.")
    return known


def check_are_no_amounts(y: NDArray[Any]) -> None:
    """Raise a ValueError if y holds whole numbers, and a different one in most rows: amounts, no classes."""
    if y.dtype.kind not in "iuf" or np.any(y % 1):
        return
    n_values = len(np.unique(y))
    if n_values > max(MANY_VALUES, len(y) / 2):
        raise ValueError(
            f"y holds {n_values:,} different numbers in {len(y):,} rows, too many for classes: fit a regressor "
            "instead, or divide y into classes first."
        )
