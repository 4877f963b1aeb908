"""Rows of a table."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from surefoot._tables._forms import is_pandas
from surefoot._typing import Ints

# Sparse formats whose rows can be taken.
ROW_FORMATS = ("csr", "csc", "lil", "dok")


def take_rows(X: Any, rows: Any) -> Any:
    """Rows of a table, or items of a column or list, by positions, a boolean mask or a slice.

    The type stays, and so do dtypes, categories and a pandas index. A slice of an array or frame is a view.
    """
    if isinstance(X, np.ndarray):
        return X[_key(rows)]
    if issparse(X):
        return (X if X.format in ROW_FORMATS else X.tocsr())[_key(rows)]
    if is_pandas(X):
        return X.iloc[rows] if isinstance(rows, slice) else X.take(_positions(rows, len(X)))
    if nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X):
        return _take_narwhals(nw.from_native(X, eager_only=True, allow_series=True), rows)
    if isinstance(rows, slice) or hasattr(X, "shape"):  # an array of another library
        return X[_key(rows)]
    return [X[i] for i in _positions(rows, len(X)).tolist()]


def _take_narwhals(data: Any, rows: Any) -> Any:
    if isinstance(rows, slice) and rows.step in (None, 1):
        return data[rows].to_native()
    positions = _positions(rows, len(data))
    # Arrow knows neither steps nor positions from the end.
    return data[np.where(positions < 0, positions + len(data), positions)].to_native()


def _key(rows: Any) -> Any:
    """Slice, or array of positions or truth values."""
    if isinstance(rows, slice):
        return rows
    return np.asarray(rows, dtype=None if len(rows) else np.int64)


def _positions(rows: Any, n_rows: int) -> Ints:
    """Positions of rows that are given in any form."""
    key = _key(rows)
    if isinstance(key, slice):
        return np.arange(n_rows)[key]
    if key.dtype.kind != "b":
        return np.asarray(key)
    if len(key) != n_rows:
        raise IndexError(f"The mask has {len(key)} values, and the table has {n_rows} rows.")
    return np.flatnonzero(key)
