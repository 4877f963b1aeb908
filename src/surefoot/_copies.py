"""Rows with equal inputs: a hash of each row, and copies that are no coincidence, as groups."""

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.stats import poisson

from surefoot._tables import as_values, count_rows, is_frame, named_values
from surefoot._typing import Floats, Ints, Mask

Hashes = NDArray[np.uint64]

# Probability below which a coincidence is excluded.
LEVEL = 0.002

# Equal rows are frequent, and no copies, above this share of all rows and above this number. On 86 tables of PMLB, all
# shares from 5 to 20 % and numbers from 2 to 50 decide alike (`research/frequent_rows.py`): any of these would do.
# Equal texts and equal sparse rows have no columns by which a coincidence could be tested: more than two are frequent.
FREQUENT, FREQUENT_ROWS, FREQUENT_TEXTS = 0.05, 10, 2

# Up to so many rows are hashed as a whole.
FEW_ROWS = 256

# Columns that are left out in turn, to see how many rows agree in all others.
MOST_LEFT_OUT = 50


def hash_rows(X: Any) -> Hashes:
    """Hash of the inputs of each row: equal for equal inputs, in every process and kind of table."""
    if not issparse(X):
        return sum(hash_cells(X), start=np.zeros(count_rows(X), dtype=np.uint64))
    rows = csr_array(X)
    rows.sum_duplicates()
    cells = _mix(_number_bits(rows.data), rows.indices) * (rows.data != 0)
    ends = np.append(np.uint64(0), np.cumsum(cells, dtype=np.uint64))
    return np.asarray(ends[rows.indptr[1:]] - ends[rows.indptr[:-1]])


def hash_cells(X: Any) -> list[Hashes]:
    """Hashes of the values of each column of a frame or an array; a list of texts is one column."""
    is_table = is_frame(type(X)) or np.ndim(X) == 2
    columns = [values for _, values in named_values(X)] if is_table else [as_values(X)]
    are_numbers = columns and all(values.dtype.kind == "f" for values in columns)
    if are_numbers and count_rows(X) <= FEW_ROWS:
        numbers = np.array(columns).reshape(len(columns), -1).T
        return list(_mix(_number_bits(numbers), np.arange(len(columns))).T)
    return [_mix(_bits(values), np.full(1, i)) for i, values in enumerate(columns)]


def _bits(values: NDArray[Any]) -> Hashes:
    """64 bits for each of `as_values`: a number, a time, or a digest of a string; one pattern for missing values."""
    if values.dtype.kind == "M":
        values = np.where(np.isnat(values), np.nan, values.astype(np.float64))
    if values.dtype.kind == "f":
        return _number_bits(values)
    strings = [None if value is None else str(value) for value in values]
    digests = {
        string: int.from_bytes(blake2b(repr(string).encode(), digest_size=8).digest())
        for string in set(strings)
    }
    return np.array([digests[string] for string in strings], dtype=np.uint64)


def _number_bits(numbers: Any) -> Hashes:
    """Bits of numbers as float64; all NaN have the same bits, and so have 0 and −0."""
    return np.where(np.isnan(numbers), np.nan, np.asarray(numbers, np.float64) + 0.0).view(
        np.uint64
    )


def _mix(bits: Hashes, columns: Ints) -> Hashes:
    """Hashes of values in columns, so that sums over a row's columns do not coincide (the finalizer of splitmix64)."""
    mixed = bits + (columns + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def are_no_coincidence(cells: list[Hashes]) -> bool:
    """Whether more rows agree in all columns than agree in all but one, or would if columns were unrelated."""
    if not cells:
        return False
    total = np.add.reduce(cells, dtype=np.uint64)
    n_pairs, n_rows = _count_pairs(total), len(total)
    if n_pairs == 0:
        return False
    left_out = np.arange(len(cells))
    if len(cells) > MOST_LEFT_OUT:
        left_out = np.random.default_rng(0).choice(len(cells), MOST_LEFT_OUT, replace=False)
    n_near = sum(_count_pairs(total - cells[i]) - n_pairs for i in left_out)
    differ = n_near * len(cells) / len(left_out)
    agree = np.prod([_count_pairs(cell) / (n_rows * (n_rows - 1) / 2) for cell in cells])
    expected = max(differ, float(agree) * n_rows * (n_rows - 1) / 2)
    return bool(poisson.sf(n_pairs - 1, expected) < LEVEL)


def _count_pairs(values: Any) -> int:
    """Number of pairs of rows with equal values."""
    counts = np.unique(values, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


class Copies(NamedTuple):
    """Groups of rows with equal inputs, and one row of each set of them.

    `groups` are the user's groups joined with the sets of copies; None without either. `distinct` is True for the first
    row of each set of copies, and for every row that has none. `sets` has the number of the set of each row, and
    `hashes` the hash of its inputs.
    """

    groups: NDArray[Any] | None
    distinct: Mask
    sets: Ints
    hashes: Hashes


def group_copies(X: Any, groups: Any = None) -> Copies:
    """Groups in which copies of a row are together, as are the rows of each of `groups`.

    Equal rows are copies unless that is a coincidence, as in a table of few different values, or unless they are
    frequent: more than ten, of texts and sparse rows more than two, and more than 5 % of all rows.
    """
    if issparse(X) or not (is_frame(type(X)) or np.ndim(X) == 2):
        hashes = hash_rows(X)
        sets = _apart(*_equal_rows(hashes, FREQUENT_TEXTS))
    else:
        cells = hash_cells(X)
        hashes = sum(cells, start=np.zeros(count_rows(X), dtype=np.uint64))
        sets = sets_of_copies(cells) if cells else np.arange(len(hashes))
    given = None if groups is None else np.asarray(groups)
    distinct = np.zeros(len(sets), dtype=bool)
    distinct[np.unique(sets, return_index=True)[1]] = True
    if distinct.all():
        return Copies(given, distinct, sets, hashes)
    if given is None:
        return Copies(sets, distinct, sets, hashes)
    own = sets.max() + 1 + np.unique(given, return_inverse=True)[1]
    links = coo_array((np.ones(len(own)), (sets, own)), shape=(own.max() + 1, own.max() + 1))
    joined = connected_components(links, directed=False)[1][sets]
    return Copies(joined, distinct, sets, hashes)


def sets_of_copies(cells: list[Hashes]) -> Ints:
    """Number of the set of copies of each row, from hashes of its values; frequent rows do not decide which exist."""
    sets, is_frequent = _equal_rows(np.add.reduce(cells, dtype=np.uint64), FREQUENT_ROWS)
    return _apart(
        sets, is_frequent | (not are_no_coincidence([each[~is_frequent] for each in cells]))
    )


def _equal_rows(hashes: Hashes, most: int) -> tuple[Ints, Mask]:
    """Number of the set of equal rows that each row belongs to, and whether that is larger than copies are."""
    sets = np.unique(hashes, return_inverse=True)[1]
    return sets, np.bincount(sets)[sets] > max(most, FREQUENT * len(sets))


def _apart(sets: Ints, are_apart: Mask) -> Ints:
    """Sets of rows, numbered anew, where the given rows are each a set of their own."""
    own = len(sets) + np.arange(len(sets))
    return np.unique(np.where(are_apart, own, sets), return_inverse=True)[1]


def known_rows(copies: Copies, rows: Ints, errors: Floats) -> tuple[Hashes, Floats]:
    """Hashes of the rows of a table, sorted, and the highest of the errors of the rows with each hash.

    `errors` are those of the rows at the positions `rows`. There are no hashes if rows are equal by coincidence: new
    rows would then equal training rows by coincidence, too.
    """
    hashes, places = np.unique(copies.hashes, return_inverse=True)
    if len(hashes) < len(places) and copies.distinct.all():
        return hashes[:0], np.zeros(0)
    highest = np.zeros(len(hashes))
    np.maximum.at(highest, places[rows], errors)
    return hashes, highest


def errors_of_known(X: Any, hashes: Hashes, errors: Floats) -> Floats:
    """Error stored for the hash of each row, as `known_rows` returns them; −inf for a row with another hash."""
    new = hash_rows(X)
    places = np.searchsorted(hashes, new)
    is_known = np.append(hashes, np.uint64(0))[places] == new
    return np.where(is_known, np.append(errors, -np.inf)[places], -np.inf)
