"""Checks of the input of `StriveClassifier`, and its splits."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_consistent_length, check_scalar
from sklearn.utils.validation import _check_sample_weight, validate_data

from surefoot._splits import resolve_cv
from surefoot._tables import as_table
from surefoot._validation import check_number, check_option
from surefoot.ensemble._topics import Topics, as_topics, deal_folds


def kept_models(names: Iterable[str], models: Iterable[Any]) -> dict[str, Any]:
    """Models by name, without dropped ones; raise an error if one is frozen."""
    kept = {name: model for name, model in zip(names, models, strict=True) if model != "drop"}
    for name, model in kept.items():
        if isinstance(model, FrozenEstimator):
            raise TypeError(
                f"estimators has {name!r} in FrozenEstimator, but it is fitted for each fold and topic: "
                "it may be the classifier itself."
            )
    return kept


def check_metaclassifier(final_estimator: Any, threshold: Any) -> None:
    """Raise an error unless the metaclassifier is a classifier and its threshold is valid."""
    if final_estimator is not None and not is_classifier(final_estimator):
        raise TypeError(f"final_estimator={final_estimator!r} is no classifier: it must be one.")
    if isinstance(threshold, str):
        check_option(threshold, "threshold", ["error", "f1"], other="a number")
    else:
        check_number(threshold, "threshold")


def check_topic_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Topics, Any]:
    """Rows as a table, targets as topics, and weights as floats or None."""
    validate_data(estimator, X, y, skip_check_array=True)
    X = as_table(X)
    topics = as_topics(y)
    check_consistent_length(X, topics.indicator)
    if sample_weight is not None:
        sample_weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        topics.check_weights(sample_weight)
    return X, topics, sample_weight


def topic_splits(cv: Any, X: Any, topics: Topics, groups: Any, random_state: Any) -> Any:
    """Splits, or a splitter, that all topics share."""
    y = topics.indicator
    if topics.kind != "multilabel":
        codes = y[:, 0] if topics.kind == "binary" else y.argmax(axis=1)
        splitter = resolve_cv(cv, codes, stratified=True, random_state=random_state, groups=groups)
        return list(splitter.split(X, codes, groups))
    if not isinstance(cv, Integral):
        return cv
    n_folds = check_scalar(cv, "cv", Integral, min_val=2)
    if groups is not None:
        return GroupKFold(min(int(n_folds), len(np.unique(groups))))
    return deal_folds(y, min(int(n_folds), len(y)), random_state)
