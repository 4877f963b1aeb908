"""Splitter with one split into training rows and held-out rows."""

from collections.abc import Iterator
from math import floor
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from surefoot._tables import count_rows
from surefoot._typing import Ints, Mask


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
    ) -> Iterator[tuple[Ints, Ints]]:
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
        n_rows = count_rows(X)
        n_held_out = self._check_size(n_rows)
        draw = check_random_state(self.random_state)
        if groups is not None:
            held_out = self._hold_out_groups(np.asarray(groups), n_held_out, draw)
        else:
            order = draw.permutation(n_rows)
            if y is not None and type_of_target(y) in ("binary", "multiclass"):
                order = order[spread_classes(np.asarray(y)[order])]
            held_out = np.isin(np.arange(n_rows), order[:n_held_out])
        yield np.flatnonzero(~held_out), np.flatnonzero(held_out)

    @staticmethod
    def _hold_out_groups(groups: NDArray[Any], n_held_out: int, draw: Any) -> Mask:
        """Mask of the rows of randomly chosen groups, of about `n_held_out` rows in all."""
        codes, counts = np.unique(groups, return_inverse=True, return_counts=True)[1:]
        if len(counts) < 2:
            raise ValueError("groups has one group only: a whole one is held out, and one left.")
        order = draw.permutation(len(counts))
        reached = np.cumsum(counts[order])[:-1]  # at least one group is left
        n_groups = int(np.argmin(np.abs(reached - n_held_out))) + 1
        return np.isin(codes, order[:n_groups])

    def _check_size(self, n_rows: int) -> int:
        """Number of rows to hold out; raises if one part would be empty."""
        share: Any = self.held_out
        if type(share) is bool or not isinstance(share, Real) or not 0 < float(share) < 1:
            raise ValueError(
                f"held_out={share!r} is not a share: it may be a float above 0 and below 1."
            )
        size = floor(float(share) * n_rows + 0.5)
        if not 0 < size < n_rows:
            raise ValueError(
                f"held_out={share!r} of {n_rows} rows leaves one part empty: "
                "it must leave at least one row in each."
            )
        return size


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
