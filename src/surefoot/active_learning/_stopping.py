"""Stopping rule: stop when predictions no longer change (Bloodgood and Vijay-Shanker 2009)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Most rows whose predictions are compared: enough to see a change of a few in a thousand.
MOST_WATCHED = 2000


class Watch:
    """Rows of a pool whose predictions are compared from fit to fit.

    Accuracy cannot change by more than the share of predictions that change. So the share that the last fits changed
    bounds what the next fits can gain, if the trend goes on. No label is needed to
    compute it.

    Parameters
    ----------
    rows : table
        Rows of the pool to predict after each fit.
    n_rows : int
        Their number.
    patience : int
        Number of consecutive fits that must have changed few predictions.
    tolerance : float
        Largest share of changed predictions that counts as few.
    """

    def __init__(self, rows: Any, n_rows: int, patience: int, tolerance: float) -> None:
        self.rows, self.n_rows = rows, n_rows
        self.patience, self.tolerance = patience, tolerance
        self.before: NDArray[Any] | None = None
        self.shares: list[float] = []
        self.labels: list[int] = []

    def look(self, model: Any, n_new_labels: int) -> None:
        """Compare the predictions of a newly fitted model with those of the model before it."""
        predictions = np.asarray(model.predict(self.rows))
        if self.before is not None:
            self.shares.append(float((predictions != self.before).mean()))
            self.labels.append(n_new_labels)
        self.before = predictions

    @property
    def expected_gain(self) -> float:
        """Share of predictions that the next labels will change: the mean of the last few fits."""
        recent = self.shares[-self.patience :]
        return float(np.mean(recent)) if recent else 1.0

    @property
    def has_settled(self) -> bool:
        """True if each of the last `patience` fits changed few predictions."""
        recent = self.shares[-self.patience :]
        return len(recent) == self.patience and max(recent) <= self.tolerance

    @property
    def reason(self) -> str:
        """Sentence that says how many predictions the last fits changed, and whether to stop."""
        recent = self.shares[-self.patience :]
        if len(recent) < self.patience:
            return f"Go on: {len(recent)} of {self.patience} fits to compare are done."
        changes = (
            f"the last {self.patience} fits, after {sum(self.labels[-self.patience :])} labels, changed at "
            f"most {max(recent):.1%} of {self.n_rows} predictions"
        )
        verdict = "Stop" if self.has_settled else "Go on"
        return (
            f"{verdict}: {changes}; the next {self.labels[-1]} labels will change about "
            f"{self.expected_gain:.1%}, which is the most they can gain."
        )
