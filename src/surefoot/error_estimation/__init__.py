"""Error estimation: how wrong each single prediction is likely to be (failure prediction)."""

from surefoot._typing import settle
from surefoot.error_estimation._assess import assess, assess_predictions
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._error_probability import ErrorPrior
from surefoot.error_estimation._judgement import HeldOut, Judgement
from surefoot.error_estimation._label_errors import find_label_errors
from surefoot.error_estimation._regions import find_error_regions
from surefoot.error_estimation._regressor import IndividualErrorRegressor

__all__ = [
    "ErrorPrior",
    "HeldOut",
    "IndividualErrorClassifier",
    "IndividualErrorRegressor",
    "Judgement",
    "assess",
    "assess_predictions",
    "find_error_regions",
    "find_label_errors",
]

settle(__name__)
