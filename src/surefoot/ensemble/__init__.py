"""Ensembles: stacking with reliability indicators, votes weighted by trust, and boosting."""

from surefoot._typing import settle
from surefoot.ensemble._boosting import BoostingClassifier
from surefoot.ensemble._filter_boosting import FilterBoostingClassifier
from surefoot.ensemble._strive import StriveClassifier
from surefoot.ensemble._trust_weighted import TrustWeightedClassifier

__all__ = [
    "BoostingClassifier",
    "FilterBoostingClassifier",
    "StriveClassifier",
    "TrustWeightedClassifier",
]

settle(__name__)
