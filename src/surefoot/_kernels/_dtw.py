"""Exact nearest series under dynamic time warping: bounds for all, the recurrence for those that remain."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from surefoot._kernels._compile import entry, kernel
from surefoot._typing import Floats, Ints

# Relative room for rounding wherever sums of different order are compared: with it, neither a
# bound nor a cutoff ever drops a series whose computed cost equals the cutoff.
SLACK = 1e-9

# Sums may be reordered to vectorise; no inf or NaN is assumed away.
REORDER = {"reassoc", "nsz", "contract"}


class Stored(NamedTuple):
    """Series with their envelopes, one after the other, each channel after channel."""

    values: Floats
    lower: Floats
    upper: Floats
    starts: Ints
    lengths: Ints
    n_channels: int


def store_series(
    values: Floats, starts: Ints, lengths: Ints, n_channels: int, radius: int
) -> Stored:
    """Series with their envelopes: least and greatest value within `radius` steps of each point."""
    lower, upper = np.empty_like(values), np.empty_like(values)
    for length in np.unique(lengths):  # all series of one length at once
        channels = np.arange(n_channels * length).reshape(n_channels, length)
        places = starts[lengths == length, None, None] + channels
        size = 2 * min(radius, int(length) - 1) + 1
        lower[places] = minimum_filter1d(values[places], size, mode="nearest")
        upper[places] = maximum_filter1d(values[places], size, mode="nearest")
    return Stored(values, lower, upper, starts, lengths, n_channels)


class Query(NamedTuple):
    """One series and its envelope, among others; and the series backwards, padded for the recurrence."""

    values: Floats
    start: int
    length: int
    lower: Floats
    upper: Floats
    backwards: Floats


class Scratch(NamedTuple):
    """Room for one pair of series at a time, and the window for the recurrence."""

    padded: Floats
    rest: Floats
    outside: Floats
    cells: Floats
    costs: Floats


@entry
def search(
    queries: Stored,
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
    longest = max(stored.lengths.max(), queries.lengths.max())
    radius = min(radius, longest - 1)
    channels = stored.n_channels
    size = longest + 2 * PADDING
    backwards = np.empty(channels * size)
    room = Scratch(
        np.empty(channels * size),
        np.empty(longest + 1),
        _outside_window(radius),
        np.empty((4, size)),
        np.empty((2 * ROUND, size if channels > 1 else 0)),
    )
    bounds, order = np.empty(len(stored.starts)), np.empty(len(stored.starts), np.int64)
    for q in range(len(queries.starts)):
        x = Query(
            queries.values, queries.starts[q], queries.lengths[q],
            queries.lower, queries.upper, backwards,
        )  # fmt: skip
        _pad(x.values, x.start, x.length, channels, True, backwards)
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
            cost = _cost(x, stored, s, radius, cutoff, room)
            if cost <= cutoff:
                _insert(best, nearest, cost, s)


@kernel
def _insert(costs: Floats, neighbors: Ints, cost: float, index: int) -> None:
    """Keep the smallest costs in order, equal ones by index."""
    at = len(costs) - 1
    if cost > costs[at] or (cost == costs[at] and index > neighbors[at]):
        return
    while at > 0 and (
        costs[at - 1] > cost or (costs[at - 1] == cost and neighbors[at - 1] > index)
    ):
        costs[at], neighbors[at] = costs[at - 1], neighbors[at - 1]
        at -= 1
    costs[at], neighbors[at] = cost, index


@kernel
def _bound_all(
    x: Query, stored: Stored, own: int, bounds: Floats, least: Floats, promising: Ints
) -> None:
    """Bound every cost by both ends, exactly, and LB_Keogh of the query between them.

    `least` and `promising` receive the smallest bounds and whose they are.
    """
    least[:] = np.inf
    promising[:] = len(stored.starts)
    for s in range(len(stored.starts)):
        at, m, channels = stored.starts[s], stored.lengths[s], stored.n_channels
        first, last = _end_costs(x, stored, s)
        inner = _inner_gaps(
            x.values, x.start, x.length, stored.lower, stored.upper, at, m, channels
        )
        bounds[s] = first + last + inner
        if s != own and bounds[s] <= least[-1]:
            _insert(least, promising, bounds[s], s)


@kernel
def _end_costs(x: Query, stored: Stored, s: int) -> tuple[float, float]:
    """Costs of the first and the last cell, which every path visits (LB_Kim)."""
    first, last, n, m = 0.0, 0.0, x.length, stored.lengths[s]
    for channel in range(stored.n_channels):
        i, j = x.start + channel * n, stored.starts[s] + channel * m
        first += (x.values[i] - stored.values[j]) ** 2
        last += (x.values[i + n - 1] - stored.values[j + m - 1]) ** 2
    return first, last if n + m > 2 else 0.0


@kernel(fastmath=REORDER)
def _inner_gaps(
    x: Floats, x_at: int, n: int, lower: Floats, upper: Floats, at: int, m: int, n_channels: int
) -> float:
    """LB_Keogh without the two ends: how far x leaves the envelope of y, squared and summed.

    Rows past the end of a shorter y are left out: its envelope ends there.
    """
    total = 0.0
    shared = min(n - 1, m)
    for channel in range(n_channels):
        i, j = x_at + channel * n, at + channel * m
        values = x[i + 1 : i + shared]
        low, high = lower[j + 1 : j + shared], upper[j + 1 : j + shared]
        for k in range(len(values)):
            total += _squared_gap(values[k], low[k], high[k])
    return total


@kernel(inline="always")
def _squared_gap(value: float, lower: float, upper: float) -> float:
    """Squared distance from a value to an interval."""
    above, below = value - upper, lower - value
    gap = above if above > below else below
    gap = gap if gap > 0.0 else 0.0
    return gap * gap


@kernel
def _ceiling(x: Query, stored: Stored, promising: Ints) -> float:
    """Cost that the k best cannot exceed: the worst Euclidean one among k promising series."""
    worst = 0.0
    size = stored.n_channels * x.length
    for s in promising:
        if stored.lengths[s] != x.length:
            return np.inf
        at = stored.starts[s]
        # The squared Euclidean distance is never below the DTW cost.
        gaps = x.values[x.start : x.start + size] - stored.values[at : at + size]
        worst = max(worst, (gaps * gaps).sum())
    return worst


@kernel
def _remaining(
    x: Query, stored: Stored, own: int, bounds: Floats, ceiling: float, order: Ints
) -> Ints:
    """Series that may be among the k best, in the order of their bounds.

    Where the first bound is not enough, LB_Keogh the other way round, of the stored series against
    the query's envelope, takes its place if it is better.
    """
    count = 0
    for s in range(len(bounds)):
        if s == own or bounds[s] > ceiling:
            continue
        at, m, channels = stored.starts[s], stored.lengths[s], stored.n_channels
        first, last = _end_costs(x, stored, s)
        inner = _inner_gaps(stored.values, at, m, x.lower, x.upper, x.start, x.length, channels)
        bounds[s] = max(bounds[s], first + last + inner)
        if bounds[s] <= ceiling:
            order[count] = s
            count += 1
    kept = order[:count]
    return kept[np.argsort(bounds[kept])]


@kernel
def _cost(x: Query, stored: Stored, s: int, radius: int, cutoff: float, room: Scratch) -> float:
    """Squared DTW cost of the query and a stored series; inf if it exceeds the cutoff."""
    at, m, channels = stored.starts[s], stored.lengths[s], stored.n_channels
    values, n = stored.values, x.length
    end = _end_costs(x, stored, s)[1]
    _fill_rest(values, at, m, x.lower, x.upper, x.start, n, channels, end, room.rest)
    _pad(values, at, m, channels, False, room.padded)
    return _dtw_cost(
        x.backwards, n, room.padded, m, channels, radius, cutoff,
        room.rest, room.outside, room.cells, room.costs,
    )  # fmt: skip


@kernel
def _fill_rest(
    x: Floats,
    x_at: int,
    n: int,
    lower: Floats,
    upper: Floats,
    at: int,
    m: int,
    n_channels: int,
    end: float,
    rest: Floats,
) -> None:
    """Set `rest[i]` to what points i, i + 1, ... of x must cost against the envelope of y.

    `end` is the cost of the last cell, which lies in the last row and in the last column.
    """
    rest[: n + 1] = 0.0
    rest[n - 1] = end
    shared = min(n - 1, m)
    for channel in range(n_channels):
        i, j = x_at + channel * n, at + channel * m
        values, low, high = x[i : i + shared], lower[j : j + shared], upper[j : j + shared]
        for k in range(len(values)):
            rest[k] += _squared_gap(values[k], low[k], high[k])
    for k in range(n - 2, -1, -1):
        rest[k] += rest[k + 1]


# Lanes come in multiples of this number, which every vector width divides.
BLOCK = 16
# Pairs of antidiagonals, an even number, after which cells that no path within the cutoff visits are dropped.
ROUND = 16
# Values on both sides of each channel, for cells outside of the matrix.
PADDING = BLOCK + ROUND


@kernel
def _pad(
    values: Floats, start: int, length: int, n_channels: int, backwards: bool, out: Floats
) -> None:
    """Copy a series into `out`, with inf on both sides of each channel if backwards, and with -inf if not.

    The gap of either infinity to the other, or to a value, is infinite: never NaN.
    """
    far = np.inf if backwards else -np.inf
    for channel in range(n_channels):
        i, at = start + channel * length, channel * (length + 2 * PADDING)
        series, padded = values[i : i + length], out[at : at + length + 2 * PADDING]
        for k in range(PADDING):
            padded[k] = padded[PADDING + length + k] = far
        inside = padded[PADDING : PADDING + length]
        for k in range(length):
            inside[k] = series[length - 1 - k] if backwards else series[k]


@kernel
def _outside_window(radius: int) -> Floats:
    """Cost of leaving the window, 0 or inf, in each lane of an even and of the next odd antidiagonal."""
    reach = radius // 2 + PADDING
    steps = 2 * np.arange(-reach, reach) - np.arange(2).reshape(2, 1)
    return np.where(np.abs(steps) > radius, np.inf, 0.0)


@kernel
def _dtw_cost(
    x: Floats,
    n: int,
    y: Floats,
    m: int,
    n_channels: int,
    radius: int,
    cutoff: float,
    rest: Floats,
    outside: Floats,
    cells: Floats,
    costs: Floats,
) -> float:
    """Squared DTW cost within a Sakoe-Chiba radius; inf if it exceeds the cutoff.

    Walks the antidiagonals, row + column = 2t and then 2t + 1, whose cells are independent. Lane k holds column t + k,
    so that a window is the same lanes all the time. Of each pair only the lanes between the outermost cells that can
    still lie on a path within the cutoff are kept: the pruning from both sides of EAPruned (Herrmann and Webb 2021),
    turned by 45 degrees. `rest[j]` bounds what columns from j on will cost at least. The series come padded, x
    backwards, so that an antidiagonal reads both forwards.
    """
    zero = n // 2 + PADDING  # where lane 0 is
    even, odd, next_even, next_odd = cells[0], cells[1], cells[2], cells[3]
    for k in range((n + m) // 2 + 2 * PADDING):
        even[k] = odd[k] = np.inf
    even[zero] = 0.0  # a virtual cell before the first points of both series
    first, last, n_pairs = 0, 0, (n + m) // 2
    for start in range(0, n_pairs, ROUND):
        stop = min(start + ROUND, n_pairs)
        # The lanes of all cells of this round: a pair leads to the same lane or to the next on either side.
        low = max(first - ROUND, start - n + 1, 1 - stop, -(radius // 2))
        high = min(last + ROUND, m - 1 - start, stop, (radius + 1) // 2)
        width = (high - low + BLOCK) // BLOCK * BLOCK
        at, x_at, y_at = zero + low, PADDING + n - 1 - start + low, PADDING + start + low
        window_at = outside.shape[1] // 2 + low
        next_odd[at + width] = np.inf  # which is read, and not written
        added, added_at = outside, window_at
        if n_channels > 1:
            added, added_at = costs, 0
            _fill_costs(
                costs, width, 2 * (stop - start), outside, window_at, n_channels,
                x, x_at, n + 2 * PADDING, y, y_at, m + 2 * PADDING,
            )  # fmt: skip
        _walk(
            even, odd, next_even, next_odd, at, width,
            x, x_at, y, y_at, added, added_at, stop - start,
        )  # fmt: skip
        if (stop - start) % 2:
            even, odd = next_even, next_odd
        # Of lanes further out the column or the row is beyond the matrix by now.
        first, last = max(low, stop - n), min(high, m - stop)
        while first <= last and _least(even, odd, zero + first) + rest[stop + first] > cutoff:
            first += 1
        while first < last and _least(even, odd, zero + last) + rest[stop + last] > cutoff:
            last -= 1
        if first > last:
            return np.inf
        for k in range(at, zero + first):
            even[k] = odd[k] = np.inf
        for k in range(zero + last + 1, at + width):
            even[k] = odd[k] = np.inf
    cost = (odd if (n + m) % 2 else even)[zero + m - n_pairs]
    return cost if cost <= cutoff else np.inf


@kernel
def _walk(
    even: Floats,
    odd: Floats,
    next_even: Floats,
    next_odd: Floats,
    at: int,
    width: int,
    x: Floats,
    x_at: int,
    y: Floats,
    y_at: int,
    costs: Floats,
    costs_at: int,
    n_pairs: int,
) -> None:
    """Fill `width` lanes of the next two antidiagonals from those of the last two, which change roles, `n_pairs` times.

    A cell costs the squared gap of x and y, and what `costs` holds for its antidiagonal, or for every second one, and
    lane. Unsigned places, and arrays other than those that are read, let the compiler vectorise the loop.
    """
    one, here, c = np.uintp(1), np.uintp(at), np.uintp(costs_at)
    for step in range(n_pairs):
        i, j, row = np.uintp(x_at - step), np.uintp(y_at + step), np.uintp(2 * step % len(costs))
        left, x_before = np.inf, x[i - one]
        for lane in range(width):
            k = np.uintp(lane)
            diagonal, up, cell = odd[here + k], odd[here + k + one], even[here + k]
            best = up if up < diagonal else diagonal
            best = best if best < cell else cell
            x_now, y_now = x[i + k], y[j + k]
            gap = x_now - y_now
            cell = best + (gap * gap + costs[row, c + k])
            best = cell if cell < left else left
            best = best if best < diagonal else diagonal
            gap = x_before - y_now
            next_even[here + k] = cell
            next_odd[here + k] = best + (gap * gap + costs[row + one, c + k])
            left, x_before = cell, x_now
        even, odd, next_even, next_odd = next_even, next_odd, even, odd


@kernel
def _fill_costs(
    costs: Floats,
    width: int,
    n_steps: int,
    outside: Floats,
    outside_at: int,
    n_channels: int,
    x: Floats,
    x_at: int,
    x_stride: int,
    y: Floats,
    y_at: int,
    y_stride: int,
) -> None:
    """Set what cells on antidiagonals cost outside of the window, and in all channels but the first."""
    for step in range(n_steps):
        row = costs[step][:width]
        row[:] = outside[step % 2][outside_at : outside_at + width]
        for channel in range(1, n_channels):
            i, j = (
                x_at - (step + 1) // 2 + channel * x_stride,
                y_at + step // 2 + channel * y_stride,
            )
            here, there = x[i : i + width], y[j : j + width]
            for k in range(width):
                gap = here[k] - there[k]
                row[k] += gap * gap


@kernel(inline="always")
def _least(even: Floats, odd: Floats, at: int) -> float:
    """The smaller of the two cells of a lane."""
    return even[at] if even[at] < odd[at] else odd[at]


# Steps of a warping path that lead to a cell: along both series, along the row, along its neighbour.
BOTH, ROW, NEIGHBOR = 0, 1, 2
# Room for rounding where the distance is 0.
TINY = 1e-300


@entry
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
