"""When to leave a prediction unused, or to ask a better model."""

from surefoot.abstention._abstaining import AbstainingClassifier
from surefoot.abstention._deferring import DeferringClassifier
from surefoot.abstention._risk_control import Threshold, threshold_for_risk

__all__ = ["AbstainingClassifier", "DeferringClassifier", "Threshold", "threshold_for_risk"]
