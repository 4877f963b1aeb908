"""Nearest rows of sparse queries, and steps and votes in their cells.

Several rows lie side by side, one a lane. The innermost loops run over the lanes, so that the compiler vectorises them;
those over entries are functions of their own that get slices, as numba counts references to slices made in a loop.
"""

from typing import Any

import numpy as np

from surefoot._kernels._compile import kernel
from surefoot._typing import Floats, Ints

Sparse = tuple[Any, Any, Floats]  # starts, then columns (of CSR) or rows (of CSC), and values
Rows = tuple[
    Any, Any, Floats, Floats
]  # CSR: starts, columns, values; and the rows' squared lengths
Tables = tuple[Floats, Ints, Ints, Floats]

# Queries side by side: with fewer, each entry of the index costs as much time; with more, fewer share it.
LANES = 16
# Rows whose sums for so many queries fit a processor's second cache.
TILE = 5_000
# Rows of which only the largest sum is looked at first; a multiple of four.
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
    sums = np.empty(((tile + GROUP - 1) // GROUP * GROUP, LANES))
    places = np.full(n_columns, -1, np.int64)
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
    """Columns that any of some queries has, and for each of these the queries' values."""
    starts, all_columns, values = queries
    columns = np.empty(starts[last] - starts[first], np.int64)
    weights = np.zeros((columns.size, LANES))
    n_used = 0
    for q in range(first, last):
        for p in range(starts[q], starts[q + 1]):
            column = all_columns[p]
            if places[column] < 0:
                places[column], columns[n_used] = n_used, column
                n_used += 1
            weights[places[column], q - first] += values[p]
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
    """Set the offsets plus products of the queries with the rows from `start` to `stop`; cursors move on."""
    starts, rows, values = index
    for row in range(len(sums)):
        offset = offsets[start + row] if row < stop - start else -np.inf
        for lane in range(sums.shape[1]):
            sums[row, lane] = offset
    for u in range(columns.size):
        end = starts[columns[u] + 1]
        if stop < offsets.size:
            end = cursors[u] + np.searchsorted(rows[cursors[u] : end], stop)
        _add_column(rows, values, cursors[u], end, start, weights[u], sums)
        cursors[u] = end


@kernel(fastmath={"contract"})
def _add_column(
    rows: Any, values: Floats, first: int, last: int, start: int, weight: Floats, sums: Floats
) -> None:
    """Add the products of one column's entries with the queries' values in it."""
    for p in range(first, last):
        row, value = (
            np.uint64(rows[p] - start),
            values[p],
        )  # unsigned: no check for a negative index
        for lane in range(weight.size):
            sums[row, lane] += weight[lane] * value


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
    largest = np.full((n_groups, LANES), -np.inf)
    for row in range(0, n_groups * GROUP, 4):
        group = row // GROUP
        for lane in range(sums.shape[1]):
            a, b = sums[row, lane], sums[row + 1, lane]
            c, d = sums[row + 2, lane], sums[row + 3, lane]
            a, c = a if a > b else b, c if c > d else d
            most = a if a > c else c
            largest[group, lane] = most if most > largest[group, lane] else largest[group, lane]
    if start == 0 and n_groups >= n_near:
        at = n_groups - n_near
        for lane in range(
            LANES
        ):  # no sum below the n_near-th of the groups' largest is among the nearest
            limits[lane] = np.nextafter(np.partition(largest[:, lane], at)[at], -np.inf)
    for group in range(n_groups):
        if _any_above(largest, group, limits):
            for row in range(group * GROUP, min((group + 1) * GROUP, stop - start)):
                if _any_above(sums, row, limits):
                    _put_row(sums, row, start, n_near, limits, counts, best, best_rows)


@kernel
def _any_above(sums: Floats, row: int, limits: Floats) -> bool:
    """Whether any sum of a row is above its limit."""
    count = 0
    for lane in range(sums.shape[1]):
        count += sums[row, lane] > limits[lane]
    return count > 0


@kernel
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
        if sums[row, lane] > limits[lane]:
            best[lane, counts[lane]], best_rows[lane, counts[lane]] = sums[row, lane], start + row
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


# What rounding leaves of a zero |d|², relative to the squared lengths of the two rows.
ZERO_SQUARE = 1e-13

# Lanes come in multiples of this number, which most vector widths divide.
BLOCK = 16

# After these, few samples are open: it was fastest on texts to settle them one by one.
N_HALVINGS = 9


@kernel
def sparse_cell_steps(
    rows: Rows, reference: Rows, near: Ints, n_columns: int, unit: bool
) -> Floats:
    """Largest steps β_i towards each neighbour that stay in the row's cell, shape (n, k).

    With `unit` all rows have length one or zero, and zero rows bind nothing and do not move.
    """
    n_queries, n_near = near.shape
    steps = np.zeros(near.shape)
    tables = _make_tables(rows, reference, near, n_near, n_columns)
    products = tables[3]
    query_steps = np.empty(products.shape[1])
    for q in range(n_queries):
        if not (unit and rows[3][q] == 0.0):
            _fill_products(rows, reference, near, q, n_near, tables)
            _fill_steps(products, rows[3][q], reference[3][near[q]], n_near, unit, query_steps)
            steps[q] = query_steps[:n_near]
    return steps


@kernel
def sparse_cell_votes(
    rows: Rows,
    reference: Rows,
    near: Ints,
    codes: Ints,
    n_columns: int,
    n_samples: int,
    gamma: float,
    n_neighbors: int,
    n_classes: int,
) -> Floats:
    """Kernel votes of the cached neighbours nearest to each sample x + β_i(n_i − x), one sum a class.

    A positive `gamma` votes exp(−gamma·distance²). With `gamma` = 0 all rows have length one or zero
    and the vote is the cosine; at a zero row, and so at its samples, nobody votes.
    """
    n_queries = near.shape[0]
    unit = gamma == 0.0
    votes = np.zeros((n_queries, n_samples, n_classes))
    tables = _make_tables(rows, reference, near, n_samples, n_columns)
    products = tables[3]
    width = products.shape[1]
    steps, squares, limits = np.zeros(width), np.ones(width), np.empty(width)
    tally = np.empty((n_classes, width))
    for q in range(n_queries):
        square = rows[3][q]
        if unit and square == 0.0:
            continue
        near_squares = reference[3][near[q]]
        _fill_products(rows, reference, near, q, n_samples, tables)
        _fill_steps(products, square, near_squares, n_samples, unit, steps)
        _move_to_samples(products, square, near_squares, n_samples, unit, steps, squares)
        _fill_limits(products, n_samples, n_neighbors, limits)
        _tally(products, limits, squares, gamma, codes[q], tally)
        for i in range(n_samples):
            for c in range(n_classes):
                votes[q, i, c] = tally[c, i]
    return votes


@kernel
def _make_tables(rows: Rows, reference: Rows, near: Ints, n_first: int, n_columns: int) -> Tables:
    """Empty tables for one query: it and its first neighbours side by side in lanes, and their products."""
    n_queries, n_near = near.shape
    most = 0
    for q in range(n_queries):
        entries = rows[0][q + 1] - rows[0][q]
        for i in range(n_first):
            entries += reference[0][near[q, i] + 1] - reference[0][near[q, i]]
        most = max(most, entries)
    width = (n_first + BLOCK) // BLOCK * BLOCK
    n_lines = min(most, n_columns)
    lanes = np.zeros((1 + n_lines, width))  # the first line is that of columns without an entry
    places, used = np.zeros(n_columns, np.int64), np.empty(n_lines, np.int64)
    return lanes, places, used, np.zeros((n_near, width))


@kernel
def _fill_products(
    rows: Rows, reference: Rows, near: Ints, q: int, n_first: int, tables: Tables
) -> None:
    """Set the dot products of each neighbour with the first ones, and in the lane after these with the query.

    Every column that one of these has an entry in gets a line of lanes, so that an entry of any
    neighbour is multiplied with all of theirs at once.
    """
    lanes, places, used, products = tables
    starts, columns, values, _ = reference
    n_used = _fill_lanes(starts, columns, values, near[q, :n_first], 0, 0, lanes, places, used)
    query = np.full(1, q)
    n_used = _fill_lanes(rows[0], rows[1], rows[2], query, n_first, n_used, lanes, places, used)
    for j in range(len(products)):
        entries = slice(starts[near[q, j]], starts[near[q, j] + 1])
        _fill_dots(columns[entries], values[entries], lanes, places, products[j])
    for u in range(n_used):
        places[used[u]] = 0


@kernel(fastmath={"contract"})
def _fill_dots(columns: Any, values: Floats, lanes: Floats, places: Ints, products: Floats) -> None:
    """Set the dot products of one row with those in the lanes, four entries at a time."""
    products[:] = 0.0
    whole = columns.size // 4 * 4
    for p in range(0, whole, 4):
        a, b = np.uint64(places[columns[p]]), np.uint64(places[columns[p + 1]])
        c, d = np.uint64(places[columns[p + 2]]), np.uint64(places[columns[p + 3]])
        of_a, of_b, of_c, of_d = values[p], values[p + 1], values[p + 2], values[p + 3]
        for lane in range(products.size):
            products[lane] += (of_a * lanes[a, lane] + of_b * lanes[b, lane]) + (
                of_c * lanes[c, lane] + of_d * lanes[d, lane]
            )
    for p in range(whole, columns.size):
        place, value = np.uint64(places[columns[p]]), values[p]
        for lane in range(products.size):
            products[lane] += value * lanes[place, lane]


@kernel
def _fill_lanes(
    starts: Any,
    columns: Any,
    values: Floats,
    chosen: Ints,
    lane: int,
    n_used: int,
    lanes: Floats,
    places: Ints,
    used: Ints,
) -> int:
    """Spread rows over one lane after another, with new lines for new columns; returns how many are used."""
    for row in chosen:
        for p in range(starts[row], starts[row + 1]):
            column = columns[p]
            place = places[column]
            if place == 0:
                used[n_used] = column
                n_used += 1
                place = n_used
                places[column] = place
                for i in range(lanes.shape[1]):
                    lanes[place, i] = 0.0
            lanes[place, lane] = values[p]
        lane += 1
    return n_used


@kernel
def _fill_steps(
    products: Floats, square: float, near_squares: Floats, n_first: int, unit: bool, steps: Floats
) -> None:
    """Set the steps β_i = min |d_j|² / (2 d_i·d_j), of d_j = n_j − x: 1/β_i is largest, and never below 2."""
    own, bounds = np.zeros(steps.size), np.empty(steps.size)
    for i in range(n_first):
        own[i] = products[i, n_first] - square
        steps[i] = 2.0
    for j in range(n_first):
        size, cross = square + near_squares[j], products[j, n_first]
        apart = size - 2.0 * cross
        binds = apart >= ZERO_SQUARE * size and apart > 0.0
        if binds and not (unit and near_squares[j] == 0.0):
            scale = 2.0 / apart
            for i in range(steps.size):
                bounds[i] = (products[j, i] - own[i] - cross) * scale
            for i in range(steps.size):
                steps[i] = bounds[i] if bounds[i] > steps[i] else steps[i]
    for i in range(n_first):
        steps[i] = 1.0 / steps[i]


@kernel
def _move_to_samples(
    products: Floats,
    square: float,
    near_squares: Floats,
    n_samples: int,
    unit: bool,
    steps: Floats,
    squares: Floats,
) -> None:
    """Turn n_i·n_j into how far n_j is from the sample s_i = x + β_i(n_i − x), and fill in |s_i|².

    How far is |n_j|²/2 − s_i·n_j, or with `unit` −s_i·n_j: less is nearer.
    """
    for i in range(n_samples):
        step, stay = steps[i], 1.0 - steps[i]
        own = stay * square + 2.0 * step * products[i, n_samples]
        squares[i] = stay * own + step * step * near_squares[i]
    for j in range(products.shape[0]):
        cross = products[j, n_samples]
        half = 0.0 if unit else 0.5 * near_squares[j]
        for i in range(steps.size):
            products[j, i] = half - cross - steps[i] * (products[j, i] - cross)


@kernel
def _fill_limits(far: Floats, n_samples: int, n_neighbors: int, limits: Floats) -> None:
    """Set each sample's limit, which `n_neighbors` values are up to; others that equal it become infinite.

    The limit lies between the largest of the first `n_neighbors` values and the smallest of the others,
    which are close together where values are nearly in order. All samples halve this range together, many
    times faster than each could sort; the few that are then still open sort what is left between.
    """
    n_near, width = far.shape
    count = np.empty(width)
    low, high = _limit_ranges(far, n_neighbors)
    for _ in range(N_HALVINGS):
        for i in range(width):
            limits[i] = 0.5 * (low[i] + high[i])
        _count_within(far, limits, count)
        for i in range(width):
            high[i] = limits[i] if count[i] >= n_neighbors else high[i]
            low[i] = limits[i] if count[i] <= n_neighbors else low[i]
    between = np.empty(n_near)
    for i in range(n_samples):
        if count[i] != n_neighbors:
            limits[i] = _limit_between(far, i, low[i], high[i], n_neighbors, between)


@kernel
def _count_within(far: Floats, limits: Floats, count: Floats) -> None:
    """Set how many values of each lane are up to its limit, two lines at a time."""
    n_near, width = far.shape
    for i in range(width):
        count[i] = 1.0 if n_near % 2 and far[n_near - 1, i] <= limits[i] else 0.0
    for j in range(0, n_near - 1, 2):
        for i in range(width):
            both = 1.0 if far[j, i] <= limits[i] else 0.0
            count[i] += both + (1.0 if far[j + 1, i] <= limits[i] else 0.0)


@kernel
def _limit_ranges(far: Floats, n_neighbors: int) -> tuple[Floats, Floats]:
    """Lower end, exclusive, and upper end of the range that holds the limit of each sample."""
    n_near, width = far.shape
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    for j in range(n_neighbors):
        for i in range(width):
            high[i] = far[j, i] if far[j, i] > high[i] else high[i]
    for j in range(n_neighbors, n_near):
        for i in range(width):
            low[i] = far[j, i] if far[j, i] < low[i] else low[i]
    for i in range(width):
        # Apart already, or else just below what may be the limit itself.
        low[i] = high[i] if high[i] < low[i] else low[i] - 4e-16 * abs(low[i]) - 1e-300
    return low, high


@kernel
def _limit_between(
    far: Floats, i: int, low: float, high: float, n_neighbors: int, between: Floats
) -> float:
    """Limit of one sample, above `low` and up to `high`; of values that equal it the first few stay."""
    n_wanted, n_between = n_neighbors, 0
    for j in range(far.shape[0]):
        value = far[j, i]
        n_wanted -= value <= low
        if low < value <= high:
            at = n_between
            while at > 0 and between[at - 1] > value:
                between[at] = between[at - 1]
                at -= 1
            between[at] = value
            n_between += 1
    limit = between[n_wanted - 1]
    for j in range(n_between):
        n_wanted -= between[j] < limit
    for j in range(far.shape[0]):
        if far[j, i] == limit:
            n_wanted -= 1
            if n_wanted < 0:
                far[j, i] = np.inf
    return limit


@kernel
def _tally(
    far: Floats, limits: Floats, squares: Floats, gamma: float, codes: Ints, tally: Floats
) -> None:
    """Set `tally` to the votes for each class, a line, at each sample, a lane."""
    n_near, width = far.shape
    tally[:] = 0.0
    if gamma > 0.0:
        for j in range(n_near):
            for i in range(width):
                if far[j, i] <= limits[i]:
                    tally[codes[j], i] += np.exp(-gamma * max(0.0, squares[i] + 2.0 * far[j, i]))
    else:
        for i in range(width):
            squares[i] = 1.0 / np.sqrt(max(squares[i], 1e-300))
        for j in range(n_near):
            code = codes[j]
            for i in range(width):
                tally[code, i] -= far[j, i] * squares[i] if far[j, i] <= limits[i] else 0.0
