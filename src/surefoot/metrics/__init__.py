"""Measures of estimated errors, probabilities and intervals, and tests of which classifier is better."""

from surefoot.metrics._calibration import brier_decomposition, smooth_calibration_error
from surefoot.metrics._intervals import interval_coverage_score, interval_width, winkler_loss
from surefoot.metrics._selective import (
    augrc_loss,
    aurc_loss,
    error_auroc_score,
    excess_aurc_loss,
    risk_coverage_curve,
)
from surefoot.metrics._significance import (
    macro_sign_test,
    macro_t_test,
    micro_sign_test,
)

__all__ = [
    "augrc_loss",
    "aurc_loss",
    "brier_decomposition",
    "error_auroc_score",
    "excess_aurc_loss",
    "interval_coverage_score",
    "interval_width",
    "macro_sign_test",
    "macro_t_test",
    "micro_sign_test",
    "risk_coverage_curve",
    "smooth_calibration_error",
    "winkler_loss",
]
