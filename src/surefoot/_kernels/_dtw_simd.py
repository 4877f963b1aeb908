"""One step of the DTW recurrence on eight neighbouring cells of an antidiagonal at once.

The cells of an antidiagonal do not depend on each other, which no automatic vectoriser finds out
behind three rotating buffers. So the step is written as LLVM vector operations, which every
processor gets in its own width (AVX-512, AVX2, NEON).
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Cells advanced together; arrays are padded by as many, so that a last step may run over.
LANES = 8

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


def _load(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    loaded = builder.load(_address(context, builder, kind, array, index))
    loaded.align = 8  # only a double's alignment is known
    return loaded


def _least(builder: Any, first: Any, second: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", first, second), first, second)


def _squared_gap(context: Any, builder: Any, x: Any, y: Any) -> Any:
    gap = builder.fsub(_load(context, builder, *x), _load(context, builder, *y))
    return builder.fmul(gap, gap)


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
    signature = types.void(
        cells, whole, whole, whole, x, whole, whole, y, whole, whole, whole
    )  # fmt: skip

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cells, older, old, new, x, x_at, x_stride, y, y_at, y_stride, n_channels = args
        of_cells, of_x, of_y = (signature.args[i] for i in (0, 4, 7))
        one = n_channels.type(1)
        gap = _squared_gap(context, builder, (of_x, x, x_at), (of_y, y, y_at))
        cost = cgutils.alloca_once_value(builder, gap)  # type: ignore[no-untyped-call]
        with cgutils.for_range(builder, n_channels, start=one) as channels:
            x_here = (of_x, x, builder.add(x_at, builder.mul(channels.index, x_stride)))
            y_here = (of_y, y, builder.add(y_at, builder.mul(channels.index, y_stride)))
            gap = _squared_gap(context, builder, x_here, y_here)
            builder.store(builder.fadd(builder.load(cost), gap), cost)
        up = _load(context, builder, of_cells, cells, old)
        left = _load(context, builder, of_cells, cells, builder.sub(old, one))
        diagonal = _load(context, builder, of_cells, cells, builder.sub(older, one))
        before = _least(builder, _least(builder, left, up), diagonal)
        total = builder.fadd(before, builder.load(cost))
        builder.store(total, _address(context, builder, of_cells, cells, new)).align = 8
        return context.get_dummy_value()

    return signature, generate
