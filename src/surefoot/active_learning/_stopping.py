"""Stopping rule of active learning: stop when predictions no longer change (Bloodgood and Vijay-Shanker 2009)."""

from typing import Any

import numpy as np

# Most rows that need be watched: enough to see a change of a few in a hundred.
MOST_WATCHED = 1000

# Share of predictions that the last doubling of labels may have changed; see the results on queries.
TOLERANCE = 0.07


class StoppingRule:
    """Advice when to stop, as further labels will probably hardly improve a classifier.

    After each fit it gets the predictions for the same rows of the pool, and compares them with those of the model
    that had half as many labels. Accuracy cannot change by more than the share of predictions that change. So where
    the last doubling of labels changed few predictions, the next doubling will probably gain little: it is a
    forecast, and a later fit may take the advice back. How many rows are labelled between two fits does not matter.

    Parameters
    ----------
    tolerance : float, default=0.07
        Largest share of predictions that the last doubling of labels may have changed.

    Examples
    --------
    >>> from surefoot.active_learning._stopping import StoppingRule
    >>> rule = StoppingRule()
    >>> rule.look(["a", "b"] * 50, n_labels=20)
    >>> rule.look(["a", "a"] * 50, n_labels=40)
    >>> rule.should_stop
    False
    >>> rule.look(["a", "a"] * 49 + ["a", "b"], n_labels=80)
    >>> rule.should_stop
    True
    >>> rule.reason
    'Stop: the last 40 labels, which doubled their number, changed 1.0% of 100 predictions,
    and the accuracy on these rows by no more.'
    """

    def __init__(self, *, tolerance: float = TOLERANCE) -> None:
        self.tolerance = tolerance
        self._looks: list[tuple[int, list[Any]]] = []
        self._compared: tuple[int, int] | None = None

    def look(self, predictions: Any, n_labels: int, *, labelled: Any = None) -> None:
        """Compare the predictions of a newly fitted model with those of the model that had half as many labels.

        Parameters
        ----------
        predictions : array-like of shape (n_rows,)
            Predicted classes of the watched rows: each time those of the same rows, drawn at random from the
            pool before any was labelled; a thousand are enough.
        n_labels : int
            Number of labels that the model was fitted to.
        labelled : array-like of bool of shape (n_rows,), default=None
            Which of the watched rows are labelled by now. They are left out: a model may know them by heart.
        """
        classes = np.asarray(predictions).tolist()
        is_open = ~np.asarray([False] * len(classes) if labelled is None else labelled)
        earlier = [look for look in self._looks if look[0] < n_labels]
        n_halves = sum(2 * look[0] <= n_labels for look in earlier)
        # Of the looks at half of the labels or fewer, only the last will be needed again.
        self._looks = [*earlier[max(n_halves - 1, 0) :], (int(n_labels), classes)]
        self._compared = None
        if n_halves:
            pairs = zip(self._looks[0][1], classes, strict=True)
            changed = np.array([before != after for before, after in pairs])
            self._compared = int(changed[is_open].sum()), int(is_open.sum())

    @property
    def changed(self) -> float:
        """Share of predictions that the last doubling of labels changed; 1 before the labels have doubled.

        By the rule of succession: one changed and one unchanged row are added, so that a few rows prove nothing.
        """
        if self._compared is None:
            return 1.0
        n_changed, n_rows = self._compared
        return (n_changed + 1) / (n_rows + 2) if n_rows else 0.0

    @property
    def should_stop(self) -> bool:
        """True if the last doubling of labels changed few predictions, or no watched row is left to label."""
        return self._compared is not None and self.changed <= self.tolerance

    @property
    def reason(self) -> str:
        """Reason to stop, or not to stop, in one sentence."""
        if self._compared is None:
            return "Go on: the number of labels has not doubled since the first model."
        n_changed, n_rows = self._compared
        if n_rows == 0:
            return "Stop: all rows that were watched are labelled."
        n_before, n_after = self._looks[0][0], self._looks[-1][0]
        times = "which doubled" if n_after == 2 * n_before else "which more than doubled"
        changes = (
            f"the last {n_after - n_before} labels, {times} their number, changed {n_changed / n_rows:.1%} "
            f"of {n_rows} predictions"
        )
        if self.should_stop:
            return f"Stop: {changes}, and the accuracy on these rows by no more."
        if n_changed / n_rows <= self.tolerance:
            return f"Go on: {changes}, but so few rows prove nothing."
        return f"Go on: {changes}; {self.tolerance:.0%} or fewer would be a reason to stop."
