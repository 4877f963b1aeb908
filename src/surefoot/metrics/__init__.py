"""How well errors are foreseen, probabilities are calibrated and intervals cover: functions of arrays."""

from surefoot.metrics._calibration import brier_decomposition, smooth_calibration_error
from surefoot.metrics._intervals import interval_coverage_score, interval_width, winkler_loss
from surefoot.metrics._selective import (
    augrc_loss,
    aurc_loss,
    error_auroc_score,
    excess_aurc_loss,
    risk_coverage_curve,
)

__all__ = [
    "augrc_loss",
    "aurc_loss",
    "brier_decomposition",
    "error_auroc_score",
    "excess_aurc_loss",
    "interval_coverage_score",
    "interval_width",
    "risk_coverage_curve",
    "smooth_calibration_error",
    "winkler_loss",
]
