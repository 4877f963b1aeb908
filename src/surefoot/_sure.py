"""Fitted error estimators: the type of either, and a check for all packages that take one."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor

Sure = IndividualErrorClassifier | IndividualErrorRegressor


def check_sure(sure: Any) -> None:
    """Raise one sentence unless `sure` is a fitted error estimator."""
    if not isinstance(sure, (IndividualErrorClassifier, IndividualErrorRegressor)):
        raise TypeError(
            f"sure is a {type(sure).__name__}: wrap the model in IndividualErrorClassifier or "
            "IndividualErrorRegressor, and fit it."
        )
    check_is_fitted(sure)
