"""Splitters: folds of the training rows, and folds of the out-of-fold rows that a meta-learner is fitted on."""

from collections.abc import Iterator
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import check_random_state

from surefoot._typing import Split

# Folds of a meta-learner's training rows, and those of `cv=None`.
FOLDS = 5


def resolve_cv(
    cv: Any,
    y: NDArray[Any],
    *,
    stratified: bool,
    random_state: Any,
    refits: bool = True,
    groups: Any = None,
) -> BaseCrossValidator:
    """Splitter for `cv`; a number of folds is at most the number of rows of the rarest class.

    A number stands for shuffled folds: tables come sorted by their target, by place or by person, and folds of
    neighbouring rows would lack what they are tested on. If there are groups, each of them stays in one fold. With
    `refits=False` (a frozen model, which is not fitted again) a training fold may lack a class.
    """
    if cv is not None and not isinstance(cv, Integral):
        return check_cv(cv, y, classifier=stratified)
    n_folds = FOLDS if cv is None else int(cv)
    if groups is not None:
        return _group_folds(n_folds, groups, y if stratified else None, random_state)
    if stratified:
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
        if rarest > 1:
            return StratifiedKFold(min(n_folds, rarest), shuffle=True, random_state=random_state)
    return KFold(min(n_folds, max(len(y), 2)), shuffle=True, random_state=random_state)


def _group_folds(
    n_folds: int, groups: Any, labels: NDArray[Any] | None, random_state: Any
) -> BaseCrossValidator:
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
    return StratifiedGroupKFold(min(n_folds, rarest), shuffle=True, random_state=random_state)


def splits_in_time(times: NDArray[Any], n_folds: int) -> list[Split]:
    """Splits that hold out later rows than those they learn from; rows of one time are on the same side.

    The times are cut into one part more than there are folds, with about as many rows each: the earliest is only
    learned from, and each later one is held out once, by a model of all the earlier ones.
    """
    moments, codes = np.unique(times, return_inverse=True)
    if len(moments) < n_folds + 1:
        raise ValueError(
            f"There are {len(moments)} different times: {n_folds} folds need at least {n_folds + 1}."
        )
    ends = np.cumsum(np.bincount(codes))  # rows up to and including each moment
    cuts = np.searchsorted(ends, len(codes) * np.arange(1, n_folds + 1) / (n_folds + 1)) + 1
    # Times with very many rows may swallow a part: each part has one moment or more.
    for part in range(n_folds):
        earlier = cuts[part - 1] if part else 0
        cuts[part] = np.clip(cuts[part], earlier + 1, len(moments) - n_folds + part)
    limits = np.append(cuts, len(moments))
    return [
        (np.flatnonzero(codes < start), np.flatnonzero((codes >= start) & (codes < stop)))
        for start, stop in pairwise(limits)
    ]


def learner_folds(n_rows: int, groups: Any, random_state: Any) -> Iterator[Split]:
    """Folds of a meta-learner's training rows; rows of one group, such as copies of a row, stay together.

    They are drawn apart from the folds of the models, also if both have the same seed. Rows of all other folds are
    judged by models that were fitted on this one: a learner tested on exactly the rows that one model lacked has
    learned from models that knew their targets.
    """
    if groups is not None and (n_groups := len(np.unique(groups))) > 1:
        return GroupKFold(min(FOLDS, n_groups)).split(range(n_rows), groups=groups)
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return KFold(min(FOLDS, n_rows), shuffle=True, random_state=seed).split(range(n_rows))
