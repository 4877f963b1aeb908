"""Kinds of Arrow's types: numbers, texts, times."""

from typing import Any

import pyarrow as pa


def plain(column: Any) -> Any:
    """Column of Arrow without a dictionary, in one piece."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow is one of numbers or truth values."""
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
    )


def value_type(kind: pa.DataType) -> pa.DataType:
    """Type of the values of a column, which may be coded by a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def kind_in_words(kind: pa.DataType) -> str:
    """What a column of a type holds, for a sentence."""
    types = pa.types
    if types.is_null(kind):
        return "no values"
    if types.is_boolean(kind):
        return "truth values"
    if is_number(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind):
        return "texts"
    if types.is_temporal(kind):
        return "times"
    return "lists, structures or bytes"
