"""Users' models: what kind a model is, how it is fitted, and what its pipeline has seen.

Only here are models told apart by their type.
"""

import re
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats

# Where scikit-learn has transformers that do not look at labels, unless their tags say that they need them.
WITHOUT_LABELS = (
    "sklearn.decomposition.",
    "sklearn.feature_extraction.",
    "sklearn.impute.",
    "sklearn.kernel_approximation",
    "sklearn.preprocessing.",
    "sklearn.random_projection",
)

# Columns up to which regression trees try all of them at each split.
FEW_COLUMNS = 24


def check_model(estimator: Any) -> None:
    """Raise a TypeError unless this is an instance with a method `fit`."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(
            f"estimator={estimator!r} is no model: it may be a scikit-learn classifier or regressor, "
            "or a fitted one in FrozenEstimator."
        )


class TagsOfModel:
    """Mixin of meta-estimators, which take the rows that their model takes."""

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        tags: Any = super().__sklearn_tags__()  # type: ignore[misc]
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


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


def class_votes(model: Any, X: Any) -> Floats:
    """Class probabilities of a classifier; 1 for the predicted class if it has none."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return (np.asarray(model.predict(X))[:, None] == model.classes_).astype(np.float64)


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


def split_model(model: Any) -> tuple[list[Any], Any]:
    """Split a fitted model into the transformers of its pipelines and the predictor at the end."""
    transformers = []
    while True:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            if len(model) > 1:
                transformers.append(model[:-1])
            model = model[-1]
        else:
            return transformers, model


def series_model(model: Any) -> Any:
    """The estimator in a model, fitted or not, that compares rows as series under DTW; None if none does.

    It is recognised by its attribute `metric`, which is "dtw".
    """
    inner = split_model(model)[1]
    while hasattr(inner, "estimator") and not hasattr(inner, "metric"):
        inner = split_model(inner.estimator)[1]  # a search that is not fitted yet, a calibrator
    metric = getattr(inner, "metric", None)
    return inner if isinstance(metric, str) and metric == "dtw" else None


def series_window(model: Any) -> Any:
    """Window of an estimator that compares series: that of its neighbour search, or its own; None if it has none."""
    search = getattr(model, "neighbors", None)
    return getattr(model if search is None else search, "window", None)


def preprocesses_inside(model: Any) -> bool:
    """Whether a model, such as a voting ensemble or a calibrator, contains a pipeline and so gets raw columns."""
    parts = model.get_params().values() if hasattr(model, "get_params") else []
    return any(isinstance(part, Pipeline) for part in parts)


def saw_no_labels(model: Any, space: Any) -> bool:
    """Whether the labels of the rows cannot have shaped their coordinates, in this space of a fitted model."""
    if not _ignores_labels(space):
        return False
    if isinstance(model, Pipeline):
        return _ignores_labels(model[:-1]) and saw_no_labels(model[-1], None)
    # A frozen model was fitted on other rows; labels have chosen the transformers in a search.
    searched = hasattr(model, "best_estimator_") and not isinstance(model, FrozenEstimator)
    return not (searched and split_model(model)[0])


def _ignores_labels(transformer: Any) -> bool:
    """Whether a transformer is known not to look at labels; "auto", "scaled", "passthrough" and "drop" do not."""
    if transformer is None or isinstance(transformer, str):
        return True
    if isinstance(transformer, Pipeline):
        return all(_ignores_labels(step) for _, step in transformer.steps)
    if isinstance(transformer, FeatureUnion):
        return all(_ignores_labels(part) for _, part in transformer.transformer_list)
    if isinstance(transformer, ColumnTransformer):
        parts = [part for _, part, _ in transformer.transformers]
        return all(_ignores_labels(part) for part in [*parts, transformer.remainder])
    known = type(transformer).__module__.startswith(WITHOUT_LABELS)
    return known and not get_tags(transformer).target_tags.required


def takes_rows_as_they_are(model: Any) -> bool:
    """Whether a fitted model has no transformers and no categorical columns."""
    transformers, predictor = split_model(model)
    flags = getattr(predictor, "is_categorical_", None)
    has_categories = flags is not None and np.any(flags)
    return not (transformers or has_categories or preprocesses_inside(predictor))
