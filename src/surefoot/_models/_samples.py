"""Points between rows, and points that differ from a row in one column."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from surefoot._kernels import points_between
from surefoot._typing import Floats, Ints


def interpolate(X: Any, reference: Any, near: Ints, steps: Floats) -> Any:
    """Points x + β(n − x), row by row, between X and the rows of `reference` that `near` indexes."""
    if X.shape[1] != reference.shape[1]:  # a compiled loop would read beyond the narrower
        raise ValueError(
            f"The rows have {X.shape[1]} columns, their neighbours {reference.shape[1]}."
        )
    if not issparse(reference):
        return points_between(np.ascontiguousarray(X), np.ascontiguousarray(reference), near, steps)
    rows = csr_array(X)[np.repeat(np.arange(X.shape[0]), steps.shape[1])]
    weights = steps.reshape(-1, 1)
    neighbors = csr_array(reference)[near.ravel()]
    return csr_array(rows.multiply(1 - weights) + neighbors.multiply(weights))


def axis_samples(rows: Any, reference: Any, near: Ints) -> tuple[Any, Ints, Ints]:
    """Samples up and down the columns that vary among the neighbours, and the row and place of each.

    `near` (n, k) indexes the rows of `reference`. Of two times as many places as columns, the first
    half is up and the second down; those of columns that do not vary would be the row itself. Samples
    of sparse rows are sparse.
    """
    n_columns = rows.shape[1]
    spread = local_spread(reference, near)
    at, column = spread.nonzero()
    by = np.asarray(spread[at, column]).ravel()
    # Narrow, as trees take no other indices.
    starts = np.arange(len(by) + 1, dtype=np.int32)
    moves = csr_array((by, column.astype(np.int32), starts), shape=(len(by), n_columns))
    start = rows[at]
    if not issparse(rows):
        moves = moves.toarray()
        samples: Any = np.concatenate([start + moves, start - moves])
    else:
        start = csr_array(start)
        samples = csr_array(vstack([start + moves, start - moves], format="csr"))
    return samples, np.tile(at, 2), np.concatenate([column, n_columns + column])


def local_spread(reference: Any, near: Ints) -> Any:
    """Standard deviation of each column among the neighbours of each row, sparse if the rows are."""
    if not issparse(reference):
        return reference[near].std(axis=1)
    n_rows, n_near = near.shape
    starts = np.arange(0, near.size + 1, n_near)
    share = np.full(near.size, 1.0 / n_near)
    average = csr_array((share, near.ravel(), starts), shape=(n_rows, reference.shape[0]))
    reference = csr_array(reference)
    mean = average @ reference
    square = average @ reference.multiply(reference)
    variance = csr_array(square - mean.multiply(mean))
    # What rounding leaves of no variance is no variance.
    variance.data[variance.data < 1e-14 * square.max()] = 0.0
    variance.eliminate_zeros()
    return variance.sqrt()
