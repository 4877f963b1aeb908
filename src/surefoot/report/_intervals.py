"""Section on the intervals of a regressor: their coverage and width."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats, Mask
from surefoot._words import number, percent
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.metrics import interval_width
from surefoot.report._assessment import Assessment
from surefoot.report._shares import wilson_interval

CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHOWN = 0.9
N_PARTS = 5


def describe_intervals(assessment: Assessment) -> dict[str, Any] | None:
    """Coverage and width of held-out intervals at several confidences; None for a classifier."""
    if not isinstance(assessment.error_estimator, IndividualErrorRegressor):
        return None
    intervals = {c: assessment.error_estimator.held_out_intervals(c) for c in CONFIDENCES}
    inside = {c: contains_truth(assessment.truth, ends) for c, ends in intervals.items()}
    counts = np.array([mask.sum() for mask in inside.values()])
    low, high = wilson_interval(counts, len(assessment.rows), assessment.confidence)
    width = [_finite(interval_width(ends)) for ends in intervals.values()]
    constant = [_constant_width(assessment.losses, c) for c in CONFIDENCES]
    return {
        "confidence": list(CONFIDENCES),
        "interval_confidence": assessment.confidence,
        "coverage": (counts / len(assessment.rows)).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "width": width,
        "constant_width": constant,
        "by_width": _by_width(intervals[SHOWN], inside[SHOWN]),
        "sentence": _sentence(
            inside[SHOWN].mean(),
            width[CONFIDENCES.index(SHOWN)],
            constant[CONFIDENCES.index(SHOWN)],
        ),
    }


def contains_truth(truth: NDArray[Any], intervals: Floats) -> Mask:
    """Mask of the intervals that contain the true value."""
    return (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])


def _by_width(intervals: Floats, inside: Mask) -> list[dict[str, float | int | None]]:
    """Mean width and coverage in parts of equal numbers of rows, the narrowest intervals first."""
    width = np.diff(intervals)[:, 0]
    parts = np.array_split(np.argsort(width, kind="stable"), min(N_PARTS, len(width)))
    return [
        {
            "width": _finite(float(width[part].mean())),
            "coverage": float(inside[part].mean()),
            "n_rows": len(part),
        }
        for part in parts
    ]


def _constant_width(losses: Floats, confidence: float) -> float | None:
    """Width of conformal intervals that are equally wide for all rows; None if they are infinite."""
    rank = int(np.ceil(confidence * (len(losses) + 1) - 1e-9))
    return 2 * float(np.sort(losses)[rank - 1]) if rank <= len(losses) else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _sentence(coverage: float, width: float | None, constant: float | None) -> str:
    if width is None or constant is None:
        return f"There are too few rows for {percent(SHOWN)} intervals."
    start = (
        f"{percent(float(coverage))} of the {percent(SHOWN)} conformal intervals contain the true value; their mean "
        f"width is {number(width)}"
    )
    if width < constant:
        return f"{start}, against {number(constant)} with one width for all rows."
    return f"{start}, not less than with one width for all rows ({number(constant)})."
