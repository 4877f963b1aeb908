"""Duplicate rows, exact and near, and their effect on the scores of a model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.neighbors import NearestNeighbors

from surefoot._copies import sets_of_copies
from surefoot._typing import Floats, Ints, Mask
from surefoot._words import number, percent
from surefoot.checks._columns import (
    LEVEL,
    CodedColumn,
    Finding,
    hash_codes,
    mean_loss_words,
    sample_rows,
)

# Least number or share of copies that is worth a finding.
LEAST_COPIES, LEAST_SHARE = 10, 0.005

# Most rows whose nearest rows are searched, how many of these, and the place of the one at half of the distance.
MOST_SEARCHED, N_NEAR, HALF_WAY = 2000, 10, 5

# A near copy is closer than this share of the distance of the tenth nearest row, or less in few dimensions, where
# the tenth part is common; and this is how rare it may be by chance.
NEAR, RARE = 0.1, 1e-4

# Least share of different values in a column of numbers whose distances mean something.
CONTINUOUS = 0.5

NO_ROWS = np.empty(0, np.int64)


def find_duplicates(
    columns: list[CodedColumn],
    splits: Ints | None,
    losses: Floats,
    is_regression: bool,
    random_state: int,
) -> Finding | None:
    """Find exact and near copies of rows, those on both sides of a split, and the loss without these.

    Rows that agree in all columns are copies if that is no coincidence: fewer pairs of rows differ in exactly one
    column, and unrelated columns would hardly agree as often. Near copies agree in all strings and small numbers, and
    are at most a tenth as far from each other as from the tenth nearest row; they are returned if there are more than
    expected by chance in as many dimensions as the rows fill. `splits` has the number of the split that held each row
    out, −1 for a row that was never held out; `losses` are those of the held-out rows.
    """
    if not columns or len(columns[0].codes) < 2:
        return None
    n_rows = len(columns[0].codes)
    hashes = hash_codes(columns)
    groups = sets_of_copies(list(hashes))
    searched, near, near_copies = _find_near(columns, hashes, groups, random_state)
    copies = np.full(n_rows, -1)
    copies[near_copies], copies[near] = near, near_copies
    exact = np.zeros(n_rows, dtype=bool)
    order = np.argsort(groups, kind="stable")
    same = groups[order][1:] == groups[order][:-1]
    for one, other in ((order[:-1][same], order[1:][same]), (order[1:][same], order[:-1][same])):
        copies[one], exact[one] = other, True
    rows = np.flatnonzero(copies >= 0)
    if len(rows) < LEAST_COPIES and len(rows) < LEAST_SHARE * n_rows:
        return None
    n_near, share = int((~exact[rows]).sum()), len(rows) / n_rows
    sentence = (
        f"{number(len(rows))} of {number(n_rows)} rows ({percent(share)}) have a copy in the table"
    )
    if n_near:
        some = "all" if n_near == len(rows) else number(n_near)
        sentence += f", {some} of them not quite equal (near duplicates)"
    sentence += "."
    if n_near and len(searched) < n_rows:
        sentence += f" Near copies were searched for {number(len(searched))} rows only."
    n_across, loss, loss_without = 0, None, None
    if splits is not None:
        is_across = _is_across(groups, copies, splits)
        n_across = int(is_across.sum())
        # Of rows that were not searched, it is not known whether they have a near copy.
        is_known = (np.isin(np.arange(n_rows), searched) | (n_near == 0)) & (splits >= 0)
        if (is_known & ~is_across).any():
            loss = float(losses[is_known].mean())
            loss_without = float(losses[is_known & ~is_across].mean())
            were, them = ("was", "it") if n_across == 1 else ("were", "them")
            effect = (
                f" {number(n_across)} {were} predicted by a model that had learned from the copy. With {them}, the "
                f"model is {mean_loss_words(loss, is_regression)}; without, "
                f"{mean_loss_words(loss_without, is_regression)}."
            )
            sentence += effect if n_across else ""
    evidence = {
        "share": share,
        "n_rows": len(rows),
        "n_near": n_near,
        "n_across": n_across,
        "loss": loss,
        "loss_without": loss_without,
        "copies": copies[rows].tolist(),
        "exact": exact[rows].tolist(),
    }
    question = (
        "If rows were entered twice, remove the copies; if they are of one person or place, hold these out together "
        "(--groups COLUMN, a column that says which)."
    )
    return Finding("duplicate", sentence, (), tuple(rows.tolist()), evidence, question)


def _find_near(
    columns: list[CodedColumn], hashes: NDArray[np.uint64], groups: Ints, random_state: int
) -> tuple[Ints, Ints, Ints]:
    """Positions of the rows whose nearest rows were searched, those of them with a near copy, and their copies.

    Where rows are drawn at random in d dimensions, the ratio of the distances of the fifth and of the tenth nearest
    row has the median 0.5^(1/d), and one of the nine nearest is nearer than a share s of the tenth with a
    probability below 9·s^d. There are near copies only if they are more than expected by chance.
    """
    distinct = np.unique(groups, return_index=True)[1]
    points, labels = _coordinates(columns, hashes, distinct)
    if len(distinct) < 3 * N_NEAR or points.shape[1] < 2:
        return np.arange(len(groups)), NO_ROWS, NO_ROWS
    asked = sample_rows(len(distinct), MOST_SEARCHED, random_state)
    distances, near = NearestNeighbors(n_neighbors=N_NEAR + 1).fit(points).kneighbors(points[asked])
    is_other = near != asked[:, None]
    is_other[is_other.all(axis=1), -1] = False  # of many equal rows, the row itself may be missing
    distances = distances[is_other].reshape(len(asked), N_NEAR)
    near = near[is_other].reshape(len(asked), N_NEAR)
    last = distances[:, -1]
    is_apart = last > 0
    halves = distances[is_apart, HALF_WAY - 1] / last[is_apart]
    ratio = float(np.median(halves)) if is_apart.any() else 0.0
    searched = distinct[asked] if len(asked) < len(distinct) else np.arange(len(groups))
    if not 0 < ratio < 0.999:
        return searched, NO_ROWS, NO_ROWS
    dimension = np.log(0.5) / np.log(ratio)
    share = min(NEAR, (RARE / (N_NEAR - 1)) ** (1 / dimension))
    agrees = labels[near] == labels[asked][:, None]
    is_near = agrees & (distances < share * last[:, None])
    rows = np.flatnonzero(is_near.any(axis=1))
    if binom.sf(len(rows) - 1, len(last), (N_NEAR - 1) * share**dimension) >= LEVEL:
        rows = NO_ROWS
    return searched, distinct[asked[rows]], distinct[near[rows, is_near[rows].argmax(axis=1)]]


def _coordinates(
    columns: list[CodedColumn], hashes: NDArray[np.uint64], rows: Ints
) -> tuple[Floats, Any]:
    """Scaled values of the columns of many different numbers, and one label for the values of the others."""
    continuous, labels = [], np.zeros(len(rows), dtype=np.uint64)
    draw = np.random.default_rng(1)
    for column, hashed in zip(columns, hashes, strict=True):
        numbers = np.full(len(rows), np.nan) if column.numbers is None else column.numbers[rows]
        known = np.isfinite(numbers)
        if len(np.unique(numbers[known])) >= CONTINUOUS * len(rows):
            values = np.where(known, numbers, np.median(numbers[known]))
            continuous.append((values - values.mean()) / (values.std() or 1.0))
            labels = labels + draw.integers(2**63, size=2, dtype=np.uint64)[known.astype(int)]
        else:
            labels = labels + hashed[rows]
    return np.column_stack([np.zeros((len(rows), 0)), *continuous]), labels


def _is_across(groups: Ints, copies: Ints, splits: Ints) -> Mask:
    """Whether an exact copy of each held-out row, or its near copy, was held out in another split or in none."""
    low = np.full(groups.max() + 1, np.iinfo(np.int64).max)
    high = np.full(groups.max() + 1, np.iinfo(np.int64).min)
    np.minimum.at(low, groups, splits)
    np.maximum.at(high, groups, splits)
    differs = (low != high)[groups] | ((copies >= 0) & (splits[copies] != splits))
    return np.asarray(differs & (splits >= 0))
