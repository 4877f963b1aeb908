"""Estimate and comparison of new rows that are in memory at once."""

from typing import Any

from surefoot._sure import Sure, check_sure
from surefoot.monitoring._compare import RowComparison
from surefoot.monitoring._estimate import PerformanceEstimate, check_metric
from surefoot.monitoring._new_rows import NewRows


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

    See Also
    --------
    NewRows : The same for rows that come in batches.
    compare_rows : Which columns moved, and which rows are novel.

    Notes
    -----
    A classifier that tells new rows from held-out ones, in the neighbour space, gives their density ratio, which
    weighs the held-out rows so that they are like the new ones. With these weights the estimated errors are calibrated
    again, as far as more than chance speaks for a correction. This assumes that the targets of rows with given inputs
    have not changed, P(y|x); only labels can show whether they have. The interval has two parts: the labels of the new
    rows are unknown, and so is how far the calibration on a limited number of held-out rows is right.

    It takes new rows to be independent of each other, and new and held-out rows to come in no groups.

    References
    ----------
    Białek, Kuberski, Perrakis and Bifet, "Estimating model performance under covariate shift without labels", 2024,
    weigh the rows of a calibration so. Ionides, "Truncated importance sampling", Journal of Computational and
    Graphical Statistics 17, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.monitoring import estimate_performance
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> sure = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[::2], y[::2])
    >>> result = estimate_performance(sure, X[1::2])
    >>> low, high = result.interval
    >>> bool(low < np.mean(sure.predict(X[1::2]) != y[1::2]) < high)
    True
    >>> estimate_performance(sure, X[1::2] + 1000).reason
    'About 100% of the new rows lie outside of what was seen in fit, where nothing is known of errors.'
    """
    check_sure(sure)
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

    See Also
    --------
    estimate_performance : How good the model is on these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.monitoring import compare_rows
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> sure = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X[:300], y[:300])
    >>> new = X[300:].assign(**{"mean texture": 1.5 * X["mean texture"]})
    >>> comparison = compare_rows(sure, new)
    >>> comparison.same, comparison.moved[0].name
    (False, 'mean texture')
    """
    return NewRows(sure).add(X_new).compare()
