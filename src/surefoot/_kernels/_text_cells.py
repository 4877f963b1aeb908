"""Steps and votes in the cells of sparse rows, from the dot products of a few neighbours alone."""

from typing import Any

import numpy as np

from surefoot._kernels._compile import kernel
from surefoot._kernels._lanes import (
    BLOCK,
    LANES,
    clear_block,
    lane_counts,
    lane_dots,
    lower_to,
    raise_to,
)
from surefoot._typing import Floats, Ints

Rows = tuple[
    Any, Any, Floats, Floats
]  # CSR: starts, columns, values; and the rows' squared lengths
Tables = tuple[Floats, Ints, Ints, Floats]

# What rounding leaves of a zero |d|², relative to the squared lengths of the two rows.
ZERO_SQUARE = 1e-13

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
    lanes = np.zeros((1 + n_lines) * width)  # the first line is that of columns without an entry
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
    n_near, width = products.shape
    flat = products.reshape(-1)
    n_used = _fill_lanes(
        starts, columns, values, near[q, :n_first], 0, 0, lanes, places, used, width
    )
    query = np.full(1, q)
    n_used = _fill_lanes(
        rows[0], rows[1], rows[2], query, n_first, n_used, lanes, places, used, width
    )
    for j in range(n_near):
        start, stop = starts[near[q, j]], starts[near[q, j] + 1]
        # Of two first neighbours the product is known from the other one.
        first = j // BLOCK * BLOCK if j < n_first else 0
        lane_dots(flat, j * width, lanes, first, width, places, columns, values, start, stop)
        for i in range(first):
            products[j, i] = products[i, j]
    for u in range(n_used):
        places[used[u]] = 0


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
    width: int,
) -> int:
    """Spread rows over one lane after another, with new lines for new columns; returns how many are used."""
    for row in chosen:
        for p in range(starts[row], starts[row + 1]):
            column = columns[p]
            place = places[column]
            if place == 0:
                used[n_used] = column
                n_used += 1
                place = n_used * width
                places[column] = place
                for block in range(0, width, BLOCK):
                    clear_block(lanes, place + block)
            lanes[place + lane] = values[p]
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
            for lane in range(0, steps.size, LANES):
                raise_to(steps, lane, bounds, lane)
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
    flat, count = far.reshape(-1), np.empty(width)
    low, high = _limit_ranges(far, n_neighbors)
    for _ in range(N_HALVINGS):
        for i in range(width):
            limits[i] = 0.5 * (low[i] + high[i])
        lane_counts(count, flat, n_near, width, limits)
        for i in range(width):
            high[i] = limits[i] if count[i] >= n_neighbors else high[i]
            low[i] = limits[i] if count[i] <= n_neighbors else low[i]
    between = np.empty(n_near)
    for i in range(n_samples):
        if count[i] != n_neighbors:
            limits[i] = _limit_between(far, i, low[i], high[i], n_neighbors, between)


@kernel
def _limit_ranges(far: Floats, n_neighbors: int) -> tuple[Floats, Floats]:
    """Lower end, exclusive, and upper end of the range that holds the limit of each sample."""
    n_near, width = far.shape
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    flat = far.reshape(-1)
    for j in range(n_near):
        for lane in range(0, width, LANES):
            if j < n_neighbors:
                raise_to(high, lane, flat, j * width + lane)
            else:
                lower_to(low, lane, flat, j * width + lane)
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
