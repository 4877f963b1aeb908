"""When to leave a prediction unused, or to ask a better model."""

from surefoot.abstention._abstaining import AbstainingClassifier
from surefoot.abstention._deferring import DeferringClassifier

__all__ = ["AbstainingClassifier", "DeferringClassifier"]
