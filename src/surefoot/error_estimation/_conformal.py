"""Conformal prediction: intervals and sets from nonconformity scores of held-out rows."""

from collections.abc import Sequence
from math import floor

import numpy as np

from surefoot._models import margin
from surefoot._typing import Floats, Ints, Mask

# Bisection steps after which the range is as narrow as floats allow.
HALVINGS = 60


def check_supported(n_rows: int, confidence: float) -> None:
    """Raise an error if sets or intervals of this confidence would hold everything, with so many held-out rows."""
    if (1 - confidence) * (n_rows + 1) + 1e-9 < 1:
        raise ValueError(
            f"{n_rows} held-out rows cannot support confidence={confidence}: with as many it may be at "
            f"most {floor(1e4 * n_rows / (n_rows + 1)) / 1e4}."
        )


def conformal_quantile(scores: Floats, confidence: float) -> float:
    """The ⌈confidence · (n + 1)⌉-th smallest score, which a new one exceeds with 1 − confidence; inf if n is too small.

    >>> conformal_quantile(np.arange(1.0, 20.0), 0.9), conformal_quantile(np.arange(1.0, 6.0), 0.9)
    (18.0, inf)
    """
    rank = floor((1 - confidence) * (len(scores) + 1) + 1e-9)
    return float(np.partition(scores, len(scores) - rank)[-rank]) if rank > 0 else np.inf


def cv_plus_intervals(
    by_fold: Sequence[tuple[Floats, Floats]], held_out_scores: Sequence[Floats], confidence: float
) -> Floats:
    """CV+ intervals of shape (n_rows, 2) from one fit per fold (Barber, Candès, Ramdas and Tibshirani 2021).

    `by_fold[k]` holds the predictions (centers) and scales of fit k for each new row, `held_out_scores[k]`
    the nonconformity scores |y − center| / scale of the rows that it did not see. Held-out row i of fold k gives
    the ends center_k ± scale_k · score_i. The r-th smallest lower end and the r-th largest upper end are
    returned, with r = ⌊(1 − confidence)(n + 1)⌋ for n held-out rows. With one fit this is split conformal
    prediction.
    """
    centers, scales = [center for center, _ in by_fold], [scale for _, scale in by_fold]
    n_scores = sum(len(scores) for scores in held_out_scores)
    rank = floor((1 - confidence) * (n_scores + 1) + 1e-9)
    n_rows = len(centers[0])
    if rank < 1:  # too few rows for this confidence
        return np.tile([-np.inf, np.inf], (n_rows, 1))
    ascending = [np.sort(scores) for scores in held_out_scores]
    upper = kth_largest(centers, scales, ascending, rank)
    lower = -kth_largest([-center for center in centers], scales, ascending, rank)
    return np.column_stack([lower, upper])


def kth_largest(
    centers: Sequence[Floats], scales: Sequence[Floats], scores: Sequence[Floats], rank: int
) -> Floats:
    """Value of the given rank, from the largest, among all center_k + scale_k · score_i, for each row.

    `scores` are sorted, ascending. The value is searched by bisection, which counts the larger ones in the
    sorted scores: there are too many to compute for each row.
    """
    ends = [
        (center + scale * ascending[[0, -1], None])
        for center, scale, ascending in zip(centers, scales, scores, strict=True)
    ]
    low, high = np.min([end[0] for end in ends], axis=0), np.max([end[1] for end in ends], axis=0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = sum(
            len(ascending) - np.searchsorted(ascending, (middle - center) / scale, side="right")
            for center, scale, ascending in zip(centers, scales, scores, strict=True)
        )
        is_below = above >= rank
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return high


def held_out_intervals(
    truth: Floats, center: Floats, scale: Floats, splits: Ints, confidence: float
) -> Floats:
    """Conformal intervals of held-out rows, shape (n_rows, 2), by the scores of the other splits.

    A score is the distance of the truth from the center over the scale. A single split is divided into two halves.
    """
    scores = np.abs(truth - center) / scale
    parts = splits if len(np.unique(splits)) > 1 else np.arange(len(splits)) % 2
    intervals = np.empty((len(splits), 2))
    for part in np.unique(parts):
        here = parts == part
        reach = scale[here] * conformal_quantile(scores[~here], confidence)
        intervals[here] = np.column_stack([center[here] - reach, center[here] + reach])
    return intervals


def nonconformity(scores: Floats) -> Floats:
    """Nonconformity score of each class: score of the best other class minus its own, (n_rows, n_classes)."""
    n_classes = max(2, scores.shape[1])
    every = [np.full(len(scores), c) for c in range(n_classes)]
    return np.column_stack([-margin(scores, top) for top in every])


def cv_plus_sets(
    new_scores: Sequence[Floats], held_out_scores: Sequence[Floats], confidence: float
) -> Mask:
    """Prediction sets by CV+: mask of classes, shape (n_rows, n_classes), from one fit per fold.

    `new_scores[k]` holds the nonconformity scores of each row and class by fit k, shape (n_rows, n_classes), and
    `held_out_scores[k]` those of the rows that it did not see, for their true class. With n held-out rows, a
    class is left out if at most ⌊(1 − confidence)(n + 1)⌋ scores, its own counted, are at least as high as its own.
    """
    n_held_out = sum(len(scores) for scores in held_out_scores)
    n_as_high = np.ones(new_scores[0].shape)
    for new, held_out in zip(new_scores, held_out_scores, strict=True):
        n_as_high += len(held_out) - np.searchsorted(np.sort(held_out), new, side="left")
    return n_as_high > floor((1 - confidence) * (n_held_out + 1) + 1e-9)
