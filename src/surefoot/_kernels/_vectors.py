"""Vectors of doubles as LLVM operations, for recurrences that no compiler vectorises by itself.

Every processor gets them in its own width (AVX-512, AVX2, NEON), whatever the number of lanes.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from llvmlite import ir
from numba.extending import intrinsic

# Kind of an argument of a vector operation: any one-dimensional, contiguous array.
ARRAY = object()


class VectorEmitter:
    """Emits operations on vectors of doubles inside a function that numba compiles.

    Arrays are one-dimensional and contiguous, and given as (numba type, value).
    """

    def __init__(self, context: Any, builder: Any, lanes: int) -> None:
        self.context, self.builder, self.lanes = context, builder, lanes
        self.vector = ir.VectorType(ir.DoubleType(), lanes)
        self.infinite = ir.Constant(self.vector, [float("inf")] * lanes)
        self.zero = ir.Constant(self.vector, [0.0] * lanes)

    def element(self, array: tuple[Any, Any], index: Any) -> Any:
        """Address of an element of an array."""
        kind, value = array
        data = self.context.make_array(kind)(self.context, self.builder, value).data
        return self.builder.gep(data, [index])

    def address(self, array: tuple[Any, Any], index: Any) -> Any:
        """Address of a vector in an array."""
        return self.builder.bitcast(self.element(array, index), self.vector.as_pointer())

    def load(self, array: tuple[Any, Any], index: Any) -> Any:
        """Vector from an array."""
        loaded = self.builder.load(self.address(array, index))
        loaded.align = 8  # only a double's alignment is known
        return loaded

    def store(self, cells: Any, array: tuple[Any, Any], index: Any) -> None:
        """Vector into an array."""
        self.builder.store(cells, self.address(array, index)).align = 8

    def least(self, first: Any, second: Any) -> Any:
        """The smaller of two, lane by lane."""
        return self.builder.select(self.builder.fcmp_ordered("<", first, second), first, second)

    def most(self, first: Any, second: Any) -> Any:
        """The larger of two, lane by lane."""
        return self.builder.select(self.builder.fcmp_ordered(">", first, second), first, second)

    def scaled_sum(self, sums: Any, values: Any, weights: Any) -> Any:
        """Sums plus values times weights, lane by lane; rounded once where the processor can."""
        scaled = self.builder.fmul(values, weights, flags=("contract",))
        return self.builder.fadd(sums, scaled, flags=("contract",))

    def counted(self, counts: Any, values: Any, limit: Any) -> Any:
        """Counts, one more in each lane whose value is up to the limit's."""
        within = self.builder.fcmp_ordered("<=", values, limit)
        ones = ir.Constant(self.vector, [1.0] * self.lanes)
        return self.builder.fadd(counts, self.builder.select(within, ones, self.zero))

    def squared_gap(self, x: Any, y: Any) -> Any:
        """Squared difference, lane by lane."""
        gap = self.builder.fsub(x, y)
        return self.builder.fmul(gap, gap)

    def moved(self, cells: Any, by: int) -> Any:
        """Each lane's neighbour `by` lanes further; infinity enters at the end."""
        sources = [lane + by for lane in range(self.lanes)]
        lanes = [lane if 0 <= lane < self.lanes else self.lanes for lane in sources]
        return self.builder.shuffle_vector(cells, self.infinite, self._order(lanes))

    def shifted_in(self, cells: Any, entering: Any) -> Any:
        """Every lane's value a lane further up; a scalar enters below."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(nothing, entering, ir.Constant(ir.IntType(32), 0))
        order = self._order([self.lanes, *range(self.lanes - 1)])
        return self.builder.shuffle_vector(cells, first, order)

    def spread(self, scalar: Any) -> Any:
        """A scalar in every lane."""
        nothing = ir.Constant(ir.VectorType(scalar.type, self.lanes), ir.Undefined)
        first = self.builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(first, first, self._order([0] * self.lanes))

    def beyond(self, width: Any) -> Any:
        """Infinity from lane `width` on, zero below."""
        numbers = ir.Constant(ir.VectorType(width.type, self.lanes), list(range(self.lanes)))
        inside = self.builder.icmp_signed("<", numbers, self.spread(width))
        return self.builder.select(inside, self.zero, self.infinite)

    def any_within(self, cells: Any, limit: Any) -> Any:
        """Whether any lane is at most the limit's."""
        return self._any(self.builder.fcmp_ordered("<=", cells, limit))

    def any_above(self, cells: Any, limit: Any) -> Any:
        """Whether any lane is more than the limit's."""
        return self._any(self.builder.fcmp_ordered(">", cells, limit))

    def _any(self, lanes: Any) -> Any:
        mask = self.builder.bitcast(lanes, ir.IntType(self.lanes))
        return self.builder.icmp_unsigned("!=", mask, mask.type(0))

    def _order(self, lanes: list[int]) -> Any:
        return ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), lanes)


def vector_operation(
    lanes: int, result: Any, *kinds: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that declares an operation which compiled loops may call.

    The decorated function emits the operation's code: it is called with a `VectorEmitter` and the
    operation's arguments, arrays as (numba type, value), and returns the value to return, if any. The
    loops call it without the emitter. `result` and `kinds` are numba's types, or `ARRAY`.
    """

    def declare(emit_code: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(emit_code)  # numba reads the names of the arguments off it
        def typed(_typing_context: Any, *given: Any) -> Any:
            pairs = zip(kinds, given, strict=True)
            signature = result(*(own if kind is ARRAY else kind for kind, own in pairs))

            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                triples = zip(kinds, signature.args, values, strict=True)
                arguments = [(own, v) if kind is ARRAY else v for kind, own, v in triples]
                value = emit_code(VectorEmitter(context, builder, lanes), *arguments)
                return context.get_dummy_value() if value is None else value

            return signature, generate

        operation: Callable[..., Any] = intrinsic(typed)
        return operation

    return declare
