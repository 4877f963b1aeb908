"""Columns of a table as numbers and codes of categories, whatever library it comes from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surefoot._tables._columns import column_names, split_columns
from surefoot._tables._values import as_values, missing_mask
from surefoot._typing import Floats, Ints

# Categories of a column that are told apart, the most common ones, and the most letters of one.
MOST_LEVELS = 50
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
    if issparse(table) or len(table.shape) < 2:
        return []
    names, columns = column_names(table), split_columns(table)
    known = [None] * len(names) if like is None else like
    return [_plain(*each) for each in zip(names, columns, known, strict=True)]


def _plain(name: Any, column: Any, like: PlainColumn | None) -> PlainColumn:
    values = as_values(column)
    is_number = values.dtype.kind in "fM" if like is None else like.levels is None
    if is_number:
        return PlainColumn(name, _as_numbers(name, values))
    texts = _as_texts(values)
    levels = _common_levels(texts) if like is None else like.levels
    return PlainColumn(name, _codes(texts, np.asarray(levels)), levels)


def _as_numbers(name: Any, values: NDArray[Any]) -> Floats:
    """Numbers, microseconds for times; NaN for gaps and infinite values."""
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Column {name!r} holds texts where the model knows numbers.") from error
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _as_texts(values: NDArray[Any]) -> NDArray[Any]:
    """Texts of a column's values, shortened; None for gaps."""
    gaps = missing_mask(values)
    texts = [None if gap else str(v)[:MOST_LETTERS] for v, gap in zip(values, gaps, strict=True)]
    return np.array(texts, dtype=object)


def _common_levels(texts: NDArray[Any]) -> NDArray[Any]:
    """Most common texts, ascending."""
    known = [text for text in texts if text is not None]
    levels, counts = np.unique(np.array(known, dtype=np.str_), return_counts=True)
    return np.sort(levels[np.argsort(-counts, kind="stable")[:MOST_LEVELS]])


def _codes(texts: NDArray[Any], levels: NDArray[Any]) -> Ints:
    place = {level: code for code, level in enumerate(levels.tolist())}
    codes = [MISSING if text is None else place.get(text, OTHER) for text in texts]
    return np.array(codes, dtype=np.int64)
