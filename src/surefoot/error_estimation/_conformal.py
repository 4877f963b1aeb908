"""Intervals and sets with a guarantee, from fits without a fold and the rows of that fold (CV+)."""

from collections.abc import Sequence
from math import floor

import numpy as np

from surefoot._typing import Floats, Mask

# After so many, a range is no wider than the numbers can tell.
HALVINGS = 60


def cv_plus_intervals(
    centers: Sequence[Floats],
    scales: Sequence[Floats],
    held_out_scores: Sequence[Floats],
    confidence: float,
) -> Floats:
    """Intervals of shape (n_rows, 2) from one fit a fold (Barber, Candès, Ramdas and Tibshirani 2021, CV+).

    `centers[k]` and `scales[k]` are what fit k says of each row to judge, and `held_out_scores[k]` the
    sizes |y − center| / scale of the rows that it did not see. Row i of fold k proposes the interval
    center_k ± scale_k · score_i, and of the n proposals the ⌊(1 − confidence)(n + 1)⌋-th smallest lower and
    largest upper ends are taken. With one fit that is split conformal prediction.
    """
    n_scores = sum(len(scores) for scores in held_out_scores)
    rank = floor((1 - confidence) * (n_scores + 1) + 1e-9)
    n_rows = len(centers[0])
    if rank < 1:  # too few rows to promise as much
        return np.tile([-np.inf, np.inf], (n_rows, 1))
    known = [np.sort(scores) for scores in held_out_scores]
    upper = kth_largest(centers, scales, known, rank)
    lower = -kth_largest([-center for center in centers], scales, known, rank)
    return np.column_stack([lower, upper])


def kth_largest(
    centers: Sequence[Floats], scales: Sequence[Floats], scores: Sequence[Floats], rank: int
) -> Floats:
    """The rank-th largest of all center_k + scale_k · score_i, for each row; scores ascend.

    Found by halving the range that holds it, where the sorted scores say how many are above: there
    are far too many to write down for each row.
    """
    ends = [
        (center + scale * known[[0, -1], None])
        for center, scale, known in zip(centers, scales, scores, strict=True)
    ]
    low, high = np.min([end[0] for end in ends], axis=0), np.max([end[1] for end in ends], axis=0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = sum(
            len(known) - np.searchsorted(known, (middle - center) / scale, side="right")
            for center, scale, known in zip(centers, scales, scores, strict=True)
        )
        is_below = above >= rank
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return high


def cv_plus_sets(
    strangeness: Sequence[Floats], held_out_strangeness: Sequence[Floats], confidence: float
) -> Mask:
    """Sets of classes, shape (n_rows, n_classes), from one fit a fold.

    `strangeness[k]` of shape (n_rows, n_classes) is how unlike each class fit k finds each row, and
    `held_out_strangeness[k]` how unlike their true class the rows that it did not see. A class is left out
    where, itself counted among them, no more than a share of 1 − confidence of these rows are as strange.
    """
    n_rows = sum(len(known) for known in held_out_strangeness)
    as_strange = np.ones(strangeness[0].shape)
    for new, known in zip(strangeness, held_out_strangeness, strict=True):
        as_strange += len(known) - np.searchsorted(np.sort(known), new, side="left")
    return as_strange > floor((1 - confidence) * (n_rows + 1) + 1e-9)
