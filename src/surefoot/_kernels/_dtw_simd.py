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
    x_stride: Any,  # noqa: ARG001
    y: Any,
    y_at: Any,  # noqa: ARG001
    y_stride: Any,  # noqa: ARG001
    n_channels: Any,  # noqa: ARG001
) -> Any:
    """Write eight cells of an antidiagonal to `cells[new]` ..., from the two before it.

    `cells[old]` and `cells[older]` are the cells of the same column on the antidiagonals before.
    Channel c of the two series is read at `x[x_at + c * x_stride]` and `y[y_at + c * y_stride]`;
    a cell's cost is the sum of squared gaps over the channels.
    """
    whole = types.intp
    signature = types.void(cells, whole, whole, whole, x, whole, whole, y, whole, whole, whole)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cells, older, old, new, x, x_at, x_stride, y, y_at, y_stride, n_channels = args
        cells, x, y = ((signature.args[i], array) for i, array in ((0, cells), (4, x), (7, y)))
        emit, one = VectorEmitter(context, builder, LANES), n_channels.type(1)
        gap = emit.squared_gap(emit.load(x, x_at), emit.load(y, y_at))
        cost = cgutils.alloca_once_value(builder, gap)  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, n_channels, start=one) as channels:
            x_here = builder.add(x_at, builder.mul(channels.index, x_stride))
            y_here = builder.add(y_at, builder.mul(channels.index, y_stride))
            gap = emit.squared_gap(emit.load(x, x_here), emit.load(y, y_here))
            builder.store(builder.fadd(builder.load(cost), gap), cost)
        up = emit.load(cells, old)
        left = emit.load(cells, builder.sub(old, one))
        diagonal = emit.load(cells, builder.sub(older, one))
        before = emit.least(emit.least(left, up), diagonal)
        emit.store(builder.fadd(before, builder.load(cost)), cells, new)
        return context.get_dummy_value()

    return signature, generate
