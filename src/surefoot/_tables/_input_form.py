"""Description of the table that a model was fitted on, so that rows from files can be given the same form."""

from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw

from surefoot._tables._columns import NUMERIC, column_names, kinds_of, split_columns
from surefoot._tables._forms import is_frame, is_pandas
from surefoot._tables._values import as_objects


def input_form(X: Any) -> dict[str, Any]:
    """Library, kinds of columns and categories of a table, in plain values; an array has one kind.

    The kind is NumPy's letter: b, i, u and f for numbers, M for times, m for durations, O for anything else.
    """
    if not is_frame(X) or not all(isinstance(name, str) for name in column_names(X)):
        kinds = set(kinds_of(X))
        return {"library": "numpy", "kind": "f" if kinds <= set(NUMERIC) else "O"}
    names = [str(name) for name in column_names(X)]
    columns = dict(zip(names, split_columns(X), strict=True)) if is_pandas(X) else {}
    categories = {name: plain_categories(column) for name, column in columns.items()}
    truths = {name: "b" for name, column in columns.items() if are_truths_with_gaps(column)}
    return {
        "library": library_of(X),
        "kinds": dict(zip(names, kinds_of(X), strict=True)) | truths,
        "categories": {name: known for name, known in categories.items() if known is not None},
    }


def plain_categories(column: Any) -> dict[str, Any] | None:
    """Categories of a pandas column and whether they are ordered; None if it has none, or any but texts and numbers."""
    if not hasattr(column, "cat"):
        return None
    values = as_objects(column.cat.categories.to_series()).tolist()
    if not all(isinstance(value, (str, int, float)) for value in values):
        return None
    return {"values": values, "ordered": bool(column.cat.ordered)}


def are_truths_with_gaps(column: Any) -> bool:
    """Whether a pandas column of objects holds truth values only, which it does where there are gaps among them."""
    infer = import_module("pandas.api.types").infer_dtype
    return column.dtype == object and infer(column, skipna=True) == "boolean"


def library_of(X: Any) -> str:
    """Name of a frame's library: pandas for pandas and for all that has its methods."""
    if is_pandas(X):
        return "pandas"
    return str(nw.from_native(X, eager_only=True).implementation.value)
