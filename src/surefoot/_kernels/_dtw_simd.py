"""One step of the DTW recurrence on eight neighbouring cells of an antidiagonal at once."""

from typing import Any

from numba import types
from numba.core import cgutils

from surefoot._kernels._vectors import ARRAY, VectorEmitter, vector_operation

# Cells advanced together; arrays are padded by as many, so that a last step may run over.
LANES = 8

WHOLE = types.intp


@vector_operation(LANES, types.void, ARRAY, WHOLE, WHOLE, WHOLE, ARRAY, WHOLE, ARRAY, WHOLE)
def advance(
    emit: VectorEmitter,
    cells: Any,
    older: Any,
    old: Any,
    new: Any,
    x: Any,
    x_at: Any,
    y: Any,
    y_at: Any,
) -> None:
    """Write eight cells of an antidiagonal to `cells[new]` ..., from the two before it.

    `cells[old]` and `cells[older]` are the cells of the same column on the antidiagonals before;
    a cell's cost is the squared gap of the univariate series at `x[x_at]` and `y[y_at]`.
    """
    cost = emit.squared_gap(emit.load(x, x_at), emit.load(y, y_at))
    _emit_step(emit, cells, older, old, new, cost)


@vector_operation(
    LANES, types.void,
    ARRAY, WHOLE, WHOLE, WHOLE, ARRAY, WHOLE, WHOLE, ARRAY, WHOLE, WHOLE, WHOLE,
)  # fmt: skip
def advance_channels(
    emit: VectorEmitter,
    cells: Any,
    older: Any,
    old: Any,
    new: Any,
    x: Any,
    x_at: Any,
    x_stride: Any,
    y: Any,
    y_at: Any,
    y_stride: Any,
    n_channels: Any,
) -> None:
    """Write eight cells as `advance` does, for series with channels, whose squared gaps are summed.

    Channel c of the two series is read at `x[x_at + c * x_stride]` and `y[y_at + c * y_stride]`.
    """
    builder = emit.builder
    cost = cgutils.alloca_once_value(builder, emit.zero)  # type: ignore[no-untyped-call]
    with cgutils.for_range(builder, n_channels) as channels:
        x_here = builder.add(x_at, builder.mul(channels.index, x_stride))
        y_here = builder.add(y_at, builder.mul(channels.index, y_stride))
        gap = emit.squared_gap(emit.load(x, x_here), emit.load(y, y_here))
        builder.store(builder.fadd(builder.load(cost), gap), cost)
    _emit_step(emit, cells, older, old, new, builder.load(cost))


def _emit_step(emit: VectorEmitter, cells: Any, older: Any, old: Any, new: Any, cost: Any) -> None:
    """Emit the recurrence: the least of the three cells before, plus the cost."""
    builder, one = emit.builder, old.type(1)
    up = emit.load(cells, old)
    left = emit.load(cells, builder.sub(old, one))
    diagonal = emit.load(cells, builder.sub(older, one))
    before = emit.least(emit.least(left, up), diagonal)
    emit.store(builder.fadd(before, cost), cells, new)
