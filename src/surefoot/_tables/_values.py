"""Values of columns and tables as arrays, and which of them are missing."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surefoot._tables._columns import NUMERIC, kind_of, kinds_of, split_columns
from surefoot._tables._forms import is_frame, is_pandas
from surefoot._typing import Floats, Mask


def as_numbers(X: Any, *, complete: bool = True) -> Any:
    """Table as a float64 array or CSR if it is numeric and, if asked, complete; else None."""
    if issparse(X):
        values = X.astype(np.float64, copy=False)
        return values if not complete or np.isfinite(values.data).all() else None
    allowed = NUMERIC if is_frame(X) else NUMERIC + "O"
    if not all(kind in allowed for kind in kinds_of(X)):
        return None
    try:
        values = as_floats(X)
    except (TypeError, ValueError):  # objects that are no numbers: categories
        return None
    return values if not complete or np.isfinite(values).all() else None


def as_floats(values: Any) -> Floats:
    """Floats of a column or dense table, NaN for every gap; ValueError or TypeError for what is no number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in NUMERIC:
        return values.astype(np.float64, copy=False)
    if is_pandas(values) and all(kind in NUMERIC for kind in kinds_of(values)):
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if is_frame(values):
        return _frame_floats(values)
    if not is_pandas(values) and kind_of(values) in NUMERIC:
        return _narwhals_floats(nw.from_native(values, series_only=True).to_frame())[:, 0]
    return _parse_floats(_objects(values))


def _frame_floats(frame: Any) -> Floats:
    kinds = kinds_of(frame)
    if kinds and all(kind in NUMERIC for kind in kinds):  # pandas was dealt with
        return _narwhals_floats(nw.from_native(frame, eager_only=True))
    floats = np.empty(frame.shape, order="F")
    for i, column in enumerate(split_columns(frame)):
        floats[:, i] = as_floats(column)
    return floats


def _narwhals_floats(frame: Any) -> Floats:
    return np.asarray(frame.select(nw.all().cast(nw.Float64())).to_numpy(), dtype=np.float64)


def _parse_floats(objects: NDArray[Any]) -> Floats:
    """Floats of objects; NumPy reads the numbers in texts, but the text "nan" is none."""
    try:
        floats = objects.astype(np.float64)
    except TypeError:  # NumPy knows no NA and no NaT
        floats = _with_none(objects).astype(np.float64)
    texts = [value for value in objects[np.isnan(floats)] if not is_missing(value)]
    if texts:
        raise ValueError(f"could not convert string to float: {texts[0]!r}")
    return floats


def as_objects(values: Any) -> NDArray[Any]:
    """Array of a column's or dense table's values as Python objects, None for every gap."""
    return _with_none(_objects(values))


def as_values(column: Any) -> NDArray[Any]:
    """Array of a column's values: floats with NaN for gaps, dates with NaT, or objects with None.

    Truth values are objects, and so are texts; an array of objects gives floats if all of them are numbers.
    """
    kind = kind_of(column)
    if kind == "M":
        return np.asarray(column, dtype="datetime64[us]")
    if kind in "iuf":
        return as_floats(column)
    if kind == "O" and isinstance(
        column, np.ndarray
    ):  # a mixed array: its numbers are objects, too
        numbers = as_numbers(column, complete=False)
        return as_objects(column) if numbers is None else numbers
    return as_objects(column)


def missing_mask(values: Any) -> Mask:
    """Mask of the gaps in an array, list, column or dense table."""
    if all(kind in NUMERIC for kind in kinds_of(values)):
        return np.isnan(as_floats(values))
    return _gaps(_objects(values))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA; no text is."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - true of NaN and NaT alone
    except (TypeError, ValueError):  # NA has no truth value; nor has an array, which is no gap
        return type(value).__name__ == "NAType"


def _with_none(objects: NDArray[Any]) -> NDArray[Any]:
    """Copy of objects with None for every gap."""
    copied = objects.copy()
    copied[_gaps(objects)] = None
    return copied


def _gaps(objects: NDArray[Any]) -> Mask:
    with np.errstate(invalid="ignore"):  # numpy 2.5 warns of a NaN that is compared
        return np.asarray(np.frompyfunc(is_missing, 1, 1)(objects), dtype=bool)


def _objects(values: Any) -> NDArray[Any]:
    """Values as objects, gaps as they are."""
    if is_frame(values):
        objects = np.empty(values.shape, dtype=object)
        for i, column in enumerate(split_columns(values)):
            objects[:, i] = _objects(column)
        return objects
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "mM":  # nanoseconds would become whole numbers
            values = values.astype(f"{values.dtype.kind}8[us]")
        return values.astype(object)
    if is_pandas(values):
        return np.asarray(values.astype(object).to_numpy())
    if not isinstance(values, list):
        values = nw.from_native(values, series_only=True).to_list()
    return np.fromiter(values, dtype=object, count=len(values))
