"""Time series: checked and laid out for the DTW kernels; and neighbour lists of a whole table, searched once."""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from math import floor
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from surefoot._typing import Floats, Ints, Mask

# Largest size of a value: the squared gaps of two series stay finite, even summed over 40 million points.
LARGEST_VALUE = 1e150


# Radius of a window that is none: larger than any series, and still a number that a kernel can add to.
UNBOUNDED = 1 << 40


@dataclass(frozen=True)
class SeriesBatch:
    """Series one after the other in one array, each channel after channel.

    Channel c of series s begins at `starts[s] + c * lengths[s]`.
    """

    values: Floats
    starts: Ints
    lengths: Ints
    n_channels: int

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, rows: slice | Ints) -> "SeriesBatch":
        """Batch of the series in `rows`; the values are not copied."""
        return SeriesBatch(self.values, self.starts[rows], self.lengths[rows], self.n_channels)


def check_series(
    X: Any, estimator: Any = None, *, reset: bool = True, name: str = "X"
) -> SeriesBatch:
    """Batch of a collection of series, checked and laid out; error messages call it `name`.

    The collection may be a 2-D array (cases, time), a 3-D array (cases, channels, time), or a list of series
    of unequal lengths, each 1-D or (channels, time).
    """
    batch = _laid_out(X, estimator, reset, name)
    largest = max(batch.values.max(), -batch.values.min())
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"{name} has a value of size {largest:.3g}, whose square overflows: it may have values of size "
            f"{LARGEST_VALUE:g} at most."
        )
    return batch


def _laid_out(X: Any, estimator: Any, reset: bool, name: str) -> SeriesBatch:
    ragged = is_ragged(X)
    is_table = not ragged and (not isinstance(X, np.ndarray | list | tuple) or np.ndim(X) < 3)
    if is_table and estimator is not None:
        return lay_out_array(validate_data(estimator, X, reset=reset, dtype=np.float64))
    if reset and estimator is not None:
        for attribute in ("n_features_in_", "feature_names_in_"):
            vars(estimator).pop(attribute, None)  # of an earlier fit, to a table
    if ragged:
        return lay_out_list([_check_one(series, f"series {s} of X") for s, series in enumerate(X)])
    return lay_out_array(
        check_array(X, allow_nd=True, dtype=np.float64, estimator=estimator, input_name=name)
    )


def is_ragged(X: Any) -> bool:
    """Whether X is a list of series that do not all have the same length."""
    if not isinstance(X, list | tuple) and getattr(X, "dtype", None) is not np.dtype(object):
        return False
    if getattr(X, "ndim", 1) != 1 or any(np.isscalar(series) or series is None for series in X):
        return False
    return len({np.shape(series) if hasattr(series, "shape") else len(series) for series in X}) > 1


def _check_one(series: Any, name: str) -> Floats:
    """Series as an array of shape (channels, time)."""
    checked = check_array(
        series, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name=name, copy=False
    )
    if checked.ndim > 2:
        raise ValueError(
            f"{name} has {checked.ndim} dimensions: it may be 1-D, or 2-D as (channels, time)."
        )
    return np.atleast_2d(checked)


def lay_out_array(X: Floats) -> SeriesBatch:
    """Batch of series of one length, given as (cases, time) or (cases, channels, time)."""
    if X.ndim not in (2, 3):
        raise ValueError(
            f"X has {X.ndim} dimensions: it may be 2-D as (cases, time), 3-D as "
            "(cases, channels, time), or a list of series of unequal lengths."
        )
    if X.shape[-1] == 0:
        raise ValueError("X holds series of length 0: each needs at least one point.")
    n_cases, n_channels, length = (X if X.ndim == 3 else X[:, None, :]).shape
    starts = np.arange(n_cases, dtype=np.int64) * n_channels * length
    values = np.array(X, dtype=np.float64, order="C").ravel()
    return SeriesBatch(values, starts, np.full(n_cases, length, np.int64), n_channels)


def lay_out_list(X: Iterable[Floats]) -> SeriesBatch:
    """Batch of series of any lengths, each given as (channels, time)."""
    series = list(X)
    n_channels = len(series[0])
    for s, one in enumerate(series):
        if len(one) != n_channels:
            raise ValueError(
                f"Series {s} of X has {len(one)} channels and series 0 has {n_channels}: "
                "all must have the same number."
            )
    lengths = np.array([one.shape[1] for one in series], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(n_channels * lengths)[:-1]])
    values = np.concatenate([one.ravel() for one in series])
    return SeriesBatch(values, starts, lengths, n_channels)


def window_radius(window: Any, longest: int) -> int | None:
    """Sakoe-Chiba radius of a `window` given as None, a fraction or an int; None is unbounded.

    A window beyond every length, however large, is `UNBOUNDED`, which a kernel can add to.
    """
    if window is None:
        return None
    if type(window) is not bool and isinstance(window, Integral) and int(window) >= 0:
        return min(int(window), UNBOUNDED)
    if not isinstance(window, Integral) and isinstance(window, Real) and 0 <= float(window) <= 1:
        # 0.29 * 100 is 28.999999999999996, and is meant to be 29.
        return floor(float(window) * longest + 1e-9)
    raise ValueError(
        f"window={window!r} is not known: it may be None, a fraction (float) from 0 to 1 of the "
        "longest length, or a number of steps (int) of at least 0."
    )


def check_same_channels(batch: SeriesBatch, n_channels: int) -> None:
    """Raise a ValueError unless the series have `n_channels` channels."""
    if batch.n_channels != n_channels:
        raise ValueError(
            f"X has {batch.n_channels} channels, but {n_channels} are expected: the number of "
            "channels must be that of the series it is compared with."
        )


def check_path_exists(radius: int | None, first: Ints, second: Ints) -> None:
    """Raise a ValueError if the window allows no warping path between series of these lengths."""
    if radius is None:
        return
    for shortest, longest in ((first.min(), second.max()), (second.min(), first.max())):
        if longest - shortest > radius:
            raise ValueError(
                f"window allows {radius} steps and forbids every path between series of lengths "
                f"{shortest} and {longest}: it must allow at least {longest - shortest} steps, or "
                "be None."
            )


def restrict_lists(
    distances: Floats, indices: Ints, allowed: Mask, n_neighbors: int
) -> tuple[Floats, Ints, Ints]:
    """Keep the first `n_neighbors` allowed entries of each list, nearest first.

    Returns the distances, the indices, and the rows whose list has too few allowed entries. Distances and
    indices of these rows are not valid: search them again.
    """
    keep = allowed[indices]
    enough = keep.sum(axis=1) >= n_neighbors
    # A stable sort on a boolean moves the allowed entries to the front and keeps their order.
    front = np.argsort(~keep, axis=1, kind="stable")[:, :n_neighbors]
    return (
        np.take_along_axis(distances, front, axis=1),
        np.take_along_axis(indices, front, axis=1),
        np.flatnonzero(~enough),
    )


def complete_lists(
    distances: Floats,
    indices: Ints,
    allowed: Mask,
    n_neighbors: int,
    search_again: Callable[[Ints, int], tuple[Floats, Ints]],
) -> tuple[Floats, Ints]:
    """Distances and indices of the nearest allowed rows; lists that get too short are searched again.

    `search_again(rows, length)` must return distances and indices for these rows, of that length or, where
    there are fewer neighbours, shorter. The length is doubled until there are enough allowed neighbours.
    At least `n_neighbors` rows other than the list's own must be allowed.
    """
    kept_distances, kept_indices, short = restrict_lists(distances, indices, allowed, n_neighbors)
    length = indices.shape[1]
    while len(short):
        if length >= len(allowed):
            raise ValueError(
                f"There are fewer than {n_neighbors} series to choose neighbours from."
            )
        length *= 2
        deeper = restrict_lists(*search_again(short, length), allowed, n_neighbors)
        kept_distances[short], kept_indices[short] = deeper[:2]
        short = short[deeper[2]]
    return kept_distances, kept_indices


def drop_own(distances: Floats, indices: Ints, rows: Ints) -> tuple[Floats, Ints]:
    """Lists without the row itself; where it is not in its list, the last entry is dropped."""
    own = indices == rows[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(rows), indices.shape[1] - 1)
    return distances[~own].reshape(shape), indices[~own].reshape(shape)


class NeighborLists:
    """Distances and indices of the nearest rows of each row of a table, itself among them, nearest first.

    Rows are recognised by their values, so that whoever searches need not know where a row comes from; no two rows of
    the table may be equal.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The table, in 64-bit floats.
    distances, indices : ndarrays of shape (n_rows, length)
        The lists.
    """

    def __init__(self, rows: Floats, distances: Floats, indices: Ints) -> None:
        self.distances, self.indices = distances, indices
        self.kept: Ints = np.arange(len(rows))
        self._places = {key: place for place, key in enumerate(row_keys(rows))}

    def part(self, positions: Ints) -> "NeighborLists":
        """Lists restricted to some of the rows, and numbered like these."""
        part = copy(self)
        part.kept = self.kept[positions]
        return part

    def nearest(self, rows: Any, n_neighbors: int) -> tuple[Floats, Ints, Ints] | None:
        """Distances and numbers of the nearest rows of the part, and which of `rows` have too few in their list.

        None if the lists are of no use: a row is not in the table, or the lists are shorter.
        """
        is_table = isinstance(rows, np.ndarray) and rows.dtype == np.float64 and rows.ndim == 2
        if not is_table or n_neighbors > self.indices.shape[1]:
            return None
        places = np.array([self._places.get(key, -1) for key in row_keys(rows)], dtype=np.int64)
        if (places < 0).any():
            return None
        numbers = np.full(len(self.indices), -1)
        numbers[self.kept] = np.arange(len(self.kept))
        lists = self.distances[places], self.indices[places]
        distances, indices, short = restrict_lists(*lists, numbers >= 0, n_neighbors)
        return distances, numbers[indices], short


def row_keys(rows: Floats) -> list[bytes]:
    """Key of each row, the same for equal rows only."""
    return [row.tobytes() for row in np.ascontiguousarray(rows)]
