"""When further labels will not change much: predictions have settled (Bloodgood and Vijay-Shanker 2009)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Rows whose predictions are watched: enough to see a change of a few in a thousand.
MOST_WATCHED = 2000


class Watch:
    """Rows whose predictions are compared from fit to fit.

    Accuracy cannot change by more than the share of predictions that change. So the share that the last fits changed
    says what the next ones can gain, at most, if things go on as they did; and no labels are
    spent to know it.

    Parameters
    ----------
    rows : table
        Rows that are watched, of a pool.
    patience : int
        Fits in a row that must have changed little.
    tolerance : float
        What little is, as a share of the predictions.
    """

    def __init__(self, rows: Any, n_rows: int, patience: int, tolerance: float) -> None:
        self.rows, self.n_rows = rows, n_rows
        self.patience, self.tolerance = patience, tolerance
        self.before: NDArray[Any] | None = None
        self.shares: list[float] = []
        self.labels: list[int] = []

    def look(self, model: Any, n_new_labels: int) -> None:
        """Compare what a newly fitted model predicts with what the last one did."""
        told = np.asarray(model.predict(self.rows))
        if self.before is not None:
            self.shares.append(float((told != self.before).mean()))
            self.labels.append(n_new_labels)
        self.before = told

    @property
    def expected_gain(self) -> float:
        """Share of predictions that the next labels will change: the mean of the last few fits."""
        recent = self.shares[-self.patience :]
        return float(np.mean(recent)) if recent else 1.0

    @property
    def has_settled(self) -> bool:
        """Whether the last fits changed little, each of them."""
        recent = self.shares[-self.patience :]
        return len(recent) == self.patience and max(recent) <= self.tolerance

    @property
    def reason(self) -> str:
        """What was seen, in words."""
        recent = self.shares[-self.patience :]
        if len(recent) < self.patience:
            return f"Go on: {len(recent)} of {self.patience} fits to compare are done."
        seen = (
            f"the last {self.patience} fits, after {sum(self.labels[-self.patience :])} labels, changed at "
            f"most {max(recent):.1%} of {self.n_rows} predictions"
        )
        verdict = "Stop" if self.has_settled else "Go on"
        return (
            f"{verdict}: {seen}; the next {self.labels[-1]} labels will change about "
            f"{self.expected_gain:.1%}, which is the most they can gain."
        )
