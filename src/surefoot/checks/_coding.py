"""Columns of a table as numbers: the code of each value, and values in order where they have one."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surefoot._tables import (
    as_table,
    as_values,
    column_names,
    is_frame,
    missing_mask,
    split_columns,
)
from surefoot._typing import Floats, Ints

# Probability below which a coincidence is excluded, in every check that is a test.
LEVEL = 0.002


class CodedColumn(NamedTuple):
    """Column of a table: its name, a code for each value from 0 on, and its values as numbers or texts.

    Codes follow the order of the values; a missing value has the last code and is NaN among the numbers. `numbers`
    is None for texts and truth values; `labels` are then the different texts in the order of their codes.
    """

    name: str
    key: Any
    codes: Ints
    n_values: int
    numbers: Floats | None
    labels: list[str]

    @property
    def counts(self) -> Ints:
        """Number of rows with each code."""
        return np.bincount(self.codes, minlength=self.n_values)

    @property
    def is_whole(self) -> bool:
        """Whether these are whole numbers without a gap."""
        return self.numbers is not None and bool(
            np.isfinite(self.numbers).all() and (self.numbers == np.round(self.numbers)).all()
        )


def has_columns(X: Any) -> bool:
    """Whether a table has columns of its own: it is neither sparse nor a list of texts."""
    return is_frame(X) or (not issparse(X) and X.ndim == 2)


def code_columns(X: Any) -> list[CodedColumn]:
    """Coded columns of a table; none of sparse rows or texts."""
    table = as_table(X)
    if not has_columns(table):
        return []
    names = column_names(table)
    return [
        _code(name, as_values(column))
        for name, column in zip(names, split_columns(table), strict=True)
    ]


def _code(key: Any, values: NDArray[Any]) -> CodedColumn:
    name = key if isinstance(key, str) else f"column {key}"
    missing = missing_mask(values)
    numbers = None
    if values.dtype.kind == "M":
        numbers = np.where(missing, np.nan, values.astype("datetime64[us]").astype(np.float64))
    elif values.dtype.kind == "f":
        numbers = values
    if numbers is None:
        texts = [str(value) for value in values[~missing]]
        labels = sorted(set(texts))
        place = {label: code for code, label in enumerate(labels)}
        inverse = np.array([place[text] for text in texts], dtype=np.int64)
        n_known = len(labels)
    else:
        unique, inverse = np.unique(numbers[~missing], return_inverse=True)
        labels, n_known = [], len(unique)
    codes = np.full(len(values), n_known, dtype=np.int64)
    codes[~missing] = inverse
    return CodedColumn(name, key, codes, n_known + int(missing.any()), numbers, labels)


def bin_codes(column: CodedColumn, most: int) -> tuple[Ints, int]:
    """Codes of at most `most` parts of a column of numbers of about equal size; texts keep their codes."""
    if column.numbers is None or column.n_values <= most:
        return column.codes, column.n_values
    known = np.isfinite(column.numbers)
    edges = np.unique(np.quantile(column.numbers[known], np.arange(1, most) / most))
    parts = np.searchsorted(edges, column.numbers, side="left")
    parts = np.where(known, parts, len(edges) + 1)
    return parts.astype(np.int64), len(edges) + 2


def hash_codes(columns: list[CodedColumn], random_state: int) -> list[Any]:
    """Random number of 64 bits for each value of each column; rows agree if the sums of their numbers do."""
    draw = np.random.default_rng(random_state)
    return [
        draw.integers(2**63, size=column.n_values, dtype=np.uint64)[column.codes]
        for column in columns
    ]


def sum_rows(hashes: list[Any]) -> Any:
    """Sum of each row's numbers, modulo 2⁶⁴."""
    return np.sum(hashes, axis=0, dtype=np.uint64)


def sample_rows(n_rows: int, most: int, random_state: int) -> Ints:
    """Positions of all rows, or of `most` of them drawn at random, in the order of the table."""
    if n_rows <= most:
        return np.arange(n_rows)
    draw = np.random.default_rng(random_state)
    return np.sort(draw.choice(n_rows, most, replace=False))
