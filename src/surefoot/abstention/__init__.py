"""Selective prediction: abstain or defer where a mistake is likely, and promise a risk for the other rows."""

from surefoot._typing import settle
from surefoot.abstention._abstaining import AbstainingClassifier
from surefoot.abstention._deferring import DeferringClassifier
from surefoot.abstention._promise import Promise, promise_of, threshold_for_risk

__all__ = [
    "AbstainingClassifier",
    "DeferringClassifier",
    "Promise",
    "promise_of",
    "threshold_for_risk",
]

settle(__name__)
