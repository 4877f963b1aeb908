"""Error estimation: how wrong each single prediction is likely to be (failure prediction)."""

from surefoot.error_estimation._assess import assess
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._error_regions import ErrorRegion, find_error_regions
from surefoot.error_estimation._judged_ensemble import JudgedEnsemble
from surefoot.error_estimation._judgement import HeldOut, Judgement
from surefoot.error_estimation._label_errors import LabelErrors, find_label_errors
from surefoot.error_estimation._prior import ErrorPrior
from surefoot.error_estimation._regressor import IndividualErrorRegressor
from surefoot.error_estimation._shrunk_logistic import ShrunkLogisticRegression

__all__ = [
    "ErrorPrior",
    "ErrorRegion",
    "HeldOut",
    "IndividualErrorClassifier",
    "IndividualErrorRegressor",
    "JudgedEnsemble",
    "Judgement",
    "LabelErrors",
    "ShrunkLogisticRegression",
    "assess",
    "find_error_regions",
    "find_label_errors",
]
