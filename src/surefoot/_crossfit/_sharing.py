"""When the folds of a model may share what was fitted once: each row is held out once, and no label shaped the rows."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from surefoot._models import split_model
from surefoot._typing import Ints, Split

# Where scikit-learn has transformers that do not look at labels, unless their tags say that they need them.
WITHOUT_LABELS = (
    "sklearn.decomposition.",
    "sklearn.feature_extraction.",
    "sklearn.impute.",
    "sklearn.kernel_approximation",
    "sklearn.preprocessing.",
    "sklearn.random_projection",
)


def fold_of_each_row(splits: list[Split], n_rows: int) -> Ints | None:
    """Number of the split that holds each row out, -1 if none does; None unless the splits are folds of the rows."""
    folds = np.full(n_rows, -1)
    for number, (train, test) in enumerate(splits):
        if len(train) + len(test) != n_rows or (folds[test] >= 0).any():
            return None
        folds[test] = number
    return folds if len(splits) > 1 else None


def saw_no_labels(model: Any, space: Any) -> bool:
    """Whether the labels of the rows cannot have shaped their coordinates, in this space of a fitted model."""
    return _ignores_labels(space) and _transforms_without_labels(model)


def _transforms_without_labels(model: Any) -> bool:
    if isinstance(model, FrozenEstimator):
        return True  # fitted on other rows
    if hasattr(model, "best_estimator_"):  # labels have chosen the transformers
        return not split_model(model)[0]
    if isinstance(model, Pipeline):
        return _ignores_labels(model[:-1]) and _transforms_without_labels(model[-1])
    return True


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
