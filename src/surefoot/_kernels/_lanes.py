"""Operations on eight numbers at once that numba does not make of a loop by itself."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from surefoot._kernels._vectors import VectorEmitter

LANES = 8

# Vectors of sums that stay in registers; tables for `lane_dots` are as wide as a multiple of these lanes.
VECTORS = 2
BLOCK = LANES * VECTORS


def lane_operation(function: Any) -> Any:
    """Declare an intrinsic, of which type checkers would otherwise believe that calls never return."""
    return intrinsic(function)


@lane_operation
def add_scaled(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    sums: Any,
    at: Any,  # noqa: ARG001
    values: Any,
    values_at: Any,  # noqa: ARG001
    weight: Any,  # noqa: ARG001
) -> Any:
    """Add `weight * values[values_at + lane]` to `sums[at + lane]` for eight lanes."""
    signature = types.void(sums, types.intp, values, types.intp, types.float64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums, values = (signature.args[0], args[0]), (signature.args[2], args[2])
        emit = VectorEmitter(context, builder, LANES)
        scaled = emit.scaled_sum(
            emit.load(sums, args[1]), emit.load(values, args[3]), emit.spread(args[4])
        )
        emit.store(scaled, sums, args[1])
        return context.get_dummy_value()

    return signature, generate


@lane_operation
def clear_block(typing_context: Any, values: Any, at: Any) -> Any:  # noqa: ARG001 (numba passes it)
    """Set `values[at]` and the rest of its block to zero."""
    signature = types.void(values, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = VectorEmitter(context, builder, LANES)
        for v in range(VECTORS):
            at = builder.add(args[1], args[1].type(v * LANES))
            emit.store(emit.zero, (signature.args[0], args[0]), at)
        return context.get_dummy_value()

    return signature, generate


@lane_operation
def raise_to(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    largest: Any,
    at: Any,  # noqa: ARG001
    values: Any,
    values_at: Any,  # noqa: ARG001
) -> Any:
    """Raise `largest[at + lane]` to `values[values_at + lane]` where that is more, for eight lanes."""
    signature = types.void(largest, types.intp, values, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        largest, values = (signature.args[0], args[0]), (signature.args[2], args[2])
        emit = VectorEmitter(context, builder, LANES)
        most = emit.most(emit.load(largest, args[1]), emit.load(values, args[3]))
        emit.store(most, largest, args[1])
        return context.get_dummy_value()

    return signature, generate


@lane_operation
def lower_to(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    smallest: Any,
    at: Any,  # noqa: ARG001
    values: Any,
    values_at: Any,  # noqa: ARG001
) -> Any:
    """Lower `smallest[at + lane]` to `values[values_at + lane]` where that is less, for eight lanes."""
    signature = types.void(smallest, types.intp, values, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        smallest, values = (signature.args[0], args[0]), (signature.args[2], args[2])
        emit = VectorEmitter(context, builder, LANES)
        least = emit.least(emit.load(smallest, args[1]), emit.load(values, args[3]))
        emit.store(least, smallest, args[1])
        return context.get_dummy_value()

    return signature, generate


@lane_operation
def any_above(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    values: Any,
    at: Any,  # noqa: ARG001
    limits: Any,
) -> Any:
    """Whether `values[at + lane]` is above `limits[lane]` for any of eight lanes."""
    signature = types.boolean(values, types.intp, limits)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, limits = (signature.args[0], args[0]), (signature.args[2], args[2])
        emit = VectorEmitter(context, builder, LANES)
        return emit.any_above(emit.load(values, args[1]), emit.load(limits, args[1].type(0)))

    return signature, generate


@lane_operation
def lane_dots(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    sums: Any,
    sums_at: Any,  # noqa: ARG001
    table: Any,
    first: Any,  # noqa: ARG001
    width: Any,  # noqa: ARG001
    places: Any,
    columns: Any,
    values: Any,
    start: Any,  # noqa: ARG001
    stop: Any,  # noqa: ARG001
) -> Any:
    """Set `sums[sums_at + lane]` to Σ `values[p] * table[places[columns[p]] + lane]`, start ≤ p < stop.

    `places` are int64, and the lanes go from `first` to `width`, both multiples of `BLOCK`.
    """
    whole = types.intp
    signature = types.void(sums, whole, table, whole, whole, places, columns, values, whole, whole)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums, table, places, columns, values = (
            (signature.args[i], args[i]) for i in (0, 2, 5, 6, 7)
        )
        sums_at, first, width, start, stop = (args[i] for i in (1, 3, 4, 8, 9))
        number = width.type
        emit = VectorEmitter(context, builder, LANES)
        totals = [cgutils.alloca_once(builder, emit.vector) for _ in range(VECTORS)]  # type: ignore[no-untyped-call]
        with cgutils.for_range_slice(builder, first, width, number(BLOCK)) as (at, _):
            for total in totals:
                builder.store(emit.zero, total)
            with cgutils.for_range_slice(builder, start, stop, number(1)) as (p, _):
                column = builder.sext(builder.load(emit.element(columns, p)), number)
                place = builder.add(builder.load(emit.element(places, column)), at)
                weight = emit.spread(builder.load(emit.element(values, p)))
                for v, total in enumerate(totals):
                    lanes = emit.load(table, builder.add(place, number(v * LANES)))
                    builder.store(emit.scaled_sum(builder.load(total), lanes, weight), total)
            for v, total in enumerate(totals):
                here = builder.add(builder.add(sums_at, at), number(v * LANES))
                emit.store(builder.load(total), sums, here)
        return context.get_dummy_value()

    return signature, generate


@lane_operation
def lane_counts(
    typing_context: Any,  # noqa: ARG001 (numba passes it; the rest is typed by the signature)
    counts: Any,
    table: Any,
    n_lines: Any,  # noqa: ARG001
    width: Any,  # noqa: ARG001
    limits: Any,
) -> Any:
    """Set `counts[lane]` to how many of `table[line * width + lane]` are up to `limits[lane]`.

    There are `width` lanes, a multiple of `BLOCK`.
    """
    whole = types.intp
    signature = types.void(counts, table, whole, whole, limits)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        counts, table, limits = ((signature.args[i], args[i]) for i in (0, 1, 4))
        n_lines, width = args[2], args[3]
        number = width.type
        emit = VectorEmitter(context, builder, LANES)
        totals = [cgutils.alloca_once(builder, emit.vector) for _ in range(VECTORS)]  # type: ignore[no-untyped-call]
        with cgutils.for_range_slice(builder, number(0), width, number(BLOCK)) as (at, _):
            lanes = [builder.add(at, number(v * LANES)) for v in range(VECTORS)]
            bounds = [emit.load(limits, lane) for lane in lanes]
            for total in totals:
                builder.store(emit.zero, total)
            with cgutils.for_range_slice(builder, number(0), n_lines, number(1)) as (line, _):
                start = builder.mul(line, width)
                for lane, bound, total in zip(lanes, bounds, totals, strict=True):
                    values = emit.load(table, builder.add(start, lane))
                    builder.store(emit.counted(builder.load(total), values, bound), total)
            for lane, total in zip(lanes, totals, strict=True):
                emit.store(builder.load(total), counts, lane)
        return context.get_dummy_value()

    return signature, generate
