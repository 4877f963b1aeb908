"""Neighbour lists cut down to the series that may be looked at."""

from collections.abc import Callable

import numpy as np

from surefoot._typing import Floats, Ints, Mask


def restrict_lists(
    distances: Floats, indices: Ints, allowed: Mask, n_neighbors: int
) -> tuple[Floats, Ints, Ints]:
    """Keep the first `n_neighbors` allowed entries of each list, nearest first.

    Returns the distances, the indices, and the rows whose list is too short for that: theirs must
    be searched again, and what is returned for them means nothing.
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
    """Restrict lists to the allowed rows, searching again, ever deeper, those that get too short.

    `search_again(rows, length)` must return the lists of these rows, of that length or, where
    there are no more neighbours, shorter; at least `n_neighbors` rows other than a list's own
    must be allowed.
    """
    near, found, short = restrict_lists(distances, indices, allowed, n_neighbors)
    length = indices.shape[1]
    while len(short):
        if length >= len(allowed):
            raise ValueError(
                f"There are fewer than {n_neighbors} series to choose neighbours from."
            )
        length *= 2
        deeper = restrict_lists(*search_again(short, length), allowed, n_neighbors)
        near[short], found[short] = deeper[:2]
        short = short[deeper[2]]
    return near, found


def drop_own(distances: Floats, indices: Ints, rows: Ints) -> tuple[Floats, Ints]:
    """Take each row out of its own list; the last entry where it is not in it."""
    own = indices == rows[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(rows), indices.shape[1] - 1)
    return distances[~own].reshape(shape), indices[~own].reshape(shape)
