"""Positions of the slider: how many rows are answered at each, and an upper bound of their risk."""

from typing import Any

import numpy as np

from surefoot._typing import Floats
from surefoot.abstention import Promise
from surefoot.report._assessment import Assessment


def describe_positions(assessment: Assessment, coverages: Floats) -> dict[str, Any]:
    """Number of answered rows and upper bound of the risk at each coverage; None where no bound is known."""
    n_rows = len(assessment.rows)
    bounds = np.full(len(coverages), np.inf)
    if assessment.is_classifier or not np.isin(assessment.losses, (0, 1)).all():
        # The bound of a share is no bound of a size, which may be larger than 1.
        bounds = Promise.bounds(assessment.held_out, coverages, assessment.confidence)
    for promise in assessment.promises:
        # By groups, bounds are computed in steps, and a promise may lie between two of them.
        if promise.kept and promise.max_risk is not None:
            at = np.abs(coverages - promise.coverage) < 1e-9
            bounds[at] = np.minimum(bounds[at], promise.max_risk)
    return {
        # A part of a row is a row: 0.3 · 10 is a little more than 3.
        "n_answered": np.ceil(coverages * n_rows - 1e-9).astype(int).tolist(),
        "bound": [float(bound) if np.isfinite(bound) else None for bound in bounds],
    }
