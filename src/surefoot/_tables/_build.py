"""New tables: rows under each other, columns replaced, arrays as frames."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse, vstack

from surefoot._tables._columns import WHOLE
from surefoot._tables._forms import is_frame, is_pandas
from surefoot._typing import Floats


def stack_rows(tables: Sequence[Any]) -> Any:
    """Table with the rows of several tables under each other, of the kind that the first is."""
    first = tables[0]
    if issparse(first):
        return vstack(tables, format="csr")
    if is_pandas(first):
        return _stack_pandas(tables)
    if is_frame(first):
        return nw.concat([nw.from_native(table, eager_only=True) for table in tables]).to_native()
    return np.concatenate([np.asarray(table) for table in tables])


def _stack_pandas(tables: Sequence[Any]) -> Any:
    """Stacked frame; a column of categories has those of all tables, where pandas can join them."""
    stacked = import_module("pandas").concat(tables)
    join = import_module("pandas.api.types").union_categoricals
    if not all(table.columns.equals(stacked.columns) for table in tables):
        return stacked
    for i in range(stacked.shape[1]):
        parts = [table.iloc[:, i] for table in tables]
        if all(hasattr(part, "cat") for part in parts) and not hasattr(stacked.iloc[:, i], "cat"):
            try:
                stacked.isetitem(i, join(parts))
            except TypeError:  # two orders, or texts and numbers: the column holds objects
                continue
    return stacked


def with_columns(X: Any, columns: Mapping[Any, Floats]) -> Any:
    """Copy of a table with some columns replaced by floats."""
    if isinstance(X, np.ndarray):
        # Whole numbers would cut the floats off.
        table = X.astype(np.float64) if X.dtype.kind in WHOLE and columns else X.copy()
        for number, values in columns.items():
            table[:, number] = values
        return table
    if is_pandas(X):
        table = X.copy(deep=False)
        for name, values in columns.items():
            table[name] = values
        return table
    frame = nw.from_native(X, eager_only=True)
    backend = frame.implementation
    series = [nw.new_series(name, new, backend=backend) for name, new in columns.items()]
    return frame.with_columns(*series).to_native()


def frame_like(kind: type, values: Floats, names: Sequence[Any]) -> Any:
    """Frame of a type, such as `pandas.DataFrame`, with an array's rows and names for its columns."""
    if is_pandas(kind):
        return kind(values, columns=names)
    library: Any = kind.__module__.partition(".")[0]
    columns = {str(name): column for name, column in zip(names, values.T, strict=True)}
    return nw.from_dict(columns, backend=library).to_native()
