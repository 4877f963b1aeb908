"""Check that a model is a fitted error estimator which knows the rows it was fitted on."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor

Sure = IndividualErrorClassifier | IndividualErrorRegressor


def check_monitored(sure: Any) -> None:
    """Raise one sentence unless `sure` is a fitted error estimator that kept a sample of its rows."""
    if not isinstance(sure, (IndividualErrorClassifier, IndividualErrorRegressor)):
        raise TypeError(
            f"sure is a {type(sure).__name__}: wrap the model in IndividualErrorClassifier or "
            "IndividualErrorRegressor, and fit it."
        )
    check_is_fitted(sure)
    if not hasattr(sure, "input_sample_"):
        raise ValueError(
            "The model was saved by an older version of surefoot, which kept no sample of its rows: fit it again."
        )
