"""Tables of every kind through one set of functions: arrays, sparse rows, pandas, polars and Arrow frames.

pandas is called directly, as narwhals refuses names that are no texts or stand twice, and leaves the index
out; every other frame goes through narwhals, 2.0.1 or later. A *column* is what `take_column` and
`split_columns` return: a series of the frame's own kind, or an array. A *gap* is None, NaN, NaT, NA or null, and
never a text.
"""

from surefoot._tables._build import frame_like, stack_rows, with_columns
from surefoot._tables._columns import (
    column_names,
    is_numeric,
    is_whole,
    split_columns,
    take_column,
)
from surefoot._tables._forms import as_table, count_rows, is_frame, row_index, same_table
from surefoot._tables._input_form import input_form
from surefoot._tables._plain import PlainColumn, plain_columns
from surefoot._tables._take import take_rows
from surefoot._tables._values import (
    as_floats,
    as_numbers,
    as_objects,
    as_values,
    is_missing,
    missing_mask,
)

__all__ = [
    "PlainColumn",
    "as_floats",
    "as_numbers",
    "as_objects",
    "as_table",
    "as_values",
    "column_names",
    "count_rows",
    "frame_like",
    "input_form",
    "is_frame",
    "is_missing",
    "is_numeric",
    "is_whole",
    "missing_mask",
    "plain_columns",
    "row_index",
    "same_table",
    "split_columns",
    "stack_rows",
    "take_column",
    "take_rows",
    "with_columns",
]
