"""Several models that answer together."""

from surefoot.ensemble._trust_weighted import TrustWeightedClassifier

__all__ = ["TrustWeightedClassifier"]
