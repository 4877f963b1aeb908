"""Checks of rows, targets and classes that all actions share, and predictions by chosen models.

The values of a row are checked by the model itself.
"""

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
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_class_labels

# Up to so many different numbers may be classes, however few rows there are.
MANY_VALUES = 20


def check_training_rows(
    action: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool = True
) -> tuple[Any, NDArray[Any], Floats | None]:
    """Rows as a table, targets and weights as arrays; the column names are stored on the action, or compared."""
    validate_data(action, X, y, reset=reset, skip_check_array=True)
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


def ask_chosen(models: list[Any], choice: Ints, method: str, X: Any) -> NDArray[Any]:
    """Output of `method` for each row, by the model that is chosen for that row.

    `choice` holds positions in `models`. A model that is chosen for no row is not called.
    """
    rows_of_models = [np.flatnonzero(choice == number) for number in range(len(models))]
    outputs = [
        getattr(model, method)(take_rows(X, rows))
        for model, rows in zip(models, rows_of_models, strict=True)
        if rows.size
    ]
    return np.concatenate(outputs)[np.argsort(np.concatenate(rows_of_models), kind="stable")]


def check_same_rows(parts: list[Ints]) -> None:
    """Raise a ValueError unless the same rows were held out for all models."""
    if not all(np.array_equal(rows, parts[0]) for rows in parts):
        raise ValueError(
            "Other rows were held out for one model than for another: all must have the same cv."
        )


def common_classes(models: list[Any]) -> NDArray[Any]:
    """Classes that all models know; raises if a model knows others."""
    classes = models[0].classes_
    for model in models:
        if not np.array_equal(model.classes_, classes):
            raise ValueError(
                f"estimators know different classes, {classes.tolist()} and {model.classes_.tolist()}: "
                "they must know the same."
            )
    return classes
