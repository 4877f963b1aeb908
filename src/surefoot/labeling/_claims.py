"""What the page claims of the model: an interval of its accuracy that holds whenever one looks, and never widens."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from surefoot._words import plural

# Classes that a model predicts for rows of the pool.
Predict = Callable[[list[int]], Sequence[str]]

# Probability that no interval is false, of any model and at any time.
CONFIDENCE = 0.95

# Widest interval that is a reason to stop.
WIDEST = 0.2

# Labels of the first model that is measured; then of each that has twice as many.
FIRST = 40

# Rows of the random order whose predictions are kept, and most numbers of wrong rows that are tried.
MOST_ROWS, MOST_TRIED = 2000, 2001


@dataclass
class MeasuredModel:
    """Model as it was after some labels, measured by rows that were drawn at random after that.

    Attributes
    ----------
    n_labels : int
        Number of labels that people had given.
    n_rows : int
        Number of rows that were neither answered nor drawn by then: the other rows, which the accuracy is about.
    rows : list of int
        The first of them, in their random order.
    predictions : list of str
        What the model predicted for these.
    low, high : float
        Ends of the interval of the accuracy.
    """

    n_labels: int
    n_rows: int
    rows: list[int]
    predictions: list[str]
    low: float = 0.0
    high: float = 1.0

    def narrow(self, labels: Mapping[int, str], drawn: Collection[int], alpha: float) -> None:
        """Narrow the interval by the rows drawn so far; one without a label may be right or wrong."""
        pairs = zip(self.rows, self.predictions, strict=True)
        seen = [(labels.get(row), prediction) for row, prediction in pairs if row in drawn]
        least = sum(label not in (None, prediction) for label, prediction in seen)
        most = sum(label != prediction for label, prediction in seen)
        wrong = wrong_rows(least, most, len(seen), self.n_rows, alpha)
        low = max(self.low, 1 - wrong[1] / self.n_rows)
        high = min(self.high, 1 - wrong[0] / self.n_rows)
        if low <= high:  # else many answers were changed since
            self.low, self.high = low, high

    def compare(
        self, predict: Predict, labels: Mapping[int, str], n_labels: int
    ) -> dict[str, Any] | None:
        """Number of labels since then, and the share of predictions that they changed, of rows without a label."""
        pairs = zip(self.rows, self.predictions, strict=True)
        before = {row: prediction for row, prediction in pairs if row not in labels}
        if not before:
            return None
        share = np.mean(np.not_equal(list(before.values()), predict(list(before))))
        return {"n_labels": n_labels - self.n_labels, "share": float(share)}


def wrong_rows(least: int, most: int, n_seen: int, n_rows: int, alpha: float) -> tuple[int, int]:
    """Least and largest number of wrong rows among `n_rows`, if of `n_seen` drawn ones `least` to `most` are wrong.

    A number is ruled out as soon as it gives the count of wrong rows a probability of at most alpha / (n_seen + 1). If
    all numbers were equally probable, each count would have the probability 1 / (n_seen + 1); the ratio of the two
    is a martingale while rows are drawn without replacement, so that the true number is ever ruled out with a
    probability of at most alpha (Ville's inequality; Waudby-Smith and Ramdas 2020).
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 - slow to import, and only the process that learns needs it

    tried = np.unique(np.linspace(0, n_rows, min(n_rows + 1, MOST_TRIED)).astype(np.int64))
    limit, step = alpha / (n_seen + 1), int(len(tried) <= n_rows)
    first, last = (
        np.flatnonzero(hypergeom.pmf(n_wrong, n_rows, tried, n_seen) > limit)[end]
        for n_wrong, end in ((least, 0), (most, -1))
    )
    return int(tried[max(first - step, 0)]), int(tried[min(last + step, len(tried) - 1)])


class Measurement:
    """Intervals of the accuracy of some models: with 95 % confidence all of them are true, whenever one looks.

    A model is kept at 40 labels and at each doubling. Rows that are drawn at random later are a fair sample, without
    replacement, of those that were left then, and the model has not learned from them. The first model may be
    wrongly measured with a probability of 2.5 %, each other with half of that of the one before.

    Parameters
    ----------
    state : list of dict, default=None
        `state` of an earlier measurement, to go on from there; None begins anew.
    """

    def __init__(self, state: Sequence[dict[str, Any]] | None = None) -> None:
        self.models = [MeasuredModel(**each) for each in state or []]
        self.changed: dict[str, Any] | None = None

    @property
    def state(self) -> list[dict[str, Any]]:
        """Models and their intervals, in numbers, strings, lists and dicts that JSON can store."""
        return [asdict(each) for each in self.models]

    def look(
        self,
        predict: Predict,
        *,
        n_labels: int,
        labels: Mapping[int, str],
        drawn: Collection[int],
        ahead: Sequence[int],
    ) -> None:
        """Narrow the intervals by the answers so far, and keep the present model if the labels have doubled.

        Parameters
        ----------
        predict : callable
            Classes that the present model predicts for rows.
        n_labels : int
            Number of labels that people have given; the model has learned from them.
        labels : mapping of int to str
            Label of each labelled row.
        drawn : collection of int
            Rows of the random order up to the last one that was drawn.
        ahead : sequence of int
            The other rows of the random order that have no answer, in this order.
        """
        drawn = set(drawn)
        for place, model in enumerate(self.models):
            model.narrow(labels, drawn, (1 - CONFIDENCE) / 2 ** (place + 1))
        halves = [model for model in self.models if 2 * model.n_labels <= n_labels]
        self.changed = halves[-1].compare(predict, labels, n_labels) if halves else None
        if ahead and n_labels >= max([FIRST, *(2 * model.n_labels for model in self.models)]):
            rows = list(ahead[:MOST_ROWS])
            self.models.append(MeasuredModel(n_labels, len(ahead), rows, list(predict(rows))))

    @property
    def claim(self) -> dict[str, Any] | None:
        """Interval that is narrow enough to stop, and its sentence; of several, the one with the highest lower end."""
        narrow = [each for each in self.models if each.high - each.low <= WIDEST]
        if not narrow:
            return None
        best = max(narrow, key=lambda each: each.low)
        low, high = int(np.floor(100 * best.low)), int(np.ceil(100 * best.high))
        return {
            "n_labels": best.n_labels,
            "low": best.low,
            "high": best.high,
            "sentence": f"After {plural(best.n_labels, 'label')} the model was right on {low} to {high} % of the other "
            f"rows ({100 * CONFIDENCE:.0f} % confidence, whenever you look): you may stop if that is good enough.",
        }
