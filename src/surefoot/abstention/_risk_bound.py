"""Upper confidence bounds of the risk at a fixed threshold."""

from typing import Any

import numpy as np
from scipy.stats import beta

from surefoot._typing import Floats
from surefoot.abstention._class_risks import risks_by_class, too_few_sentence
from surefoot.abstention._group_test import group_bound, group_codes, has_large_groups
from surefoot.abstention._risk_control import Threshold


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
