"""Log-odds of topics, learned in steps that each leave the one before as far as that pays out of fold."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from surefoot._shrunk._departure import best_departure
from surefoot._shrunk._newton import fit_logistic
from surefoot._typing import Floats, Ints, Mask, Split

# Penalties of a step's change of the weights, strongest first; a row at even odds adds ¼ to the curvature.
PENALTIES = (1e4, 1e3, 1e2, 1e1, 1e0, 1e-1)

# Penalty of the first slope, and most of the intercept: hardly any, as every row informs them.
LIGHT = 1.0

# Most rows of all topics together that weights are learned from; of more, easy negative rows are sampled.
MOST_ROWS = 100_000
LEAST_NEGATIVES = 200


class Step(NamedTuple):
    """Columns whose weights a step may change, with the intercept, for all topics alike or topic by topic."""

    columns: Sequence[int]
    by_topic: bool


class LogOddsLine(ClassifierMixin, BaseEstimator):
    """Log-odds of one topic: an intercept and a weighted sum of columns, cut off at the range that was learned from."""

    def __init__(self, intercept: float, coef: Floats, low: Floats, high: Floats) -> None:
        self.intercept = intercept
        self.coef = coef
        self.low = low
        self.high = high

    @property
    def classes_(self) -> NDArray[np.int64]:
        """Labels: 0 without the topic, 1 with it."""
        return np.array([0, 1])

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of each row; higher speaks for the topic."""
        columns = np.clip(np.asarray(X, dtype=np.float64), self.low, self.high)
        return np.asarray(self.intercept + columns @ self.coef)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of 0 and of 1."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 where the log-odds are above 0, else 0."""
        return (self.decision_function(X) > 0).astype(np.int64)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class SteppedLogistic:
    """Logistic regressions of several topics on the same kinds of columns, which share what they learn.

    The log-odds start from one column, `own`: the score of a model, with a slope that all topics share. Each step
    then changes the weights of its columns, and the intercept, for all topics alike or for each of them. It has a ridge
    penalty towards the weights before it. The penalty is chosen by the out-of-fold Brier score; a step that saves less
    than its standard error is left out, for all topics or for a topic whose own rows do not pay for it. So a topic with
    few rows keeps the weights that all topics share, and without evidence the start alone decides.

    Parameters
    ----------
    own : int
        Column of the start.
    steps : sequence of Step
        Steps, in order.
    slope : float, default=None
        Slope of the start, such as 1 for log-odds of probabilities; None learns it.

    Attributes
    ----------
    lines_ : list of LogOddsLine
        Log-odds of each topic.
    penalties_ : list of float
        Penalty of each step; inf for one that is left out.
    held_out_ : ndarray of shape (n_rows, n_topics)
        Out-of-fold log-odds of the training rows; NaN where a column is.
    """

    def __init__(self, own: int, steps: Sequence[Step], *, slope: float | None = None) -> None:
        self.own = own
        self.steps = steps
        self.slope = slope

    def fit(
        self,
        columns: Floats,
        targets: Ints,
        folds: Sequence[Split],
        *,
        weight: Floats | None = None,
        units: NDArray[Any] | None = None,
    ) -> Self:
        """Fit on columns (n_rows, n_topics, n_columns) and zeros and ones (n_rows, n_topics)."""
        weight = np.ones(len(targets)) if weight is None else weight
        units = np.arange(len(targets)) if units is None else units
        learned = _LearnedRows(columns, targets, weight, self.own)
        problem = _Problem(learned, folds, units)
        weights = self._start(problem)
        self.penalties_ = []
        for step in self.steps:
            weights, penalty = problem.take(step, weights)
            self.penalties_.append(penalty)
        self.lines_ = [learned.line(topic) for topic in weights[-1]]
        self.held_out_ = np.full(targets.shape, np.nan)
        for fold, (_, test) in enumerate(folds):
            for t, topic in enumerate(weights[fold]):
                values = columns[test, t]
                self.held_out_[test, t] = learned.line(topic).decision_function(values)
        return self

    @property
    def is_start(self) -> bool:
        """Whether every step was left out."""
        return bool(np.isinf(self.penalties_).all())

    def _start(self, problem: "_Problem") -> Floats:
        """Weights of the start for each part and topic, intercept first."""
        rows = problem.learned
        weights = np.zeros((len(problem.parts), rows.n_topics, 1 + rows.table.shape[1]))
        for part, mask in enumerate(problem.parts):
            slope = None if self.slope is None else self.slope * rows.scale[self.own]
            weights[part, :, 1 + self.own] = (
                problem.fit_slope(mask, self.own) if slope is None else slope
            )
        return weights


class _LearnedRows:
    """Standardised columns, targets and weights of the rows that are learned from, topic after topic."""

    def __init__(self, columns: Floats, targets: Ints, weight: Floats, own: int) -> None:
        self.n_topics = targets.shape[1]
        known = np.asarray(~np.isnan(columns).any(axis=2))
        budget = MOST_ROWS // self.n_topics
        parts = [
            _kept_rows(columns[:, t, own], targets[:, t], known[:, t], budget)
            for t in range(self.n_topics)
        ]
        self.rows = np.concatenate([rows for rows, _ in parts])
        self.topic = np.repeat(np.arange(self.n_topics), [len(rows) for rows, _ in parts])
        self.weight = np.concatenate([share for _, share in parts]) * weight[self.rows]
        self.target = targets[self.rows, self.topic].astype(np.float64)
        raw = columns[self.rows, self.topic]
        self.center = np.average(raw, axis=0, weights=self.weight) if len(raw) else raw.sum(axis=0)
        self.center[own] = 0.0  # 0 is where the model's own decision changes
        spread = ((raw - self.center) ** 2 * self.weight[:, None]).sum(axis=0)
        self.scale = np.sqrt(spread / max(self.weight.sum(), 1e-300))
        self.scale[self.scale == 0] = 1.0
        self.low, self.high = raw.min(axis=0, initial=np.inf), raw.max(axis=0, initial=-np.inf)
        self.low[own], self.high[own] = -np.inf, np.inf
        self.table = (raw - self.center) / self.scale

    def line(self, weights: Floats) -> LogOddsLine:
        """Log-odds on the columns themselves, from weights of the standardised ones."""
        coef = weights[1:] / self.scale
        return LogOddsLine(float(weights[0] - coef @ self.center), coef, self.low, self.high)


def _kept_rows(own: Floats, target: Ints, known: Mask, budget: int) -> tuple[Ints, Floats]:
    """Rows of a topic to learn from, and how many rows each stands for.

    All positive rows are kept, and the negative rows with the highest scores. Of other negative rows, if they are
    too many, every k-th in the order of their scores stands for k.
    """
    positive = np.flatnonzero(known & (target == 1))
    negative = np.flatnonzero(known & (target == 0))
    most = max(budget - len(positive), len(positive), LEAST_NEGATIVES)
    if len(negative) <= most:
        rows = np.sort(np.concatenate([positive, negative]))
        return rows, np.ones(len(rows))
    ranked = negative[np.argsort(-own[negative], kind="stable")]
    hard, easy = ranked[: most // 2], ranked[most // 2 :]
    step = -(-len(easy) // (most - most // 2))
    sampled = easy[::step]
    rows = np.concatenate([positive, hard, sampled])
    share = np.ones(len(rows))
    share[len(positive) + len(hard) :] = len(easy) / len(sampled)
    return rows, share


class _Problem:
    """Rows to learn from, without each fold in turn and then all of them, and steps on them."""

    def __init__(self, learned: _LearnedRows, folds: Sequence[Split], units: NDArray[Any]) -> None:
        self.learned = learned
        self.units = units[learned.rows]
        tests = [np.isin(learned.rows, test) for _, test in folds]
        self.tests = tests
        self.parts = [*(~test for test in tests), np.ones(len(learned.rows), dtype=bool)]
        self.ones = np.column_stack([np.ones(len(learned.rows)), learned.table])

    def fit_slope(self, mask: Mask, own: int) -> float:
        """Slope of the start on the rows of a mask."""
        rows, zero = self.learned, np.zeros(1)
        return float(
            fit_logistic(
                self.ones[mask][:, [1 + own]],
                rows.target[mask],
                rows.weight[mask],
                np.array([LIGHT]),
                zero,
                zero,
            )[0]
        )

    def take(self, step: Step, weights: Floats) -> tuple[Floats, float]:
        """Weights after a step, and its penalty; those before it and inf if it does not pay."""
        places = np.array([0, *(1 + np.asarray(step.columns, dtype=np.int64))])
        candidates, starts = [weights], np.zeros((*weights.shape[:2], len(places)))
        for strength in PENALTIES:
            starts = self._changes(step, places, weights, starts, strength)
            changed = weights.copy()
            changed[:, :, places] += starts
            candidates.append(changed)
        losses = np.column_stack([self._held_out_losses(each) for each in candidates])
        best = best_departure(losses, self.learned.weight, self.units)
        after = candidates[best]
        if step.by_topic and best:
            after = self._where_it_pays(weights, after, losses[:, [0, best]])
        return after, (np.inf, *PENALTIES)[best]

    def _where_it_pays(self, before: Floats, after: Floats, losses: Floats) -> Floats:
        """Weights after a step of the topics whose own rows show that it pays, and of the others those before it."""
        rows, kept = self.learned, before.copy()
        for t in range(rows.n_topics):
            own = rows.topic == t
            if best_departure(losses[own], rows.weight[own], self.units[own]):
                kept[:, t] = after[:, t]
        return kept

    def _changes(
        self, step: Step, places: Ints, weights: Floats, starts: Floats, strength: float
    ) -> Floats:
        """Changes of the weights at `places` for each part and topic, with one penalty."""
        rows, changes = self.learned, starts.copy()
        penalty = np.full(len(places), strength)
        penalty[0] = min(strength, LIGHT)
        everything = np.ones(len(rows.topic), dtype=bool)
        by_topic = [rows.topic == t for t in range(rows.n_topics)]
        groups = by_topic if step.by_topic else [everything]
        for part, mask in enumerate(self.parts):
            offset = self._log_odds(weights[part])
            for number, group in enumerate(groups):
                chosen = np.flatnonzero(mask & group)
                change = fit_logistic(
                    self.ones[np.ix_(chosen, places)],
                    rows.target[chosen],
                    rows.weight[chosen],
                    penalty,
                    np.zeros(len(places)),
                    starts[part, number],
                    offset[chosen],
                )
                changes[part, number if step.by_topic else slice(None)] = change
        return changes

    def _log_odds(self, weights: Floats) -> Floats:
        """Log-odds of all learned rows by the weights of their topics."""
        return np.asarray(np.einsum("rc,rc->r", self.ones, weights[self.learned.topic]))

    def _held_out_losses(self, weights: Floats) -> Floats:
        """Brier loss of each row by the weights that were learned without its fold.

        Log loss would mostly count how small the probabilities of the many easy rows are.
        """
        losses = np.zeros(len(self.ones))
        for test, part in zip(self.tests, weights, strict=False):
            losses[test] = (expit(self._log_odds(part)[test]) - self.learned.target[test]) ** 2
        return losses
