"""One split into rows to learn from and rows held out."""

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
    """Splitter with a single split that holds out a share of the rows, each class alike, or of whole groups.

    Unlike :class:`sklearn.model_selection.StratifiedShuffleSplit` it takes classes of a single
    row (they go to either part), and draws the same split at every call if `random_state` is set.

    Parameters
    ----------
    held_out : float
        Share of the rows that are held out, above 0 and below 1.
    random_state : int, RandomState instance or None, default=None
        Which rows are held out; an int gives the same ones at every call.

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
        """One, whatever the data."""
        return 1

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
    ) -> Iterator[tuple[Ints, Ints]]:
        """Yield the rows to learn from and the rows held out, both in ascending order.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            Only its length matters.
        y : array-like of shape (n_samples,), default=None
            If it holds classes, each gives its share to both parts.
        groups : array-like of shape (n_samples,), default=None
            Held out as a whole, in random order, until the share of the rows is best met.

        Yields
        ------
        train, test : ndarray of int
        """
        n_rows = count_rows(X)
        n_held_out = self._check_size(n_rows)
        draw = check_random_state(self.random_state)
        if groups is not None:
            held_out = self._hold_out_groups(np.asarray(groups), n_held_out, draw)
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)
            return
        order = draw.permutation(n_rows)
        if y is not None and type_of_target(y) in ("binary", "multiclass"):
            order = order[spread_classes(np.asarray(y)[order])]
        held_out = np.zeros(n_rows, dtype=bool)
        held_out[order[:n_held_out]] = True
        yield np.flatnonzero(~held_out), np.flatnonzero(held_out)

    @staticmethod
    def _hold_out_groups(groups: NDArray[Any], n_held_out: int, draw: Any) -> Mask:
        codes, counts = np.unique(groups, return_inverse=True, return_counts=True)[1:]
        if len(counts) < 2:
            raise ValueError("groups has one group only: a whole one is held out, and one left.")
        order = draw.permutation(len(counts))
        reached = np.cumsum(counts[order])[:-1]  # at least one group is left
        n_groups = int(np.argmin(np.abs(reached - n_held_out))) + 1
        return np.isin(codes, order[:n_groups])

    def _check_size(self, n_rows: int) -> int:
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
    """Order rows so that every leading stretch holds its share of each class.

    The i-th of the c rows of a class goes to the place (i + 1/2) / c of the way.
    """
    codes, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    by_class = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    nth = np.empty(len(labels))
    nth[by_class] = np.arange(len(labels)) - np.repeat(starts, counts)
    return np.argsort((nth + 0.5) / counts[codes], kind="stable")
