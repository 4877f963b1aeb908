"""Classifiers made of several."""

from surefoot.ensemble._boosting import BoostingClassifier
from surefoot.ensemble._filter_boosting import FilterBoostingClassifier

__all__ = ["BoostingClassifier", "FilterBoostingClassifier"]
