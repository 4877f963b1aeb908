"""Copies of rows, exact and near, and what they carry of a model's figures."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom, poisson
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_consistent_length

from surefoot._tables import as_table, count_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_vector
from surefoot.checks._coding import (
    LEVEL,
    CodedColumn,
    code_columns,
    hash_codes,
    sample_rows,
    sum_rows,
)

# Columns that are left out in turn, to see how many rows agree in all others.
MOST_LEFT_OUT = 50

# Most rows whose nearest rows are searched, how many of these, and the place of the one at half of the distance.
MOST_SEARCHED = 2000
N_NEAR = 10
HALF_WAY = 5

# A near copy is closer than this share of the distance of the tenth nearest row, or less in few dimensions, where
# the tenth part is common; and this is how rare it may be by chance.
NEAR = 0.1
RARE = 1e-4

# Least share of different values in a column of numbers whose distances mean something.
CONTINUOUS = 0.5


class Duplicates(NamedTuple):
    """Rows that have a copy in the table, in the order of the table.

    `rows` are positions, `copies` the position of a copy of each, and `exact` is False for a copy that differs a
    little. `across` is True where a copy was among the training rows of the model that predicted the row; None without
    `splits`. `loss` is the mean loss, and `loss_without` that of the rows without such a copy; None without `losses`.
    Near copies are searched for at most 2,000 rows: `searched` says how many.
    """

    rows: Ints
    copies: Ints
    exact: Mask
    across: Mask | None
    loss: float | None
    loss_without: float | None
    searched: int

    def __bool__(self) -> bool:
        return len(self.rows) > 0


def find_duplicates(
    X: Any, *, splits: Any = None, losses: Any = None, random_state: int = 0
) -> Duplicates:
    """Find exact and near copies of rows, those on both sides of a split, and the loss without these.

    Rows that agree in all columns are copies if that is no coincidence: fewer pairs of rows differ in exactly one
    column, and unrelated columns would hardly agree as often. Near copies agree in all texts and small numbers, and
    are at most a tenth as far from each other as from the tenth nearest row; they are returned if there are more than
    chance has it in as many dimensions as the rows fill.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        Rows; sparse rows and lists of texts are not compared.
    splits : array-like of shape (n_rows,), default=None
        Number of the split that held each row out, −1 for a row that was never held out.
    losses : array-like of shape (n_rows,), default=None
        Loss of each held-out row; what it is for the others does not matter.
    random_state : int, default=0
        Seed of the sample of rows for which near copies are searched.

    Returns
    -------
    duplicates : Duplicates
        Without rows if there is no copy, or if copies may be a coincidence.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> X[7] = X[3]
    >>> duplicates = find_duplicates(X)
    >>> duplicates.rows.tolist(), duplicates.copies.tolist()
    ([3, 7], [7, 3])
    """
    table = as_table(X)
    n_rows = count_rows(table)
    columns = code_columns(table)
    groups = np.arange(n_rows)
    searched, pairs = np.arange(n_rows), (np.empty(0, np.int64), np.empty(0, np.int64))
    if columns and n_rows > 1:
        hashes = hash_codes(columns, random_state)
        if is_no_coincidence(columns, hashes):
            groups = np.unique(sum_rows(hashes), return_inverse=True)[1]
        searched, pairs = find_near(columns, groups, random_state)
    return _describe(groups, searched, pairs, splits, losses)


def count_pairs(values: Any) -> int:
    """Number of pairs of rows with equal values."""
    counts = np.unique(values, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def is_no_coincidence(columns: list[CodedColumn], hashes: list[Any]) -> bool:
    """Whether more rows agree in all columns than agree in all but one, or would if columns were unrelated."""
    total = sum_rows(hashes)
    n_pairs = count_pairs(total)
    if n_pairs == 0:
        return False
    left_out = sample_rows(len(columns), MOST_LEFT_OUT, 0)
    n_near = sum(count_pairs(total - hashes[i]) - n_pairs for i in left_out)
    differ = n_near * len(columns) / len(left_out)
    counts = [column.counts.astype(np.float64) for column in columns]
    n_rows = len(total)
    agree = np.prod([(each * (each - 1)).sum() / n_rows / (n_rows - 1) for each in counts])
    expected = max(differ, float(agree) * n_rows * (n_rows - 1) / 2)
    return bool(poisson.sf(n_pairs - 1, expected) < LEVEL)


def find_near(
    columns: list[CodedColumn], groups: Ints, random_state: int
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Positions of the rows whose nearest rows were searched, and pairs of these with a near copy."""
    distinct = np.unique(groups, return_index=True)[1]
    none = np.arange(len(groups)), (np.empty(0, np.int64), np.empty(0, np.int64))
    if len(distinct) < 3 * N_NEAR:
        return none
    places, labels = _coordinates(columns, distinct)
    if places.shape[1] < 2:
        return none
    asked = sample_rows(len(distinct), MOST_SEARCHED, random_state)
    index = NearestNeighbors(n_neighbors=N_NEAR + 1).fit(places)
    distances, near = index.kneighbors(places[asked])
    is_other = near != asked[:, None]
    is_other[is_other.all(axis=1), -1] = False  # of many equal rows, the row itself may be missing
    distances = distances[is_other].reshape(len(asked), N_NEAR)
    near = near[is_other].reshape(len(asked), N_NEAR)
    agrees = labels[near] == labels[asked][:, None]
    first, second = _pairs_nearer_than_chance(distances, near, agrees)
    searched = distinct[asked] if len(asked) < len(distinct) else np.arange(len(groups))
    return searched, (distinct[asked[first]], distinct[second])


def _coordinates(columns: list[CodedColumn], rows: Ints) -> tuple[Floats, Any]:
    """Scaled values of the columns of many different numbers, and one label for all that the others hold."""
    continuous, labels = [], np.zeros(len(rows), dtype=np.uint64)
    draw = np.random.default_rng(0)
    for column in columns:
        numbers = np.full(len(rows), np.nan) if column.numbers is None else column.numbers[rows]
        known = np.isfinite(numbers)
        if len(np.unique(numbers[known])) >= CONTINUOUS * len(rows):
            values = np.where(known, numbers, np.median(numbers[known]))
            continuous.append((values - values.mean()) / (values.std() or 1.0))
            labels = labels + draw.integers(2**63, size=2, dtype=np.uint64)[known.astype(int)]
        else:
            numbers_of_values = draw.integers(2**63, size=column.n_values, dtype=np.uint64)
            labels = labels + numbers_of_values[column.codes[rows]]
    return np.column_stack([np.zeros((len(rows), 0)), *continuous]), labels


def _pairs_nearer_than_chance(distances: Floats, near: Ints, agrees: Mask) -> tuple[Ints, Ints]:
    """Places of rows with a near copy, and their copies; none if there are no more than chance has it.

    Where rows are drawn at random in d dimensions, the ratio of the distances of the fifth and of the tenth nearest
    row has the median 0.5^(1/d), and one of the nine nearest is nearer than a share s of the tenth with a
    probability below 9·s^d.
    """
    none = np.empty(0, np.int64), np.empty(0, np.int64)
    last = distances[:, -1]
    if not (last > 0).any():
        return none
    ratio = float(np.median(distances[last > 0, HALF_WAY - 1] / last[last > 0]))
    if not 0 < ratio < 0.999:
        return none
    dimension = np.log(0.5) / np.log(ratio)
    share = min(NEAR, (RARE / (N_NEAR - 1)) ** (1 / dimension))
    is_near = agrees & (distances < share * last[:, None])
    n_near = int(is_near.any(axis=1).sum())
    chance = min(1.0, (N_NEAR - 1) * share**dimension)
    if n_near == 0 or binom.sf(n_near - 1, len(last), chance) >= LEVEL:
        return none
    rows = np.flatnonzero(is_near.any(axis=1))
    return rows, near[rows, is_near[rows].argmax(axis=1)]


def _describe(
    groups: Ints, searched: Ints, pairs: tuple[Ints, Ints], splits: Any, losses: Any
) -> Duplicates:
    copies = np.full(len(groups), -1)
    copies[pairs[1]], copies[pairs[0]] = pairs[0], pairs[1]
    exact = np.zeros(len(groups), dtype=bool)
    order = np.argsort(groups, kind="stable")
    same = groups[order][1:] == groups[order][:-1]
    for one, other in ((order[:-1][same], order[1:][same]), (order[1:][same], order[:-1][same])):
        copies[one], exact[one] = other, True
    rows = np.flatnonzero(copies >= 0)
    across: Mask | None = None
    figures: tuple[float | None, float | None] = (None, None)
    if splits is not None:
        splits = np.asarray(splits)
        check_consistent_length(groups, splits)
        is_across = _is_across(groups, copies, splits)
        across = is_across[rows]
        if losses is not None:
            losses = check_vector(losses, "losses")
            figures = _losses(losses, splits >= 0, is_across, searched, bool((~exact[rows]).any()))
    return Duplicates(rows, copies[rows], exact[rows], across, *figures, len(searched))


def _is_across(groups: Ints, copies: Ints, splits: Any) -> Mask:
    """Whether an exact copy of each held-out row, or its near copy, was held out in another split or in none."""
    low = np.full(groups.max() + 1, np.iinfo(np.int64).max)
    high = np.full(groups.max() + 1, np.iinfo(np.int64).min)
    np.minimum.at(low, groups, splits)
    np.maximum.at(high, groups, splits)
    differs = (low != high)[groups] | ((copies >= 0) & (splits[copies] != splits))
    return np.asarray(differs & (splits >= 0))


def _losses(
    losses: Floats, held_out: Mask, is_across: Mask, searched: Ints, has_near: bool
) -> tuple[float | None, float | None]:
    """Mean loss of the held-out rows, and of those without a copy in training; near copies: of those searched."""
    counted = held_out.copy()
    if has_near and len(searched) < len(losses):
        counted[:] = False
        counted[searched] = held_out[searched]
    rest = counted & ~is_across
    if not counted.any() or not rest.any():
        return None, None
    return float(losses[counted].mean()), float(losses[rest].mean())
