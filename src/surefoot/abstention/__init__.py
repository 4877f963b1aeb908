"""When to leave a prediction unused, or to ask a better model, and what can be promised of the others."""

from surefoot.abstention._abstaining import AbstainingClassifier
from surefoot.abstention._deferring import DeferringClassifier
from surefoot.abstention._promise import (
    Promise,
    choose_promise,
    make_promise,
    offer_promises,
    promise_for,
)
from surefoot.abstention._risk_control import Threshold, threshold_for_risk

__all__ = [
    "AbstainingClassifier",
    "DeferringClassifier",
    "Promise",
    "Threshold",
    "choose_promise",
    "make_promise",
    "offer_promises",
    "promise_for",
    "threshold_for_risk",
]
