"""Squared DTW cost within a narrow window, whose antidiagonals never leave the registers.

Within a Sakoe-Chiba radius r, an antidiagonal i + j = d has r + 1 cells if d - r is even, and r if
it is odd. They are kept as one vector, lane by lane from the first column within the window. From
an even to an odd antidiagonal that column moves on by one, so the predecessors of a lane are: on
the antidiagonal before, the same lane and the one below (even) or above (odd) it; on the one
before that, always the same lane. Series are padded with values whose cost is infinite.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils

from surefoot._kernels._compile import kernel
from surefoot._kernels._vectors import ARRAY, VectorEmitter, vector_operation
from surefoot._typing import Floats

# Radii below this are kept in registers.
WIDEST = 32
# Padding on both sides of both series; the gap of either to anything is infinite, never NaN.
PADDING = 40
X_FAR = np.inf
Y_FAR = -np.inf


def _emit_walk(
    emit: VectorEmitter,
    x: Any,
    x_at: Any,
    y: Any,
    y_at: Any,
    rest: Any,
    n_pairs: Any,
    radius: Any,
    cutoff: Any,
    cells: Any,
) -> Any:
    """Advance the two antidiagonals in `cells` by `n_pairs` pairs; False if given up.

    `cells` holds an odd antidiagonal and, after it, the even one before that; both are
    replaced by the last pair. The next pair reads x at `x_at` and y at `y_at`; x moves one
    place down with each pair, y one up.
    """
    builder = emit.builder
    one, first, second = (radius.type(number) for number in (1, 0, emit.lanes))
    odd = cgutils.alloca_once_value(builder, emit.load(cells, first))  # type: ignore[no-untyped-call]
    even = cgutils.alloca_once_value(builder, emit.load(cells, second))  # type: ignore[no-untyped-call]
    alive = cgutils.alloca_once_value(builder, cgutils.true_bit)  # type: ignore[no-untyped-call]
    outside_even, outside_odd = emit.beyond(builder.add(radius, one)), emit.beyond(radius)
    limit = emit.spread(cutoff)
    with cgutils.for_range(builder, n_pairs) as pairs:
        here = builder.add(y_at, pairs.index)
        after = builder.add(here, one)
        x_values = emit.load(x, builder.sub(x_at, pairs.index))
        old, older = builder.load(odd), builder.load(even)
        before = emit.least(emit.least(old, emit.moved(old, -1)), older)
        cost = builder.fadd(emit.squared_gap(x_values, emit.load(y, here)), outside_even)
        new_even = builder.fadd(before, cost)
        before = emit.least(emit.least(new_even, emit.moved(new_even, 1)), old)
        cost = builder.fadd(emit.squared_gap(x_values, emit.load(y, after)), outside_odd)
        new_odd = builder.fadd(before, cost)
        builder.store(new_even, even)
        builder.store(new_odd, odd)
        rest_even, rest_odd = emit.load(rest, after), emit.load(rest, builder.add(after, one))
        goes_on = builder.or_(
            emit.any_within(builder.fadd(new_even, rest_even), limit),
            emit.any_within(builder.fadd(new_odd, rest_odd), limit),
        )
        with builder.if_then(builder.not_(goes_on), likely=False):
            builder.store(cgutils.false_bit, alive)
            pairs.do_break()
    emit.store(builder.load(odd), cells, first)
    emit.store(builder.load(even), cells, second)
    return builder.load(alive)


_walk_8, _walk_16, _walk_32 = (
    vector_operation(
        lanes, types.boolean,
        ARRAY, types.intp, ARRAY, types.intp, ARRAY, types.intp, types.intp, types.float64, ARRAY,
    )(_emit_walk)
    for lanes in (8, 16, 32)
)  # fmt: skip


@kernel
def pad_band(
    values: Floats, start: int, length: int, far: float, out: Floats, backwards: bool
) -> None:
    """Copy a univariate series into `out`, with values far from anything on both sides of it."""
    out[:PADDING] = far
    if backwards:
        for i in range(length):
            out[PADDING + i] = values[start + length - 1 - i]
    else:
        out[PADDING : PADDING + length] = values[start : start + length]
    out[PADDING + length : 2 * PADDING + length] = far


@kernel
def band_cost(
    reversed_x: Floats,
    n: int,
    y: Floats,
    m: int,
    radius: int,
    cutoff: float,
    rest: Floats,
    cells: Floats,
) -> float:
    """Squared DTW cost within a radius below `WIDEST`; inf if it exceeds the cutoff.

    The series come padded by `pad_band`, x backwards; `rest[PADDING + j]` bounds what columns from
    j on will cost at least, and is padded alike; `cells` has room for 2 * `WIDEST`.
    """
    lanes = 8 if radius < 8 else (16 if radius < 16 else 32)
    # The walk starts on an even antidiagonal, 0 or -1, from a virtual cell (-1, -1) of cost 0.
    d = -(radius & 1)
    cells[: 2 * lanes] = np.inf
    cells[(0 if d == -1 else lanes) + (radius >> 1)] = 0.0
    n_antidiagonals = n + m - 1 - d
    n_pairs = (n_antidiagonals + 1) >> 1
    column = (d - radius) >> 1
    x_at = PADDING + n - 1 - d + column
    y_at = PADDING + column
    if lanes == 8:
        alive = _walk_8(reversed_x, x_at, y, y_at, rest, n_pairs, radius, cutoff, cells)
    elif lanes == 16:
        alive = _walk_16(reversed_x, x_at, y, y_at, rest, n_pairs, radius, cutoff, cells)
    else:
        alive = _walk_32(reversed_x, x_at, y, y_at, rest, n_pairs, radius, cutoff, cells)
    if not alive:
        return np.inf
    column += n_pairs - 1  # of the last even antidiagonal
    last = lanes + m - 1 - column if n_antidiagonals & 1 else m - 1 - (column + 1)
    return cells[last] if cells[last] <= cutoff else np.inf
