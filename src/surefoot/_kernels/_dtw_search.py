"""Exact nearest neighbours under DTW: bounds for all, the recurrence for those that remain."""

from typing import NamedTuple

import numpy as np

from surefoot._kernels._compile import kernel
from surefoot._kernels._dtw import SLACK, dtw_cost, n_cells, reverse_channels
from surefoot._kernels._dtw_band import PADDING, WIDEST, X_FAR, Y_FAR, band_cost, pad_band
from surefoot._kernels._dtw_bounds import (
    aligned_cost,
    end_costs,
    envelope,
    inner_gaps,
    rest_of_rows,
)
from surefoot._kernels._dtw_simd import LANES
from surefoot._kernels._dtw_strips import strip_cost
from surefoot._typing import Floats, Ints

# Recurrences, each the quickest for: a narrow window, no window, or any window and any channels.
BAND, STRIPS, ANY = 0, 1, 2


class Stored(NamedTuple):
    """Series with their envelopes, one after the other, each channel followed by `LANES` zeros."""

    values: Floats
    lower: Floats
    upper: Floats
    starts: Ints
    lengths: Ints
    n_channels: int


class Query(NamedTuple):
    """One series and its envelope; backwards, padded as the recurrence in use needs it."""

    values: Floats
    start: int
    length: int
    lower: Floats
    upper: Floats
    backwards: Floats


class Scratch(NamedTuple):
    """Room for one pair of series at a time."""

    cells: Floats
    row_rest: Floats
    column_rest: Floats
    padded: Floats


@kernel
def _insert(costs: Floats, neighbors: Ints, cost: float, index: int) -> None:
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


@kernel
def _bound_all(
    x: Query, stored: Stored, own: int, bounds: Floats, least: Floats, promising: Ints
) -> None:
    """Bound every cost by both ends, exactly, and LB_Keogh of the query between them.

    `least` and `promising` receive the smallest bounds and whose they are.
    """
    least[:] = np.inf
    promising[:] = len(stored.starts)
    n, channels = x.length, stored.n_channels
    for s in range(len(stored.starts)):
        at, m = stored.starts[s], stored.lengths[s]
        first, last = end_costs(x.values, x.start, n, stored.values, at, m, channels)
        inner = inner_gaps(x.values, x.start, n, stored.lower, stored.upper, at, m, channels)
        bounds[s] = first + last + inner
        if s != own and bounds[s] <= least[-1]:
            _insert(least, promising, bounds[s], s)


@kernel
def _ceiling(x: Query, stored: Stored, promising: Ints) -> float:
    """Cost that the k best cannot exceed: the worst Euclidean one among k promising series."""
    worst = 0.0
    for s in promising:
        if stored.lengths[s] != x.length:
            return np.inf
        at, channels = stored.starts[s], stored.n_channels
        cost = aligned_cost(x.values, x.start, stored.values, at, x.length, channels)
        worst = max(worst, cost)
    return worst


@kernel
def _remaining(
    x: Query, stored: Stored, own: int, bounds: Floats, ceiling: float, order: Ints
) -> Ints:
    """Series that may be among the k best, in the order of their bounds.

    Where the first bound is not enough, LB_Keogh the other way round, of the stored series against
    the query's envelope, takes its place if it is better.
    """
    n, channels = x.length, stored.n_channels
    count = 0
    for s in range(len(bounds)):
        if s == own or bounds[s] > ceiling:
            continue
        at, m = stored.starts[s], stored.lengths[s]
        first, last = end_costs(x.values, x.start, n, stored.values, at, m, channels)
        inner = inner_gaps(stored.values, at, m, x.lower, x.upper, 0, n, channels)
        bounds[s] = max(bounds[s], first + last + inner)
        if bounds[s] <= ceiling:
            order[count] = s
            count += 1
    kept = order[:count]
    return kept[np.argsort(bounds[kept])]


@kernel
def _quickest(n_channels: int, radius: int, longest: int) -> int:
    """Recurrence to use: `BAND`, `STRIPS` or `ANY`."""
    if n_channels > 1:
        return ANY
    if radius < WIDEST:
        return BAND
    return STRIPS if radius >= longest - 1 else ANY


@kernel
def _cost(
    x: Query, stored: Stored, s: int, radius: int, cutoff: float, room: Scratch, way: int
) -> float:
    """Squared DTW cost of the query and a stored series; inf if it exceeds the cutoff."""
    at, m, channels = stored.starts[s], stored.lengths[s], stored.n_channels
    values, n = stored.values, x.length
    end = end_costs(x.values, x.start, n, values, at, m, channels)[1]
    rest = room.column_rest[PADDING:]
    rest_of_rows(values, at, m, x.lower, x.upper, 0, n, channels, end, rest)
    if way != BAND:
        rest_of_rows(
            x.values, x.start, n, stored.lower, stored.upper, at, m, channels, end, room.row_rest
        )
    if way == ANY:
        return dtw_cost(
            x.backwards, n, values, at, m, channels, radius, cutoff,
            room.row_rest, rest, room.cells,
        )  # fmt: skip
    pad_band(values, at, m, Y_FAR, room.padded, False)
    if way == BAND:
        return band_cost(
            x.backwards, n, room.padded, m, radius, cutoff, room.column_rest, room.cells
        )
    return strip_cost(
        x.backwards, n, room.padded, m, cutoff, room.row_rest, room.column_rest, room.cells
    )


@kernel
def _prepare(x: Query, n_channels: int, radius: int, way: int) -> None:
    """Fill in a query's envelope, and the query backwards."""
    for channel in range(n_channels):
        offset = channel * (x.length + LANES)
        envelope(x.values, x.start + offset, x.length, radius, x.lower, x.upper, offset)
    if way != ANY:
        pad_band(x.values, x.start, x.length, X_FAR, x.backwards, True)
    else:
        reverse_channels(x.values, x.start, x.length, n_channels, x.backwards)


@kernel
def search(
    queries: Floats,
    query_starts: Ints,
    query_lengths: Ints,
    own: Ints,
    stored: Stored,
    radius: int,
    costs: Floats,
    neighbors: Ints,
) -> None:
    """Fill `costs` and `neighbors`, a row a query, with its nearest stored series.

    `own[q]` is the stored series that query q must not find, or -1. A series is looked at in the
    order of its bound, so the first bound above the running k-th best ends the query.
    """
    longest = max(stored.lengths.max(), query_lengths.max())
    radius = min(radius, longest - 1)
    way = _quickest(stored.n_channels, radius, longest)
    padding = 2 * PADDING + 3
    size = stored.n_channels * (longest + LANES)
    x_lower, x_upper, backwards = np.zeros(size), np.zeros(size), np.zeros(size + padding)
    room = Scratch(
        np.full(n_cells(longest), np.inf),
        np.zeros(longest + 1),
        np.zeros(longest + padding),
        np.zeros(longest + padding),
    )
    bounds, order = np.empty(len(stored.starts)), np.empty(len(stored.starts), np.int64)
    for q in range(len(query_starts)):
        x = Query(queries, query_starts[q], query_lengths[q], x_lower, x_upper, backwards)
        _prepare(x, stored.n_channels, radius, way)
        best, nearest = costs[q], neighbors[q]
        _bound_all(x, stored, own[q], bounds, best, nearest)
        ceiling = _ceiling(x, stored, nearest) * (1 + SLACK)
        remaining = _remaining(x, stored, own[q], bounds, ceiling, order)
        best[:] = np.inf
        nearest[:] = len(stored.starts)
        for s in remaining:
            cutoff = min(best[-1] * (1 + SLACK), ceiling)
            if bounds[s] > cutoff:
                break
            cost = _cost(x, stored, s, radius, cutoff, room, way)
            if cost <= cutoff:
                _insert(best, nearest, cost, s)
