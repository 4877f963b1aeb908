"""What the error of one prediction will be."""

from surefoot.error_estimation._ask_chosen import ask_chosen
from surefoot.error_estimation._assess import assess
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._conformal import conformal_quantile
from surefoot.error_estimation._error_probability import learner_folds
from surefoot.error_estimation._error_regions import ErrorRegion, find_error_regions
from surefoot.error_estimation._judged_ensemble import (
    HeldOutErrors,
    JudgedEnsemble,
    check_same_rows,
    common_classes,
)
from surefoot.error_estimation._regressor import IndividualErrorRegressor
from surefoot.error_estimation._shrunk_logistic import ShrunkLogisticRegression, smoothed_targets

__all__ = [
    "ErrorRegion",
    "HeldOutErrors",
    "IndividualErrorClassifier",
    "IndividualErrorRegressor",
    "JudgedEnsemble",
    "ShrunkLogisticRegression",
    "ask_chosen",
    "assess",
    "check_same_rows",
    "common_classes",
    "conformal_quantile",
    "find_error_regions",
    "learner_folds",
    "smoothed_targets",
]
