"""Rows of one period: what is estimated of them, how many are answered, how many are novel."""

from math import isfinite
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from surefoot._typing import Mask
from surefoot.abstention import Promise
from surefoot.error_estimation import Judgement
from surefoot.monitoring import NewRows

# Name of all rows together, where a period is named.
ALL_ROWS = "all rows"


class PeriodRows:
    """Rows of one period, added in batches.

    Parameters
    ----------
    sure : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    promise : Promise
        Says which rows are answered.
    """

    def __init__(self, sure: Any, promise: Promise) -> None:
        self.promise = promise
        self.rows = NewRows(sure)
        self.n_answered = self.n_novel = 0

    def add(self, X: Any, judgement: Judgement) -> None:
        """Add rows and their judgement."""
        self.rows.add(X, judgement)
        self.n_answered += int(self.promise.answers(judgement.error).sum())
        self.n_novel += int(np.count_nonzero(judgement.novel))

    def describe(self, name: str, start: str | None, confidence: float) -> dict[str, Any]:
        """Figures of the period; None where there is none, and then `reason` says why."""
        performance = self.rows.estimate(metric_for(self.rows.sure), confidence)
        low, high = performance.interval
        return {
            "name": name,
            "start": start,
            "n_rows": self.rows.n_rows,
            "estimate": plain(performance.estimate),
            "low": plain(low),
            "high": plain(high),
            "confidence": confidence,
            "reason": performance.reason,
            "effective_rows": plain(performance.effective_rows),
            "n_answered": self.n_answered,
            "answered": self.n_answered / self.rows.n_rows,
            "n_novel": self.n_novel,
            "novel": self.n_novel / self.rows.n_rows,
        }


def metric_for(sure: Any) -> str:
    """Name of the metric that the estimated error of a row is a part of."""
    if not is_classifier(sure):
        return "mean_absolute_error"
    return "error" if sure.held_out_.costs is None else "cost"


def plain(value: float) -> float | None:
    """Number that JSON can write; None for NaN and infinite values."""
    return float(value) if isfinite(value) else None
