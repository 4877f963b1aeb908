"""Splitters: folds of the training rows, and folds of the out-of-fold rows that a meta-learner is fitted on."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    check_cv,
)

from surefoot._typing import Split

# Folds of a meta-learner's training rows.
FOLDS = 5


def resolve_cv(
    cv: Any, y: NDArray[Any], *, stratified: bool, refits: bool = True, groups: Any = None
) -> BaseCrossValidator:
    """Splitter for `cv`; a number of folds is at most the number of rows of the rarest class.

    With `refits=False` (a frozen model, which is not fitted again) a training fold may lack a class. If there
    are groups, a number of folds keeps each of them in one fold.
    """
    if isinstance(cv, Integral) and groups is not None:
        return _group_folds(int(cv), groups, y if stratified else None)
    if stratified and isinstance(cv, Integral):
        labels, counts = np.unique(y, return_counts=True)
        rarest, rare_label = int(counts.min()), labels.tolist()[counts.argmin()]
        if refits and len(labels) < 2:
            raise ValueError(
                f"y has one class only, {rare_label!r}: a classifier needs two or more."
            )
        if refits and rarest < 2:
            raise ValueError(
                f"y has one row only of class {rare_label!r}: cross-validation needs two or more of each."
            )
        cv, stratified = (min(int(cv), rarest), True) if rarest > 1 else (int(cv), False)
    if isinstance(cv, Integral) and not stratified and len(y) > 1:
        cv = min(int(cv), len(y))
    return check_cv(cv, y, classifier=stratified)


def _group_folds(n_folds: int, groups: Any, labels: NDArray[Any] | None) -> BaseCrossValidator:
    """Splitter that keeps groups together, stratified by `labels` where each class is in two groups or more."""
    groups = np.asarray(groups)
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        raise ValueError("groups has one group only: rows can be held out only of two or more.")
    if labels is None:
        return GroupKFold(min(n_folds, n_groups))
    rarest = min(len(np.unique(groups[labels == label])) for label in np.unique(labels))
    if rarest < 2:  # a class in one group only cannot be in every fold
        return GroupKFold(min(n_folds, n_groups))
    return StratifiedGroupKFold(min(n_folds, rarest))


def learner_folds(n_rows: int, groups: Any, random_state: Any) -> Iterator[Split]:
    """Folds of a meta-learner's training rows; rows of one group, such as copies of a row, stay together."""
    if groups is not None and (n_groups := len(np.unique(groups))) > 1:
        return GroupKFold(min(FOLDS, n_groups)).split(range(n_rows), groups=groups)
    folds = KFold(min(FOLDS, n_rows), shuffle=True, random_state=random_state)
    return folds.split(range(n_rows))
