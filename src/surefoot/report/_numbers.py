"""The verdict in numbers: what a program reads instead of the sentences."""

from typing import Any

import numpy as np

from surefoot.report._assessment import Assessment
from surefoot.report._intervals import SHOWN
from surefoot.report._shares import loss_interval


def give_numbers(
    assessment: Assessment,
    answer: dict[str, Any],
    probabilities: dict[str, Any] | None,
    intervals: dict[str, Any] | None,
) -> dict[str, float | int | None]:
    """Figures of the verdict under names that stay the same; None where there is no such figure."""
    low, high = error_interval(assessment)
    chosen = {} if answer["chosen"] is None else answer["promises"][answer["chosen"]]
    augrc = answer["augrc"]
    return {
        "n_rows": len(assessment.y),
        "n_held_out": len(assessment.losses),
        "accuracy": accuracy(assessment),
        "error": float(assessment.losses.mean()),
        "error_low": low,
        "error_high": high,
        "confidence": assessment.confidence,
        "max_risk": chosen.get("max_risk"),
        "coverage": chosen.get("coverage"),
        "limit": chosen.get("limit"),
        "augrc": augrc["surefoot"],
        "augrc_ratio": augrc["ratio"],
        "augrc_ratio_low": augrc["low"],
        "augrc_ratio_high": augrc["high"],
        "brier": _part(probabilities, "brier", "before"),
        "smooth_calibration_error": _part(probabilities, "smooth_calibration_error", "before"),
        "interval_coverage": _interval_coverage(intervals),
    }


def accuracy(assessment: Assessment) -> float | None:
    """Share of held-out rows whose class is predicted; None for a regressor."""
    if not assessment.is_classifier:
        return None
    return float(np.mean(assessment.held_out.prediction == assessment.truth))


def error_interval(assessment: Assessment) -> tuple[float, float]:
    """Interval of the mean loss: Wilson's for a share of independent rows, else from the means of the groups."""
    units = None if assessment.held_out.groups is None else assessment.unit_codes
    return loss_interval(
        assessment.losses, units, assessment.confidence, are_shares=assessment.counts_mistakes
    )


def _part(section: dict[str, Any] | None, name: str, when: str) -> float | None:
    return None if section is None or name not in section else float(section[name][when])


def _interval_coverage(intervals: dict[str, Any] | None) -> float | None:
    """Share of the 90 % intervals that contain the truth."""
    if intervals is None:
        return None
    return float(intervals["coverage"][intervals["confidence"].index(SHOWN)])
