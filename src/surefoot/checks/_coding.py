"""What goes into a check and what comes out: the columns of a table as codes, and a finding."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surefoot._tables import as_values, column_names, is_frame, missing_mask, split_columns
from surefoot._typing import Floats, Ints
from surefoot._words import number, percent

# Probability below which a coincidence is excluded, in every check that is a test.
LEVEL = 0.002


@dataclass(frozen=True)
class Finding:
    """Fault of a table, as `check_table` returns it.

    Attributes
    ----------
    code : str
        Short name of the fault that does not change: "leak", "duplicate", "entity", "order", "identifier" or "equal".
    sentence : str
        The fault in words, with the numbers that it rests on.
    columns : tuple of str
        Names of the columns that it is about.
    rows : tuple of int
        Positions of the rows that it is about.
    evidence : dict of str to number
        Numbers that it rests on; a list has one entry for each of `columns` or `rows`.
    """

    code: str
    sentence: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict, hash=False)


class CodedColumn(NamedTuple):
    """Column of a table: its name, a code for each value from 0 on, and its values as numbers or strings.

    Codes follow the order of the values; a missing value has the last code and is NaN among the numbers. `numbers`
    is None for strings and booleans; `labels` are then the different strings in the order of their codes.
    """

    name: str
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
        """Whether these are whole numbers, none of them missing."""
        return self.numbers is not None and bool(
            np.isfinite(self.numbers).all() and (self.numbers == np.round(self.numbers)).all()
        )

    def take(self, rows: Ints) -> Self:
        """Column of some of the rows, coded anew."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        numbers = None if self.numbers is None else self.numbers[rows]
        labels = [self.labels[code] for code in present if code < len(self.labels)]
        return self._replace(codes=codes, n_values=len(present), numbers=numbers, labels=labels)


def code_columns(table: Any) -> list[CodedColumn]:
    """Coded columns of a table; none for sparse rows or a list of texts, which have no columns of their own."""
    if not is_frame(table) and (issparse(table) or table.ndim != 2):
        return []
    return [
        code_column(name if isinstance(name, str) else f"column {name}", as_values(column))
        for name, column in zip(column_names(table), split_columns(table), strict=True)
    ]


def code_column(name: str, values: NDArray[Any]) -> CodedColumn:
    """Coded column; times are numbers, and strings and booleans are not."""
    missing = missing_mask(values)
    numbers, labels = None, []
    if values.dtype.kind == "M":
        numbers = np.where(missing, np.nan, values.astype("datetime64[us]").astype(np.float64))
    elif values.dtype.kind == "f":
        numbers = values
    if numbers is None:
        strings = [str(value) for value in values[~missing]]
        labels = sorted(set(strings))
        code_of = {label: code for code, label in enumerate(labels)}
        known = np.array([code_of[string] for string in strings], dtype=np.int64)
        n_known = len(labels)
    else:
        unique, known = np.unique(numbers[~missing], return_inverse=True)
        n_known = len(unique)
    codes = np.full(len(values), n_known, dtype=np.int64)
    codes[~missing] = known
    return CodedColumn(name, codes, n_known + int(missing.any()), numbers, labels)


def bin_codes(column: CodedColumn, most: int) -> tuple[Ints, int]:
    """Codes of at most `most` bins of a column of numbers of about equal size; strings keep their codes."""
    if column.numbers is None or column.n_values <= most:
        return column.codes, column.n_values
    known = np.isfinite(column.numbers)
    edges = np.unique(np.quantile(column.numbers[known], np.arange(1, most) / most))
    bins = np.searchsorted(edges, column.numbers, side="left")
    return np.where(known, bins, len(edges) + 1).astype(np.int64), len(edges) + 2


def hash_codes(columns: list[CodedColumn]) -> list[Any]:
    """Random number of 64 bits for each value of each column; rows are equal if the sums of their numbers are."""
    draw = np.random.default_rng(0)
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
    return np.sort(np.random.default_rng(random_state).choice(n_rows, most, replace=False))


def mean_loss_words(loss: float, is_regression: bool) -> str:
    """Mean loss in words: the share of right predictions, or the mean error."""
    return (
        f"off by {number(loss)} on average"
        if is_regression
        else f"right on {percent(1 - loss)} of rows"
    )
