"""Checked input of the metrics: one number a row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight

Floats = NDArray[np.float64]


def check_vector(values: Any, name: str) -> Floats:
    """Finite numbers, one a row."""
    vector = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise ValueError(f"{name} has shape {vector.shape}: it may be one number a row.")
    return vector


def check_binary(values: Any, name: str) -> Floats:
    """Zeros and ones, one a row."""
    vector = check_vector(values, name)
    check_zeros_and_ones(vector, name)
    return vector


def check_zeros_and_ones(values: Floats, name: str) -> None:
    """Raise one sentence if there is any other value than 0 and 1."""
    if not np.isin(values, (0.0, 1.0)).all():
        raise ValueError(f"{name} has other values than 0 and 1, which are all it may have.")


def check_weights(sample_weight: Any, vector: Floats) -> Floats:
    """Weights of the rows, none below 0 and not all 0; by default they are 1."""
    return _check_sample_weight(sample_weight, vector, dtype=np.float64, ensure_non_negative=True)


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Weighted mean, which may be infinite; rows without weight are left out."""
    counted = weights > 0
    return float(np.average(values[counted], weights=weights[counted]))
