"""Columns of a table, and what kind of values they hold."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from surefoot._tables._forms import is_frame, is_pandas

# NumPy's letters for kinds of numbers: truth values, whole numbers with and without sign, floats.
WHOLE = "biu"
NUMERIC = "biuf"


def column_names(X: Any) -> list[Any]:
    """Names of a frame's columns, or an array's column numbers; none for a list of texts."""
    if is_pandas(X):
        return list(X.columns)
    if is_frame(X):
        return list(nw.from_native(X, eager_only=True).columns)
    return list(range(X.shape[1])) if X.ndim == 2 else []


def take_column(X: Any, name: Any) -> Any:
    """Column of a table by its name, or by its number in an array; dense if X is sparse."""
    if issparse(X):
        return X[:, [name]].toarray().ravel()
    if isinstance(X, np.ndarray):
        return X[:, name]
    if not is_pandas(X):
        return nw.from_native(X, eager_only=True).get_column(name).to_native()
    column = X[name]
    if column.ndim != 1:
        raise ValueError(f"X has more than one column with the name {name!r}.")
    return column


def split_columns(X: Any) -> list[Any]:
    """Columns of a table in order, also where two have one name."""
    if is_pandas(X):
        return [X.iloc[:, i] for i in range(X.shape[1])]
    return [take_column(X, name) for name in column_names(X)]


def is_numeric(column: Any) -> bool:
    """Whether a column holds numbers or truth values."""
    return kind_of(column) in NUMERIC


def is_whole(column: Any) -> bool:
    """Whether a column holds whole numbers or truth values."""
    return kind_of(column) in WHOLE


def kind_of(column: Any) -> str:
    """NumPy's letter for a column's kind: one of `NUMERIC`, M for dates, another for anything else."""
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    if kind is not None:
        return str(kind)
    if isinstance(column, list):
        return "O"
    return _letter(nw.from_native(column, series_only=True).dtype)


def kinds_of(table: Any) -> list[str]:
    """Kinds of a frame's columns, or the kind of an array or column alone."""
    if not is_frame(table):
        return [kind_of(table)]
    if is_pandas(table):
        return [dtype.kind for dtype in table.dtypes]
    return [_letter(dtype) for dtype in nw.from_native(table, eager_only=True).schema.values()]


def _letter(dtype: Any) -> str:
    if dtype == nw.Boolean:
        return "b"
    if dtype.is_integer():
        return "i"
    if dtype.is_numeric():
        return "f"
    return "M" if dtype in (nw.Date, nw.Datetime) else "O"
