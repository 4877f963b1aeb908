"""One step of the DTW recurrence on eight neighbouring cells of an antidiagonal at once."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from surefoot._kernels._vectors import VectorEmitter

# Cells advanced together; arrays are padded by as many, so that a last step may run over.
LANES = 8


@intrinsic
def advance(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    cells: Any,
    older: Any,  # noqa: ARG001
    old: Any,  # noqa: ARG001
    new: Any,  # noqa: ARG001
    x: Any,
    x_at: Any,  # noqa: ARG001
    y: Any,
    y_at: Any,  # noqa: ARG001
) -> Any:
    """Write eight cells of an antidiagonal to `cells[new]` ..., from the two before it.

    `cells[old]` and `cells[older]` are the cells of the same column on the antidiagonals before;
    a cell's cost is the squared gap of the univariate series at `x[x_at]` and `y[y_at]`.
    """
    whole = types.intp
    signature = types.void(cells, whole, whole, whole, x, whole, y, whole)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cells, x, y = ((signature.args[i], args[i]) for i in (0, 4, 6))
        emit = VectorEmitter(context, builder, LANES)
        cost = emit.squared_gap(emit.load(x, args[5]), emit.load(y, args[7]))
        _emit_step(emit, builder, cells, args[1:4], cost)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def advance_channels(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    cells: Any,
    older: Any,  # noqa: ARG001
    old: Any,  # noqa: ARG001
    new: Any,  # noqa: ARG001
    x: Any,
    x_at: Any,  # noqa: ARG001
    x_stride: Any,  # noqa: ARG001
    y: Any,
    y_at: Any,  # noqa: ARG001
    y_stride: Any,  # noqa: ARG001
    n_channels: Any,  # noqa: ARG001
) -> Any:
    """The same for series with channels, over which the squared gaps are summed.

    Channel c of the two series is read at `x[x_at + c * x_stride]` and `y[y_at + c * y_stride]`.
    """
    whole = types.intp
    signature = types.void(cells, whole, whole, whole, x, whole, whole, y, whole, whole, whole)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cells, x, y = ((signature.args[i], args[i]) for i in (0, 4, 7))
        x_at, x_stride, y_at, y_stride, n_channels = (args[i] for i in (5, 6, 8, 9, 10))
        emit = VectorEmitter(context, builder, LANES)
        cost = cgutils.alloca_once_value(builder, emit.zero)  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, n_channels) as channels:
            x_here = builder.add(x_at, builder.mul(channels.index, x_stride))
            y_here = builder.add(y_at, builder.mul(channels.index, y_stride))
            gap = emit.squared_gap(emit.load(x, x_here), emit.load(y, y_here))
            builder.store(builder.fadd(builder.load(cost), gap), cost)
        _emit_step(emit, builder, cells, args[1:4], builder.load(cost))
        return context.get_dummy_value()

    return signature, generate


def _emit_step(emit: VectorEmitter, builder: Any, cells: Any, at: Any, cost: Any) -> None:
    """The recurrence: the least of the three cells before, plus the cost."""
    older, old, new = at
    one = old.type(1)
    up = emit.load(cells, old)
    left = emit.load(cells, builder.sub(old, one))
    diagonal = emit.load(cells, builder.sub(older, one))
    before = emit.least(emit.least(left, up), diagonal)
    emit.store(builder.fadd(before, cost), cells, new)
