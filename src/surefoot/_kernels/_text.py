"""Nearest rows of sparse queries, and steps and votes in their cells.

Loops over entries are functions of their own that get slices, as numba counts references to slices made in a loop.
"""

from typing import Any

import numpy as np

from surefoot._kernels._compile import entry, kernel
from surefoot._typing import Floats, Ints

Sparse = tuple[Any, Any, Floats]  # starts, then columns (of CSR) or rows (of CSC), and values
Rows = tuple[
    Any, Any, Floats, Floats
]  # CSR: starts, columns, values; and the rows' squared lengths
Tables = tuple[Floats, Ints, Ints, Floats]

# Rows whose sums fit a processor's second cache.
TILE = 10_000

# Rows of which only the largest sum is looked at first.
GROUP = 32


@entry
def nearest_rows(
    queries: Sparse, index: Sparse, offsets: Floats, n_near: int
) -> tuple[Floats, Ints]:
    """Largest x·n + offset for each query x over the rows n of the index, in order, and their rows.

    `queries` are CSR, `index` is CSC. Among equal sums the first rows count.
    """
    starts, columns, values = queries
    n_queries, n_rows = starts.size - 1, offsets.size
    keys, nearest = np.full((n_queries, n_near), -np.inf), np.empty((n_queries, n_near), np.int64)
    n_tiles = (n_rows + TILE - 1) // TILE
    tile = (n_rows + n_tiles - 1) // n_tiles
    sums = np.empty((tile + GROUP - 1) // GROUP * GROUP)
    for q in range(n_queries):
        own = slice(starts[q], starts[q + 1])
        cursors = index[0][columns[own]]
        limit = -np.inf
        for start in range(0, n_rows, tile):
            stop = min(start + tile, n_rows)
            sums[: stop - start] = offsets[start:stop]
            sums[stop - start :] = -np.inf
            _add_products(columns[own], values[own], index, cursors, start, stop, n_rows, sums)
            limit = _collect(sums, start, limit, keys[q], nearest[q])
    return keys, nearest


@kernel
def _add_products(
    columns: Any,
    weights: Floats,
    index: Sparse,
    cursors: Ints,
    start: int,
    stop: int,
    n_rows: int,
    sums: Floats,
) -> None:
    """Add the products of a query with the rows from `start` to `stop`; the cursors move on to `stop`."""
    starts, rows, values = index
    for u in range(columns.size):
        first, last = cursors[u], starts[columns[u] + 1]
        if stop < n_rows:
            last = first + np.searchsorted(rows[first:last], stop)
        _add_column(rows[first:last], values[first:last], start, weights[u], sums)
        cursors[u] = last


@kernel(fastmath={"contract"})
def _add_column(rows: Any, values: Floats, start: int, weight: float, sums: Floats) -> None:
    """Add the products of one column's entries, which are of different rows, four at a time.

    Unsigned places need no check for a negative one.
    """
    whole = rows.size // 4 * 4
    for p in range(0, whole, 4):
        a, b = np.uint64(rows[p] - start), np.uint64(rows[p + 1] - start)
        c, d = np.uint64(rows[p + 2] - start), np.uint64(rows[p + 3] - start)
        sum_a, sum_b = sums[a] + weight * values[p], sums[b] + weight * values[p + 1]
        sum_c, sum_d = sums[c] + weight * values[p + 2], sums[d] + weight * values[p + 3]
        sums[a], sums[b], sums[c], sums[d] = sum_a, sum_b, sum_c, sum_d
    for p in range(whole, rows.size):
        sums[rows[p] - start] += weight * values[p]


@kernel
def _collect(sums: Floats, start: int, limit: float, best: Floats, best_rows: Ints) -> float:
    """Put the rows whose sum is above the limit among the best; returns the limit for the next rows."""
    largest = _largest_of_groups(sums)
    if start == 0 and largest.size >= best.size:
        # No sum below the last of the groups' largest that there is room for is among the best.
        at = largest.size - best.size
        limit = np.nextafter(np.partition(largest, at)[at], -np.inf)
    for group in range(largest.size):
        if largest[group] > limit:
            for row in range(group * GROUP, (group + 1) * GROUP):
                if sums[row] > limit:
                    _insert(best, best_rows, sums[row], start + row)
                    limit = max(limit, best[-1])
    return limit


@kernel(fastmath={"nnan"})
def _largest_of_groups(sums: Floats) -> Floats:
    """Largest sum of each group of rows."""
    largest = np.full(sums.size // GROUP, -np.inf)
    for group in range(largest.size):
        most = -np.inf
        for row in range(group * GROUP, (group + 1) * GROUP):
            most = max(most, sums[row])
        largest[group] = most
    return largest


@kernel
def _insert(keys: Floats, rows: Ints, key: float, row: int) -> None:
    """Keep the largest keys in descending order, equal ones in the order in which they come."""
    at = keys.size - 1
    while at > 0 and keys[at - 1] < key:
        keys[at], rows[at] = keys[at - 1], rows[at - 1]
        at -= 1
    keys[at], rows[at] = key, row


# What rounding leaves of a zero |d|², relative to the squared lengths of the two rows.
ZERO_SQUARE = 1e-13

# Lanes come in multiples of this number, which most vector widths divide.
BLOCK = 16

# After these, few samples are open: it was fastest on texts to settle them one by one.
N_HALVINGS = 9


@entry
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


@entry
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
            # A bound of 2 up to rounding, as of a copy of n_i, is 2; j = i binds nothing else.
            least, before = 2.0 + ZERO_SQUARE * size * scale, steps[j]
            for i in range(steps.size):
                bounds[i] = (products[j, i] - own[i] - cross) * scale
            for i in range(steps.size):
                bounds[i] = bounds[i] if bounds[i] > least else 2.0
            for i in range(steps.size):
                steps[i] = bounds[i] if bounds[i] > steps[i] else steps[i]
            steps[j] = before
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
        count[:] = 0.0
        for j in range(n_near):
            for i in range(width):
                count[i] += 1.0 if far[j, i] <= limits[i] else 0.0
        for i in range(width):
            high[i] = limits[i] if count[i] >= n_neighbors else high[i]
            low[i] = limits[i] if count[i] <= n_neighbors else low[i]
    for i in range(n_samples):
        if count[i] != n_neighbors:
            limits[i] = _limit_between(far, i, low[i], high[i], n_neighbors)


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
def _limit_between(far: Floats, i: int, low: float, high: float, n_neighbors: int) -> float:
    """Limit of one sample, above `low` and up to `high`; of values that equal it the first few stay."""
    values = far[:, i].copy()
    between = np.sort(values[(values > low) & (values <= high)])
    n_wanted = n_neighbors - (values <= low).sum()
    limit = between[n_wanted - 1]
    n_wanted -= (between < limit).sum()
    for j in range(values.size):
        if values[j] == limit:
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
