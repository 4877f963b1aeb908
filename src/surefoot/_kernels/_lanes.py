"""Operations on eight numbers at once that numba does not make of a loop by itself."""

from functools import partial
from typing import Any

from numba import types
from numba.core import cgutils

from surefoot._kernels._vectors import ARRAY, VectorEmitter, vector_operation

LANES = 8

# Vectors of sums that stay in registers; tables for `lane_dots` are as wide as a multiple of these lanes.
VECTORS = 2
BLOCK = LANES * VECTORS

WHOLE = types.intp

lane_operation = partial(vector_operation, LANES)


@lane_operation(types.void, ARRAY, WHOLE, ARRAY, WHOLE, types.float64)
def add_scaled(
    emit: VectorEmitter, sums: Any, at: Any, values: Any, values_at: Any, weight: Any
) -> None:
    """Add `weight * values[values_at + lane]` to `sums[at + lane]` for eight lanes."""
    scaled = emit.scaled_sum(emit.load(sums, at), emit.load(values, values_at), emit.spread(weight))
    emit.store(scaled, sums, at)


@lane_operation(types.void, ARRAY, WHOLE)
def clear_block(emit: VectorEmitter, values: Any, at: Any) -> None:
    """Set `values[at]` and the rest of its block to zero."""
    for v in range(VECTORS):
        emit.store(emit.zero, values, emit.builder.add(at, at.type(v * LANES)))


@lane_operation(types.void, ARRAY, WHOLE, ARRAY, WHOLE)
def raise_to(emit: VectorEmitter, largest: Any, at: Any, values: Any, values_at: Any) -> None:
    """Raise `largest[at + lane]` to `values[values_at + lane]` where that is more, for eight lanes."""
    emit.store(emit.most(emit.load(largest, at), emit.load(values, values_at)), largest, at)


@lane_operation(types.void, ARRAY, WHOLE, ARRAY, WHOLE)
def lower_to(emit: VectorEmitter, smallest: Any, at: Any, values: Any, values_at: Any) -> None:
    """Lower `smallest[at + lane]` to `values[values_at + lane]` where that is less, for eight lanes."""
    emit.store(emit.least(emit.load(smallest, at), emit.load(values, values_at)), smallest, at)


@lane_operation(types.boolean, ARRAY, WHOLE, ARRAY)
def any_above(emit: VectorEmitter, values: Any, at: Any, limits: Any) -> Any:
    """Whether `values[at + lane]` is above `limits[lane]` for any of eight lanes."""
    return emit.any_above(emit.load(values, at), emit.load(limits, at.type(0)))


@lane_operation(types.void, ARRAY, WHOLE, ARRAY, WHOLE, WHOLE, ARRAY, ARRAY, ARRAY, WHOLE, WHOLE)
def lane_dots(
    emit: VectorEmitter,
    sums: Any,
    sums_at: Any,
    table: Any,
    first: Any,
    width: Any,
    places: Any,
    columns: Any,
    values: Any,
    start: Any,
    stop: Any,
) -> None:
    """Set `sums[sums_at + lane]` to Σ `values[p] * table[places[columns[p]] + lane]`, start ≤ p < stop.

    `places` are int64, and the lanes go from `first` to `width`, both multiples of `BLOCK`.
    """
    builder, number = emit.builder, width.type
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


@lane_operation(types.void, ARRAY, ARRAY, WHOLE, WHOLE, ARRAY)
def lane_counts(
    emit: VectorEmitter, counts: Any, table: Any, n_lines: Any, width: Any, limits: Any
) -> None:
    """Set `counts[lane]` to how many of `table[line * width + lane]` are up to `limits[lane]`.

    There are `width` lanes, a multiple of `BLOCK`.
    """
    builder, number = emit.builder, width.type
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
