"""Splitters: folds of the training rows, folds of the out-of-fold rows of a meta-learner, and a single split."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import floor
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from surefoot._tables import count_rows
from surefoot._typing import Floats, Ints, Mask, Split

# Rows of a class from which on some of them are held out, if there are as many folds.
LEAST_HELD_OUT = 5

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
    hold_out_all: bool = False,
) -> BaseCrossValidator:
    """Splitter for `cv`; a number of folds is at most the number of rows of the rarest class that is held out.

    A number means shuffled folds: tables come sorted by their target, by place or by person, and folds of
    neighbouring rows would lack what they are tested on. Rows of classes that are too rare are in every training
    fold, and never held out (`EveryClassLearned`). With `hold_out_all` there are fewer folds instead, and an error
    if a class has one row only. With `refits=False` (a frozen model, which is not fitted again) a training fold may
    lack a class. If there are groups, a number of folds keeps each of them in one fold.
    """
    if cv is not None and not isinstance(cv, Integral):
        return check_cv(cv, y, classifier=stratified)
    n_folds = FOLDS if cv is None else int(cv)
    if stratified and refits and not hold_out_all:
        learned = too_rare(y, groups, n_folds)
        kept = None if groups is None else np.asarray(groups)[~learned]
        labels = y[~learned] if kept is None else strata(y[~learned], kept, n_folds)
        inner = resolve_cv(
            n_folds,
            labels,
            stratified=True,
            random_state=random_state,
            groups=kept,
            hold_out_all=True,
        )
        is_plain = groups is None and not learned.any()
        return inner if is_plain else EveryClassLearned(inner, learned, labels)
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
        # A frozen model has no class to learn.
        if rarest >= (2 if refits else min(LEAST_HELD_OUT, n_folds)):
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
    classes = () if labels is None else np.unique(labels)
    rarest = min((len(np.unique(groups[labels == label])) for label in classes), default=0)
    if rarest < 2:  # a class in one group only cannot be in every fold
        return GroupKFold(min(n_folds, n_groups))
    return StratifiedGroupKFold(min(n_folds, rarest), shuffle=True, random_state=random_state)


def fresh_splits(part: Ints, groups: NDArray[Any] | None, random_state: int) -> list[Split]:
    """Folds of the rows at these positions, which no given split divides; none if they are a single row or group."""
    units = part if groups is None else groups[part]
    n_units = len(np.unique(units))
    if n_units < 2:
        return []
    folds = min(FOLDS, n_units)
    if n_units < len(part):  # groups, or copies of a row in a bootstrap, stay together
        splits = GroupKFold(folds).split(part, groups=units)
    else:
        splits = KFold(folds, shuffle=True, random_state=random_state).split(part)
    return [(part[train], part[test]) for train, test in splits]


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


class EveryClassLearned(BaseCrossValidator):
    """Splitter whose training folds have every class: rows that a class cannot spare are never held out.

    Parameters
    ----------
    splitter : splitter
        Splits the rows that may be held out.
    learned : ndarray of bool of shape (n_rows,)
        Rows that are in every training fold.
    labels : ndarray of shape (n_other_rows,)
        Labels of the other rows, by which `splitter` stratifies them.
    """

    def __init__(self, splitter: BaseCrossValidator, learned: Mask, labels: NDArray[Any]) -> None:
        self.splitter = splitter
        self.learned = learned
        self.labels = labels

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Most splits that there can be: a split whose rows all stay in training is left out."""
        return int(self.splitter.get_n_splits(X, y, groups))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield positions of the training rows and of the held-out rows."""
        always, others = np.flatnonzero(self.learned), np.flatnonzero(~self.learned)
        groups = None if groups is None else np.asarray(groups)
        kept = None if groups is None else groups[others]
        for train, test in self.splitter.split(others, self.labels, kept):
            fold = np.concatenate([always, others[train]]), others[test]
            if groups is not None:
                fold = with_every_class(*fold, y, groups)
            if len(fold[1]):
                yield fold


def never_held_out(splitter: Any, splits: Sequence[Split], n_rows: int) -> Ints:
    """Positions of the rows that no split holds out because their class is too rare; none for a user's splitter."""
    if not isinstance(splitter, EveryClassLearned):
        return np.empty(0, dtype=np.int64)
    return np.setdiff1d(np.arange(n_rows), np.concatenate([test for _, test in splits]))


def mean_held_out(n_rows: int, parts: Sequence[tuple[Ints, Floats]]) -> Floats:
    """Means of each row's values over the splits that hold it out; NaN for a row that none does.

    `parts` are the positions of the held-out rows of each split, and their values, of shape (n_held_out, n_columns).
    """
    n_columns = parts[0][1].shape[1] if parts else 1
    total, count = np.zeros((n_rows, n_columns)), np.zeros((n_rows, 1))
    for rows, values in parts:
        total[rows] += values
        count[rows] += 1
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def with_every_class(train: Ints, test: Ints, y: NDArray[Any], groups: NDArray[Any]) -> Split:
    """Fold to whose training rows the smallest group of each class that they lack was moved, as a whole."""
    for label in np.setdiff1d(y[test], y[train]):
        if label in y[train]:  # came with the group of another class
            continue
        names, sizes = np.unique(groups[test], return_counts=True)
        has_label = np.isin(names, groups[test][y[test] == label])
        moved = groups[test] == names[has_label][sizes[has_label].argmin()]
        train, test = np.concatenate([train, test[moved]]), test[~moved]
    return train, test


def too_rare(y: NDArray[Any], groups: Any, n_folds: int) -> Mask:
    """Mask of rows that cannot be held out: of classes with a handful of rows, or of groups that alone have a class.

    A handful is fewer than `LEAST_HELD_OUT` rows, or than the folds, unless fewer than two classes have as many.
    """
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(labels) < 2:  # an error elsewhere
        return np.zeros(len(y), dtype=bool)
    if groups is not None:
        names, group_codes = np.unique(groups, return_inverse=True)
        if len(names) < 2:  # an error elsewhere
            return np.zeros(len(codes), dtype=bool)
        alone = _count_groups(codes, np.asarray(groups))[codes] == 1
        mask = np.isin(group_codes, group_codes[alone])
        if len(np.unique(codes[~mask])) < 2:
            raise ValueError(
                "groups leave fewer than two classes to hold out: a group that alone has a class cannot be held out."
            )
        return mask
    second = np.sort(counts)[-2]
    if second < 2:
        raise ValueError(
            f"y has one class only with two rows or more, {labels.tolist()[counts.argmax()]!r}: cross-validation needs "
            "two such classes."
        )
    return np.asarray(counts[codes] < min(LEAST_HELD_OUT, n_folds, second))


def _count_groups(codes: Ints, groups: NDArray[Any]) -> Ints:
    """Number of groups that each class is in."""
    group_codes = np.unique(groups, return_inverse=True)[1]
    pairs = np.unique(np.column_stack([codes, group_codes]), axis=0)
    return np.bincount(pairs[:, 0])


def strata(y: NDArray[Any], groups: NDArray[Any], n_folds: int) -> NDArray[Any]:
    """Labels to stratify by: a class in fewer groups than folds counts as the most frequent, if two classes remain."""
    if len(y) == 0:
        return y
    labels, codes = np.unique(y, return_inverse=True)
    counts = _count_groups(codes, groups)
    rare = counts < min(n_folds, np.sort(counts)[-2:][0])
    return np.asarray(labels[np.where(rare[codes], counts.argmax(), codes)])


def learner_folds(n_rows: int, groups: Any, random_state: Any, y: Any = None) -> Iterator[Split]:
    """Folds of a meta-learner's training rows; rows of one group, such as copies of a row, stay together.

    They are drawn apart from the folds of the models, also if both have the same seed. Rows of all other folds are
    judged by models that were fitted on this one: a learner tested on exactly the rows that one model lacked has
    learned from models that knew their targets. Groups are dealt in random order, the large ones first; with zeros
    and ones as `y`, those that contain a one are dealt first.
    """
    random = check_random_state(random_state)
    if groups is not None and (codes := np.unique(groups, return_inverse=True)[1]).any():
        keys = random.permutation(codes.max() + 1), -np.bincount(codes), np.bincount(codes, y) == 0
        turns = np.argsort(np.lexsort(keys))  # of each group
        return PredefinedSplit((turns % min(FOLDS, len(turns)))[codes]).split()
    seed = random.randint(np.iinfo(np.int32).max)
    return KFold(min(FOLDS, n_rows), shuffle=True, random_state=seed).split(range(n_rows))


class HoldoutSplit(BaseCrossValidator):
    """Splitter with a single split that holds out a share of the rows, stratified by class, or of whole groups.

    Unlike :class:`sklearn.model_selection.StratifiedShuffleSplit` it takes classes of a single
    row (which goes to one of the parts), and makes the same split at every call if `random_state` is an int.

    Parameters
    ----------
    held_out : float
        Share of the rows that are held out, above 0 and below 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; an int holds out the same rows at every call.

    Examples
    --------
    >>> from surefoot.resampling import HoldoutSplit
    >>> [(train, test)] = HoldoutSplit(4 / 9, random_state=0).split(range(9))
    >>> len(train), len(test)
    (5, 4)
    """

    def __init__(self, held_out: float, *, random_state: Any = None) -> None:
        self.held_out = held_out
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits, which is always 1."""
        return 1

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
    ) -> Iterator[Split]:
        """Yield positions of the training rows and of the held-out rows, both ascending.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            Only its length matters.
        y : array-like of shape (n_samples,), default=None
            If it holds classes, each is divided between both parts in proportion.
        groups : array-like of shape (n_samples,), default=None
            Whole groups are held out, in random order, as many as come nearest to the share of the rows.

        Yields
        ------
        train, test : ndarray of int
        """
        n_rows: int = count_rows(X)
        share: Any = self.held_out
        if type(share) is bool or not isinstance(share, Real) or not 0 < float(share) < 1:
            raise ValueError(
                f"held_out={share!r} is not a share: it may be a float above 0 and below 1."
            )
        n_held_out = floor(float(share) * n_rows + 0.5)
        if not 0 < n_held_out < n_rows:
            raise ValueError(
                f"held_out={share!r} of {n_rows} rows leaves one part empty: "
                "it must leave at least one row in each."
            )
        draw = check_random_state(self.random_state)
        if groups is not None:  # randomly chosen ones, of about `n_held_out` rows in all
            codes, counts = np.unique(groups, return_inverse=True, return_counts=True)[1:]
            if len(counts) < 2:
                raise ValueError(
                    "groups has one group only: a whole one is held out, and one left."
                )
            order = draw.permutation(len(counts))
            reached = np.cumsum(counts[order])[:-1]  # at least one group is left
            n_groups = int(np.argmin(np.abs(reached - n_held_out))) + 1
            held_out = np.isin(codes, order[:n_groups])
        else:
            order = draw.permutation(n_rows)
            if y is not None and type_of_target(y) in ("binary", "multiclass"):
                order = order[spread_classes(np.asarray(y)[order])]
            held_out = np.isin(np.arange(n_rows), order[:n_held_out])
        yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


def spread_classes(labels: NDArray[Any]) -> Ints:
    """Order of the rows in which the first n rows, for any n, hold each class in proportion.

    The i-th of the c rows of a class is placed at the fraction (i + 1/2) / c of the order.
    """
    codes, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    by_class = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    nth = np.empty(len(labels))
    nth[by_class] = np.arange(len(labels)) - np.repeat(starts, counts)
    return np.argsort((nth + 0.5) / counts[codes], kind="stable")
