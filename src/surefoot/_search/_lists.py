"""Neighbour lists of a whole table, searched once: searches among parts of its rows take them from there."""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from surefoot._typing import Floats, Ints, Mask


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
