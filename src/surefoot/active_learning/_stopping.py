"""Stopping rule: stop when predictions no longer change (Bloodgood and Vijay-Shanker 2009)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._validation import check_number

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


class StoppingRule:
    """Rule that says when further labels will hardly improve a classifier.

    After each fit it gets the predictions for the same rows, which need no labels. It compares them
    with those of the model that had half as many labels. Accuracy cannot change by more than the share of
    predictions that change; so where the last doubling of labels changed few predictions, the next
    doubling will hardly gain anything, if the trend goes on.

    Parameters
    ----------
    tolerance : float, default=0.05
        Largest share of predictions that the last doubling of labels may have changed.
    state : dict, default=None
        What `state` of an earlier rule returned, to go on from there; None begins anew.

    Examples
    --------
    >>> from surefoot.active_learning import StoppingRule
    >>> rule = StoppingRule()
    >>> rule.look(["a", "a", "a", "b"], n_labels=10)
    >>> rule.look(["a", "b", "a", "b"], n_labels=20)
    >>> rule.should_stop
    False
    >>> import json
    >>> again = StoppingRule(state=json.loads(json.dumps(rule.state)))
    >>> again.look(["a", "b", "a", "b"], n_labels=40)
    >>> again.should_stop, again.reason
    (True, 'Stop: twice as many labels, 40 instead of 20, changed 0.0% of 4 predictions.')
    """

    def __init__(self, *, tolerance: float = 0.05, state: dict[str, Any] | None = None) -> None:
        check_number(tolerance, "tolerance", min_val=0, max_val=1)
        self.tolerance = float(tolerance)
        looks = [] if state is None else state["looks"]
        self._looks = [(int(look["n_labels"]), list(look["predictions"])) for look in looks]

    @property
    def state(self) -> dict[str, Any]:
        """Everything that the rule remembers, as numbers, texts, lists and dicts that JSON can hold."""
        return {
            "looks": [
                {"n_labels": n_labels, "predictions": predictions}
                for n_labels, predictions in self._looks
            ]
        }

    def look(self, predictions: Any, n_labels: int) -> None:
        """Remember the predictions of a newly fitted model.

        Parameters
        ----------
        predictions : array-like of shape (n_rows,)
            Predicted classes of the watched rows: the same rows each time, drawn at random from the pool.
        n_labels : int
            Number of labels that the model was fitted to.
        """
        classes = np.asarray(predictions)
        if classes.ndim != 1 or len(classes) == 0:
            raise ValueError("predictions must be a list of classes, one for each watched row.")
        if self._looks and len(classes) != len(self._looks[-1][1]):
            raise ValueError(
                f"predictions has {len(classes)} rows, but those before had {len(self._looks[-1][1])}: the "
                "same rows must be watched each time."
            )
        earlier = [look for look in self._looks if look[0] < n_labels]
        halves = [look for look in earlier if 2 * look[0] <= n_labels]
        # Of the looks at half of the labels or fewer, only the last will be compared with again.
        self._looks = [*earlier[max(len(halves) - 1, 0) :], (int(n_labels), classes.tolist())]

    @property
    def changed(self) -> float | None:
        """Share of predictions that the last doubling of labels changed; None before there was one."""
        if not self._looks or 2 * self._looks[0][0] > self._looks[-1][0]:
            return None
        before, after = (np.asarray(self._looks[i][1], dtype=object) for i in (0, -1))
        return float((before != after).mean())

    @property
    def should_stop(self) -> bool:
        """True if the last doubling of labels changed few predictions."""
        return self.changed is not None and self.changed <= self.tolerance

    @property
    def reason(self) -> str:
        """Sentence that says why to stop, or why not."""
        if self.changed is None:
            return "Go on: the number of labels has not doubled yet since the first model."
        n_before, n_after = self._looks[0][0], self._looks[-1][0]
        verdict = "Stop" if self.should_stop else "Go on"
        times = "twice" if n_after == 2 * n_before else f"{n_after / n_before:.1f} times"
        return (
            f"{verdict}: {times} as many labels, {n_after} instead of {n_before}, changed "
            f"{self.changed:.1%} of {len(self._looks[-1][1])} predictions."
        )
