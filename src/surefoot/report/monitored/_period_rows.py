"""Rows of one period: what is estimated of them, how many are answered, how many are novel."""

from math import isfinite
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from surefoot.abstention import Promise
from surefoot.error_estimation import Judgement
from surefoot.monitoring import NewRows

# Judgements, and cells of inputs, that are kept of all periods together, and the least and the most for each.
ALL_JUDGED, ALL_CELLS = 250_000, 1_000_000
LEAST_JUDGED, LEAST_INPUTS = 2_000, 500
MOST_JUDGED, MOST_INPUTS = 20_000, 5_000

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
    **sizes : int
        Most rows that are kept; see `NewRows`.
    """

    def __init__(self, sure: Any, promise: Promise, **sizes: int) -> None:
        self.promise = promise
        self.rows = NewRows(sure, **sizes)
        self.n_answered = self.n_novel = 0

    def add(self, X: Any, judgement: Judgement) -> None:
        """Add rows and their judgement."""
        self.rows.add(X, judgement)
        self.n_answered += int(self.promise.accepted(judgement.error).sum())
        self.n_novel += int(np.count_nonzero(judgement.novel))

    def describe(self, name: str, start: str | None, confidence: float) -> dict[str, Any]:
        """Figures of the period; None where there is none, and then `reason` says why."""
        performance = self.rows.estimate(metric_for(self.rows.sure), confidence)
        (low, high), shift = performance.interval, performance.shift
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
            "auc": plain(shift.auc),
            "shifted": bool(shift.is_shifted),
            "n_answered": self.n_answered,
            "answered": self.n_answered / self.rows.n_rows,
            "n_novel": self.n_novel,
            "novel": self.n_novel / self.rows.n_rows,
        }


def sizes_for(n_periods: int, n_columns: int) -> dict[str, int]:
    """Rows that are kept of each of so many periods, so that all of them together fit in memory."""
    inputs = ALL_CELLS // max(n_columns, 1) // n_periods
    return {
        "max_judged": min(max(ALL_JUDGED // n_periods, LEAST_JUDGED), MOST_JUDGED),
        "max_inputs": min(max(inputs, LEAST_INPUTS), MOST_INPUTS),
    }


def metric_for(sure: Any) -> str:
    """Name of the metric that the estimated error of a row is a part of."""
    if not is_classifier(sure):
        return "mean_absolute_error"
    return "error" if sure.held_out_.costs is None else "cost"


def plain(value: float) -> float | None:
    """Number that JSON can write; None for NaN and infinite values."""
    return float(value) if isfinite(value) else None
