"""Coverage and width of prediction intervals."""

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from surefoot._typing import Floats
from surefoot._validation import check_share, check_vector, check_weights, weighted_mean


def interval_coverage_score(y_true: Any, intervals: Any, *, sample_weight: Any = None) -> float:
    """Share of the rows whose interval holds the truth, higher better up to the promised coverage.

    The ends belong to the interval.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The truth.
    intervals : array-like of shape (n_rows, 2)
        Lower and upper end of each interval, which may be infinite.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.

    Returns
    -------
    score : float
        A share from 0 to 1.

    See Also
    --------
    winkler_loss : Coverage and width in one number.

    Examples
    --------
    >>> from surefoot.metrics import interval_coverage_score
    >>> interval_coverage_score([1.0, 2.0, 3.0, 4.0], [[0, 2], [2, 3], [1, 5], [5, 9]])
    0.75
    """
    truth, lower, upper = _check_truth(y_true, intervals)
    weights = check_weights(sample_weight, truth)
    held = (lower <= truth) & (truth <= upper)
    return weighted_mean(held.astype(np.float64), weights)


def interval_width(intervals: Any, *, sample_weight: Any = None) -> float:
    """Mean width of intervals, lower better among those of equal coverage.

    Parameters
    ----------
    intervals : array-like of shape (n_rows, 2)
        Lower and upper end of each interval, which may be infinite.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.

    Returns
    -------
    width : float
        In units of the intervals; infinite if one of them is.

    Examples
    --------
    >>> from surefoot.metrics import interval_width
    >>> interval_width([[0, 2], [2, 3], [1, 5], [5, 9]])
    2.75
    """
    lower, upper = _check_intervals(intervals)
    return weighted_mean(upper - lower, check_weights(sample_weight, lower))


def winkler_loss(
    y_true: Any, intervals: Any, confidence: float = 0.9, *, sample_weight: Any = None
) -> float:
    """Mean width of intervals plus a fine for each miss, lower better.

    The fine is 2 / (1 − `confidence`) times the distance from the truth to the nearer end. In
    expectation, no intervals lose less than those from the (1 − confidence) / 2 quantile to the
    (1 + confidence) / 2 quantile of the truth [1]_ [2]_.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The truth.
    intervals : array-like of shape (n_rows, 2)
        Lower and upper end of each interval, which may be infinite.
    confidence : float, default=0.9
        The coverage that the intervals promise, above 0 and below 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.

    Returns
    -------
    loss : float
        In units of `y_true`; infinite if an interval is.

    References
    ----------
    .. [1] R. L. Winkler. A Decision-Theoretic Approach to Interval Estimation. Journal of the American
       Statistical Association 67, 1972.
    .. [2] T. Gneiting and A. E. Raftery. Strictly Proper Scoring Rules, Prediction, and Estimation.
       Journal of the American Statistical Association 102, 2007, section 6.2.

    Examples
    --------
    Two widths of 4, and a miss by 1 that costs 2 / 0.2:

    >>> from surefoot.metrics import winkler_loss
    >>> round(winkler_loss([3.0, 4.0], [[1, 5], [5, 9]], confidence=0.8), 6)
    9.0
    """
    check_share(confidence, "confidence")
    truth, lower, upper = _check_truth(y_true, intervals)
    miss = np.maximum(0.0, np.maximum(lower - truth, truth - upper))
    loss = upper - lower + 2.0 / (1.0 - confidence) * miss
    return weighted_mean(loss, check_weights(sample_weight, truth))


def _check_truth(y_true: Any, intervals: Any) -> tuple[Floats, Floats, Floats]:
    """Truth, lower ends and upper ends."""
    truth = check_vector(y_true, "y_true")
    lower, upper = _check_intervals(intervals)
    check_consistent_length(truth, lower)
    return truth, lower, upper


def _check_intervals(intervals: Any) -> tuple[Floats, Floats]:
    """Lower ends and upper ends; no interval may be empty or NaN."""
    ends = check_array(
        intervals,
        dtype=np.float64,
        ensure_2d=False,
        ensure_all_finite=False,
        input_name="intervals",
    )
    if ends.ndim != 2 or ends.shape[1] != 2:
        raise ValueError(
            f"intervals has shape {ends.shape}: it may have two columns, lower and upper end."
        )
    lower, upper = ends.T
    if np.isnan(ends).any():
        raise ValueError("intervals contains NaN: its ends may be numbers or infinite.")
    if (lower > upper).any() or (np.isinf(lower) & (lower == upper)).any():
        raise ValueError(
            "intervals has a lower end that is not below its upper end or equal to it."
        )
    return lower, upper
