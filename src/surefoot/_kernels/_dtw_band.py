"""Squared DTW cost within a narrow window, whose antidiagonals never leave the registers.

Within a Sakoe-Chiba radius r, an antidiagonal i + j = d has r + 1 cells if d - r is even, and r if
it is odd. They are kept as one vector, lane by lane from the first column within the window. From
an even to an odd antidiagonal that column moves on by one, so the predecessors of a lane are: on
the antidiagonal before, the same lane and the one below (even) or above (odd) it; on the one
before that, always the same lane. Series are padded with values whose cost is infinite.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Padding on both sides of both series; the squared gap of either to anything overflows to inf.
WIDEST = 32
X_FAR = 1e200
Y_FAR = -1e200


class _Emitter:
    """Emits operations on vectors of doubles inside a function that numba compiles."""

    def __init__(self, context: Any, builder: Any, lanes: int) -> None:
        self.context, self.builder, self.lanes = context, builder, lanes
        self.vector = ir.VectorType(ir.DoubleType(), lanes)
        self.infinite = ir.Constant(self.vector, [float("inf")] * lanes)

    def at(self, kind: Any, array: Any, index: Any) -> Any:
        """Address of a vector in an array."""
        data = self.context.make_array(kind)(self.context, self.builder, array).data
        return self.builder.bitcast(self.builder.gep(data, [index]), self.vector.as_pointer())

    def load(self, kind: Any, array: Any, index: Any) -> Any:
        """Vector from an array; only a double's alignment is known."""
        loaded = self.builder.load(self.at(kind, array, index))
        loaded.align = 8
        return loaded

    def moved(self, cells: Any, by: int) -> Any:
        """Each lane's neighbour `by` lanes further; infinity enters at the end."""
        lanes = [
            lane + by if 0 <= lane + by < self.lanes else self.lanes for lane in range(self.lanes)
        ]
        order = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), lanes)
        return self.builder.shuffle_vector(cells, self.infinite, order)

    def least(self, first: Any, second: Any) -> Any:
        """The smaller of two, lane by lane."""
        return self.builder.select(self.builder.fcmp_ordered("<", first, second), first, second)

    def spread(self, scalar: Any) -> Any:
        """A scalar in every lane."""
        zero = ir.Constant(ir.IntType(32), 0)
        kind = ir.VectorType(scalar.type, self.lanes)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, zero)
        order = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, one, order)

    def beyond(self, width: Any) -> Any:
        """Infinity from lane `width` on, zero below."""
        kind = ir.VectorType(width.type, self.lanes)
        numbers = ir.Constant(kind, list(range(self.lanes)))
        inside = self.builder.icmp_signed("<", numbers, self.spread(width))
        return self.builder.select(
            inside, ir.Constant(self.vector, [0.0] * self.lanes), self.infinite
        )

    def step(self, x: Any, y: Any, before: Any, outside: Any) -> Any:
        """The recurrence: least predecessor plus squared gap, infinite outside the window."""
        gap = self.builder.fsub(x, y)
        cost = self.builder.fadd(self.builder.fmul(gap, gap), outside)
        return self.builder.fadd(before, cost)

    def any_within(self, cells: Any, rest: Any, cutoff: Any) -> Any:
        """Whether any cell plus what must follow it is within the cutoff."""
        within = self.builder.fcmp_ordered("<=", self.builder.fadd(cells, rest), cutoff)
        mask = self.builder.bitcast(within, ir.IntType(self.lanes))
        return self.builder.icmp_unsigned("!=", mask, mask.type(0))


def _make_walk(lanes: int) -> Callable[..., bool]:
    @intrinsic
    def walk(
        typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
        x: Any,
        x_at: Any,  # noqa: ARG001
        y: Any,
        y_at: Any,  # noqa: ARG001
        rest: Any,
        n_pairs: Any,  # noqa: ARG001
        radius: Any,  # noqa: ARG001
        cutoff: Any,  # noqa: ARG001
        cells: Any,
    ) -> Any:
        """Advance the two antidiagonals in `cells` by `n_pairs` pairs; False if given up.

        `cells` holds an odd antidiagonal and, after it, the even one before that; both are
        replaced by the last pair. The next pair reads x at `x_at` and y at `y_at`; x moves one
        place down with each pair, y one up.
        """
        whole = types.intp
        signature = types.boolean(x, whole, y, whole, rest, whole, whole, types.float64, cells)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            x, x_at, y, y_at, rest, n_pairs, radius, cutoff, cells = args
            of_x, _, of_y, _, of_rest, *_, of_cells = signature.args
            emit, one = _Emitter(context, builder, lanes), radius.type(1)
            first, second = radius.type(0), radius.type(lanes)
            odd = cgutils.alloca_once_value(builder, emit.load(of_cells, cells, first))  # type: ignore[no-untyped-call]
            even = cgutils.alloca_once_value(builder, emit.load(of_cells, cells, second))  # type: ignore[no-untyped-call]
            alive = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 1))  # type: ignore[no-untyped-call]
            outside_even = emit.beyond(builder.add(radius, one))
            outside_odd = emit.beyond(radius)
            limit = emit.spread(cutoff)
            with cgutils.for_range(builder, n_pairs) as pairs:
                here = builder.add(y_at, pairs.index)
                after = builder.add(here, one)
                x_values = emit.load(of_x, x, builder.sub(x_at, pairs.index))
                old, older = builder.load(odd), builder.load(even)
                before = emit.least(emit.least(old, emit.moved(old, -1)), older)
                new_even = emit.step(x_values, emit.load(of_y, y, here), before, outside_even)
                before = emit.least(emit.least(new_even, emit.moved(new_even, 1)), old)
                new_odd = emit.step(x_values, emit.load(of_y, y, after), before, outside_odd)
                builder.store(new_even, even)
                builder.store(new_odd, odd)
                goes_on = builder.or_(
                    emit.any_within(new_even, emit.load(of_rest, rest, after), limit),
                    emit.any_within(
                        new_odd, emit.load(of_rest, rest, builder.add(after, one)), limit
                    ),
                )
                with builder.if_then(builder.not_(goes_on), likely=False):
                    builder.store(ir.Constant(ir.IntType(1), 0), alive)
                    pairs.do_break()
            builder.store(builder.load(odd), emit.at(of_cells, cells, first)).align = 8
            builder.store(builder.load(even), emit.at(of_cells, cells, second)).align = 8
            return builder.load(alive)

        return signature, generate

    return walk


_walk_8, _walk_16, _walk_32 = _make_walk(8), _make_walk(16), _make_walk(32)


@njit(cache=True, nogil=True)
def pad_band(
    values: Floats, start: int, length: int, far: float, out: Floats, backwards: bool
) -> None:
    """Copy a univariate series into `out`, with values far from anything on both sides of it."""
    out[:WIDEST] = far
    if backwards:
        for i in range(length):
            out[WIDEST + i] = values[start + length - 1 - i]
    else:
        out[WIDEST : WIDEST + length] = values[start : start + length]
    out[WIDEST + length : 2 * WIDEST + length + 2] = far


@njit(cache=True, nogil=True)
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

    The series come padded by `pad_band`, x backwards; `rest[WIDEST + j]` bounds what columns from
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
    x_at = WIDEST + n - 1 - d + column
    y_at = WIDEST + column
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
