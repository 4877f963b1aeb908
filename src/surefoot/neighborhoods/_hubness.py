"""Hubness: rows that are in very many neighbour lists, and whether their class is right for these lists."""

from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import skew
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from surefoot._typing import Ints
from surefoot._validation import check_number


@dataclass(frozen=True)
class Hubness:
    """Counts of how often each row is a neighbour of others; see :func:`hubness`."""

    occurrences: Ints
    good_occurrences: Ints
    bad_occurrences: Ints
    skewness: float
    good_hubs: Ints
    bad_hubs: Ints


def hubness(neighbors: ArrayLike, y: ArrayLike) -> Hubness:
    """Count how often each row is another's neighbour; higher skewness means stronger hubs.

    Parameters
    ----------
    neighbors : array-like of int of shape (n_samples, n_neighbors)
        Neighbours of each row among the same rows, as `DTWNeighbors().kneighbors()` returns them.
    y : array-like of shape (n_samples,)
        Their classes.

    Returns
    -------
    Hubness
        `occurrences` (N_k: number of lists that a row is in), of these `good_occurrences` (lists of rows
        of its own class) and `bad_occurrences` (of another class), each of shape
        (n_samples,); `skewness`, the third standardised moment of N_k (0 if all are equal); and
        the rows that are hubs, with N_k more than two standard deviations above the mean, as
        `good_hubs` and, where most occurrences are bad, `bad_hubs` (Radovanovic et al. 2010).

    Examples
    --------
    >>> from surefoot.neighborhoods import hubness
    >>> hubs = hubness([[1], [0], [1], [1]], ["a", "a", "a", "b"])
    >>> hubs.occurrences, hubs.good_occurrences
    (array([1, 3, 0, 0]), array([1, 2, 0, 0]))
    >>> round(hubs.skewness, 2)
    0.82
    """
    labels, lists = _check_lists(y, neighbors)
    n_rows = len(labels)
    occurrences = np.bincount(lists.ravel(), minlength=n_rows)
    agrees = labels[lists] == labels[:, None]
    good = np.bincount(lists[agrees], minlength=n_rows)
    bad = occurrences - good
    hub = occurrences > occurrences.mean() + 2 * occurrences.std()
    all_equal = occurrences.min() == occurrences.max()
    return Hubness(
        occurrences=occurrences,
        good_occurrences=good,
        bad_occurrences=bad,
        skewness=0.0 if all_equal else float(skew(occurrences)),
        good_hubs=np.flatnonzero(hub & (good >= bad)),
        bad_hubs=np.flatnonzero(hub & (good < bad)),
    )


def infect_hubs(y: ArrayLike, neighbors: ArrayLike, fraction: float) -> NDArray[Any]:
    """Labels in which the best hubs have a wrong class of their own, to turn them into bad hubs.

    The best hubs are the rows that are most often the nearest neighbour of a row of their own class (ties:
    fewer bad occurrences first, then by index), as in section 4 of Buza et al. (2010). If this is done before
    rows are split, test rows are infected too.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes.
    neighbors : array-like of int of shape (n_samples, n_neighbors)
        Neighbours of each row, nearest first; only the nearest is used.
    fraction : float
        Share of the rows to infect, from 0 to 1; the number is rounded.

    Returns
    -------
    ndarray of shape (n_samples,)
        Labels, with the infected rows in a class above all others if labels are numbers, in the
        class `"noise"` otherwise.

    Examples
    --------
    >>> from surefoot.neighborhoods import infect_hubs
    >>> infect_hubs([0, 0, 1, 1], [[1], [0], [1], [1]], fraction=0.25)
    array([2, 0, 1, 1])
    """
    check_number(fraction, "fraction", min_val=0, max_val=1)
    labels, lists = _check_lists(y, neighbors)
    hubs = hubness(lists[:, :1], labels)
    best = np.lexsort((hubs.bad_occurrences, -hubs.good_occurrences))
    infected = best[: floor(float(fraction) * len(labels) + 0.5)]
    noise = _noise_class(labels)
    new_labels = labels.astype(np.result_type(labels, np.asarray(noise)), copy=True)
    new_labels[infected] = noise
    return new_labels


def _noise_class(labels: NDArray[Any]) -> Any:
    """Class of the infected rows, which no row has yet."""
    if labels.dtype.kind in "iuf":
        return labels.max() + 1
    if labels.dtype.kind == "b":
        return 2
    if "noise" in labels:
        raise ValueError("y has a class named 'noise' already, which is the infected rows' class.")
    return "noise"


def _check_lists(y: ArrayLike, neighbors: ArrayLike) -> tuple[NDArray[Any], Ints]:
    labels = column_or_1d(y)
    lists = check_array(neighbors, dtype=np.int64, input_name="neighbors")
    check_consistent_length(labels, lists)
    if lists.min() < 0 or lists.max() >= len(labels):
        raise ValueError(
            f"neighbors holds indices from {lists.min()} to {lists.max()}: "
            f"they must be from 0 to {len(labels) - 1}, the rows of y."
        )
    return labels, lists
