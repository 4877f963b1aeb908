"""Whether intervals hold the truth as often as they say, and how wide they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats, Mask
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.metrics import conformal_quantile, interval_width
from surefoot.report._assessment import Assessment
from surefoot.report._figures import number, percent
from surefoot.report._shares import wilson_interval

CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHOWN = 0.9
N_PARTS = 5


def describe_intervals(assessment: Assessment) -> dict[str, Any] | None:
    """Coverage and width of held-out intervals at several confidences; None for a classifier."""
    if not isinstance(assessment.sure, IndividualErrorRegressor):
        return None
    intervals = {c: assessment.sure.held_out_intervals(c) for c in CONFIDENCES}
    held = {c: holds(assessment.truth, found) for c, found in intervals.items()}
    counts = np.array([found.sum() for found in held.values()])
    low, high = wilson_interval(counts, len(assessment.rows), assessment.confidence)
    width = [_finite(interval_width(found)) for found in intervals.values()]
    constant = [_finite(2 * conformal_quantile(assessment.losses, c)) for c in CONFIDENCES]
    return {
        "confidence": list(CONFIDENCES),
        "interval_confidence": assessment.confidence,
        "coverage": (counts / len(assessment.rows)).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "width": width,
        "constant_width": constant,
        "by_width": _by_width(intervals[SHOWN], held[SHOWN]),
        "sentence": _sentence(
            held[SHOWN].mean(), width[CONFIDENCES.index(SHOWN)], constant[CONFIDENCES.index(SHOWN)]
        ),
    }


def holds(truth: NDArray[Any], intervals: Floats) -> Mask:
    """Whether each interval holds the truth."""
    return (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])


def _by_width(intervals: Floats, held: Mask) -> list[dict[str, float | int | None]]:
    """Mean width and coverage of parts of the rows of equal size, those with the narrowest intervals first."""
    width = np.diff(intervals)[:, 0]
    parts = np.array_split(np.argsort(width, kind="stable"), min(N_PARTS, len(width)))
    return [
        {
            "width": _finite(float(width[part].mean())),
            "coverage": float(held[part].mean()),
            "n_rows": len(part),
        }
        for part in parts
    ]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _sentence(coverage: float, width: float | None, constant: float | None) -> str:
    if width is None or constant is None:
        return f"There are too few rows for {percent(SHOWN)} intervals."
    told = (
        f"{percent(float(coverage))} of the {percent(SHOWN)} conformal intervals contain the true value; their mean "
        f"width is {number(width)}"
    )
    if width < constant:
        return f"{told}, against {number(constant)} with one width for all rows."
    return f"{told}, not less than with one width for all rows ({number(constant)})."
