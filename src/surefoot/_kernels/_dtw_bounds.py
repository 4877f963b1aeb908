"""Lower bounds of the squared DTW cost, in time linear in the length."""

import numpy as np

from surefoot._kernels._compile import kernel
from surefoot._kernels._dtw import cell_cost
from surefoot._kernels._dtw_simd import LANES
from surefoot._typing import Floats, Ints

# Sums may be reordered to vectorise; no inf or NaN is assumed away.
_REORDER = {"reassoc", "nsz", "contract"}


@kernel
def envelope(
    x: Floats, start: int, length: int, radius: int, lower: Floats, upper: Floats, at: int
) -> None:
    """Least and greatest value within `radius` steps of each point, in one pass (Lemire 2009).

    Two queues hold the points that can still become the greatest or the least, in order.
    """
    tops = np.empty(length, np.int64)
    bottoms = np.empty(length, np.int64)
    top = bottom = n_tops = n_bottoms = 0
    for i in range(length + min(radius, length)):
        if i < length:
            value = x[start + i]
            while n_tops > top and x[start + tops[n_tops - 1]] <= value:
                n_tops -= 1
            tops[n_tops] = i
            n_tops += 1
            while n_bottoms > bottom and x[start + bottoms[n_bottoms - 1]] >= value:
                n_bottoms -= 1
            bottoms[n_bottoms] = i
            n_bottoms += 1
        center = i - min(radius, length)
        if center >= 0:
            while tops[top] < center - radius:
                top += 1
            while bottoms[bottom] < center - radius:
                bottom += 1
            upper[at + center] = x[start + tops[top]]
            lower[at + center] = x[start + bottoms[bottom]]


@kernel
def envelopes(
    values: Floats,
    starts: Ints,
    lengths: Ints,
    n_channels: int,
    radius: int,
    lower: Floats,
    upper: Floats,
) -> None:
    """Envelopes of every channel of every stored series, in the layout of the values."""
    for s in range(len(starts)):
        stride = lengths[s] + LANES
        for channel in range(n_channels):
            at = starts[s] + channel * stride
            envelope(values, at, lengths[s], radius, lower, upper, at)


@kernel(fastmath=_REORDER)
def _gap_sum(x: Floats, lower: Floats, upper: Floats) -> float:
    """Sum of squared distances from `x` to the envelope."""
    total = 0.0
    for i in range(len(x)):
        above = x[i] - upper[i]
        below = lower[i] - x[i]
        gap = above if above > below else below
        gap = gap if gap > 0.0 else 0.0
        total += gap * gap
    return total


@kernel
def _add_gaps(x: Floats, lower: Floats, upper: Floats, out: Floats) -> None:
    """Add the squared distance from each point of `x` to the envelope to `out`."""
    for i in range(len(x)):
        above = x[i] - upper[i]
        below = lower[i] - x[i]
        gap = above if above > below else below
        gap = gap if gap > 0.0 else 0.0
        out[i] += gap * gap


@kernel
def inner_gaps(
    x: Floats,
    x_at: int,
    n: int,
    lower: Floats,
    upper: Floats,
    at: int,
    m: int,
    n_channels: int,
) -> float:
    """LB_Keogh without the two ends: how far x leaves the envelope of y, squared and summed.

    Rows past the end of a shorter y are left out: its envelope ends there.
    """
    total = 0.0
    shared = min(n - 1, m)
    for channel in range(n_channels):
        i = x_at + channel * (n + LANES)
        j = at + channel * (m + LANES)
        total += _gap_sum(
            x[i + 1 : i + shared], lower[j + 1 : j + shared], upper[j + 1 : j + shared]
        )
    return total


@kernel
def end_costs(
    x: Floats, x_at: int, n: int, y: Floats, y_at: int, m: int, n_channels: int
) -> tuple[float, float]:
    """Costs of the first and the last cell, which every path visits (LB_Kim)."""
    x_stride = n + LANES
    y_stride = m + LANES
    first = cell_cost(x, x_at, x_stride, y, y_at, y_stride, n_channels)
    last = cell_cost(x, x_at + n - 1, x_stride, y, y_at + m - 1, y_stride, n_channels)
    return first, last if n + m > 2 else 0.0


@kernel
def rest_of_rows(
    x: Floats,
    x_at: int,
    n: int,
    lower: Floats,
    upper: Floats,
    at: int,
    m: int,
    n_channels: int,
    end: float,
    out: Floats,
) -> None:
    """Set `out[i]` to what points i, i + 1, ... of x must cost against the envelope of y.

    `end` is the cost of the last cell, which lies in the last row and in the last column.
    """
    out[: n + 1] = 0.0
    out[n - 1] = end
    shared = min(n - 1, m)
    for channel in range(n_channels):
        i = x_at + channel * (n + LANES)
        j = at + channel * (m + LANES)
        _add_gaps(x[i : i + shared], lower[j : j + shared], upper[j : j + shared], out)
    total = end
    for i in range(n - 2, -1, -1):
        total += out[i]
        out[i] = total


@kernel(fastmath=_REORDER)
def aligned_cost(x: Floats, x_at: int, y: Floats, y_at: int, length: int, n_channels: int) -> float:
    """Squared Euclidean distance of two series of one length: never below the DTW cost."""
    size = n_channels * (length + LANES)  # the padding is zero in both
    here, there = x[x_at : x_at + size], y[y_at : y_at + size]
    total = 0.0
    for i in range(size):
        gap = here[i] - there[i]
        total += gap * gap
    return total
