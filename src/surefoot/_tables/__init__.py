"""Tables of every kind through one set of functions: any frame (`_frames`), any file (`_files`, `_reader`, `_cells`).

A name is imported at its first use: commands that print their help need no numpy, and frames no pyarrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot._tables._cells import (
        CellError,
        as_fitted,
        check_kinds,
        infer,
        kind_in_words,
        model_columns,
        parse,
        plain,
        value_type,
    )
    from surefoot._tables._files import (
        AUDIT_COLUMNS,
        MISSING_CELLS,
        STDIN,
        TableFileError,
        check_fits,
        is_audit_file,
        is_score_column,
        sample_that_fits,
        shown_path,
        table_bytes,
        table_name,
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
    from surefoot._tables._reader import (
        CsvTable,
        ParquetTable,
        no_rows,
        open_table,
        read_sample,
        read_table,
    )

__all__ = [
    "AUDIT_COLUMNS",
    "MISSING_CELLS",
    "STDIN",
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
    "check_fits",
    "check_kinds",
    "column_names",
    "count_rows",
    "frame_like",
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
    "parse",
    "plain",
    "plain_columns",
    "read_sample",
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
        for module in ("_files", "_frames", "_cells", "_reader"):  # the lightest first
            home = import_module(f"surefoot._tables.{module}")
            if hasattr(home, name):
                return getattr(home, name)
    raise AttributeError(f"module 'surefoot._tables' has no attribute {name!r}")
