"""Loops over the neighbours of many dense queries: samples in the cell, and votes at them."""

import numpy as np

from surefoot._kernels._compile import entry, kernel
from surefoot._typing import Floats, Ints


@entry
def points_between(rows: Floats, reference: Floats, near: Ints, steps: Floats) -> Floats:
    """Points x + β(n − x) between each row and its neighbours, one after another.

    In one pass: gathering the neighbours first would make two more tables of this size.
    """
    n_rows, n_near = near.shape
    n_columns = rows.shape[1]
    points = np.empty((n_rows * n_near, n_columns))
    for q in range(n_rows):
        for j in range(n_near):
            step, neighbor = steps[q, j], reference[near[q, j]]
            point = points[q * n_near + j]
            for c in range(n_columns):
                point[c] = rows[q, c] + step * (neighbor[c] - rows[q, c])
    return points


@kernel
def _limit_of_smallest(values: Floats, k: int) -> tuple[float, int]:
    """Limit such that the k smallest values are those below it and the first few equal to it.

    Returns the limit and how many values equal to it belong to the k. Bisecting over the range
    counts without a branch, so it is several times faster than a selection for a hundred values; what
    lies too close together for 40 steps to separate is sorted instead.
    """
    low, high = values.min(), values.max()
    if k >= values.size:
        return high, values.size
    for _ in range(40):
        middle = 0.5 * (low + high)
        count = 0
        for value in values:
            count += value <= middle
        if count == k:
            return middle, values.size
        if count < k:
            low = middle
        else:
            high = middle
    limit = np.sort(values)[k - 1]
    return limit, k - (values < limit).sum()


@entry
def cell_votes(
    gram: Floats,
    squares: Floats,
    steps: Floats,
    codes: Ints,
    gamma: float,
    n_neighbors: int,
    n_classes: int,
) -> Floats:
    """Kernel votes of the cached neighbours nearest to each sample x + β_i d_i, one sum a class.

    `gram` holds d_i·d_j and `squares` |d_j|² of the differences d_j = n_j − x, so that the squared
    distance from a sample to a neighbour is β_i²|d_i|² − 2β_i d_i·d_j + |d_j|². A positive `gamma`
    votes exp(−gamma·distance²). With `gamma` = 0 the rows are unit vectors (or zero, marked by a
    negative square) and the vote is the cosine.
    """
    n_queries, n_samples, n_near = gram.shape
    votes = np.zeros((n_queries, n_samples, n_classes))
    far = np.empty(n_near)
    for q in range(n_queries):
        for i in range(n_samples):
            step = steps[q, i]
            own = step * step * abs(squares[q, i])
            if gamma > 0.0:
                for j in range(n_near):
                    far[j] = max(0.0, own - 2.0 * step * gram[q, i, j] + squares[q, j])
            else:
                _cosine_distances(gram[q, i], squares[q], step, squares[q, i], far)
            limit, at_limit = _limit_of_smallest(far, n_neighbors)
            for j in range(n_near):
                if far[j] > limit:
                    continue
                if far[j] == limit:
                    if at_limit == 0:
                        continue
                    at_limit -= 1
                vote = np.exp(-gamma * far[j]) if gamma > 0.0 else 1.0 - far[j]
                votes[q, i, codes[q, j]] += vote
    return votes


@kernel
def _cosine_distances(
    products: Floats, squares: Floats, step: float, own_square: float, out: Floats
) -> None:
    """Cosine distances from s = x + step·d_i to every n_j, all of x and n_j of length one or zero."""
    if own_square < 0.0:  # the neighbour is a zero row: the sample keeps the direction of x
        own_square, length, step = 0.0, 1.0, 0.0
    else:
        length = np.sqrt(max(1.0 - step * own_square + step * step * own_square, 1e-300))
    for j in range(squares.size):
        if squares[j] < 0.0:
            out[j] = 1.0
        else:
            dot = 1.0 - 0.5 * squares[j] + step * (products[j] - 0.5 * own_square)
            out[j] = 1.0 - dot / length
