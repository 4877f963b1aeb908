"""Nonconformity scores of classes, for conformal prediction sets."""

import numpy as np

from surefoot._models import margin
from surefoot._typing import Floats, Ints


def true_class_strangeness(scores: Floats, codes: Ints) -> Floats:
    """Nonconformity score of each row: score of the best other class minus that of the true class."""
    return class_strangeness(scores)[np.arange(len(codes)), codes]


def class_strangeness(scores: Floats) -> Floats:
    """Nonconformity score of each class: score of the best other class minus its own, (n_rows, n_classes)."""
    n_classes = max(2, scores.shape[1])
    every = [np.full(len(scores), c) for c in range(n_classes)]
    return np.column_stack([-margin(scores, top) for top in every])
