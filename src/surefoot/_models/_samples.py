"""Samples around rows: points between two rows, and points that differ from a row in one column."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from surefoot._kernels import points_between
from surefoot._typing import Floats, Ints


def interpolate(X: Any, reference: Any, near: Ints, steps: Floats) -> Any:
    """Points x + β(n − x) between each row of X and its neighbours, the rows of `reference` at `near`."""
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
    """Samples that differ from a row by one standard deviation in one column, and the row and place of each.

    `near` (n, k) indexes the rows of `reference`; the standard deviation is taken among them. The place is
    the column's number for a sample upwards, and the number of columns plus that for one downwards. Columns
    that do not vary among the neighbours have no samples. Samples of sparse rows are sparse.
    """
    n_columns = rows.shape[1]
    spread = local_spread(reference, near)
    at, column = spread.nonzero()
    changes = np.asarray(spread[at, column]).ravel()
    # 32-bit indices, as scikit-learn's trees take no others.
    starts = np.arange(len(changes) + 1, dtype=np.int32)
    moves = csr_array((changes, column.astype(np.int32), starts), shape=(len(changes), n_columns))
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
    # A variance as small as the rounding error is 0.
    variance.data[variance.data < 1e-14 * square.max()] = 0.0
    variance.eliminate_zeros()
    return variance.sqrt()
