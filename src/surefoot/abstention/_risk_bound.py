"""Upper confidence bounds of the risk at a fixed threshold or coverage."""

from typing import Any

import numpy as np
from scipy.stats import beta
from scipy.stats import t as student

from surefoot._typing import Floats, Ints
from surefoot._validation import check_share
from surefoot.abstention._class_risks import risks_by_class, too_few_sentence
from surefoot.abstention._group_test import (
    GroupedRows,
    group_bound,
    group_codes,
    group_test,
    has_large_groups,
)
from surefoot.abstention._risk_control import (
    LEAST_TESTED,
    Threshold,
    Thresholds,
    are_shares,
    check_held_out,
    every_threshold,
)

# Risks that are tested to bound the risk by groups, in equal ratios: the bound is the lowest that is rejected.
N_RISKS = 60


def risk_bounds(
    estimated_errors: Any,
    losses: Any,
    coverages: Any,
    confidence: float = 0.95,
    *,
    groups: Any = None,
) -> Floats:
    """Upper confidence bound of the risk at each coverage; inf where so few rows give none.

    The rows with the lowest estimated errors are answered. The bounds are those of the tests of
    `threshold_for_risk`: exact for losses of 0 and 1 (Clopper and Pearson), Student's for others, and by betting for
    groups. Each holds for a coverage that was chosen before its bound was seen, not for all of them together.

    Parameters
    ----------
    estimated_errors : array-like of shape (n_rows,)
        Estimated error of each held-out row.
    losses : array-like of shape (n_rows,)
        Loss of each prediction: 1 if it is wrong and 0 if not, or the size of its error.
    coverages : array-like of shape (n_coverages,)
        Shares of the rows that are answered, above 0 and at most 1. Between two thresholds, where some of the rows with
        equal estimates are answered, the bound is the higher one of both.
    confidence : float, default=0.95
        Probability, over draws of the held-out rows or groups, with which the risk is at most its bound.
    groups : array-like of shape (n_rows,), default=None
        Groups that were sampled as a whole, such as all rows of one person.

    Returns
    -------
    bounds : ndarray of shape (n_coverages,)
        Upper bounds of the mean loss of the answered rows.

    Examples
    --------
    Ten rows without a mistake may still come from a model that is wrong on a quarter of such rows:

    >>> import numpy as np
    >>> from surefoot.abstention import risk_bounds
    >>> risk_bounds(np.linspace(0, 1, 100), np.arange(100) >= 90, [0.1, 0.5, 1]).round(2)
    array([0.26, 0.06, 0.16])
    """
    check_share(confidence, "confidence")
    estimates, losses = check_held_out(estimated_errors, losses, groups)
    shares = np.asarray(coverages, dtype=np.float64)
    if not ((shares > 0) & (shares <= 1)).all():
        raise ValueError("coverages must be above 0 and at most 1.")
    candidates = every_threshold(-estimates, losses)
    ends = candidates.n_answered / len(estimates)
    above = np.searchsorted(ends, shares - 1e-12)
    # The risk of a part of a run of equal estimates lies between the risks with none and with all of the run.
    below = np.where(ends[above] > shares + 1e-12, np.maximum(above - 1, 0), above)
    places, back = np.unique(np.concatenate([below, above]), return_inverse=True)
    bounds = _bounds_at(places, candidates, estimates, losses, confidence, groups)[back]
    return np.maximum(bounds[: len(shares)], bounds[len(shares) :])


def _bounds_at(
    places: Ints,
    candidates: Thresholds,
    estimates: Floats,
    losses: Floats,
    confidence: float,
    groups: Any,
) -> Floats:
    """Upper bound of the risk at some of the thresholds."""
    if has_large_groups(groups):
        rows = GroupedRows.of(-estimates, groups)
        return _bounds_by_groups(places, rows, losses, confidence)
    n_rows, lost = candidates.n_answered[places], candidates.lost[places]
    if are_shares(losses):
        # Where every row is wrong, beta has no second parameter, and the bound is 1.
        bounds = beta.ppf(confidence, lost + 1, np.maximum(n_rows - lost, 1))
        return np.where(lost < n_rows, bounds, 1.0)
    mean, freedom = lost / n_rows, np.maximum(n_rows - 1, 1)
    spread = np.sqrt(np.maximum(candidates.lost2[places] / n_rows - mean**2, 0) / freedom)
    bounds = mean + student.ppf(confidence, freedom) * spread
    return np.where(n_rows < LEAST_TESTED, np.inf, bounds)


def _bounds_by_groups(places: Ints, rows: GroupedRows, losses: Floats, confidence: float) -> Floats:
    """Lowest of N_RISKS risks that the test by groups rejects at some of its thresholds."""
    is_share, level = are_shares(losses), 1 - confidence
    most = 1 - 1e-9 if is_share else float(losses.max())
    bounds = np.full(len(places), 1.0 if is_share else np.inf)
    for risk in np.geomspace(most, most / len(rows.first), N_RISKS):
        bound = 1.0 if is_share else max(most, 2 * float(risk))
        p_values = group_test(rows, losses, float(risk), level, bound)[places]
        bounds[p_values <= level] = risk
    return bounds


def upper_bound(n_wrong: int, n_rows: int, confidence: float) -> float:
    """Upper confidence bound of a share, from a count (Clopper and Pearson)."""
    if n_wrong == n_rows:
        return 1.0
    return float(beta.ppf(confidence, n_wrong + 1, n_rows - n_wrong))


def risk_bound(
    scores: Floats, wrong: Any, threshold: Threshold, confidence: float, groups: Any = None
) -> float:
    """Upper confidence bound of the share of errors among the rows that a fixed threshold answers."""
    if has_large_groups(groups):
        losses = np.asarray(wrong, dtype=np.float64)
        return group_bound(scores, losses, groups, threshold.score, confidence)
    return upper_bound(int(threshold.lost), threshold.n_answered, confidence)


def no_threshold_sentence(labels: Any, max_risk: Any, confidence: float, groups: Any = None) -> str:
    """Sentence for the warning that no threshold keeps the risk, with the reason."""
    n_rows = len(labels)
    without_errors = Threshold(-np.inf, n_rows, 0)
    least = risk_bound(np.zeros(n_rows), np.zeros(n_rows), without_errors, confidence, groups)
    units, among = "rows", f"the {n_rows} rows set aside"
    if has_large_groups(groups):
        units = "groups"
        among = f"the {group_codes(groups).max() + 1} groups set aside, of {n_rows} rows"
    reason = "there are too many errors, or the score does not separate them well enough from right answers"
    if least > max(risks_by_class(max_risk).values()):
        reason = f"so few {units} can promise {least:.2g} at best, even if none is wrong"
    too_few = too_few_sentence(max_risk, labels, confidence) or ""
    return (
        f"No threshold is known to keep max_risk={max_risk} with confidence={confidence} by {among}, "
        f"and no row will be answered: {reason}.{' ' if too_few else ''}{too_few}"
    )
