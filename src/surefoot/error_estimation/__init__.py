"""What the error of one prediction will be."""

from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._regressor import IndividualErrorRegressor
from surefoot.error_estimation._shrunk_logistic import ShrunkLogisticRegression, smoothed_targets

__all__ = [
    "IndividualErrorClassifier",
    "IndividualErrorRegressor",
    "ShrunkLogisticRegression",
    "smoothed_targets",
]
