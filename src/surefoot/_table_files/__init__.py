"""Tables on disk: the form of CSV files, the parts of Parquet folders, and one sentence for what is wrong."""

from surefoot._table_files._audit_columns import AUDIT_COLUMNS, is_audit_file
from surefoot._table_files._csv_form import (
    GAPS,
    check_is_table,
    check_records,
    find_delimiter,
    find_encoding,
    is_code,
    line_of,
    records,
)
from surefoot._table_files._errors import TableFileError, check_names, no_rows, unreadable
from surefoot._table_files._parquet_parts import parquet_files, partition_values
from surefoot._table_files._score_columns import is_score_column

__all__ = [
    "AUDIT_COLUMNS",
    "GAPS",
    "TableFileError",
    "check_is_table",
    "check_names",
    "check_records",
    "find_delimiter",
    "find_encoding",
    "is_audit_file",
    "is_code",
    "is_score_column",
    "line_of",
    "no_rows",
    "parquet_files",
    "partition_values",
    "records",
    "unreadable",
]
