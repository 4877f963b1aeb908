"""Input of a fitted model's last step, and samples between its rows."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags

from surefoot._models._frame_parts import frame_of_parts, parts_of_frame
from surefoot._models._response import Response
from surefoot._models._samples import interpolate
from surefoot._tables import (
    as_floats,
    as_numbers,
    column_names,
    frame_like,
    is_frame,
    is_numeric,
    is_whole,
    split_columns,
    take_column,
    take_rows,
    with_columns,
)
from surefoot._typing import Floats, Ints


def split_model(model: Any) -> tuple[list[Any], Any]:
    """Split a fitted model into the transformers of its pipelines and the predictor at the end."""
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


def series_model(model: Any) -> Any:
    """The estimator in a model, fitted or not, that compares rows as series under DTW; None if none does.

    It is recognised by its attribute `metric`, which is "dtw".
    """
    inner = split_model(model)[1]
    while hasattr(inner, "estimator") and not hasattr(inner, "metric"):
        inner = split_model(inner.estimator)[1]  # a search that is not fitted yet, a calibrator
    metric = getattr(inner, "metric", None)
    return inner if isinstance(metric, str) and metric == "dtw" else None


def series_window(model: Any) -> Any:
    """Window of an estimator that compares series: that of its neighbour search, or its own; None if it has none."""
    search = getattr(model, "neighbors", None)
    return getattr(model if search is None else search, "window", None)


class ModelInput:
    """Input of a model, unchanged; no samples between its rows can be made."""

    def __init__(self, table: Any) -> None:
        self.rows = table

    def __getstate__(self) -> dict[str, Any]:
        """State to save: a pandas frame in parts, as skops stores arrays but no frames."""
        return {**self.__dict__, "rows": parts_of_frame(self.rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the frame from its parts."""
        self.__dict__.update(state, rows=frame_of_parts(state["rows"]))

    def encode(self, table: Any) -> Any:
        """Rows of a table, encoded like the training rows in `rows`."""
        return table

    def as_model_sees(self, rows: Any) -> Any:
        """Encoded rows in the form that the model takes."""
        return rows

    def as_fitted(self, table: Any, rows: Any) -> Any:
        """Table as it is, with `rows` its encoded form, unless the model knows names that it lacks."""
        return table

    def score(self, response: Response, rows: Any) -> Floats:
        """Scores of the model for encoded rows."""
        return response(self.as_model_sees(rows))

    def score_between(self, response: Response, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), at the points x + β(n − x) for each row and neighbour."""
        raise TypeError("There is nothing between rows of a table that was never looked at.")

    def nbytes_per_sample(self) -> int:
        """Approximate bytes that one sample takes, with the temporary arrays needed to make it."""
        return 1024


class NumericInput(ModelInput):
    """Numeric, complete input of a model, in which samples are interpolated."""

    def __init__(self, model: Any, table: Any) -> None:
        super().__init__(as_numbers(table))
        self.names: Any = getattr(model, "feature_names_in_", None)
        self.frame_type = type(table) if is_frame(table) and self.names is not None else None
        self.takes_gaps = get_tags(model).input_tags.allow_nan

    def encode(self, table: Any) -> Any:
        """Rows as float64, sparse if the training rows are; missing values only if the model takes them."""
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
        """Encoded rows as an array, or as a frame with column names if the model was fitted on a frame."""
        return rows if self.frame_type is None else frame_like(self.frame_type, rows, self.names)

    def as_fitted(self, table: Any, rows: Any) -> Any:
        """Table as it is, or a frame made of the encoded rows where the model was fitted on one."""
        lacks_names = self.frame_type is not None and not is_frame(table)
        return self.as_model_sees(rows) if lacks_names else table

    def score_between(self, response: Response, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), at the points x + β(n − x) for each row and neighbour."""
        samples = interpolate(rows, self.rows, near, steps)
        return self.score(response, samples).reshape(*near.shape, -1)

    def nbytes_per_sample(self) -> int:
        """Approximate bytes that one sample takes, with the temporary arrays needed to make it."""
        if issparse(self.rows):
            return 64 * (1 + self.rows.nnz // self.rows.shape[0])
        return 24 * self.rows.shape[1]


class MixedInput(ModelInput):
    """Input of a model with categories or missing values.

    Numbers are interpolated where both rows have one. Between two categories, or a number and a missing
    value, there is nothing to interpolate: the model scores the sample with the value of either row, and
    the two scores are averaged with the weights 1 − β and β.
    """

    def __init__(self, model: Any, table: Any) -> None:
        super().__init__(table)
        if not is_frame(table) and table.ndim == 1:
            raise ValueError(
                "X is a list of texts, and there is nothing between two texts: "
                "put what vectorises them in a Pipeline around the model."
            )
        names, columns = column_names(table), split_columns(table)
        model_flags: Any = getattr(model, "is_categorical_", None)
        flags = [False] * len(names) if model_flags is None else list(model_flags)
        self.numeric = [
            name
            for name, flag, column in zip(names, flags, columns, strict=True)
            if not flag and is_numeric(column)
        ]
        self.categorical = [name for name in names if name not in self.numeric]
        # Whole numbers may be codes of categories that the model decodes inside: they are not interpolated.
        whole = whole_columns(table) if preprocesses_inside(model) else []
        self.interpolated = [name for name in self.numeric if name not in whole]

    def score_between(self, response: Response, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), between each row and its neighbours: means over both ends."""
        start = take_rows(rows, np.repeat(np.arange(len(near)), near.shape[1]))
        end = take_rows(self.rows, near.ravel())
        weights = steps.ravel()
        numbers = {name: (_floats(start, name), _floats(end, name)) for name in self.interpolated}
        # Infinity minus infinity is NaN: `_filled` then takes the value of each end.
        with np.errstate(invalid="ignore"):
            between = {name: a + weights * (b - a) for name, (a, b) in numbers.items()}
        scores = [
            self.score(response, with_columns(table, self._filled(between, numbers, side)))
            for side, table in enumerate((start, end))
        ]
        mixed = scores[0] + weights[:, None] * (scores[1] - scores[0])
        return mixed.reshape(*near.shape, -1)

    @staticmethod
    def _filled(between: dict[Any, Floats], ends: dict[Any, Any], side: int) -> dict[Any, Floats]:
        """Interpolated columns, with the values of one end where interpolation gave NaN."""
        return {
            name: np.where(np.isnan(values), ends[name][side], values)
            for name, values in between.items()
        }

    def nbytes_per_sample(self) -> int:
        """Approximate bytes that one sample takes: frames hold objects, and there are two ends."""
        return 128 * self.rows.shape[1]


def model_input(
    model: Any, table: Any, like: ModelInput | None = None
) -> NumericInput | MixedInput:
    """Input of a model with training rows `table`: numeric, or mixed if it has categories or missing values.

    It is mixed too if `like`, the input of the whole table, is: some of the rows may lack the missing values.
    """
    flags = getattr(model, "is_categorical_", None)
    has_categories = flags is not None and np.any(flags)
    has_codes = preprocesses_inside(model) and len(whole_columns(table)) > 0
    is_mixed = has_categories or has_codes or isinstance(like, MixedInput)
    if is_mixed or as_numbers(table) is None:
        return MixedInput(model, table)
    return NumericInput(model, table)


def preprocesses_inside(model: Any) -> bool:
    """Whether a model, such as a voting ensemble or a calibrator, contains a pipeline and so gets raw columns."""
    parts = model.get_params().values() if hasattr(model, "get_params") else []
    return any(isinstance(part, Pipeline) for part in parts)


def whole_columns(table: Any) -> list[Any]:
    """Names of a frame's columns of integers or booleans; none for an array."""
    if not is_frame(table):
        return []
    pairs = zip(column_names(table), split_columns(table), strict=True)
    return [name for name, column in pairs if is_whole(column)]


def _floats(table: Any, name: Any) -> Floats:
    return as_floats(take_column(table, name))
