"""Squared DTW cost without a window, in strips of columns that never leave the registers.

A strip holds `LANES` columns, one a lane. At step t, lane l works on row first + t - l, so that all
that a cell needs is at hand: above it is the lane's own last value, on its left the last value of
the lane below, and diagonally what was on the left a step before. Only the strip's last column is
written to memory, where the next strip reads it. Rows that the cutoff rules out there are never
visited again, and a strip ends as soon as no cell can lie on a good enough path.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from surefoot._kernels._compile import kernel
from surefoot._kernels._dtw_band import PADDING
from surefoot._kernels._vectors import ARRAY, VectorEmitter, vector_operation
from surefoot._typing import Floats

LANES = 32
# Steps between two looks at whether any cell is left; so many may be taken in vain.
STEPS = 4


WHOLE = types.intp


@vector_operation(
    LANES, types.intp,
    ARRAY, WHOLE, ARRAY, WHOLE, ARRAY, WHOLE, ARRAY, WHOLE, ARRAY, WHOLE,
    WHOLE, WHOLE, types.float64, ARRAY,
)  # fmt: skip
def walk_strip(
    emit: VectorEmitter,
    x: Any,
    x_at: Any,
    y: Any,
    y_at: Any,
    rest: Any,
    rest_at: Any,
    left: Any,
    left_at: Any,
    out: Any,
    out_at: Any,
    n_rounds: Any,
    n_sure: Any,
    cutoff: Any,
    diagonal: Any,
) -> Any:
    """Walk down a strip in rounds of `STEPS` steps; returns how many rounds it took.

    Step t reads x at `x_at - t` and what is on the left of the strip at `left[left_at + t]`, and
    writes the last column at `out[out_at + t]`. The first `n_sure` rounds are taken in any case.
    """
    builder = emit.builder
    number = n_rounds.type
    new = cgutils.alloca_once_value(builder, emit.infinite)  # type: ignore[no-untyped-call]
    on_diagonal = cgutils.alloca_once_value(builder, emit.load(diagonal, number(0)))  # type: ignore[no-untyped-call]
    done = cgutils.alloca_once_value(builder, number(0))  # type: ignore[no-untyped-call]
    y_values, rest_values = emit.load(y, y_at), emit.load(rest, rest_at)
    limit = emit.spread(cutoff)
    with cgutils.for_range(builder, n_rounds) as rounds:
        cells, before = builder.load(new), builder.load(on_diagonal)
        for step in range(STEPS):
            t = builder.add(builder.mul(rounds.index, number(STEPS)), number(step))
            entering = builder.load(emit.element(left, builder.add(left_at, t)))
            beside = emit.shifted_in(cells, entering)
            x_values = emit.load(x, builder.sub(x_at, t))
            least = emit.least(emit.least(beside, cells), before)
            last, before = cells, beside
            cells = builder.fadd(least, emit.squared_gap(x_values, y_values))
            top = builder.extract_element(cells, ir.Constant(ir.IntType(32), LANES - 1))
            builder.store(top, emit.element(out, builder.add(out_at, t)))
        builder.store(cells, new)
        builder.store(before, on_diagonal)
        builder.store(builder.add(rounds.index, number(1)), done)
        goes_on = builder.or_(
            builder.icmp_signed("<", rounds.index, n_sure),
            builder.or_(
                emit.any_within(builder.fadd(cells, rest_values), limit),
                emit.any_within(builder.fadd(last, rest_values), limit),
            ),
        )
        with builder.if_then(builder.not_(goes_on), likely=False):
            rounds.do_break()
    return builder.load(done)


@kernel
def strip_cost(
    reversed_x: Floats,
    n: int,
    y: Floats,
    m: int,
    cutoff: float,
    row_rest: Floats,
    rest: Floats,
    cells: Floats,
) -> float:
    """Squared DTW cost of two univariate series; inf if it exceeds the cutoff.

    The series come padded by `pad_band`, x backwards; `row_rest[i]` and `rest[PADDING + j]` bound
    what rows from i and columns from j on will cost at least; `cells` has room for
    2 * (n + 2 * PADDING) + `LANES`.
    """
    size = n + 2 * PADDING
    cells[: 2 * size + LANES] = np.inf
    diagonal, left, out = cells[2 * size :], cells[:size], cells[size : 2 * size]
    # The last strip ends with the last column; the first may begin before the first column.
    column = m - (m + LANES - 1) // LANES * LANES
    # The walk begins at the first cell, from a virtual one before it, of cost 0.
    diagonal[-column] = 0.0
    first, last, end, enters_until = 0, n - 1, -1, -1
    top = -column  # the row of lane 0 at step 0
    for _ in range(column, m, LANES):
        n_rounds = (n - top + LANES - 1 + STEPS - 1) // STEPS
        rounds = walk_strip(
            reversed_x, PADDING + n - 1 - top, y, PADDING + column,
            rest, PADDING + column + 1, left, PADDING + top, out, PADDING + top - LANES + 1,
            n_rounds, (enters_until - top) // STEPS + 1, cutoff, diagonal,
        )  # fmt: skip
        column += LANES
        end = min(top + rounds * STEPS - LANES, n - 1)  # the last row that was written
        if column == m:
            break
        after = rest[PADDING + column]
        last = end
        while first <= last and (out[PADDING + first] + max(row_rest[first + 1], after) > cutoff):
            first += 1
        while last > first and out[PADDING + last] + max(row_rest[last + 1], after) > cutoff:
            last -= 1
        if first > last:
            return np.inf
        out[PADDING + end + 1 :] = np.inf
        diagonal[:] = np.inf
        diagonal[0] = out[PADDING + first - 1] if first > 0 else np.inf
        left, out = out, left
        top, enters_until = first, last
    within = end == n - 1 and out[PADDING + n - 1] <= cutoff
    return out[PADDING + n - 1] if within else np.inf
