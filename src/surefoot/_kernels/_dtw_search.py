"""Exact nearest neighbours under DTW: bounds for all, the recurrence for those that remain."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from surefoot._kernels._dtw import SLACK, dtw_cost, n_cells, reverse_channels
from surefoot._kernels._dtw_band import WIDEST, X_FAR, Y_FAR, band_cost, pad_band
from surefoot._kernels._dtw_bounds import (
    aligned_cost,
    end_costs,
    envelope,
    inner_gaps,
    rest_of_rows,
)
from surefoot._kernels._dtw_simd import LANES

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _insert(costs: Floats, neighbors: Indices, cost: float, index: int) -> None:
    """Keep the smallest costs in order, equal ones by index."""
    at = len(costs) - 1
    if cost > costs[at] or (cost == costs[at] and index > neighbors[at]):
        return
    while at > 0 and (
        costs[at - 1] > cost or (costs[at - 1] == cost and neighbors[at - 1] > index)
    ):
        costs[at] = costs[at - 1]
        neighbors[at] = neighbors[at - 1]
        at -= 1
    costs[at] = cost
    neighbors[at] = index


@njit(cache=True, nogil=True)
def _bound_all(
    x: Floats,
    x_at: int,
    n: int,
    x_lower: Floats,
    x_upper: Floats,
    values: Floats,
    lower: Floats,
    upper: Floats,
    starts: Indices,
    lengths: Indices,
    n_channels: int,
    out: Floats,
) -> None:
    """Both ends exactly, and between them the better of LB_Keogh's two directions."""
    for s in range(len(starts)):
        at, m = starts[s], lengths[s]
        first, last = end_costs(x, x_at, n, values, at, m, n_channels)
        there = inner_gaps(x, x_at, n, lower, upper, at, m, n_channels)
        back = inner_gaps(values, at, m, x_lower, x_upper, 0, n, n_channels)
        out[s] = first + last + max(there, back)


@njit(cache=True, nogil=True)
def _first_cutoff(
    x: Floats,
    x_at: int,
    n: int,
    values: Floats,
    starts: Indices,
    lengths: Indices,
    n_channels: int,
    order: Indices,
    wanted: int,
    own: int,
) -> float:
    """A cost that the k best cannot exceed: the worst Euclidean one among k promising series."""
    worst = 0.0
    found = 0
    for s in order:
        if s == own:
            continue
        if lengths[s] != n:
            return np.inf
        worst = max(worst, aligned_cost(x, x_at, values, starts[s], n, n_channels))
        found += 1
        if found == wanted:
            break
    return worst


@njit(cache=True, nogil=True)
def search(
    queries: Floats,
    query_starts: Indices,
    query_lengths: Indices,
    own: Indices,
    values: Floats,
    lower: Floats,
    upper: Floats,
    starts: Indices,
    lengths: Indices,
    n_channels: int,
    radius: int,
    costs: Floats,
    neighbors: Indices,
) -> None:
    """Fill `costs` and `neighbors`, a row a query, with its nearest stored series.

    `own[q]` is the stored series that query q must not find, or -1. A series is looked at in the
    order of its bound, so the first bound above the running k-th best ends the query.
    """
    wanted = costs.shape[1]
    longest = max(lengths.max(), query_lengths.max())
    radius = min(radius, longest - 1)
    narrow = n_channels == 1 and radius < WIDEST
    bounds = np.empty(len(starts))
    cells = np.full(n_cells(longest), np.inf)
    row_rest = np.zeros(longest + 1)
    column_rest = np.zeros(longest + 2 * WIDEST + 3)
    x_lower = np.zeros(n_channels * (longest + LANES))
    x_upper = np.zeros(n_channels * (longest + LANES))
    backwards = np.zeros(n_channels * (longest + LANES) + 2 * WIDEST + 2)
    padded = np.zeros(longest + 2 * WIDEST + 2)
    for q in range(len(query_starts)):
        x_at, n = query_starts[q], query_lengths[q]
        for channel in range(n_channels):
            offset = channel * (n + LANES)
            envelope(queries, x_at + offset, n, radius, x_lower, x_upper, offset)
        if narrow:
            pad_band(queries, x_at, n, X_FAR, backwards, True)
        else:
            reverse_channels(queries, x_at, n, n_channels, backwards)
        _bound_all(
            queries, x_at, n, x_lower, x_upper,
            values, lower, upper, starts, lengths, n_channels, bounds,
        )  # fmt: skip
        order = np.argsort(bounds)
        start_cutoff = _first_cutoff(
            queries, x_at, n, values, starts, lengths, n_channels, order, wanted, own[q]
        )
        best, found = costs[q], neighbors[q]
        best[:] = np.inf
        found[:] = len(starts)
        for s in order:
            if s == own[q]:
                continue
            cutoff = min(best[wanted - 1], start_cutoff) * (1 + SLACK)
            if bounds[s] > cutoff:
                break
            at, m = starts[s], lengths[s]
            end = end_costs(queries, x_at, n, values, at, m, n_channels)[1]
            if narrow:
                rest = column_rest[WIDEST:]
                rest_of_rows(values, at, m, x_lower, x_upper, 0, n, n_channels, end, rest)
                pad_band(values, at, m, Y_FAR, padded, False)
                cost = band_cost(backwards, n, padded, m, radius, cutoff, column_rest, cells)
            else:
                rest_of_rows(queries, x_at, n, lower, upper, at, m, n_channels, end, row_rest)
                rest_of_rows(values, at, m, x_lower, x_upper, 0, n, n_channels, end, column_rest)
                cost = dtw_cost(
                    backwards, n, values, at, m, n_channels, radius, cutoff,
                    row_rest, column_rest, cells,
                )  # fmt: skip
            if cost <= cutoff:
                _insert(best, found, cost, s)
