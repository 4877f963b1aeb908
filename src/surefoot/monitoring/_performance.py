"""Estimate and comparison of new rows that are in memory at once."""

from typing import Any

from surefoot.monitoring._compare import RowComparison
from surefoot.monitoring._estimate import PerformanceEstimate, check_metric
from surefoot.monitoring._new_rows import NewRows
from surefoot.monitoring._sure import Sure, check_monitored


def estimate_performance(
    sure: Sure, X_new: Any, *, metric: str = "error", confidence: float = 0.95
) -> PerformanceEstimate:
    """Estimate a model's performance on new rows without labels, corrected for a shift of their inputs.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    X_new : array-like, CSR or frame of shape (n_rows, n_columns)
        New rows.
    metric : str, default="error"
        For a classifier "error" (share of wrong predictions), "accuracy", "cost" (mean cost, if it was fitted with a
        `loss`), "precision", "recall" or "f1": of the second of two classes, or the mean over more than two. For a
        regressor "mean_absolute_error" or "mean_squared_error".
    confidence : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    performance : PerformanceEstimate
        The estimate with its interval, the figure of `fit` beside it, and the shift that was found.
    """
    check_monitored(sure)
    check_metric(sure, metric)
    return NewRows(sure).add(X_new).estimate(metric, confidence)


def compare_rows(sure: Sure, X_new: Any) -> RowComparison:
    """Compare new rows with the held-out rows of `fit`: which columns moved, which rows are novel.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    X_new : array-like, CSR or frame of shape (n_rows, n_columns)
        New rows.

    Returns
    -------
    comparison : RowComparison
        A test of each column, the novel rows, and a test of whether a classifier can tell new rows from old ones.
    """
    return NewRows(sure).add(X_new).compare()
