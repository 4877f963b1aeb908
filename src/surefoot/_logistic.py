"""Penalised logistic regressions that start from known weights, and leave them as far as the rows support it.

`fit_logistic` is the one solver: calibrators, learners of errors, pools of opinions and the correction of a monitored
error differ in what they give it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from surefoot._typing import Floats, Ints, Mask, Split

# Newton's method ends with a step that changes no weight by more, after which weights are right to about its square;
# rounding may make the last steps a little worse.
MOST_NEWTON_STEPS, MOST_HALVINGS = 50, 20
LEAST_STEP, ROUNDING = 1e-5, 1e-12

# Penalty of a weight of another sign than expected.
AGAINST_SIGN = 10.0

# Penalties of a step's change of the weights, strongest first; a row at even odds adds ¼ to the curvature.
PENALTIES = (1e4, 1e3, 1e2, 1e1, 1e0, 1e-1)

# Penalty of the first slope, and most of the intercept: hardly any, as every row informs them.
LIGHT = 1.0

# Most rows of all topics together that weights are learned from; of more, easy negative rows are sampled.
MOST_ROWS = 100_000
LEAST_NEGATIVES = 200

# Penalty of the weights of a pool, towards equal ones: about as strong as some rows.
POOL_PENALTY = 10.0
# Most rows that these weights are learned from: of more, every k-th.
MOST_POOLED = 10_000
# Most of these rows times the classes: with 1,000 classes a handful of weights is learned from 1,000 rows.
MOST_POOLED_VALUES = 1_000_000


class FittedLogistic(NamedTuple):
    """Weights of a penalised logistic regression, and the second derivatives of what they minimise."""

    weights: Floats
    curvature: Floats


def fit_logistic(
    rows: Floats,
    targets: Any,
    weight: Floats,
    penalty: Any,
    start: Any,
    *,
    offset: Floats | float = 0.0,
    signs: Floats | float = 0.0,
    least: float = -np.inf,
) -> FittedLogistic:
    """Weights that minimise Σ w·logloss + ½ (weights − start)ᵀ penalty (weights − start), by Newton's method.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_weights) or (n_outputs, ..., n_rows, n_weights)
        Columns of the rows. The log-odds of an output, against one that is always 0, are the sum of its weighted
        columns: there is one output for two classes, and one less than there are classes for more. Further axes before
        the rows are those of problems that are solved at once.
    targets : array-like of shape (n_rows,) or (n_outputs, ..., n_rows)
        Share of each output in each row, between 0 and 1.
    weight : ndarray of shape (..., n_rows)
        Weights of the rows.
    penalty : float, or array-like of shape (n_weights,) or (n_weights, n_weights)
        One penalty for all, one for each weight, or a matrix such as the inverse of a covariance.
    start : array-like that broadcasts to (..., n_weights)
        Weights from which the others depart.
    offset : ndarray of shape (n_rows,), default=0.0
        Log-odds that are added to those of each row.
    signs : ndarray of shape (n_weights,), default=0.0
        Expected sign of each weight, 0 for either: one of the other sign is penalised by `AGAINST_SIGN` more, towards
        0, which about ten errors outweigh.
    least : float, default=-inf
        Least weight.

    Returns
    -------
    fitted : FittedLogistic
        Weights of shape (..., n_weights), and second derivatives of shape (..., n_weights, n_weights).
    """
    rows = rows if rows.ndim > 2 else rows[None]
    targets, every = np.asarray(targets, dtype=np.float64), np.eye(rows.shape[-1])
    penalty = every * penalty if np.ndim(penalty) < 2 else penalty

    def describe(at: Floats) -> tuple[Floats, Floats, Floats]:
        """Loss of each problem, with its first and second derivatives."""
        log_odds = offset + (rows @ at[..., None])[..., 0]
        top = np.maximum(log_odds.max(axis=0), 0.0)
        odds = np.exp(log_odds - top)
        sums = np.exp(-top) + odds.sum(axis=0)
        chances, total = odds / sums, top + np.log(sums)
        away, against = at - start, np.where(signs * at < 0, AGAINST_SIGN, 0.0)
        pull = away @ penalty
        ridge = (pull * away + against * at**2).sum(axis=-1) / 2
        loss = (weight * (total - (targets * log_odds).sum(axis=0))).sum(axis=-1) + ridge
        excess = (weight * (chances - targets))[..., None]
        slope = (rows.swapaxes(-1, -2) @ excess)[..., 0].sum(axis=0) + pull + against * at
        # One output beside the constant one bends by p(1 - p), several by the covariance of the outputs.
        bend = weight * chances * (1 - chances if len(rows) == 1 else 1)
        curvature = (rows.swapaxes(-1, -2) @ (bend[..., None] * rows)).sum(axis=0)
        if len(rows) > 1:
            mean = np.einsum("k...r,k...rw->...rw", chances, rows)
            curvature -= mean.swapaxes(-1, -2) @ (weight[..., None] * mean)
        return loss, slope, curvature + penalty + against[..., None] * every

    weights = np.broadcast_to(start, (*weight.shape[:-1], len(every))).astype(np.float64)
    now, slope, curvature = describe(weights)
    for _ in range(MOST_NEWTON_STEPS):
        held = (weights <= least) & (slope > 0)
        free = np.where(held[..., None] | held[..., None, :], every, curvature)
        step = np.linalg.solve(free, np.where(held, 0.0, slope)[..., None])[..., 0]
        for _ in range(MOST_HALVINGS):
            trial = np.maximum(weights - step, least)
            loss, slope, curvature = describe(trial)
            worse = loss > now * (1 + ROUNDING)
            if not worse.any():
                break
            step = np.where(worse[..., None], step / 2, step)
        weights, now = trial, loss
        if np.abs(step).max(initial=0.0) < LEAST_STEP:
            break
    return FittedLogistic(weights, curvature)


def with_ones(rows: Floats) -> Floats:
    """Rows with a column of ones before the others."""
    return np.concatenate([np.ones((*rows.shape[:-1], 1)), rows], axis=-1)


def smoothed_targets(y: Any, weight: Floats) -> Floats:
    """Targets of Platt (1999): of n ones each is (n + 1)/(n + 2), of n zeros 1/(n + 2), so never exactly 0 or 1."""
    n_ones, n_zeros = weight[y == 1].sum(), weight[y == 0].sum()
    return np.where(y == 1, (n_ones + 1) / (n_ones + 2), 1 / (n_zeros + 2))


def pool_weights(
    opinions: Floats,
    codes: Ints,
    weight: Floats | None = None,
    *,
    penalty: float = POOL_PENALTY,
    least: float = -np.inf,
) -> Floats:
    """Weights with which a pool of opinions makes the labels most likely, shrunk towards equal ones.

    A weight below 0 takes away what another opinion has in excess.

    Parameters
    ----------
    opinions : ndarray of shape (n_opinions, n_rows, n_classes)
        Log-probabilities of the classes, up to a constant per row.
    codes : ndarray of shape (n_rows,)
        Number of each row's label.
    weight : ndarray of shape (n_rows,), default=None
        Weights of the rows.
    penalty : float, default=10.0
        Penalty of the squared difference to equal weights.
    least : float, default=-inf
        Least weight.
    """
    weight = np.ones(len(codes)) if weight is None else weight
    most = max(1, min(MOST_POOLED, MOST_POOLED_VALUES // opinions.shape[2]))
    every = slice(None, None, -(-len(codes) // most) or 1)
    first, *others = opinions[:, every].T
    targets = codes[every] == np.arange(1, opinions.shape[2])[:, None]
    start = np.full(len(opinions), 1 / len(opinions))
    rows = np.stack(others) - first
    found = fit_logistic(rows, targets, weight[every], penalty, start, least=least).weights
    # All zero where nothing is known of the labels: the opinions stand as they are.
    return found if found.any() else start


def pooled(opinions: Floats, weights: Floats) -> Floats:
    """Log-probabilities of the classes by a pool of opinions: their weighted mean, normalised (logarithmic pool)."""
    return np.asarray(log_softmax(np.tensordot(weights, opinions, 1), axis=1))


def best_departure(
    losses: Floats, weight: Floats | None = None, units: NDArray[np.generic] | None = None
) -> int:
    """Index of the column of losses with the largest saving over the first column, minus its standard error.

    The first column holds the losses of the start on held-out rows; it is chosen where no other column saves more
    than one standard error. Rows of one unit, such as copies of a row, are counted as one.
    """
    saved = losses[:, :1] - losses
    if weight is not None:
        saved = saved * weight[:, None]
    if units is not None:
        _, codes = np.unique(units, return_inverse=True)
        saved = np.column_stack([np.bincount(codes, column) for column in saved.T])
    return int((saved.sum(axis=0) - np.sqrt((saved**2).sum(axis=0))).argmax())


class Step(NamedTuple):
    """Columns whose weights a step may change, with the intercept, for all topics alike or topic by topic."""

    columns: Sequence[int]
    by_topic: bool


def steps_of(n_scores: int, n_columns: int, n_topics: int) -> list[Step]:
    """Steps from the score of the start to all scores, then to all columns; the last is taken topic by topic."""
    scores, everything = range(n_scores), range(n_columns)
    steps = [Step(scores, by_topic=False)]
    if n_topics > 1:
        steps.append(Step(scores, by_topic=True))
    if n_columns > n_scores:
        steps.append(Step(everything, by_topic=n_topics > 1))
    return steps


class LogOddsLine(BaseEstimator):
    """Log-odds of one topic: an intercept and a weighted sum of columns, clipped to the range that was learned from."""

    def __init__(
        self, intercept: float, coef: Floats, low: Any = -np.inf, high: Any = np.inf
    ) -> None:
        self.intercept = intercept
        self.coef = coef
        self.low = low
        self.high = high

    @classmethod
    def of_standardised(
        cls, weights: Floats, center: Floats, scale: Floats, *limits: Floats
    ) -> Self:
        """Line on the columns themselves, from weights of an intercept and of the standardised columns."""
        coef = weights[1:] / scale
        return cls(float(weights[0] - coef @ center), coef, *limits)

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of each row; higher means that the topic is more likely."""
        columns = np.clip(np.asarray(X, dtype=np.float64), self.low, self.high)
        return np.asarray(self.intercept + columns @ self.coef)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of 0 and of 1."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])


def calibrate(columns: Floats, targets: Any, weight: Floats, penalty: float) -> LogOddsLine:
    """Line for targets between 0 and 1, on standardised columns, all with one penalty but for the intercept."""
    scaler = StandardScaler().fit(columns, sample_weight=weight)
    rows = with_ones((columns - scaler.mean_) / scaler.scale_)
    penalties = np.append(0.0, np.full(columns.shape[1], penalty))
    weights, _ = fit_logistic(rows, targets, weight, penalties, 0.0)
    return LogOddsLine.of_standardised(weights, scaler.mean_, scaler.scale_)


class SteppedLogistic:
    """Logistic regressions of several topics on the same kinds of columns, with shared weights.

    The log-odds start from one column, `own`: the score of a model, with a slope that all topics share. Each step
    then changes the weights of its columns, and the intercept, for all topics alike or for each of them. It has a ridge
    penalty towards the weights before it. The penalty is chosen by the out-of-fold Brier score; a step that saves less
    than its standard error is left out, for all topics or for a topic whose own rows do not support it. So a topic with
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
        rows = self._sample(columns, targets, weight)
        raw, self._units = columns[rows, self._topic], units[rows]
        self._tests = [np.isin(rows, test) for _, test in folds]
        center = np.average(raw, axis=0, weights=self._weight) if len(raw) else raw.sum(axis=0)
        center[self.own] = 0.0  # 0 is where the model's own decision changes
        spread = ((raw - center) ** 2 * self._weight[:, None]).sum(axis=0)
        scale = np.sqrt(spread / max(self._weight.sum(), 1e-300))
        scale[scale == 0] = 1.0
        low, high = raw.min(axis=0, initial=np.inf), raw.max(axis=0, initial=-np.inf)
        low[self.own], high[self.own] = -np.inf, np.inf
        self._table = with_ones((raw - center) / scale)
        weights = self._start(targets.shape[1], scale[self.own])
        self.penalties_ = []
        for step in self.steps:
            weights, penalty = self._take(step, weights)
            self.penalties_.append(penalty)
        lines = [
            [LogOddsLine.of_standardised(topic, center, scale, low, high) for topic in part]
            for part in weights
        ]
        self.lines_ = lines[-1]
        self.held_out_ = np.full(targets.shape, np.nan)
        for (_, test), of_fold in zip(folds, lines, strict=False):
            for topic, line in enumerate(of_fold):
                self.held_out_[test, topic] = line.decision_function(columns[test, topic])
        return self

    @property
    def is_start(self) -> bool:
        """Whether every step was left out."""
        return bool(np.isinf(self.penalties_).all())

    def _sample(self, columns: Floats, targets: Ints, weight: Floats) -> Ints:
        """Rows to learn from, topic after topic; keeps the topic, the target and the weight of each."""
        known = np.asarray(~np.isnan(columns).any(axis=2))
        budget = MOST_ROWS // targets.shape[1]
        kept = [
            _kept_rows(own, target, is_known, budget)
            for own, target, is_known in zip(
                columns[:, :, self.own].T, targets.T, known.T, strict=True
            )
        ]
        rows = np.concatenate([rows for rows, _ in kept])
        self._topic = np.repeat(np.arange(len(kept)), [len(rows) for rows, _ in kept])
        self._weight = np.concatenate([share for _, share in kept]) * weight[rows]
        self._target = targets[rows, self._topic].astype(np.float64)
        return rows

    def _fit(self, chosen: Mask, places: Any, penalty: Any, offset: Floats | float = 0.0) -> Floats:
        """Weights of the columns at `places`, from some of the sampled rows."""
        rows = np.flatnonzero(chosen)
        table = self._table[np.ix_(rows, places)]
        given = np.broadcast_to(offset, len(chosen))[rows]
        data = table, self._target[rows], self._weight[rows]
        return fit_logistic(*data, penalty, 0.0, offset=given).weights

    def _parts(self, weights: Floats) -> Iterator[tuple[Floats, Mask]]:
        """Weights of each part, and its rows: those outside of each fold in turn, then all."""
        every = np.ones(len(self._topic), dtype=bool)
        return zip(weights, [*(~test for test in self._tests), every], strict=True)

    def _start(self, n_topics: int, scale: float) -> Floats:
        """Weights before the first step, (n_parts, n_topics, 1 + n_columns): the given slope, or the best of a part."""
        weights = np.zeros((len(self._tests) + 1, n_topics, self._table.shape[1]))
        own = [1 + self.own]
        for part, rows in self._parts(weights):
            part[:, own] = self._fit(rows, own, LIGHT) if self.slope is None else self.slope * scale
        return weights

    def _take(self, step: Step, weights: Floats) -> tuple[Floats, float]:
        """Weights after a step, and its penalty; the weights before it and inf if it does not reduce the loss."""
        candidates = [weights, *(self._changed(step, weights, each) for each in PENALTIES)]
        losses = np.column_stack([self._held_out_losses(each) for each in candidates])
        best = best_departure(losses, self._weight, self._units)
        after = candidates[best].copy()
        for topic in range(weights.shape[1]) if step.by_topic and best else ():
            own = self._topic == topic
            saved = losses[own][:, [0, best]], self._weight[own], self._units[own]
            if not best_departure(*saved):
                after[:, topic] = weights[:, topic]
        return after, (np.inf, *PENALTIES)[best]

    def _changed(self, step: Step, weights: Floats, strength: float) -> Floats:
        """Weights of all parts and topics after a step with one penalty."""
        places = np.array([0, *(1 + np.asarray(step.columns, dtype=np.int64))])
        penalty = np.full(len(places), strength)
        penalty[0] = min(strength, LIGHT)
        topics = range(weights.shape[1]) if step.by_topic else [slice(None)]
        changed = weights.copy()
        for part, rows in self._parts(changed):
            offset = self._log_odds(part)
            for topic in topics:
                group = rows & (self._topic == topic) if step.by_topic else rows
                own = part[topic]  # a view
                own[..., places] += self._fit(group, places, penalty, offset)
        return changed

    def _held_out_losses(self, weights: Floats) -> Floats:
        """Brier loss of each row by the weights that were learned without its fold.

        Log loss would mostly count how small the probabilities of the many easy rows are.
        """
        losses = np.zeros(len(self._table))
        for test, part in zip(self._tests, weights, strict=False):
            losses[test] = (expit(self._log_odds(part)[test]) - self._target[test]) ** 2
        return losses

    def _log_odds(self, weights: Floats) -> Floats:
        """Log-odds of all learned rows by the weights of their topics."""
        return np.asarray(np.einsum("rc,rc->r", self._table, weights[self._topic]))


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
    sampled = easy[:: -(-len(easy) // (most - most // 2))]
    share = np.ones(len(positive) + len(hard) + len(sampled))
    share[len(positive) + len(hard) :] = len(easy) / len(sampled)
    return np.concatenate([positive, hard, sampled]), share
