"""Fitting and asking a user's model: checked, cloned, with weights where it takes them."""

import re
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats

# Columns up to which regression trees try all of them at each split.
FEW_COLUMNS = 24


def check_model(estimator: Any) -> None:
    """Raise a TypeError unless this is an instance with a method `fit`."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(
            f"estimator={estimator!r} is no model: it may be a scikit-learn classifier or regressor, "
            "or a fitted one in FrozenEstimator."
        )


def fit_model(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a clone of the model and return it; a `FrozenEstimator` is returned as it is.

    Weights go to the model itself, or to the last step of a pipeline.
    """
    check_model(estimator)
    if isinstance(estimator, FrozenEstimator):
        check_is_fitted(estimator.estimator)
        return estimator
    model = clone_model(estimator)
    if sample_weight is None:
        return model.fit(X, y)
    name = weight_parameter(model)
    return model.fit(X, y, **{name: sample_weight})


def clone_model(estimator: Any) -> Any:
    """Unfitted copy of a model; one sentence if scikit-learn cannot make it, as of CatBoost with a list."""
    try:
        return clone(estimator)
    except (
        RuntimeError
    ) as error:  # scikit-learn's, which names the model and the parameter at any depth
        changed = re.search(
            r"Cannot clone object '?(\w+).* parameter (\w+)$", str(error), re.DOTALL
        )
        if changed is None:
            raise
        model, parameter = changed.groups()
        raise ValueError(
            f"scikit-learn cannot clone {model}, which does not keep {parameter} as it was given: "
            f"pass {parameter} as a tuple if it is a list, or pass a fitted model in FrozenEstimator."
        ) from error


def predict_labels(model: Any, X: Any) -> NDArray[Any]:
    """Predictions, one a row; CatBoost gives those of three classes or more as a column."""
    predictions = np.asarray(model.predict(X))
    is_column = predictions.ndim == 2 and predictions.shape[1] == 1
    return predictions[:, 0] if is_column else predictions


def clone_with_seed(estimator: Any, random_state: Any) -> Any:
    """Clone whose own `random_state`, where that is None, is that of the estimator around it."""
    model = clone_model(estimator)
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=random_state)
    return model


def weight_parameter(model: Any) -> str:
    """Name of the parameter of `model.fit` that takes weights; raises if there is none.

    In a pipeline it is that of the last step, in a search that of the model. With metadata routing enabled
    both take `sample_weight` and route it themselves.
    """
    routed = get_config()["enable_metadata_routing"]
    if isinstance(model, Pipeline) and not routed:
        name, last = model.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    if isinstance(model, (GridSearchCV, RandomizedSearchCV)) and not routed:
        return weight_parameter(model.estimator)
    parameters = signature(model.fit).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if "sample_weight" not in parameters and not takes_any:
        raise ValueError(f"sample_weight was given, but {model!r} takes none.")
    return "sample_weight"


def smoothed_targets(y: Any, weight: Floats) -> Floats:
    """Targets of Platt (1999): of n ones each is (n + 1)/(n + 2), of n zeros 1/(n + 2), so never exactly 0 or 1."""
    n_ones, n_zeros = weight[y == 1].sum(), weight[y == 0].sum()
    return np.where(y == 1, (n_ones + 1) / (n_ones + 2), 1 / (n_zeros + 2))


def share_of_columns(n_columns: int) -> float:
    """Share of the columns that regression trees try at each split: all of a few, a third of many (Breiman 2001)."""
    return max(1 / 3, min(1.0, FEW_COLUMNS / n_columns))
