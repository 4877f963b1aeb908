"""Tables in memory of every kind through one set of functions: arrays, sparse rows, pandas, polars and Arrow frames.

pandas is called directly, as narwhals refuses names that are no strings or stand twice, and leaves the index out; every
other frame goes through narwhals, 2.0.1 or later. Which of both reads a table is asked once per type. A *column* is
what `take_column` and `split_columns` return: a series of the frame's own kind, or an array. A *missing value* is None,
NaN, NaT, NA or null, and never a string.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from surefoot._typing import Floats, Mask, settle
from surefoot._words import listed, plural


class RowError(ValueError):
    """Error for one row of a table.

    Parameters
    ----------
    fault : str
        Sentence without its subject: "has 'old' in the column 'age', where the model expects numbers."
    row : int
        Position of the row.
    """

    def __init__(self, fault: str, row: int) -> None:
        super().__init__(fault, row)
        self.fault, self.row = fault, row

    def __str__(self) -> str:
        return f"Row {self.row} {self.fault}"


def as_table(X: Any, *, copy: bool = False) -> Any:
    """Array, CSR or frame as it is, or a copy; other sparse formats as CSR, anything else as an array.

    A copy stays as it is when the original is changed in place. One sentence says why a table cannot be used, such as
    two columns with one name. A list of strings, for a pipeline that vectorises them, is the only table with one
    dimension.
    """
    if issparse(X):
        rows = X if X.format == "csr" else csr_array(X)
        return rows.copy() if copy else rows
    if is_frame(type(X)):
        names = column_names(X)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"X has more than one column with the name {twice!r}: names must differ."
            )
        if not copy:
            return X
        # Only the columns of pandas are ever changed: another frame around those of others is enough.
        return X.copy() if is_pandas(type(X)) else take_columns(X, names)
    check_is_array(X, "X")
    try:
        table = np.asanyarray(X)
    except ValueError as error:
        raise ValueError(
            "X has rows of different lengths: each row must have one value for each column."
        ) from error
    if table.ndim != 2 and not (table.ndim == 1 and table.dtype.kind in "OSUT"):
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D: X must have one row for each example. Reshape your data."
        )
    if table.dtype.kind in "mM":
        raise ValueError(
            "X is an array of times, which no model takes: pass numbers, such as days since a date, or a frame."
        )
    if table.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers.")
    if table.ndim == 2 and table.dtype.kind == "U" and not hasattr(X, "dtype"):
        return np.array(X, dtype=object)  # beside a string, NumPy makes the string "nan" of a NaN
    return (
        np.array(table) if copy else table
    )  # in its layout, on which the rounding of sums depends


def check_is_array(values: Any, name: str) -> None:
    """Raise one sentence for a masked array, whose mask would be lost, and for a frame that is not computed yet."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array, whose mask would be lost: pass an array with NaN where it is masked."
        )
    if nw.dependencies.is_polars_lazyframe(values):
        raise TypeError(f"{name} is a lazy frame: pass {name}.collect().")


# Decorator of a question about a type, which is asked once for each.
once: Callable[[Callable[[Any], bool]], Callable[[Any], bool]] = cache


@once
def is_frame(kind: Any) -> bool:
    """Whether tables of a type are frames: of pandas, polars, Arrow or another library that narwhals knows."""
    if is_pandas(kind):
        return hasattr(kind, "columns")
    polars, arrow = nw.dependencies.get_polars(), nw.dependencies.get_pyarrow()
    known = (*filter(None, [polars and polars.DataFrame, arrow and arrow.Table]), nw.DataFrame)
    return issubclass(kind, known) or hasattr(kind, "__narwhals_dataframe__")


@once
def is_pandas(kind: Any) -> bool:
    """Whether frames or columns of a type are of pandas, or of a library with its methods."""
    return hasattr(kind, "iloc")


def count_rows(X: Any) -> int:
    """Number of rows of a table, or of items of a column or list."""
    shape = getattr(X, "shape", None)
    if shape is None:
        return len(X) if hasattr(X, "__len__") else count_rows(as_table(X))
    if len(shape) == 0:
        raise TypeError("X is a single value: it must have one row for each example.")
    return int(shape[0])


def frame_kind(X: Any) -> dict[str, Any]:
    """Library and pandas index of a table, as `frame_of_kind` takes them; None for what it does not have."""
    if is_pandas(type(X)):
        return {"library": "pandas", "index": X.index}
    library = nw.from_native(X, eager_only=True).implementation.value if is_frame(type(X)) else None
    return {"library": library, "index": None}


def frame_of_kind(columns: Mapping[str, NDArray[Any]], library: Any, index: Any) -> Any:
    """Frame of columns in a library, which is pandas by default, with the index of other rows."""
    if library in (None, "pandas"):
        return import_module("pandas").DataFrame(columns, index=index)
    plain = {
        name: values.tolist() if values.dtype == object else values
        for name, values in columns.items()
    }
    return nw.from_dict(plain, backend=library).to_native()


# NumPy's letters for kinds of numbers: booleans, whole numbers with and without sign, floats.
WHOLE = "biu"
NUMERIC = "biuf"

# Largest number of 32 bits: models take no larger ones.
LARGEST = float(np.finfo(np.float32).max)


def column_names(X: Any) -> list[Any]:
    """Names of a frame's columns, or an array's column numbers; none for a list of strings."""
    if is_frame(type(X)):
        # narwhals refuses a table of Arrow in which two columns have one name.
        return list(X.column_names if hasattr(X, "column_names") else X.columns)
    return list(range(X.shape[1])) if X.ndim == 2 else []


def take_column(X: Any, name: Any) -> Any:
    """Column of a table by its name, or by its number in an array; dense if X is sparse."""
    if issparse(X):
        return X[:, [name]].toarray().ravel()
    if isinstance(X, np.ndarray):
        return X[:, name]
    if not is_pandas(type(X)):
        return nw.from_native(X, eager_only=True).get_column(name).to_native()
    return X[name]


def split_columns(X: Any) -> list[Any]:
    """Columns of a table in order, also where two have one name."""
    if is_pandas(type(X)):
        return [X.iloc[:, i] for i in range(X.shape[1])]
    return [take_column(X, name) for name in column_names(X)]


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
    if not is_frame(type(table)):
        return [kind_of(table)]
    if is_pandas(type(table)):
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


# Sparse formats whose rows can be taken.
ROW_FORMATS = ("csr", "csc", "lil", "dok")


def take_rows(X: Any, rows: Any) -> Any:
    """Rows of a table, or items of a column or list, by positions, a boolean mask or a slice.

    The type stays, and so do dtypes, categories and a pandas index. A slice of an array or frame is a view.
    """
    is_slice = isinstance(rows, slice)
    key = rows if is_slice else np.asarray(rows, dtype=None if len(rows) else np.int64)
    if issparse(X) and X.format not in ROW_FORMATS:
        X = X.tocsr()
    if isinstance(X, np.ndarray) or issparse(X):
        return X[key]
    if is_pandas(type(X)):
        return X.iloc[key] if is_slice or key.dtype.kind == "b" else X.take(key)
    if isinstance(X, list):
        return [X[i] for i in np.arange(len(X))[key].tolist()]
    data = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if data is X:  # an array of another library
        return X[key]
    if not is_slice or rows.step not in (
        None,
        1,
    ):  # Arrow knows no steps, nor positions from the end
        key = np.arange(len(data))[key]
    return data[key].to_native()


def as_numbers(X: Any, *, complete: bool = True) -> Any:
    """Table as a float64 array or CSR if it is numeric and, if asked, complete; else None."""
    if issparse(X):
        values = X.astype(np.float64, copy=False)
        cells = values.data
    elif not set(kinds_of(X)) <= set(NUMERIC if is_frame(type(X)) else NUMERIC + "O"):
        return None
    else:
        try:
            values = cells = as_floats(X)
        except (TypeError, ValueError):  # objects that are no numbers: categories
            return None
    return values if not complete or np.isfinite(cells).all() else None


def as_floats(values: Any) -> Floats:
    """Floats of a column or dense table, NaN for every missing value; ValueError or TypeError for what is no number."""
    if set(kinds_of(values)) <= set(NUMERIC):
        if isinstance(values, np.ndarray):
            return values.astype(np.float64, copy=False)
        if is_pandas(type(values)):
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        if not is_frame(type(values)):
            series = nw.from_native(values, series_only=True).cast(nw.Float64())
            return np.asarray(series.to_numpy(), dtype=np.float64)
    if is_frame(type(values)):
        return _by_column(as_floats, values, np.float64)
    objects = as_objects(values)
    floats = np.asarray(objects.astype(np.float64))
    # NumPy reads the numbers in strings, but the string "nan" is none.
    strings = [value for value in objects[np.isnan(floats)] if value is not None]
    if strings:
        raise ValueError(f"could not convert string to float: {strings[0]!r}")
    return floats


def as_objects(values: Any) -> NDArray[Any]:
    """Array of a column's or dense table's values as Python objects, None for every missing value."""
    if is_frame(type(values)):
        return _by_column(as_objects, values, object)
    if isinstance(values, np.ndarray):
        kind = values.dtype.kind  # nanoseconds would become whole numbers
        objects = (values.astype(f"{kind}8[us]") if kind in "mM" else values).astype(object)
    elif is_pandas(type(values)):
        objects = np.array(values.astype(object), dtype=object)
    else:
        is_list = isinstance(values, list)
        items = values if is_list else nw.from_native(values, series_only=True).to_list()
        objects = np.fromiter(items, dtype=object, count=len(items))
    objects[_missing(objects)] = None
    return objects


def _by_column(convert: Callable[[Any], NDArray[Any]], X: Any, dtype: Any) -> NDArray[Any]:
    """Array of a frame's converted columns, each contiguous."""
    values = np.empty(X.shape, dtype=dtype, order="F")
    for i, column in enumerate(split_columns(X)):
        values[:, i] = convert(column)
    return values


def as_values(column: Any) -> NDArray[Any]:
    """Array of a column's values: floats with NaN for missing values, dates with NaT, or objects with None.

    Booleans are objects, and so are strings; an array of objects gives floats if all of them are numbers.
    """
    kind, numbers = kind_of(column), None
    if kind == "M":
        return np.asarray(column, dtype="datetime64[us]")
    if kind in "iuf":
        return as_floats(column)
    if kind == "O" and isinstance(column, np.ndarray):
        numbers = as_numbers(column, complete=False)
    return as_objects(column) if numbers is None else np.asarray(numbers)


def named_values(X: Any) -> list[tuple[Any, NDArray[Any]]]:
    """Name and values (see `as_values`) of each column; none of sparse rows and of lists of texts."""
    if issparse(X) or len(X.shape) < 2:
        return []
    names = column_names(X)
    if set(kinds_of(X)) <= set("iuf"):
        return list(zip(names, as_floats(X).T, strict=True))
    return list(zip(names, map(as_values, split_columns(X)), strict=True))


def missing_mask(values: Any) -> Any:
    """Mask of the missing values in an array, list, column or table; sparse if this is, whose empty cells are zeros."""
    if issparse(values):
        return values != values  # noqa: PLR0124 - true of NaN alone
    if is_pandas(type(values)):
        return np.asarray(values.isna())
    if is_frame(type(values)):
        return _by_column(missing_mask, values, np.bool_)
    if kind_of(values) in NUMERIC:
        return np.isnan(as_floats(values))
    return _missing(as_objects(values))


# Share of training rows beyond each limit of `MissingInputs`.
UNUSUAL_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class MissingInputs:
    """Which inputs training rows lack: a row that lacks more than 99 % of them do, or a required one, is unusual.

    An input is required if fewer training rows lack it than any input that 99 % of these lack. Each training row is
    compared with the other ones, as a new row is with all of them: of rows that are drawn like them, whatever is
    missing together, each limit marks about 1 % or fewer.

    Attributes
    ----------
    required : ndarray of bool of shape (n_columns,)
        Inputs that nearly all training rows have.
    most : int
        Number of missing inputs beyond which a row is unusual.
    """

    required: Mask
    most: int

    @classmethod
    def of(cls, table: Any) -> Self:
        """Limits that the rows of a table set."""
        missing = missing_mask(table).reshape(table.shape[0], -1)  # a list of texts is one column
        n_rows, n_columns = missing.shape
        rows, columns = missing.nonzero()
        counts, rarest = np.bincount(columns, minlength=n_columns), np.full(n_rows, n_rows)
        np.minimum.at(rarest, rows, counts[columns] - 1)
        n_missing = np.bincount(rows, minlength=n_rows)
        most = np.quantile(n_missing, 1 - UNUSUAL_SHARE, method="higher")
        return cls(counts < np.quantile(rarest, UNUSUAL_SHARE, method="lower"), int(most))

    def are_unusual(self, table: Any) -> Mask:
        """Mask of the rows that lack more inputs than training rows do, or a required one."""
        missing = missing_mask(table).reshape(table.shape[0], -1)
        rows, columns = missing.nonzero()
        unusual = np.bincount(rows, minlength=table.shape[0]) > self.most
        unusual[rows[self.required[columns]]] = True
        return np.asarray(unusual)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA; no string is."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - true of NaN and NaT alone
    except (TypeError, ValueError):  # NA has no truth value; nor has an array, which is not missing
        return type(value).__name__ == "NAType"


def _missing(objects: NDArray[Any]) -> Mask:
    with np.errstate(invalid="ignore"):  # numpy 2.5 warns of a NaN that is compared
        try:
            return np.asarray((objects != objects) | (objects == None), dtype=np.bool_)  # noqa: E711, PLR0124 - by element
        except (TypeError, ValueError):  # one of the values has no truth value
            return np.asarray(np.frompyfunc(is_missing, 1, 1)(objects), dtype=bool)


# Categories of a column that are told apart, the most common ones, least rows of one, and the most letters of one. A
# text that hardly any other row has is no category: new rows would never have it.
MOST_LEVELS, LEAST_OF_A_LEVEL = 50, 5
MOST_LETTERS = 100

# Codes of a missing value, and of all categories beyond the most common ones.
MISSING, OTHER = -1, -2


@dataclass(frozen=True, eq=False)
class PlainColumn:
    """Column of a table as numbers, NaN where they are missing, or as codes of its most common categories.

    Attributes
    ----------
    name : str or int
        Name of the column, or its number in an array.
    values : ndarray of shape (n_rows,)
        Numbers, microseconds for times, or codes: positions in `levels`, `MISSING` or `OTHER`.
    levels : ndarray of str, or None
        The categories; None for numbers.
    """

    name: Any
    values: NDArray[Any]
    levels: NDArray[Any] | None = None


def plain_columns(table: Any, like: list[PlainColumn] | None = None) -> list[PlainColumn]:
    """Columns of a table as numbers and codes; with the categories of the columns `like`, where they are given."""
    columns = named_values(table)
    known = [None] * len(columns) if like is None else like
    return [_plain(*column, each) for column, each in zip(columns, known, strict=True)]


def _plain(name: Any, values: NDArray[Any], like: PlainColumn | None) -> PlainColumn:
    if values.dtype.kind in "fM" if like is None else like.levels is None:
        if values.dtype.kind == "M":
            values = np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
        try:
            numbers = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Column {name!r} holds strings where the model expects numbers."
            ) from error
        return PlainColumn(name, np.where(np.isfinite(numbers), numbers, np.nan))
    strings = [None if value is None else str(value)[:MOST_LETTERS] for value in as_objects(values)]
    levels = None if like is None else like.levels
    if levels is None:  # the most common strings, ascending
        known = [string for string in strings if string is not None]
        levels, counts = np.unique(np.array(known, dtype=np.str_), return_counts=True)
        common = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
        levels = np.sort(levels[common[counts[common] >= LEAST_OF_A_LEVEL]])
    place = {level: code for code, level in enumerate(levels.tolist())}
    codes = [MISSING if string is None else place.get(string, OTHER) for string in strings]
    return PlainColumn(name, np.array(codes, dtype=np.int64), levels)


def input_form(X: Any) -> dict[str, Any]:
    """Library, kinds of columns and categories of a table, in plain values, to give rows of files the same form.

    The kind is NumPy's letter: b, i, u and f for numbers, M for times, m for durations, O for anything else. An array
    has one kind.
    """
    names = column_names(X) if is_frame(type(X)) else [None]
    if not all(isinstance(name, str) for name in names):
        are_numbers = set(kinds_of(X)) <= set(NUMERIC)
        return {"library": "numpy", "kind": "f" if are_numbers else "O"}
    kinds = dict(zip(names, kinds_of(X), strict=True))
    if not is_pandas(type(X)):
        library = str(nw.from_native(X, eager_only=True).implementation.value)
        return {"library": library, "kinds": kinds, "categories": {}}
    infer = import_module("pandas.api.types").infer_dtype
    categories = {}
    for name, column in zip(names, split_columns(X), strict=True):
        if column.dtype == object and infer(column, skipna=True) == "boolean":
            kinds[name] = "b"  # booleans with missing values are objects
        if hasattr(column, "cat"):
            values = as_objects(column.cat.categories.to_series()).tolist()
            if all(isinstance(value, (str, int, float)) for value in values):
                categories[name] = {"values": values, "ordered": bool(column.cat.ordered)}
    return {"library": "pandas", "kinds": kinds, "categories": categories}


def in_form(X: Any, form: Mapping[str, Any]) -> Any:
    """Rows with the kinds and categories that the columns had in `fit`; see `input_form`.

    A dict, or a list of dicts, is one row each; in a pandas frame, only columns of objects where `fit` had others are
    converted. Any other table is returned as it is.
    """
    # A sparse matrix may be a dict of its entries.
    records = [X] if isinstance(X, Mapping) and not issparse(X) else X
    if not (isinstance(records, list) and records and isinstance(records[0], Mapping)):
        if not (is_pandas(type(X)) and form.get("library") == "pandas" and hasattr(X, "columns")):
            return X
        kinds = dict(zip(X.columns, X.dtypes, strict=True))
        changed = {
            name: in_kind(name, X[name].tolist(), form)
            for name, kind in form["kinds"].items()
            if getattr(kinds.get(name), "kind", "") == "O"
            and not hasattr(kinds[name], "categories")
            and (kind != "O" or name in form["categories"])
        }
        return X.assign(**changed) if changed else X
    if "kinds" not in form:
        raise ValueError(
            "X is a dict, and the model was fitted on an array, without names of columns."
        )
    if lacking := [name for name in form["kinds"] if name not in records[0]]:
        raise ValueError(f"X lacks {listed(lacking)}, which the model was fitted on.")
    columns = {
        name: in_kind(name, [record.get(name) for record in records], form)
        for name in form["kinds"]
    }
    if form["library"] == "pandas":
        return import_module("pandas").DataFrame(columns)
    return nw.from_dict(columns, backend=form["library"]).to_native()


def in_kind(name: str, values: list[Any], form: Mapping[str, Any]) -> Any:
    """Column of plain values in the kind that it had in `fit`; an error that names it for values that cannot be."""
    kind, known = form["kinds"][name], form["categories"].get(name)
    if known is not None:
        new = {value for value in values if not is_missing(value)} - {*known["values"]}
        categories = [*known["values"], *sorted(new, key=str)]
        return import_module("pandas").Categorical(values, categories, ordered=known["ordered"])
    try:
        if kind == "M":
            return np.array([None if is_missing(v) else v for v in values], dtype="datetime64[us]")
        if kind not in NUMERIC:
            return values
        numbers = as_floats(np.array(values, dtype=object))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {name!r} holds strings where the model expects {'times' if kind == 'M' else 'numbers'}."
        ) from error
    is_whole_number = kind in WHOLE and np.isfinite(numbers).all()
    return numbers.astype({"b": bool}.get(kind, np.int64)) if is_whole_number else numbers


def stack_rows(tables: Sequence[Any]) -> Any:
    """Table with the rows of several tables under each other, of the kind that the first is."""
    first = tables[0]
    if issparse(first):
        return vstack(tables, format="csr")
    if is_pandas(type(first)):
        return _stack_pandas(tables)
    if is_frame(type(first)):
        return nw.concat([nw.from_native(table, eager_only=True) for table in tables]).to_native()
    return np.concatenate([np.asarray(table) for table in tables])


def _stack_pandas(tables: Sequence[Any]) -> Any:
    """Stacked frame; a column of categories has those of all tables, where pandas can join them."""
    stacked = import_module("pandas").concat(tables)
    join = import_module("pandas.api.types").union_categoricals
    if not all(table.columns.equals(stacked.columns) for table in tables):
        return stacked
    changed = [a != b for a, b in zip(stacked.dtypes, tables[0].dtypes, strict=True)]
    for i in np.flatnonzero(changed).tolist():
        parts = [table.iloc[:, i] for table in tables]
        if all(hasattr(part, "cat") for part in parts):
            try:
                stacked.isetitem(i, join(parts))
            except TypeError:  # two orders, or strings and numbers: the column holds objects
                continue
    return stacked


def with_columns(X: Any, columns: Mapping[Any, NDArray[Any]]) -> Any:
    """Copy of a table with some columns replaced by numbers, or with new columns of a frame."""
    if isinstance(X, np.ndarray):
        # Whole numbers would cut the floats off.
        table = X.astype(np.float64) if X.dtype.kind in WHOLE and columns else X.copy()
        for number, values in columns.items():
            table[:, number] = values
        return table
    if is_pandas(type(X)):
        table = X.copy(deep=False)
        for name, values in columns.items():
            table[name] = values
        return table
    frame = nw.from_native(X, eager_only=True)
    backend = frame.implementation
    series = [
        nw.new_series(name, new if new.dtype.kind in NUMERIC else new.tolist(), backend=backend)
        for name, new in columns.items()
    ]
    return frame.with_columns(*series).to_native()


def take_columns(X: Any, names: Sequence[Any]) -> Any:
    """Frame with some of its columns, or those of an array by their numbers."""
    if is_frame(type(X)) and not is_pandas(type(X)):
        return nw.from_native(X, eager_only=True).select(list(names)).to_native()
    return X[list(names)] if is_pandas(type(X)) else X[:, list(names)]


def frame_like(library: Any, values: Floats, names: Sequence[Any]) -> Any:
    """Frame of a library, such as "pandas", with an array's rows and names for its columns."""
    if library == "pandas":
        return import_module(library).DataFrame(values, columns=names)
    columns = {str(name): column for name, column in zip(names, values.T, strict=True)}
    return nw.from_dict(columns, backend=library).to_native()


def without_infinities(X: Any) -> tuple[Any, int]:
    """Table with NaN in place of numbers that are infinite or beyond float32, and how many there were."""
    replaced: dict[Any, Floats] = {}
    n_replaced = 0
    for name, column in zip(column_names(X), split_columns(X), strict=True):
        if kind_of(column) == "f":
            values = as_floats(column)
            too_large = np.abs(values) > LARGEST
            if too_large.any():
                replaced[name] = np.where(too_large, np.nan, values)
                n_replaced += int(np.count_nonzero(too_large))
    return (with_columns(X, replaced) if replaced else X), n_replaced


def infinities_in_words(n_replaced: int) -> str:
    """Sentence for the count that `without_infinities` returns."""
    are = "is" if n_replaced == 1 else "are"
    return f"{plural(n_replaced, 'number')} that {are} infinite or above {LARGEST:.1e} {are} treated as missing."


settle("surefoot._tables")
