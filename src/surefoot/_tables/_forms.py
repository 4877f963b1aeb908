"""Which form a table has: array, sparse rows or frame."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse


def as_table(X: Any) -> Any:
    """Array, CSR or frame as it is; other sparse formats as CSR, anything else as an array.

    A list of texts, for a pipeline that vectorises them, is the only table with one dimension.
    """
    if issparse(X):
        return X if X.format == "csr" else csr_array(X)
    if is_frame(X):
        return X
    table = X if isinstance(X, np.ndarray) else _as_array(X)
    if table.ndim != 2 and not (table.ndim == 1 and table.dtype.kind in "OSUT"):
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D: X must have one row for each example. Reshape your data."
        )
    if table.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers.")
    if table.ndim == 2 and table.dtype.kind == "U" and not hasattr(X, "dtype"):
        return np.array(X, dtype=object)  # beside a text, NumPy makes the text "nan" of a NaN
    return table


def _as_array(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            "X has rows of different lengths: each row must have one value for each column."
        ) from error


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas, polars, Arrow or another library that narwhals knows."""
    if isinstance(X, np.ndarray) or issparse(X):
        return False
    return hasattr(X, "columns") if is_pandas(X) else bool(nw.dependencies.is_into_dataframe(X))


def is_pandas(data: Any) -> bool:
    """Whether a frame, a column or a type of these is pandas, or of a library with its methods."""
    return hasattr(data, "iloc")


def count_rows(X: Any) -> int:
    """Number of rows of a table, or of items of a column or list."""
    shape = getattr(X, "shape", None)
    if shape is None:
        return len(X) if hasattr(X, "__len__") else len(np.asarray(X))
    if len(shape) == 0:
        raise TypeError("X is a single value: it must have one row for each example.")
    return int(shape[0])


def row_index(X: Any) -> NDArray[Any] | None:
    """Values of a pandas index; None for a table without one."""
    return np.asarray(X.index) if is_pandas(X) else None


def same_table(one: Any, other: Any) -> bool:
    """Whether two tables of one kind are equal, gaps included."""
    if is_frame(one):
        return bool(one.equals(other))
    if np.shape(one) != np.shape(other):
        return False
    if issparse(one):
        return (one != other).nnz == 0
    return bool(np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"))
