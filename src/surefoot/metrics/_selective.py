"""Measures of how well an estimated error tells right predictions from wrong ones."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_consistent_length

from surefoot._typing import Floats
from surefoot._validation import check_binary, check_vector, check_weights


def risk_coverage_curve(
    errors: Any, estimated_error: Any, *, sample_weight: Any = None, coverages: Any = None
) -> tuple[Floats, Floats, Floats]:
    """Mean loss of the answered rows, lower better, against the share that is answered.

    Rows with the lowest estimated error are answered first. Rows with equal estimates are answered
    together, so there is one point for each distinct estimate.

    Parameters
    ----------
    errors : array-like of shape (n_rows,)
        Loss of each prediction: 0 or 1, or any other number from 0 up, such as an absolute residual.
    estimated_error : array-like of shape (n_rows,)
        Estimate of each loss; only its order counts.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.
    coverages : array-like of shape (n_points,), default=None
        Shares of the rows, above 0 and at most 1, to compute the curve at. Where only some of the rows with equal
        estimates are answered, the risk is the expected one of a random choice among them.

    Returns
    -------
    coverages : ndarray of shape (n_points,)
        Share of the rows that are answered, increasing to 1; or as given.
    risks : ndarray of shape (n_points,)
        Their mean loss.
    thresholds : ndarray of shape (n_points,)
        Highest estimated error that is answered, increasing.

    See Also
    --------
    augrc_loss : Area under this curve with each risk multiplied by its coverage.
    aurc_loss : Area under this curve.

    Examples
    --------
    >>> from surefoot.metrics import risk_coverage_curve
    >>> wrong = [0, 0, 1, 0, 1]
    >>> coverages, risks, thresholds = risk_coverage_curve(wrong, [0.1, 0.2, 0.2, 0.3, 0.9])
    >>> coverages
    array([0.2, 0.6, 0.8, 1. ])
    >>> risks.round(2)
    array([0.  , 0.33, 0.25, 0.4 ])
    >>> thresholds
    array([0.1, 0.2, 0.3, 0.9])
    """
    losses, estimates = _check_losses(errors, estimated_error)
    weights = check_weights(sample_weight, losses)
    counted = weights > 0  # without them the first points would be 0 / 0
    losses, estimates, weights = losses[counted], estimates[counted], weights[counted]
    thresholds, group = np.unique(estimates, return_inverse=True)
    answered = np.cumsum(np.bincount(group, weights))
    lost = np.cumsum(np.bincount(group, weights * losses))
    shares = answered / answered[-1]
    if coverages is None:
        return shares, lost / answered, thresholds
    wanted = check_vector(coverages, "coverages")
    if wanted.min() <= 0 or wanted.max() > 1:
        raise ValueError("coverages must be above 0 and at most 1.")
    expected = np.interp(wanted, np.append(0.0, shares), np.append(0.0, lost / answered[-1]))
    # A coverage that was computed as a share of rows may be above that share by its rounding.
    return wanted, expected / wanted, thresholds[np.searchsorted(shares, wanted - 1e-12)]


def aurc_loss(errors: Any, estimated_error: Any) -> float:
    """Area under the risk-coverage curve, lower better.

    The mean over k = 1, ..., n of the mean loss of the k rows with the lowest estimated error
    [1]_. Rows with equal estimates come in random order; the result is the expectation over it.

    Rows answered first enter every one of the n means, so a single confident error weighs
    much; `augrc_loss` does not have this flaw.

    Parameters
    ----------
    errors : array-like of shape (n_rows,)
        Loss of each prediction: 0 or 1, or any other number from 0 up, such as an absolute residual.
    estimated_error : array-like of shape (n_rows,)
        Estimate of each loss; only its order counts.

    Returns
    -------
    loss : float
        The area, in units of `errors`.

    See Also
    --------
    excess_aurc_loss : The part of it that a better order would save.

    References
    ----------
    .. [1] Y. Geifman, G. Uziel and R. El-Yaniv. Bias-Reduced Uncertainty Estimation for Deep Neural
       Classifiers. ICLR 2019.

    Examples
    --------
    The means are 0, 1/2 and 1/3:

    >>> from surefoot.metrics import aurc_loss
    >>> round(aurc_loss([0, 1, 0], [0.1, 0.2, 0.3]), 4)
    0.2778
    """
    losses, estimates = _check_losses(errors, estimated_error)
    _, group, size = np.unique(estimates, return_inverse=True, return_counts=True)
    # In random order, each row of a group is expected to lose the mean of the group.
    expected = np.repeat(np.bincount(group, losses) / size, size)
    return float(np.mean(np.cumsum(expected) / np.arange(1, len(losses) + 1)))


def excess_aurc_loss(errors: Any, estimated_error: Any) -> float:
    """Area under the risk-coverage curve above that of the best possible order, lower better.

    It is 0 if no row comes before one that loses less.

    Parameters
    ----------
    errors : array-like of shape (n_rows,)
        Loss of each prediction: 0 or 1, or any other number from 0 up, such as an absolute residual.
    estimated_error : array-like of shape (n_rows,)
        Estimate of each loss; only its order counts.

    Returns
    -------
    loss : float
        The difference of the areas, in units of `errors`.

    See Also
    --------
    aurc_loss : The area itself.

    Examples
    --------
    >>> from surefoot.metrics import excess_aurc_loss
    >>> round(excess_aurc_loss([0, 1, 0], [0.1, 0.2, 0.3]), 4)
    0.1667
    >>> excess_aurc_loss([0, 1, 0], [0.1, 0.3, 0.2])
    0.0
    """
    return aurc_loss(errors, estimated_error) - aurc_loss(errors, errors)


def augrc_loss(errors: Any, estimated_error: Any, *, sample_weight: Any = None) -> float:
    """Area under the generalised risk-coverage curve, lower better.

    The generalised risk at a threshold is the loss of the answered rows divided by the number of
    *all* rows: for losses of 0 and 1, the chance that a row is answered and wrong. The area under it, as
    a function of the coverage, is the mean over all coverages [1]_. The curve runs straight between its points,
    which is also the expectation if rows with equal estimates come in random order.

    With losses of 0 and 1, a share e of them 1, and A their `error_auroc_score`, the area is exactly
    (1 − A) e (1 − e) + e² / 2. So it is at best e² / 2, and e / 2 for random estimates.

    Parameters
    ----------
    errors : array-like of shape (n_rows,)
        Loss of each prediction: 0 or 1, or any other number from 0 up, such as an absolute residual.
    estimated_error : array-like of shape (n_rows,)
        Estimate of each loss; only its order counts.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.

    Returns
    -------
    loss : float
        The area, in units of `errors`.

    References
    ----------
    .. [1] J. Traub and others. Overcoming Common Flaws in the Evaluation of Selective Classification
       Systems. NeurIPS 2024.

    Examples
    --------
    >>> from surefoot.metrics import augrc_loss
    >>> wrong = [0, 0, 0, 1]
    >>> augrc_loss(wrong, [0.1, 0.2, 0.3, 0.4]), augrc_loss(wrong, [0.5] * 4)
    (0.03125, 0.125)
    """
    coverages, risks, _ = risk_coverage_curve(errors, estimated_error, sample_weight=sample_weight)
    joint = np.append(0.0, coverages * risks)
    return float(np.trapezoid(joint, np.append(0.0, coverages)))


def error_auroc_score(errors: Any, estimated_error: Any, *, sample_weight: Any = None) -> float:
    """Chance that a wrong prediction has a higher estimated error than a right one, higher better.

    This is the area under the ROC curve of telling errors from right predictions; equal estimates
    count one half. 1 is a perfect order, and 0.5 the score of random estimates.

    Parameters
    ----------
    errors : array-like of shape (n_rows,)
        1 or True where the prediction is wrong, 0 or False where it is right.
    estimated_error : array-like of shape (n_rows,)
        Estimate of the error of each prediction; only its order counts.
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row.

    Returns
    -------
    score : float
        The area; NaN, with a warning, if all predictions are right or all are wrong.

    See Also
    --------
    augrc_loss : Counts, besides, how many errors there are.

    Examples
    --------
    Of the 2 × 3 pairs of a wrong and a right row, one is in the wrong order:

    >>> from surefoot.metrics import error_auroc_score
    >>> round(error_auroc_score([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.9]), 4)
    0.8333
    """
    wrong = check_binary(errors, "errors")
    _, estimates = _check_losses(wrong, estimated_error)
    weights = check_weights(sample_weight, wrong)
    counted = wrong[weights > 0]
    if counted.min() == counted.max():
        kind = "wrong" if counted[0] else "right"
        message = (
            f"All predictions are {kind}: there is nothing to tell apart, and the score is NaN."
        )
        warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    return float(roc_auc_score(wrong, estimates, sample_weight=weights))


def _check_losses(errors: Any, estimated_error: Any) -> tuple[Floats, Floats]:
    """Losses, none below 0, and their estimates."""
    losses = check_vector(errors, "errors")
    estimates = check_vector(estimated_error, "estimated_error")
    check_consistent_length(losses, estimates)
    if losses.min() < 0:
        raise ValueError("errors has values below 0: a loss may be any number from 0 up.")
    return losses, estimates
