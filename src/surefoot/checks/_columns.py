"""Columns that identify rows instead of describing them, and columns that say the same as another."""

import re
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from surefoot._typing import Ints
from surefoot.checks._coding import LEVEL, CodedColumn, code_columns, hash_codes, sum_rows

# With fewer rows, all values of a column may differ by chance.
LEAST_ROWS = 20

# Columns of more values are the same only as numbers in one order, or as equal texts: what is known of a person, such
# as name and height, is no copy.
MOST_CATEGORIES = 20

# Ends of names that people give to identifiers.
ID_NAME = re.compile(r"(^|[\W_])(id|ids|uid|uuid|guid|key)$|[a-z]I[dD]$", re.IGNORECASE)


class Identifier(NamedTuple):
    """Column that has another value in every row, so that nothing can be learned from it for new rows.

    `kind` is "counts" if the values follow the order of the rows, else "identifies".
    """

    column: str
    kind: str


class EqualColumns(NamedTuple):
    """Two columns of which each can be computed from the other: `column` adds nothing to `same_as`.

    `identical` is False if the values have other names or another unit.
    """

    column: str
    same_as: str
    identical: bool


def find_identifiers(X: Any) -> list[Identifier]:
    """Find columns that count or identify rows, in the order of the table.

    These are whole numbers, or texts without a space, that are all different, where that is no coincidence: so many
    numbers drawn from their range would hardly differ, or they rise or fall from row to row, or the name of the column
    ends in "id". Numbers that rise by equal steps count rows, whole or not.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        Rows; sparse rows and lists of texts have no such columns.

    Returns
    -------
    identifiers : list of Identifier
        Name and kind of each such column.

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> X = np.column_stack([np.arange(100), draw.integers(0, 9, 100), draw.permutation(100)])
    >>> find_identifiers(X)
    [Identifier(column='column 0', kind='counts'), Identifier(column='column 2', kind='identifies')]
    """
    kinds = [(column.name, _identifying(column)) for column in code_columns(X)]
    return [Identifier(name, kind) for name, kind in kinds if kind is not None]


def _identifying(column: CodedColumn) -> str | None:
    """Kind of an identifier, "counts" or "identifies"; None for any other column."""
    n_rows = len(column.codes)
    if n_rows < LEAST_ROWS or column.n_values < n_rows:
        return None
    follows = _follows_rows(column.codes)
    if column.numbers is None:
        return (
            None
            if any(" " in label for label in column.labels)
            else ("counts" if follows else "identifies")
        )
    if follows and _has_equal_steps(column):
        return "counts"
    if not column.is_whole:
        return None
    if follows:
        return "counts"
    values = column.numbers
    # The chance that n values drawn from a range of R numbers all differ (birthday problem) is at most exp(−n(n−1)/2R).
    coincidence = np.exp(-n_rows * (n_rows - 1) / 2 / (np.ptp(values) + 1))
    named = ID_NAME.search(column.name) is not None
    return "identifies" if coincidence < LEVEL or named else None


def _follows_rows(codes: Ints) -> bool:
    steps = np.diff(codes)
    return bool((steps > 0).all() or (steps < 0).all())


def _has_equal_steps(column: CodedColumn) -> bool:
    numbers = column.numbers
    if numbers is None or not np.isfinite(numbers).all():
        return False
    steps = np.diff(numbers)
    return bool(np.ptp(steps) <= 1e-6 * abs(steps.mean()))


def find_equal_columns(X: Any) -> list[EqualColumns]:
    """Find columns that say the same as an earlier one, in the order of the table.

    Two columns are the same if their texts are equal in every row; if numbers have the same order, as in another unit,
    or the reverse; or if categories, up to twenty, were renamed. Unrelated columns must hardly ever agree like this.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        Rows; sparse rows and lists of texts are not compared.

    Returns
    -------
    pairs : list of EqualColumns
        Each column with the first one that it equals.

    Examples
    --------
    >>> import numpy as np
    >>> metres = np.random.default_rng(0).uniform(size=50)
    >>> find_equal_columns(np.column_stack([metres, 100 * metres, metres**2 > 0.25]))
    [EqualColumns(column='column 1', same_as='column 0', identical=False)]
    """
    columns = code_columns(X)
    if not columns or not len(columns[0].codes):
        return []
    # Copies of a row agree in all columns.
    rows = np.unique(sum_rows(hash_codes(columns, 0)), return_index=True)[1]
    n_pairs = max(1, len(columns) * (len(columns) - 1) // 2)
    first: dict[tuple[str, bytes], CodedColumn] = {}
    pairs = []
    for column in columns:
        chances = _chances_of_agreement(np.bincount(column.codes[rows]))
        earlier = None
        for kind, signature in _signatures(column, rows).items():
            same = first.setdefault((kind, signature), column)
            if same is not column and n_pairs * chances[kind] < LEVEL:
                earlier = earlier or same
        if earlier is not None:
            pairs.append(EqualColumns(column.name, earlier.name, _identical(column, earlier)))
    return pairs


def _signatures(column: CodedColumn, rows: Ints) -> dict[str, bytes]:
    """Bytes that are equal for equal texts, numbers in the same order or its reverse, and renamed categories."""
    codes, signatures = column.codes[rows], {}
    if column.numbers is None:
        signatures["order"] = codes.tobytes() + "\0".join(column.labels).encode()
    else:
        moves = codes[codes != codes[0]]
        descends = len(moves) > 0 and moves[0] < codes[0]
        signatures["order"] = (column.n_values - 1 - codes if descends else codes).tobytes()
    if column.n_values <= MOST_CATEGORIES:
        firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)[1:]
        signatures["values"] = np.argsort(np.argsort(firsts))[inverse].tobytes()
    return signatures


def _chances_of_agreement(counts: Ints) -> dict[str, float]:
    """Probability that values in a random order agree with given ones: in their order, and as which are equal.

    An order of n₁, n₂, … equal values has the probability n₁!·n₂!·…/n!, and the reverse counts as well. Which
    values are equal is the same if values of equal counts change places.
    """
    log_order = float(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))
    exchanges = float(gammaln(np.unique(counts, return_counts=True)[1] + 1).sum())
    return {
        "order": float(np.exp(log_order + np.log(2))),
        "values": float(np.exp(log_order + exchanges)),
    }


def _identical(column: CodedColumn, other: CodedColumn) -> bool:
    if column.numbers is None or other.numbers is None:
        return column.numbers is other.numbers and column.labels == other.labels
    return bool(np.array_equal(column.numbers, other.numbers, equal_nan=True))
