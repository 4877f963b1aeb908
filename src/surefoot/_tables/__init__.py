"""Tables of every kind through one set of functions: any frame (`_frames`), any file (`_files`).

A name is imported at its first use: frames need no pyarrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot._tables._files import (
        AUDIT_COLUMNS,
        MISSING_CELLS,
        STDIN,
        WRITE_TIMES,
        CellError,
        CsvTable,
        ParquetTable,
        TableFileError,
        as_fitted,
        audit_codes,
        check_fits,
        check_kinds,
        column_times,
        from_cell,
        infer,
        is_audit_file,
        is_score_column,
        kind_in_words,
        model_columns,
        no_rows,
        open_table,
        plain,
        read_table,
        sample_that_fits,
        shown_path,
        table_bytes,
        table_name,
        value_type,
    )
    from surefoot._tables._frames import (
        PlainColumn,
        as_floats,
        as_numbers,
        as_objects,
        as_table,
        as_values,
        column_names,
        count_rows,
        frame_like,
        infinities_in_words,
        input_form,
        is_frame,
        is_missing,
        is_numeric,
        is_whole,
        missing_mask,
        plain_columns,
        row_index,
        split_columns,
        stack_rows,
        take_column,
        take_rows,
        with_columns,
        without_infinities,
    )

__all__ = [
    "AUDIT_COLUMNS",
    "MISSING_CELLS",
    "STDIN",
    "WRITE_TIMES",
    "CellError",
    "CsvTable",
    "ParquetTable",
    "PlainColumn",
    "TableFileError",
    "as_fitted",
    "as_floats",
    "as_numbers",
    "as_objects",
    "as_table",
    "as_values",
    "audit_codes",
    "check_fits",
    "check_kinds",
    "column_names",
    "column_times",
    "count_rows",
    "frame_like",
    "from_cell",
    "infer",
    "infinities_in_words",
    "input_form",
    "is_audit_file",
    "is_frame",
    "is_missing",
    "is_numeric",
    "is_score_column",
    "is_whole",
    "kind_in_words",
    "missing_mask",
    "model_columns",
    "no_rows",
    "open_table",
    "plain",
    "plain_columns",
    "read_table",
    "row_index",
    "sample_that_fits",
    "shown_path",
    "split_columns",
    "stack_rows",
    "table_bytes",
    "table_name",
    "take_column",
    "take_rows",
    "value_type",
    "with_columns",
    "without_infinities",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in ("_frames", "_files"):  # the lighter one first
            home = import_module(f"surefoot._tables.{module}")
            if hasattr(home, name):
                return getattr(home, name)
    raise AttributeError(f"module 'surefoot._tables' has no attribute {name!r}")
