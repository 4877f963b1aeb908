"""Parquet files as frames of columns that a model can take."""

from pathlib import Path
from typing import Any

from surefoot._table_files import TableFileError, check_names
from surefoot._words import listed
from surefoot.cli._console import remark


def read_parquet(file: Path, path: Path) -> Any:
    """Frame from a Parquet file, `path` to the user; a named index is a column as any other."""
    return as_frame(without_nested(read_arrow(file, path)))


def read_arrow(file: Path, path: Path, *, partitioning: str | None = "hive") -> Any:
    """Arrow table from a Parquet file, checked as a whole; one sentence if it is broken."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        check_names(parquet.read_schema(file).names, path)
        table = parquet.read_table(file, partitioning=partitioning)
        table.validate(full=True)  # texts that are no UTF-8, offsets out of range
    except TableFileError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        raise TableFileError(f"{path} is a broken Parquet file.") from error
    return table


def without_nested(table: Any) -> Any:
    """Table without columns of lists, structs, maps and bytes, which no model here takes; a remark names them."""
    from pyarrow import types

    nested = [
        field.name
        for field in table.schema
        if types.is_nested(field.type)
        or types.is_binary(field.type)
        or types.is_large_binary(field.type)
        or types.is_fixed_size_binary(field.type)
    ]
    if nested:
        remark(f"Left out {listed(nested)}: lists, structures or bytes, which no model here takes.")
    return table.drop_columns(nested)


def as_frame(table: Any) -> Any:
    """Pandas frame of an Arrow table: decimals are numbers, and an index is a column unless one has its name."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64()))
    try:
        frame = table.to_pandas()
    except (
        KeyError,
        ValueError,
        TypeError,
    ):  # what pandas noted of its index contradicts the columns
        frame = table.to_pandas(ignore_metadata=True)
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(drop=not named)
