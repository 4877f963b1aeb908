"""Neighbouring series aligned with a row by the best warping path of both."""

import numpy as np
from numpy.typing import NDArray

from surefoot._kernels._compile import kernel
from surefoot._kernels._dtw import SLACK
from surefoot._typing import Floats, Ints

# Steps of a warping path that lead to a cell: along both series, along the row, along its neighbour.
BOTH, ROW, NEIGHBOR = 0, 1, 2

# Room for rounding where the distance is 0.
TINY = 1e-300


@kernel
def aligned_neighbors(
    rows: Floats, reference: Floats, near: Ints, distances: Floats, radius: int
) -> Floats:
    """Neighbours of each row in the row's time: each point is the mean of the points matched with that of the row.

    `near` (n, k) indexes the series of `reference`, which are as long as the rows, and `distances` are their DTW
    distances. Returns (n * k, length).
    """
    n_rows, n_near = near.shape
    length = rows.shape[1]
    aligned = np.empty((n_rows * n_near, length))
    steps = np.empty((length, length), dtype=np.int8)
    costs = np.empty((2, length + 2))
    for q in range(n_rows):
        for k in range(n_near):
            neighbor = reference[near[q, k]]
            limit = distances[q, k] ** 2 * (1 + SLACK) + TINY
            _fill_steps(rows[q], neighbor, radius, limit, costs, steps)
            _mean_of_matched(neighbor, steps, aligned[q * n_near + k])
    return aligned


@kernel
def _fill_steps(
    x: Floats, y: Floats, radius: int, limit: float, costs: Floats, steps: NDArray[np.int8]
) -> None:
    """Last step of the best path to every cell that costs at most `limit`; of equal ones that along both series.

    The best path costs no more than that anywhere, so that cells beyond it need not be looked at.
    """
    length = len(x)
    costs[:] = np.inf
    costs[1, 0] = 0.0  # before the first point of either series
    low, high = 0, 0  # columns within the limit in the row before, shifted by one
    for i in range(length):
        before, now = costs[(i + 1) % 2], costs[i % 2]
        now[:] = np.inf
        first = max(low - 1, 0, i - radius)
        low, new_high = length + 1, -1
        for j in range(first, min(length - 1, i + radius) + 1):
            best, step = before[j], BOTH
            if before[j + 1] < best:
                best, step = before[j + 1], ROW
            if now[j] < best:
                best, step = now[j], NEIGHBOR
            if best == np.inf and j > high:
                break
            cost = best + (x[i] - y[j]) ** 2
            if cost <= limit:
                now[j + 1] = cost
                steps[i, j] = step
                low, new_high = min(low, j + 1), j + 1
        high = new_high


@kernel
def _mean_of_matched(y: Floats, steps: NDArray[np.int8], out: Floats) -> None:
    """Mean of the points of y that the path matches with each point of the row, from the last cell back."""
    i = j = len(y) - 1
    total, count = y[j], 1
    while i > 0 or j > 0:
        step = ROW if j == 0 else NEIGHBOR if i == 0 else steps[i, j]
        if step != ROW:
            j -= 1
        if step != NEIGHBOR:
            out[i] = total / count
            i -= 1
            total, count = 0.0, 0
        total += y[j]
        count += 1
    out[0] = total / count
