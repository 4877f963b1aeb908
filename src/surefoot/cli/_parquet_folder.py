"""Folders of Parquet files as one frame; folders named `column=value` (Hive partitions) become columns."""

from pathlib import Path
from typing import Any

from surefoot._table_files import (
    TableFileError,
    check_names,
    is_code,
    parquet_files,
    partition_values,
)
from surefoot.cli._parquet import as_frame, read_arrow, without_nested


def read_parquet_folder(folder: Path) -> Any:
    """Frame of all Parquet files in a folder and its subfolders, in the order of their names."""
    import pandas as pd
    import pyarrow as pa

    files = parquet_files(folder)
    parts = [partition_values(file.relative_to(folder)) for file in files]
    tables = [read_arrow(file, file, partitioning=None) for file in files]
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowException, ValueError) as error:
        raise TableFileError(
            f"The Parquet files in {folder} are not one table: a column is of another type in another file."
        ) from error
    frame = as_frame(without_nested(table))
    for name in dict.fromkeys(name for part in parts for name in part):
        if name not in frame.columns:  # some writers keep it in the files, too
            texts = [part.get(name) for part in parts]
            values = pd.Series(texts, dtype=object).repeat([len(one) for one in tables])
            frame[name] = as_numbers(values.reset_index(drop=True))
    check_names([str(name) for name in frame.columns], folder)
    return frame


def as_numbers(texts: Any) -> Any:
    """Column of numbers, if all its texts are numbers and none is a code such as "007"; else the texts."""
    import pandas as pd

    known = texts.dropna()
    if known.map(is_code).any():
        return texts
    numbers = pd.to_numeric(texts, errors="coerce")
    return texts if numbers[known.index].isna().any() else numbers
