"""Learners that start from something known, and leave it as far as held-out rows show that it pays."""

from surefoot._shrunk._departure import best_departure
from surefoot._shrunk._newton import curvature_of_logistic, fit_logistic, with_ones
from surefoot._shrunk._stepped import LogOddsLine, Step, SteppedLogistic

__all__ = [
    "LogOddsLine",
    "Step",
    "SteppedLogistic",
    "best_departure",
    "curvature_of_logistic",
    "fit_logistic",
    "with_ones",
]
