"""When to leave a prediction unused, or to ask a better model, and what can be promised of the others."""

from surefoot.abstention._abstaining import AbstainingClassifier
from surefoot.abstention._deferring import DeferringClassifier
from surefoot.abstention._promise import (
    Promise,
    make_promise,
    offer_promises,
    promise_for,
)
from surefoot.abstention._risk_control import threshold_for_risk

__all__ = [
    "AbstainingClassifier",
    "DeferringClassifier",
    "Promise",
    "make_promise",
    "offer_promises",
    "promise_for",
    "threshold_for_risk",
]
