"""Squared DTW cost of two series, given up as soon as it must exceed a cutoff."""

import numpy as np

from surefoot._kernels._compile import kernel
from surefoot._kernels._dtw_simd import LANES, advance, advance_channels
from surefoot._typing import Floats

# Relative room for rounding wherever sums of different order are compared: with it, neither a
# bound nor a cutoff ever drops a series whose computed cost equals the cutoff.
SLACK = 1e-9

_NOWHERE = 1 << 40


@kernel
def reverse_channels(values: Floats, start: int, length: int, n_channels: int, out: Floats) -> None:
    """Copy one stored series into `out`, backwards in time, in the same padded layout."""
    stride = length + LANES
    for channel in range(n_channels):
        at = start + channel * stride
        for i in range(length):
            out[channel * stride + i] = values[at + length - 1 - i]


@kernel
def cell_cost(
    x: Floats, x_at: int, x_stride: int, y: Floats, y_at: int, y_stride: int, n_channels: int
) -> float:
    """Squared gap of two points, summed over the channels."""
    total = 0.0
    for channel in range(n_channels):
        gap = x[x_at + channel * x_stride] - y[y_at + channel * y_stride]
        total += gap * gap
    return total


@kernel
def n_cells(longest: int) -> int:
    """Length of the buffer that a recurrence needs for series of this length."""
    return 3 * (longest + 2 * LANES) + 256


@kernel
def dtw_cost(
    reversed_x: Floats,
    n: int,
    y: Floats,
    start: int,
    m: int,
    n_channels: int,
    radius: int,
    cutoff: float,
    row_rest: Floats,
    column_rest: Floats,
    cells: Floats,
) -> float:
    """Squared DTW cost within a Sakoe-Chiba radius; inf if it exceeds the cutoff.

    Walks the antidiagonals i + j = d, whose cells are independent, and keeps of each only the
    stretch between the outermost cells that can still lie on a path within the cutoff: the pruning
    from both sides of EAPruned (Herrmann and Webb 2021), turned by 45 degrees. `row_rest[i]` and
    `column_rest[j]` bound what rows from i and columns from j on will cost at least.
    """
    x_stride = n + LANES
    y_stride = m + LANES
    # Column j of the three antidiagonals is at cells[older + j], cells[old + j], cells[new + j].
    size = m + 2 * LANES
    older, old, new = 1, 1 + size, 1 + 2 * size
    cells[older - 1] = cells[older] = np.inf
    cells[old - 1] = cells[old + 1] = np.inf
    cells[old] = cell_cost(reversed_x, n - 1, x_stride, y, start, y_stride, n_channels)
    first, last = 0, 0
    first_before, last_before = _NOWHERE, -1
    for d in range(1, n + m - 1):
        # A step leads to the next antidiagonal, or, along both series, to the one after it.
        low = max(min(first, first_before + 1), d - n + 1, (d - radius + 1) >> 1)
        high = min(max(last, last_before) + 1, m - 1, d, (d + radius) >> 1)
        backwards = n - 1 - d
        if n_channels == 1:
            for j in range(low, high + 1, LANES):
                advance(cells, older + j, old + j, new + j, reversed_x, backwards + j, y, start + j)
        else:
            for j in range(low, high + 1, LANES):
                advance_channels(
                    cells, older + j, old + j, new + j,
                    reversed_x, backwards + j, x_stride, y, start + j, y_stride, n_channels,
                )  # fmt: skip
        cells[new + low - 1] = np.inf
        cells[new + high + 1] = np.inf
        first_before, last_before = first, last
        first, last = low, high
        while first <= last and (
            cells[new + first] + max(row_rest[d - first + 1], column_rest[first + 1]) > cutoff
        ):
            first += 1
        while last > first and (
            cells[new + last] + max(row_rest[d - last + 1], column_rest[last + 1]) > cutoff
        ):
            last -= 1
        if first > last:
            if first_before == _NOWHERE:
                return np.inf
            first, last = _NOWHERE, -1
        older, old, new = old, new, older
    within = last >= 0 and cells[old + m - 1] <= cutoff
    return cells[old + m - 1] if within else np.inf
