"""Conversion of a pandas frame into arrays and texts, which can be saved without pickle, and back."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._tables import as_objects, split_columns


class FrameParts(NamedTuple):
    """Names and parts of the columns of a frame, and its number of rows, which it has without columns too."""

    names: list[Any]
    columns: list[Any]
    n_rows: int


def parts_of_frame(table: Any) -> Any:
    """Names, types and arrays of a pandas frame; any other table is returned as it is."""
    if not hasattr(table, "iloc"):
        return table
    return FrameParts(
        names=list(table.columns),
        columns=[_parts_of_column(column) for column in split_columns(table)],
        n_rows=len(table),
    )


def frame_of_parts(parts: Any) -> Any:
    """Pandas frame from its parts, with rows numbered from 0; any other table is returned as it is."""
    if not isinstance(parts, FrameParts):
        return parts
    import pandas as pd  # noqa: PLC0415 - there was a frame, so there is pandas

    columns = [_column_of_parts(pd, *column) for column in parts.columns]
    if any(len(column) != parts.n_rows for column in columns):
        raise ValueError("The columns of a stored frame have different lengths.")
    table = pd.DataFrame(dict(enumerate(columns)), index=range(parts.n_rows))
    table.columns = parts.names
    return table


def _parts_of_column(column: Any) -> tuple[str, NDArray[Any], Any]:
    """Name of the type, values, and for a categorical column its categories and whether they are ordered."""
    if hasattr(column, "cat"):
        categories = column.cat.categories
        return (
            "category",
            np.asarray(column.cat.codes),
            (_parts_of_column(categories.to_series()), column.cat.ordered),
        )
    if isinstance(column.dtype, np.dtype):
        return str(column.dtype), column.to_numpy(), None
    return str(column.dtype), as_objects(column), None


def _column_of_parts(pd: Any, kind: str, values: NDArray[Any], coding: Any) -> Any:
    """Pandas column from the parts that `_parts_of_column` made."""
    if kind != "category":
        return pd.Series(values, dtype=kind)
    categories, ordered = coding
    index = pd.Index(_column_of_parts(pd, *categories))
    return pd.Series(pd.Categorical.from_codes(values, index, ordered=ordered))
