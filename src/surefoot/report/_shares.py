"""Confidence intervals of a share, of a mean and of a statistic of sums."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from surefoot._typing import Floats


def wilson_interval(n_hits: Any, n_rows: Any, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Ends of Wilson's interval of the share n_hits / n_rows; always between 0 and 1."""
    hits, rows = np.asarray(n_hits, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    z = norm.ppf((1 + confidence) / 2)
    middle = (hits + z**2 / 2) / (rows + z**2)
    reach = z / (rows + z**2) * np.sqrt(hits * (rows - hits) / rows + z**2 / 4)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


def mean_interval(values: Floats, units: Any, confidence: float) -> tuple[float, float]:
    """Ends of Student's interval of a mean; rows were sampled in units, such as groups, numbered from 0."""
    mean = float(values.mean())
    sums = np.bincount(units, values - mean)
    freedom = max(len(sums) - 1, 1)
    spread = np.sqrt(len(sums) / freedom * float(sums @ sums)) / len(values)
    reach = float(student.ppf((1 + confidence) / 2, freedom) * spread)
    return mean - reach, mean + reach


def loss_interval(
    losses: Floats, units: Any, confidence: float, *, are_shares: bool
) -> tuple[float, float]:
    """Ends of the interval of a mean loss: Wilson's for a share of independent rows, else from the means of the groups.

    `units` numbers the groups from 0; None if rows are independent.
    """
    if units is None and are_shares:
        ends = wilson_interval(losses.sum(), len(losses), confidence)
        return float(ends[0]), float(ends[1])
    low, high = mean_interval(
        losses, np.arange(len(losses)) if units is None else units, confidence
    )
    return max(0.0, float(low)), min(float(high), 1.0) if are_shares else float(high)


def share_interval(hits: Any, units: Any, confidence: float) -> tuple[float, float]:
    """Ends of Wilson's interval of the share of hits; rows of one unit, such as a group, count as far as they differ.

    The number of rows is divided by the design effect: the variance of the share by units over that of as many
    independent rows. Where all rows or none are hits, each unit counts once.
    """
    values = np.asarray(hits, dtype=np.float64)
    codes = np.unique(units, return_inverse=True)[1]
    share, n_rows, n_units = float(values.mean()), len(values), int(codes.max()) + 1
    n_counted = float(n_rows)
    if n_units < n_rows:
        sums = np.bincount(codes, values - share)
        variance = n_units / max(n_units - 1, 1) * float(sums @ sums) / n_rows**2
        n_counted = share * (1 - share) / variance if variance > 0 else float(n_units)
        n_counted = min(max(n_counted, 1.0), float(n_rows))
    low, high = wilson_interval(share * n_counted, n_counted, confidence)
    return float(low), float(high)


def jackknife_interval(
    sums: Floats, statistic: Callable[[Floats], Floats], confidence: float
) -> tuple[float, float] | None:
    """Ends of Student's interval of a statistic of sums over rows, by leaving out one unit at a time.

    Parameters
    ----------
    sums : ndarray of shape (n_units, n_sums)
        Sums over the rows of each unit, such as each row or each group.
    statistic : callable
        Statistic of the sums over all units, for arrays of shape (..., n_sums).
    confidence : float
        Confidence of the interval.

    Returns
    -------
    ends : (low, high), or None
        None if there is one unit only, or if the statistic is not finite without one of them.
    """
    n_units, total = len(sums), sums.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out, estimate = statistic(total - sums), statistic(total)
    if n_units < 2 or not (np.isfinite(left_out).all() and np.isfinite(estimate)):
        return None
    spread = np.sqrt((n_units - 1) / n_units * ((left_out - left_out.mean()) ** 2).sum())
    reach = float(student.ppf((1 + confidence) / 2, n_units - 1) * spread)
    return float(estimate) - reach, float(estimate) + reach
