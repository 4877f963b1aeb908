"""Checks of arguments, rows and targets that more than one package makes.

The values of a row are checked by the model itself.
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, isnan, log2
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, check_scalar
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from surefoot._sklearn_private import check_sample_weight
from surefoot._tables import (
    as_table,
    check_is_array,
    in_form,
    missing_mask,
)
from surefoot._typing import Floats, Ints
from surefoot._words import listed, plural

# Up to so many different numbers may be classes, however few rows there are.
MANY_VALUES = 20

# Name of a metric, function of two rows, or a neighbour search of the user's own, not yet fitted.
Metric = str | Callable[[Any, Any], float] | Any

# Metrics that allow points between two rows, by all their names; p of "minkowski" is 2.
METRICS = {
    **{name: name for name in ("braycurtis", "canberra", "chebyshev", "correlation", "cosine")},
    **dict.fromkeys(("euclidean", "l2", "minkowski"), "euclidean"),
    **dict.fromkeys(("cityblock", "l1", "manhattan"), "cityblock"),
    "sqeuclidean": "sqeuclidean",
}


def check_number(value: Any, name: str, **bounds: Any) -> float:
    """Number within the bounds of `check_scalar`; one sentence for any other, NaN and truth values among them."""
    if isinstance(value, bool) or (isinstance(value, float) and isnan(value)):
        raise ValueError(f"{name} == {value}, must be a number.")
    return float(check_scalar(value, name, Real, **bounds))


def check_share(value: Any, name: str) -> None:
    """Raise one sentence unless `value` is a number above 0 and below 1."""
    check_number(value, name, min_val=0, max_val=1, include_boundaries="neither")


def risks_by_class(max_risk: Any) -> dict[Any, float]:
    """Limits by class, with None for all answered rows; a number is the limit for all rows."""
    return dict(max_risk) if isinstance(max_risk, Mapping) else {None: max_risk}


def check_class_risks(max_risk: Any, classes: Any = None, most: float = np.inf) -> dict[Any, float]:
    """Limits by class; raise an error for one that is no number above 0 and below `most`, or of an unknown class."""
    risks = risks_by_class(max_risk)
    known = None if classes is None else np.asarray(classes).tolist()
    unknown = [label for label in risks if known is not None and label not in {None, *known}]
    if unknown:
        those = f"the classes are {listed(known)}" if known else "a regressor has no classes"
        raise ValueError(f"max_risk limits the risk of {listed(unknown)}, and {those}.")
    bounds = {"min_val": 0, "max_val": most, "include_boundaries": "neither"}
    return {
        label: check_number(risk, "max_risk" if label is None else f"max_risk[{label!r}]", **bounds)
        for label, risk in risks.items()
    }


def check_option(value: Any, name: str, options: Sequence[str], other: str = "") -> None:
    """Raise a ValueError unless `value` is one of the options.

    The message names the parameter and the allowed values; `other` describes further values that the caller
    accepts, in words.
    """
    if not (isinstance(value, str) and value in options):
        allowed = ", ".join(repr(option) for option in options) + (f" or {other}" if other else "")
        raise ValueError(f"{name}={value!r} is not known: it may be {allowed}.")


def check_vector(values: Any, name: str) -> Floats:
    """Vector of finite numbers, one per row; a table of one column becomes a vector."""
    vector = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise ValueError(f"{name} has shape {vector.shape}: it may be one number a row.")
    return vector


def check_binary(values: Any, name: str) -> Floats:
    """Vector of zeros and ones, one per row."""
    vector = check_vector(values, name)
    check_zeros_and_ones(vector, name)
    return vector


def check_zeros_and_ones(values: Floats, name: str) -> None:
    """Raise a ValueError if there is any other value than 0 and 1."""
    if not np.isin(values, (0.0, 1.0)).all():
        raise ValueError(f"{name} has other values than 0 and 1, which are all it may have.")


def check_class_labels(y: Any) -> None:
    """Raise one sentence unless the targets are classes, as a classifier needs them."""
    kind = type_of_target(y, input_name="y")
    if kind.startswith("continuous"):
        fraction = next(value for value in np.ravel(np.asarray(y, dtype=float)) if value % 1)
        raise ValueError(
            f"Unknown label type: y holds continuous numbers such as {fraction:g}, and a classifier predicts "
            "classes: fit a regressor instead, or divide y into classes first."
        )
    if kind == "unknown":
        check_classification_targets(y)  # says what it may be


def check_weights(sample_weight: Any, vector: Floats) -> Floats:
    """Weights of the rows, none below 0 and not all 0; all are 1 if `sample_weight` is None."""
    return check_sample_weight(sample_weight, vector, dtype=np.float64, ensure_non_negative=True)


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Weighted mean, which may be infinite; rows of weight 0 are left out, whatever their value."""
    counted = weights > 0
    return float(np.average(values[counted], weights=weights[counted]))


def check_training_rows(
    action: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool = True
) -> tuple[Any, NDArray[Any], Floats | None]:
    """Rows as a table, targets and weights as arrays; the column names are stored on the action, or compared.

    Rows and targets are copies: what is kept of them stays as it is when the caller changes the originals in place.
    Weights that are all equal, or 0, count as 1 and 0: they change nothing.
    """
    X = as_table(X, copy=True)
    validate_data(action, X, y, reset=reset, skip_check_array=True)
    y = np.array(check_target(y))
    check_consistent_length(X, y)
    if len(y) == 0:
        raise ValueError("X and y have no rows: a minimum of two is required.")
    assert_all_finite(y, input_name="y")
    if sample_weight is not None:
        weight = check_weights(sample_weight, y)
        highest = weight.max()
        sample_weight = weight / highest if np.isin(weight, (0, highest)).all() else weight
    return X, y, sample_weight


def check_target(y: Any) -> NDArray[Any]:
    """Targets as a vector; one sentence for missing ones, and for strings among numbers."""
    check_is_array(y, "y")
    if y is not None and getattr(getattr(y, "dtype", None), "kind", "O") == "O":
        objects = np.asarray(y, dtype=object).ravel()
        if (missing := missing_mask(objects)).any():
            raise ValueError(
                f"Input y contains NaN or None in {plural(int(missing.sum()), 'row')}, first in row "
                f"{missing.argmax()}: leave out the rows without a target."
            )
        examples = {isinstance(value, str): value for value in objects}
        if len(examples) > 1:
            raise ValueError(
                f"y has strings, such as {examples[True]!r}, and other values, such as {examples[False]!r}: make them "
                "all strings, or all numbers."
            )
    return np.asarray(column_or_1d(y, warn=True))


def check_rows(action: Any, X: Any) -> Any:
    """New rows as a table; raises if the action is not fitted or was fitted on other columns."""
    check_is_fitted(action)
    X = as_table(in_form(X, getattr(action, "input_form_", {})))
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


def log_n_neighbors(n: int) -> int:
    """Number of neighbours for `n` training rows, 2⌈log2 n⌉ + 1 (Bennett 2007, section 4.1).

    Examples
    --------
    >>> log_n_neighbors(200)
    17
    """
    return 2 * ceil(log2(n)) + 1


def resolve_n_neighbors(n_neighbors: int | str, n_rows: int) -> int:
    """Number of neighbours that `n_neighbors`, an int or "log", means for `n_rows` training rows."""
    if isinstance(n_neighbors, str):
        check_option(n_neighbors, "n_neighbors", ["log"], other="a positive int")
        return log_n_neighbors(n_rows)
    return int(check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1))


def canonical_metric(metric: Metric) -> Metric:
    """Canonical name of a metric; raises if it is unknown. Functions and searches are returned as they are."""
    if callable(metric) or hasattr(metric, "kneighbors"):
        return metric
    if metric not in METRICS:
        names = ", ".join(sorted(METRICS))
        raise ValueError(
            f"metric={metric!r} is not known: it may be a function of two rows, a neighbour search with fit and "
            f"kneighbors, or one of {names}."
        )
    return METRICS[metric]


def check_neighbor_metric(metric: Metric) -> None:
    """Raise an error unless neighbours can be searched by this metric: "auto", a metric between rows or a search."""
    if not (isinstance(metric, str) and metric == "auto"):
        canonical_metric(metric)
