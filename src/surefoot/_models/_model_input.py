"""The table that a fitted model really sees, and the points between its rows."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_array, get_tags

from surefoot._models._frame_parts import frame_of_parts, parts_of_frame
from surefoot._models._response import Response
from surefoot._models._samples import interpolate
from surefoot._typing import Floats, Ints


def split_model(model: Any) -> tuple[list[Any], Any]:
    """Take a fitted model apart: the transformers of its pipelines, and the predictor at the end."""
    transformers = []
    while True:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            if len(model) > 1:
                transformers.append(model[:-1])
            model = model[-1]
        else:
            return transformers, model


def as_table(X: Any) -> Any:
    """Leave arrays, CSR and frames as they are; other sparse formats become CSR, anything else an array.

    A list of texts, for a pipeline that vectorises them, is the only table with one dimension.
    """
    if issparse(X):
        return X if X.format == "csr" else csr_array(X)
    if is_frame(X):
        return X
    table = X if isinstance(X, np.ndarray) else np.asarray(X)
    if table.ndim != 2 and not (table.ndim == 1 and table.dtype.kind in "OSUT"):
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D: X must have one row for each example. Reshape your data."
        )
    return table


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__")


def as_numbers(X: Any, *, complete: bool = True) -> Any:
    """Return X as float64 array or CSR when it is numeric and, if asked, complete; else None."""
    if issparse(X):
        values = X.astype(np.float64, copy=False)
        return values if not complete or np.isfinite(values.data).all() else None
    if is_frame(X) and not all(_is_numeric(X[name]) for name in X.columns):
        return None
    # A nullable column with gaps would be objects, and these lose that they are numbers.
    values = X.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(X, "iloc") else np.asarray(X)
    if values.dtype.kind not in "biufO":
        return None
    try:
        values = values.astype(np.float64, copy=False)
    except (TypeError, ValueError):  # objects that are no numbers: categories
        return None
    return values if not complete or np.isfinite(values).all() else None


class ModelInput:
    """A model's input as it is: enough where no samples are made."""

    def __init__(self, table: Any) -> None:
        self.rows = table

    def __getstate__(self) -> dict[str, Any]:
        """What to save: a pandas frame in parts, as skops knows arrays but no frames."""
        return {**self.__dict__, "rows": parts_of_frame(self.rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Put the frame together again."""
        self.__dict__.update(state, rows=frame_of_parts(state["rows"]))

    def encode(self, table: Any) -> Any:
        """Rows of a table in the form that `rows` has."""
        return table

    def as_model_sees(self, rows: Any) -> Any:
        """Encoded rows as the model takes them."""
        return rows

    def score(self, response: Response, rows: Any) -> Floats:
        """The model's scores of encoded rows."""
        return response(self.as_model_sees(rows))

    def score_between(self, response: Response, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), at the points x + β(n − x) for each row and neighbour."""
        raise TypeError("There is nothing between rows of a table that was never looked at.")

    def nbytes_per_sample(self) -> int:
        """Memory that one sample takes, about, with the temporaries of making it."""
        return 1024


class NumericInput(ModelInput):
    """A model's input that is numeric and complete: samples are interpolated in it."""

    def __init__(self, model: Any, table: Any) -> None:
        super().__init__(as_numbers(table))
        self.names: Any = getattr(model, "feature_names_in_", None)
        self.frame_type = type(table) if is_frame(table) and self.names is not None else None
        self.takes_gaps = get_tags(model).input_tags.allow_nan

    def encode(self, table: Any) -> Any:
        """Rows as float64, sparse if the training rows are; with gaps only if the model takes them."""
        rows = as_numbers(table, complete=not self.takes_gaps)
        if rows is None:
            check_array(table, dtype=np.float64, accept_sparse=True, input_name="X")
            raise ValueError(
                "X has columns that are no numbers where the training rows had numbers."
            )
        if issparse(self.rows):
            return csr_array(rows)
        return rows.toarray() if issparse(rows) else rows

    def as_model_sees(self, rows: Any) -> Any:
        """Give a model that was fitted on a frame a frame with the same names."""
        if self.frame_type is None:
            return rows
        if hasattr(self.frame_type, "iloc"):
            return self.frame_type(rows, columns=self.names)
        return self.frame_type(rows, schema=list(self.names), orient="row")

    def score_between(self, response: Response, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), at the points x + β(n − x) for each row and neighbour."""
        samples = interpolate(rows, self.rows, near, steps)
        return self.score(response, samples).reshape(*near.shape, -1)

    def nbytes_per_sample(self) -> int:
        """Memory that one sample takes, about, with the temporaries of making it."""
        if issparse(self.rows):
            return 64 * (1 + self.rows.nnz // self.rows.shape[0])
        return 24 * self.rows.shape[1]


class MixedInput(ModelInput):
    """A model's input with categories or missing values.

    Numbers are interpolated where both ends have one. A category, or a value missing at one end, has
    nothing in between: the sample is taken with both ends' values, and the scores are averaged
    with the weights 1 − β and β.
    """

    def __init__(self, model: Any, table: Any) -> None:
        super().__init__(table)
        if not is_frame(table) and table.ndim == 1:
            raise ValueError(
                "X is a list of texts, and there is nothing between two texts: "
                "put what vectorises them in a Pipeline around the model."
            )
        names = list(table.columns) if is_frame(table) else list(range(table.shape[1]))
        given: Any = getattr(model, "is_categorical_", None)
        flags = [False] * len(names) if given is None else list(given)
        columns = [_column(table, name) for name in names]
        self.numeric = [
            name
            for name, flag, column in zip(names, flags, columns, strict=True)
            if not flag and _is_numeric(column)
        ]
        self.categorical = [name for name in names if name not in self.numeric]
        # Whole numbers may be codes that the model decodes inside: near in space, but with nothing between.
        whole = whole_columns(table) if preprocesses_inside(model) else []
        self.interpolated = [name for name in self.numeric if name not in whole]

    def score_between(self, response: Response, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), between each row and its neighbours, both ends averaged."""
        start = _safe_indexing(rows, np.repeat(np.arange(len(near)), near.shape[1]))
        end = _safe_indexing(self.rows, near.ravel())
        weights = steps.ravel()
        numbers = {name: (_floats(start, name), _floats(end, name)) for name in self.interpolated}
        # There is no way from infinity to infinity: both ends count.
        with np.errstate(invalid="ignore"):
            between = {name: a + weights * (b - a) for name, (a, b) in numbers.items()}
        scores = [
            self.score(response, _with_columns(table, self._filled(between, numbers, side)))
            for side, table in enumerate((start, end))
        ]
        mixed = scores[0] + weights[:, None] * (scores[1] - scores[0])
        return mixed.reshape(*near.shape, -1)

    @staticmethod
    def _filled(between: dict[Any, Floats], ends: dict[Any, Any], side: int) -> dict[Any, Floats]:
        return {
            name: np.where(np.isnan(values), ends[name][side], values)
            for name, values in between.items()
        }

    def nbytes_per_sample(self) -> int:
        """Memory that one sample takes, about: frames hold objects, and there are two ends."""
        return 128 * self.rows.shape[1]


def model_input(model: Any, table: Any) -> NumericInput | MixedInput:
    """Choose how samples are made of the table that the model sees."""
    flags = getattr(model, "is_categorical_", None)
    has_categories = flags is not None and np.any(flags)
    has_codes = preprocesses_inside(model) and len(whole_columns(table)) > 0
    if has_categories or has_codes or as_numbers(table) is None:
        return MixedInput(model, table)
    return NumericInput(model, table)


def preprocesses_inside(model: Any) -> bool:
    """Whether a model such as a vote or a calibrator wraps a pipeline, so that it sees raw columns."""
    parts = model.get_params().values() if hasattr(model, "get_params") else []
    return any(isinstance(part, Pipeline) for part in parts)


def whole_columns(table: Any) -> list[Any]:
    """Names of a frame's columns of whole numbers or truth values; an array's are numbers."""
    if not is_frame(table):
        return []
    return [name for name in table.columns if _is_whole(table[name])]


def _is_whole(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", None)
    if kind is None:  # polars
        return bool(column.dtype.is_integer()) or str(column.dtype) == "Boolean"
    return kind in "biu"


def _is_numeric(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", None)
    if kind is None:  # polars
        return bool(column.dtype.is_numeric())
    return kind in "biuf"


def _column(table: Any, name: Any) -> Any:
    return table[name] if is_frame(table) else table[:, name]


def _floats(table: Any, name: Any) -> Floats:
    column = _column(table, name)
    if hasattr(column, "iloc"):  # pandas, whose nullable columns hold objects
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    return np.asarray(values, dtype=np.float64)


def float_table(table: Any) -> Floats:
    """Numeric columns as one array, with NaN for every kind of gap."""
    if not is_frame(table):
        return np.asarray(table, dtype=np.float64)
    return np.column_stack([_floats(table, name) for name in table.columns])


def _with_columns(table: Any, columns: dict[Any, Floats]) -> Any:
    """Copy the table with some numeric columns replaced."""
    if hasattr(table, "with_columns"):
        return table.with_columns([type(table[name])(name, new) for name, new in columns.items()])
    table = table.copy()
    for name, values in columns.items():
        if is_frame(table):
            table[name] = values
        else:
            table[:, name] = values
    return table
