"""Neighbour search and labels of the training series, for classifiers of series."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_array, column_or_1d

from surefoot._typing import Ints
from surefoot._validation import check_class_labels
from surefoot.neighborhoods import DTWNeighbors


def encode_labels(estimator: Any, y: Any) -> tuple[NDArray[Any], Ints]:
    """Classes in order, and the position of each label among them; raise an error for invalid labels."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    labels = column_or_1d(y, warn=True)
    check_array(labels, ensure_2d=False, dtype=None, input_name="y")
    check_class_labels(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64)


def fit_neighbors(estimator: Any, X: Any, n_labels: int) -> Any:
    """Neighbour search fitted to X: a clone of the estimator's `neighbors`, or `DTWNeighbors` with its settings."""
    if estimator.neighbors is None:
        search = DTWNeighbors(window=estimator.window, n_jobs=estimator.n_jobs)
    else:
        search = clone(estimator.neighbors)
    search.fit(X)
    if search.n_samples_fit_ != n_labels:
        raise ValueError(
            f"X has {search.n_samples_fit_} series and y has {n_labels} labels: "
            "they must be as many."
        )
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(search, name):
            setattr(estimator, name, getattr(search, name))
        else:
            vars(estimator).pop(name, None)  # of an earlier fit
    return search
