"""Votes of neighbours for their own labels, and for the classes of the series that they are neighbours of."""

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._parallel import row_batches
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option

Weights = str | Callable[[Floats], Floats]


def check_weights(weights: Any) -> None:
    """Raise an error unless `weights` names a weighting or is a function."""
    if not callable(weights):
        check_option(weights, "weights", ("uniform", "rank", "distance"))


def vote_weights(distances: Floats, weights: Weights) -> Floats:
    """Weights of the neighbours' votes, of the shape of `distances`.

    `"rank"` gives the r-th neighbour 1 / r; `"distance"` the inverse of its distance, where
    neighbours at distance zero outvote all others, as in scikit-learn.
    """
    if callable(weights):
        return _returned_weights(weights(distances), distances)
    if weights == "uniform":
        return np.ones_like(distances)
    if weights == "rank":
        return np.broadcast_to(1 / np.arange(1, distances.shape[1] + 1), distances.shape)
    equal = distances == 0
    inverse = 1 / np.where(equal, 1.0, distances)
    return np.where(equal.any(axis=1, keepdims=True), equal, inverse)


def _returned_weights(returned: Any, distances: Floats) -> Floats:
    """Weights that a user's function returned for the distances, or one sentence."""
    given = np.asarray(returned)
    if given.shape != distances.shape or given.dtype.kind not in "fiub":
        raise ValueError(
            f"weights returned {given.dtype} of shape {given.shape} for distances of shape {distances.shape}: "
            "it may return a number for each distance."
        )
    wrong = ~((given >= 0) & (given < np.inf))
    if wrong.any():
        raise ValueError(
            f"weights returned {given[wrong][0]}: it may return finite numbers of at least 0."
        )
    return given.astype(np.float64)


def class_occurrences(indices: Ints, codes: Ints, n_rows: int, n_classes: int) -> Floats:
    """Counts of how often each row is a neighbour of a row of each class; an r-th neighbour counts 1 / r.

    `indices` are the neighbours, among `n_rows` rows, of rows of classes `codes`.
    """
    counts = np.zeros((n_rows, n_classes))
    rank_weights = np.broadcast_to(1 / np.arange(1, indices.shape[1] + 1), indices.shape)
    np.add.at(counts, (indices, codes[:, None]), rank_weights)
    return counts


def ballots(
    indices: Ints,
    labels: Ints,
    occurrences: Floats,
    trust: float,
    own_codes: Ints | None = None,
) -> Floats:
    """Share of each neighbour's vote that goes to each class, of shape (rows, neighbours, classes).

    A neighbour votes for the classes of the rows that it is a neighbour of (hubness-aware
    fuzzy nearest neighbours, Tomasev et al. 2014), and for its own label with weight `trust`;
    with infinite trust only for its own label. If the rows are among those counted, `own_codes` has their
    labels, and the counts that a row itself added are subtracted.
    """
    rows, places = np.ogrid[: len(indices), : indices.shape[1]]
    if np.isinf(trust):
        shares = np.zeros((*indices.shape, occurrences.shape[1]))
        shares[rows, places, labels[indices]] = 1.0
        return shares
    shares = occurrences[indices]
    if own_codes is not None:
        shares[rows, places, own_codes[:, None]] -= 1 / (places + 1)
        np.maximum(shares, 0.0, out=shares)  # rounding
    shares[rows, places, labels[indices]] += trust
    return shares / shares.sum(axis=2, keepdims=True)


def running_votes(shares: Floats, weights: Floats, sizes: Ints) -> Floats:
    """Shares of the votes among the first `sizes` neighbours, of shape (rows, sizes, classes); sum 1."""
    votes = np.cumsum(shares * weights[:, :, None], axis=1)[:, sizes - 1]
    total = votes.sum(axis=2, keepdims=True)
    if (empty := np.argwhere(total == 0)).size:
        raise ValueError(
            f"weights returned 0 for the {sizes[empty[0, 1]]} nearest neighbours of a series: one of them must "
            "be above 0."
        )
    return votes / total


def votes_by_size(
    lists: tuple[Floats, Ints],
    labels: Ints,
    occurrences: Floats,
    *,
    trust: float,
    weights: Weights,
    sizes: Ints,
    own_codes: Ints | None = None,
) -> Floats:
    """Shares of the votes for every number of neighbours in `sizes`, computed in batches."""
    distances, indices = lists[0][:, : sizes[-1]], lists[1][:, : sizes[-1]]
    n_classes = occurrences.shape[1]
    out = np.empty((len(indices), len(sizes), n_classes))
    for rows in row_batches(len(indices), 3 * 8 * int(sizes[-1]) * n_classes):
        own = None if own_codes is None else own_codes[rows]
        shares = ballots(indices[rows], labels, occurrences, trust, own)
        out[rows] = running_votes(shares, vote_weights(distances[rows], weights), sizes)
    return out
