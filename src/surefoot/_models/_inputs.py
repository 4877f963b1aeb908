"""Input of a fitted model's last step: its rows, points between them, and their numeric coordinates."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array, get_tags

from surefoot._kernels import is_worth_compiling, points_between
from surefoot._models._model import categorical_columns, preprocesses_inside
from surefoot._tables import (
    as_floats,
    as_numbers,
    as_objects,
    column_names,
    count_rows,
    frame_kind,
    frame_like,
    is_frame,
    kind_of,
    split_columns,
    stack_rows,
    take_column,
    take_rows,
    with_columns,
)
from surefoot._typing import Floats, Ints

# Scores of a model at samples, from a table of rows, encoded, and the samples around them.
Ask = Callable[[Any], Floats]


class ModelInput:
    """Input of a model, unchanged; no samples between its rows can be made."""

    # Whether rows are arrays of numbers, and whether these may be missing.
    is_numeric = False
    takes_missing = False

    # Whether the distances between the rows are meant as they are, so that no column is scaled.
    keeps_scale = False

    # Name of the library of the frames that the model takes; None for arrays.
    library: Any = None

    # Approximate bytes that one sample takes, with the temporary arrays needed to make it.
    nbytes_per_sample = 1024

    def __init__(self, table: Any) -> None:
        self.rows = table
        self.names: Any = column_names(table) if is_frame(type(table)) else None

    def encode(self, table: Any) -> Any:
        """Rows of a table, encoded like the training rows in `rows`."""
        return table

    def as_model_sees(self, rows: Any) -> Any:
        """Encoded rows in the form that the model takes."""
        return rows

    def score_between(self, ask: Ask, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), at the points x + β(n − x) for each row and neighbour."""
        raise TypeError("There is nothing between rows of a table that was never looked at.")

    def vectorizer(self) -> Any:
        """Transformer of the rows to numeric coordinates; None if they are numbers already."""
        return None


class NumericInput(ModelInput):
    """Numeric, complete input of a model, in which samples are interpolated."""

    is_numeric = True

    def __init__(self, model: Any, table: Any) -> None:
        super().__init__(table)
        self.rows, self.library = as_numbers(table), frame_kind(table)["library"]
        given = (table if issparse(table) else np.asarray(take_rows(table, slice(0, 1)))).dtype
        self.dtype = given if given.kind == "f" else np.dtype(np.float64)
        is_sparse, shape = issparse(self.rows), self.rows.shape
        self.nbytes_per_sample = (
            64 * (1 + self.rows.nnz // shape[0]) if is_sparse else 24 * shape[1]
        )
        self.takes_missing = get_tags(model).input_tags.allow_nan
        self.keeps_scale = getattr(getattr(model, "encoder", None), "keeps_scale", False)

    def encode(self, table: Any) -> Any:
        """Rows as float64, sparse if the training rows are; missing values only if the model takes them."""
        rows = as_numbers(table, complete=not self.takes_missing)
        if rows is None:
            check_array(table, dtype=np.float64, accept_sparse=True, input_name="X")
            raise ValueError(
                "X has columns that are no numbers where the training rows had numbers."
            )
        if issparse(self.rows):
            return csr_array(rows)
        return rows.toarray() if issparse(rows) else rows

    def as_model_sees(self, rows: Any) -> Any:
        """Encoded rows in the precision of the training rows, as an array or, if these were one, as a frame."""
        rows = rows.astype(self.dtype, copy=False)
        return rows if self.library is None else frame_like(self.library, rows, self.names)

    def score_between(self, ask: Ask, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), at the points x + β(n − x) for each row and neighbour."""
        samples = interpolate(rows, self.rows, near, steps)
        return ask(stack_rows([rows, samples])).reshape(*near.shape, -1)


class MixedInput(ModelInput):
    """Input of a model with categories or missing values.

    Numbers are interpolated where both rows have one. Between two categories, or a number and a missing
    value, there is nothing to interpolate: the model scores the sample with the value of either row, and
    the two scores are averaged with the weights 1 − β and β.
    """

    def __init__(self, model: Any, table: Any) -> None:
        super().__init__(table)
        if not is_frame(type(table)) and table.ndim == 1:
            raise ValueError(
                "X is a list of texts: pass a Pipeline of a vectorizer, such as TfidfVectorizer(), and the model."
            )
        names, columns = column_names(table), split_columns(table)
        self.nbytes_per_sample = 128 * len(names)  # frames hold objects, and there are two ends
        coded = set(categorical_columns(model).tolist())
        self.numeric = [
            name
            for place, (name, column) in enumerate(zip(names, columns, strict=True))
            if place not in coded and kind_of(column) in "biuf"
        ]
        self.categorical = [name for name in names if name not in self.numeric]
        # Whole numbers may be codes of categories that the model decodes inside: they are not interpolated.
        whole = whole_columns(table) if preprocesses_inside(model) else []
        self.interpolated = [name for name in self.numeric if name not in whole]

    def score_between(self, ask: Ask, rows: Any, near: Ints, steps: Floats) -> Floats:
        """Scores, shape (n, k, columns), between each row and its neighbours: means over both ends."""
        table = stack_rows([rows, take_rows(self.rows, near.ravel())])
        own, ends = np.arange(len(near)), len(near) + np.arange(near.size)
        starts, weights = np.repeat(own, near.shape[1]), steps.reshape(-1, 1)
        numbers = numeric_columns(table, self.interpolated)
        first, last = numbers[starts], numbers[ends]
        # Infinity minus infinity is NaN: the sample then has the value of either end.
        with np.errstate(invalid="ignore"):
            between = first + weights * (last - first)
        sides = [np.where(np.isnan(between), side, between) for side in (first, last)]
        columns = np.concatenate([numbers[own], *sides]).T
        samples = take_rows(table, np.concatenate([own, starts, ends]))
        of_start, of_end = np.split(
            ask(with_columns(samples, dict(zip(self.interpolated, columns, strict=True)))), 2
        )
        return (of_start + weights * (of_end - of_start)).reshape(*near.shape, -1)

    def vectorizer(self) -> "MixedVectorizer":
        """Transformer that imputes and scales numbers and encodes categories, two of which are at distance 1."""
        return MixedVectorizer(self.numeric, self.categorical)


def model_input(model: Any, table: Any, like: ModelInput | None = None) -> ModelInput:
    """Input of a model with training rows `table`: numeric, or mixed if it has categories or missing values.

    It is mixed too if `like`, the input of the whole table, is: some of the rows may lack the missing values.
    """
    has_categories = len(categorical_columns(model)) > 0
    has_codes = preprocesses_inside(model) and len(whole_columns(table)) > 0
    is_mixed = has_categories or has_codes or isinstance(like, MixedInput)
    if is_mixed or as_numbers(table) is None:
        return MixedInput(model, table)
    return NumericInput(model, table)


def whole_columns(table: Any) -> list[Any]:
    """Names of a frame's columns of integers or booleans; none for an array."""
    if not is_frame(type(table)):
        return []
    pairs = zip(column_names(table), split_columns(table), strict=True)
    return [name for name, column in pairs if kind_of(column) in "biu"]


def numeric_columns(table: Any, names: list[Any]) -> Floats:
    """Columns of a table as floats; contiguous, as the layout in memory decides how sums are rounded."""
    columns = [as_floats(take_column(table, name)) for name in names]
    return np.ascontiguousarray(np.column_stack([np.empty((count_rows(table), 0)), *columns]))


def interpolate(X: Any, reference: Any, near: Ints, steps: Floats) -> Any:
    """Points x + β(n − x) between each row of X and its neighbours, the rows of `reference` at `near`."""
    if X.shape[1] != reference.shape[1]:  # a compiled loop would read beyond the narrower
        raise ValueError(
            f"The rows have {X.shape[1]} columns, their neighbours {reference.shape[1]}."
        )
    if not issparse(reference) and not is_worth_compiling(X.shape[0]):
        start = X[:, None]
        points = start + steps[..., None] * (reference[near] - start)
        return points.reshape(-1, X.shape[1])
    if not issparse(reference):
        return points_between(np.ascontiguousarray(X), np.ascontiguousarray(reference), near, steps)
    rows = csr_array(X)[np.repeat(np.arange(X.shape[0]), steps.shape[1])]
    weights = steps.reshape(-1, 1)
    neighbors = csr_array(reference)[near.ravel()]
    return csr_array(rows.multiply(1 - weights) + neighbors.multiply(weights))


def axis_samples(rows: Any, reference: Any, near: Ints) -> tuple[Any, Ints, Ints]:
    """Samples that differ from a row by one standard deviation in one column, and the row and place of each.

    `near` (n, k) indexes the rows of `reference`; the standard deviation is taken among them. The place is
    the column's number for a sample upwards, and the number of columns plus that for one downwards. Columns
    that do not vary among the neighbours have no samples. Samples of sparse rows are sparse.
    """
    n_columns = rows.shape[1]
    spread = local_spread(reference, near)
    at, column = spread.nonzero()
    changes = np.asarray(spread[at, column]).ravel()
    # 32-bit indices, as scikit-learn's trees take no others.
    starts = np.arange(len(changes) + 1, dtype=np.int32)
    moves = csr_array((changes, column.astype(np.int32), starts), shape=(len(changes), n_columns))
    start = rows[at]
    if not issparse(rows):
        moves = moves.toarray()
        samples: Any = np.concatenate([start + moves, start - moves])
    else:
        start = csr_array(start)
        samples = csr_array(vstack([start + moves, start - moves], format="csr"))
    return samples, np.tile(at, 2), np.concatenate([column, n_columns + column])


def local_spread(reference: Any, near: Ints) -> Any:
    """Standard deviation of each column among the neighbours of each row, sparse if the rows are."""
    if not issparse(reference):
        return reference[near].std(axis=1)
    n_rows, n_near = near.shape
    starts = np.arange(0, near.size + 1, n_near)
    share = np.full(near.size, 1.0 / n_near)
    average = csr_array((share, near.ravel(), starts), shape=(n_rows, reference.shape[0]))
    reference = csr_array(reference)
    mean = average @ reference
    square = average @ reference.multiply(reference)
    variance = csr_array(square - mean.multiply(mean))
    # A variance as small as the rounding error is 0.
    variance.data[variance.data < 1e-14 * square.max()] = 0.0
    variance.eliminate_zeros()
    return variance.sqrt()


class MixedVectorizer(TransformerMixin, BaseEstimator):
    """Transformer that imputes and scales numbers and encodes categories, two of which are at distance 1.

    It does what a `ColumnTransformer` of scikit-learn's transformers does, in a hundredth of the time for one row.

    Parameters
    ----------
    numeric, categorical : list
        Names of the columns, in the order of the coordinates: infinite and missing numbers become the median, and
        categories beyond the 99 most frequent share a coordinate, with those of new rows.
    min_frequency : int, default=1
        Categories of fewer rows share that coordinate, too.
    """

    def __init__(self, numeric: list[Any], categorical: list[Any], min_frequency: int = 1) -> None:
        self.numeric = numeric
        self.categorical = categorical
        self.min_frequency = min_frequency

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, scales and categories."""
        numbers = numeric_columns(X, self.numeric)
        known = np.isfinite(numbers)
        self.medians_ = np.array(
            [
                np.median(column[here]) if here.any() else 0.0
                for column, here in zip(numbers.T, known.T, strict=True)
            ]
        )
        numbers = np.where(known, numbers, self.medians_)
        spread = numbers.std(axis=0)
        # A spread of the size of the rounding error is none.
        is_constant = spread <= 10 * np.finfo(float).eps * np.abs(numbers).max(axis=0, initial=0.0)
        self.means_, self.scales_ = numbers.mean(axis=0), np.where(is_constant, 1.0, spread)
        self.codes_, self.names_ = [], [f"numbers__{name}" for name in self.numeric]
        for name in self.categorical:
            counts = Counter(self._categories(X, name))
            by_name = sorted(counts, key=lambda value: (value is None, value or ""))
            frequent = [value for value in by_name if counts[value] >= self.min_frequency]
            is_few = len(frequent) == len(counts) <= MOST_CATEGORIES
            # Of equally frequent ones the first by name, whatever the order of the rows.
            most = sorted(frequent, key=lambda value: -counts[value])[: MOST_CATEGORIES - 1]
            kept = [value for value in frequent if is_few or value in most]
            places = {value: len(self.names_) + i for i, value in enumerate(kept)}
            self.codes_.append((places, -1 if is_few else len(self.names_) + len(kept)))
            ends = kept if is_few else [*kept, "infrequent"]
            self.names_ += [f"categories__{name}_{end}" for end in ends]
        return self

    def transform(self, X: Any) -> Floats:
        """Coordinates of rows."""
        numbers = numeric_columns(X, self.numeric)
        rows = np.zeros((len(numbers), len(self.names_)))
        numbers = np.where(np.isfinite(numbers), numbers, self.medians_)
        rows[:, : len(self.numeric)] = (numbers - self.means_) / self.scales_
        for name, (codes, rest) in zip(self.categorical, self.codes_, strict=True):
            places = np.array([codes.get(v, rest) for v in self._categories(X, name)], dtype=int)
            known = np.flatnonzero(places >= 0)
            rows[known, places[known]] = np.sqrt(0.5)  # two categories differ in two columns
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the coordinates."""
        return np.array(self.names_, dtype=object)

    @staticmethod
    def _categories(X: Any, name: Any) -> list[str | None]:
        return [None if v is None else str(v) for v in as_objects(take_column(X, name))]


# Most coordinates of a column of categories.
MOST_CATEGORIES = 100
