"""Targets as topics: zeros and ones, one column for each topic."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.model_selection import GroupKFold
from sklearn.utils import assert_all_finite, check_random_state, check_scalar
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from surefoot._splits import resolve_cv
from surefoot._typing import Floats, Ints, Split
from surefoot._validation import check_class_labels


class Topics(NamedTuple):
    """Targets as topics, with the classes, kind and type that turn topics back into targets.

    `kind` is "binary" (one topic, the second class), "multiclass" (one topic for each class; a row has exactly one)
    or "multilabel" (a row has any number of topics).
    """

    indicator: Ints
    classes: NDArray[Any]
    kind: str
    dtype: Any
    sparse: bool

    @property
    def codes(self) -> Ints:
        """Position of each row's class among the classes, of a binary or multiclass target."""
        return self.indicator[:, 0] if self.kind == "binary" else self.indicator.argmax(axis=1)

    def check_weights(self, sample_weight: Floats) -> None:
        """Raise an error if a class has no weight; a topic of a matrix may have none."""
        if self.kind == "multilabel":
            return
        totals = np.bincount(self.codes, sample_weight)
        if (totals == 0).any():
            label = self.classes[totals == 0].tolist()[0]
            raise ValueError(f"sample_weight leaves class {label!r} without weight.")

    def targets(self, scores: Floats) -> Any:
        """Targets in the form that `fit` was given; a score above 0 assigns a topic."""
        if self.kind == "multiclass":
            return self.classes[scores.argmax(axis=1)]
        assigned = scores > 0
        if self.kind == "binary":
            return self.classes[assigned[:, 0].astype(np.int64)]
        targets = assigned.astype(self.dtype)
        return csr_array(targets) if self.sparse else targets


def as_topics(y: Any) -> Topics:
    """Topics from labels, one for each row, or from an indicator matrix, dense or sparse."""
    y = y if issparse(y) else np.asarray(y)
    if y.shape[:1] == (0,):
        raise ValueError("X and y have no rows: a minimum of two is required.")
    if issparse(y) or (y.ndim == 2 and type_of_target(y) == "multilabel-indicator"):
        return _indicator_topics(y)
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    check_class_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}: a classifier needs two or more."
        )
    if len(classes) == 2:
        return Topics(codes[:, None].astype(np.int64), classes, "binary", y.dtype, sparse=False)
    indicator = (codes[:, None] == np.arange(len(classes))).astype(np.int64)
    return Topics(indicator, classes, "multiclass", y.dtype, sparse=False)


def _indicator_topics(y: Any) -> Topics:
    dense = y.toarray() if issparse(y) else np.asarray(y)
    if not np.isin(dense, (0, 1)).all():
        raise ValueError(
            "y is a matrix with other values than 0 and 1: it must have one column for each topic, of zeros and ones."
        )
    indicator = dense.astype(np.int64)
    if (indicator.min(axis=0) == indicator.max(axis=0)).all():
        raise ValueError("y has one class only in every column: a classifier needs two or more.")
    return Topics(indicator, np.arange(dense.shape[1]), "multilabel", dense.dtype, issparse(y))


def topic_splits(cv: Any, X: Any, topics: Topics, groups: Any, random_state: Any) -> Any:
    """Splits, or a splitter, that all topics share."""
    if topics.kind != "multilabel":
        splitter = resolve_cv(
            cv, topics.codes, stratified=True, random_state=random_state, groups=groups
        )
        return list(splitter.split(X, topics.codes, groups))
    if not isinstance(cv, Integral):
        return cv
    n_folds = int(check_scalar(cv, "cv", Integral, min_val=2))
    if groups is not None:
        return GroupKFold(min(n_folds, len(np.unique(groups))))
    return deal_folds(topics.indicator, min(n_folds, len(topics.indicator)), random_state)


def deal_folds(indicator: Ints, n_folds: int, random_state: Any) -> list[Split]:
    """Splits that spread every topic evenly over the folds, the rarest first.

    Rows are shuffled, sorted by their rarest topic, and dealt to the folds in turn, like cards.
    """
    sizes = indicator.sum(axis=0)
    rarity = np.where(indicator == 1, sizes, len(indicator) + 1)
    rarest = np.where(indicator.any(axis=1), rarity.argmin(axis=1), -1)
    shuffled = check_random_state(random_state).permutation(len(indicator))
    order = shuffled[np.lexsort((rarest[shuffled], rarity.min(axis=1)[shuffled]))]
    folds = np.empty(len(indicator), dtype=np.int64)
    folds[order] = np.arange(len(indicator)) % n_folds
    return [
        (np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)
    ]
