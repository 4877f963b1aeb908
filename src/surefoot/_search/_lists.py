"""Neighbour lists restricted to the series that are allowed."""

from collections.abc import Callable

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
