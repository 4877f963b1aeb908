"""Exact nearest rows of sparse queries: an inverted index, eight queries at a time."""

from typing import Any

import numpy as np

from surefoot._kernels._compile import kernel
from surefoot._kernels._lanes import LANES, add_scaled, any_above, raise_to
from surefoot._typing import Floats, Ints

Sparse = tuple[Any, Any, Floats]  # starts, then columns (of CSR) or rows (of CSC), and values

# Rows whose sums for eight queries fit a processor's second cache.
TILE = 10_000

# Rows of which only the largest sum is looked at first.
GROUP = 32


@kernel
def nearest_rows(
    queries: Sparse, index: Sparse, offsets: Floats, n_columns: int, n_near: int
) -> tuple[Floats, Ints]:
    """Largest x·n + offset for each query x over the rows n of the index, in order, and their rows.

    `queries` are CSR, `index` is CSC. Among equal sums the first rows count.
    """
    n_queries, n_rows = queries[0].size - 1, offsets.size
    keys, nearest = np.empty((n_queries, n_near)), np.empty((n_queries, n_near), np.int64)
    n_tiles = (n_rows + TILE - 1) // TILE
    tile = (n_rows + n_tiles - 1) // n_tiles
    sums, places = np.empty(tile * LANES), np.full(n_columns, -1, np.int64)
    room = max(4 * n_near, 128)
    best, best_rows = np.empty((LANES, room)), np.empty((LANES, room), np.int64)
    for first in range(0, n_queries, LANES):
        last = min(first + LANES, n_queries)
        columns, weights = _side_by_side(queries, first, last, places)
        cursors = index[0][columns]
        limits, counts = np.full(LANES, -np.inf), np.zeros(LANES, np.int64)
        for start in range(0, n_rows, tile):
            stop = min(start + tile, n_rows)
            _add_products(index, columns, weights, cursors, offsets, start, stop, sums)
            _collect(sums, start, stop, n_near, limits, counts, best, best_rows)
        for q in range(first, last):
            lane = q - first
            _keep_best(best[lane], best_rows[lane], counts[lane], n_near)
            _sort(best[lane], best_rows[lane], n_near)
            keys[q], nearest[q] = best[lane, :n_near], best_rows[lane, :n_near]
    return keys, nearest


@kernel
def _side_by_side(queries: Sparse, first: int, last: int, places: Ints) -> tuple[Ints, Floats]:
    """Columns that any of eight queries has, and for each the queries' values in eight lanes."""
    starts, all_columns, values = queries
    columns = np.empty(starts[last] - starts[first], np.int64)
    weights = np.zeros(columns.size * LANES)
    n_used = 0
    for q in range(first, last):
        for p in range(starts[q], starts[q + 1]):
            column = all_columns[p]
            if places[column] < 0:
                places[column], columns[n_used] = n_used, column
                n_used += 1
            weights[places[column] * LANES + q - first] += values[p]
    for column in columns[:n_used]:
        places[column] = -1
    return columns[:n_used], weights


@kernel
def _add_products(
    index: Sparse,
    columns: Ints,
    weights: Floats,
    cursors: Ints,
    offsets: Floats,
    start: int,
    stop: int,
    sums: Floats,
) -> None:
    """Set the offsets plus products of eight queries with the rows from `start` to `stop`; cursors move on."""
    starts, rows, values = index
    for row in range(start, stop):
        for lane in range(LANES):
            sums[(row - start) * LANES + lane] = offsets[row]
    for u in range(columns.size):
        end = starts[columns[u] + 1]
        if stop < offsets.size:
            end = cursors[u] + np.searchsorted(rows[cursors[u] : end], stop)
        for p in range(cursors[u], end):
            at = (rows[p] - start) * LANES
            add_scaled(sums, at, weights, u * LANES, values[p])
        cursors[u] = end


@kernel
def _collect(
    sums: Floats,
    start: int,
    stop: int,
    n_near: int,
    limits: Floats,
    counts: Ints,
    best: Floats,
    best_rows: Ints,
) -> None:
    """Put the rows whose sum is above a query's limit among its best, and raise the limit when these are full."""
    n_groups = (stop - start + GROUP - 1) // GROUP
    largest = np.full(n_groups * LANES, -np.inf)
    for row in range(stop - start):
        raise_to(largest, row // GROUP * LANES, sums, row * LANES)
    if start == 0 and n_groups >= n_near:
        _raise_limits(largest, n_groups, n_near, limits)
    for group in range(n_groups):
        if not any_above(largest, group * LANES, limits):
            continue
        for row in range(group * GROUP, min((group + 1) * GROUP, stop - start)):
            if any_above(sums, row * LANES, limits):
                _put_row(sums, row, start, n_near, limits, counts, best, best_rows)


@kernel
def _raise_limits(largest: Floats, n_groups: int, n_near: int, limits: Floats) -> None:
    """Set limits just below the n_near-th of the groups' largest sums: no smaller one is among the nearest."""
    for lane in range(LANES):
        of_lane = np.partition(largest[lane::LANES], n_groups - n_near)
        limits[lane] = np.nextafter(of_lane[n_groups - n_near], -np.inf)


@kernel(inline="always")  # a call would cost more than the work
def _put_row(
    sums: Floats,
    row: int,
    start: int,
    n_near: int,
    limits: Floats,
    counts: Ints,
    best: Floats,
    best_rows: Ints,
) -> None:
    """Put a row among the best of the queries whose limit it is above."""
    for lane in range(LANES):
        value, count = sums[row * LANES + lane], counts[lane]
        if value > limits[lane]:
            best[lane, count], best_rows[lane, count] = value, start + row
            counts[lane] += 1
            if counts[lane] == best.shape[1]:
                _keep_best(best[lane], best_rows[lane], counts[lane], n_near)
                counts[lane], limits[lane] = n_near, best[lane, :n_near].min()


@kernel
def _before(key: float, row: int, other: float, other_row: int) -> bool:
    """Whether a key comes first: it is larger, or equal and of an earlier row."""
    return key > other or (key == other and row < other_row)


@kernel
def _keep_best(keys: Floats, rows: Ints, count: int, n_near: int) -> None:
    """Move the best `n_near` of `count` to the front, in any order (quickselect)."""
    low, high = 0, count - 1
    while low < high:
        pivot, pivot_row = keys[(low + high) // 2], rows[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while _before(keys[i], rows[i], pivot, pivot_row):
                i += 1
            while _before(pivot, pivot_row, keys[j], rows[j]):
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                rows[i], rows[j] = rows[j], rows[i]
                i, j = i + 1, j - 1
        if n_near - 1 <= j:
            high = j
        elif n_near - 1 >= i:
            low = i
        else:
            return


@kernel
def _sort(keys: Floats, rows: Ints, count: int) -> None:
    """Sort the first few by insertion."""
    for k in range(1, count):
        key, row, at = keys[k], rows[k], k
        while at > 0 and _before(key, row, keys[at - 1], rows[at - 1]):
            keys[at], rows[at] = keys[at - 1], rows[at - 1]
            at -= 1
        keys[at], rows[at] = key, row
