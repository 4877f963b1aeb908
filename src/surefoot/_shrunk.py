"""Logistic regressions and pools of opinions that start from known weights, and depart as far as rows support it."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator

from surefoot._typing import Floats, Ints, Mask, Split

MOST_NEWTON_STEPS = 50

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


def pool_weights(
    opinions: Floats,
    codes: Ints,
    weight: Floats | None = None,
    *,
    penalty: float = POOL_PENALTY,
    least: float | None = None,
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
    least : float, default=None
        Least weight; None for any.
    """
    weight = np.ones(len(codes)) if weight is None else weight
    every = slice(None, None, -(-len(codes) // MOST_POOLED) or 1)
    opinions, codes, weight = opinions[:, every], codes[every], weight[every]
    rows = np.arange(len(codes))
    of_labels = opinions[:, rows, codes] @ weight
    start = np.full(len(opinions), 1 / len(opinions))

    def surprise(at: Floats) -> tuple[float, Floats]:
        logs = pooled(opinions, at)
        expected = np.einsum("rc,orc,r->o", np.exp(logs), opinions, weight)
        slope = expected - of_labels + penalty * (at - start)
        ridge = 0.5 * penalty * ((at - start) ** 2).sum()
        return (ridge - weight @ logs[rows, codes]) / len(codes), slope / len(codes)

    bounds = [(least, None)] * len(opinions)
    found = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    # All zero where nothing is known of the labels: the opinions stand as they are.
    return np.asarray(found) if found.any() else start


def pooled(opinions: Floats, weights: Floats) -> Floats:
    """Log-probabilities of the classes by a pool of opinions: their weighted mean, normalised (logarithmic pool)."""
    return np.asarray(log_softmax(np.tensordot(weights, opinions, 1), axis=1))


def with_ones(rows: Floats) -> Floats:
    """Rows with a column of ones before the others."""
    return np.column_stack([np.ones(len(rows)), rows])


def smoothed_targets(y: Any, weight: Floats) -> Floats:
    """Targets of Platt (1999): of n ones each is (n + 1)/(n + 2), of n zeros 1/(n + 2), so never exactly 0 or 1."""
    n_ones, n_zeros = weight[y == 1].sum(), weight[y == 0].sum()
    return np.where(y == 1, (n_ones + 1) / (n_ones + 2), 1 / (n_zeros + 2))


def fit_logistic(
    rows: Floats,
    target: Floats,
    weight: Floats,
    penalty: Floats,
    prior: Floats,
    start: Floats,
    offset: Floats | float = 0.0,
    signs: Floats | float = 0.0,
) -> Floats:
    """Weights that minimise Σ w·logloss + ½ Σ penalty·(weights − prior)², by Newton's method with halved steps.

    The log-odds of a row are its `offset` plus the sum of its weighted columns. `signs` holds the expected sign of each
    weight, 0 for either: a weight of the other sign is penalised by `AGAINST_SIGN` more, towards 0. About ten errors
    outweigh this penalty.
    """

    def loss(at: Floats) -> float:
        log_odds = offset + rows @ at
        against = np.where(signs * at < 0, AGAINST_SIGN, 0.0)
        ridge = 0.5 * penalty @ (at - prior) ** 2 + 0.5 * against @ at**2
        return float(weight @ (np.logaddexp(0, log_odds) - target * log_odds) + ridge)

    weights, now = start, loss(start)
    for _ in range(MOST_NEWTON_STEPS):
        probability = expit(offset + rows @ weights)
        against = np.where(signs * weights < 0, AGAINST_SIGN, 0.0)
        gradient = rows.T @ (weight * (probability - target)) + penalty * (weights - prior)
        curvature = curvature_of_logistic(rows, weight, penalty + against, probability)
        step = np.linalg.solve(curvature, gradient + against * weights)
        for _ in range(20):
            trial = loss(weights - step)
            if trial <= now * (1 + 1e-12):
                break
            step /= 2
        weights, now = weights - step, trial
        if np.abs(step).max() < 1e-4:
            break
    return weights


def curvature_of_logistic(
    rows: Floats, weight: Floats, penalty: Floats, probability: Floats
) -> Floats:
    """Second derivatives of what `fit_logistic` minimises, at weights that give the rows these probabilities."""
    curvature = weight * probability * (1 - probability)
    return np.asarray((rows.T * curvature) @ rows + np.diag(penalty))


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

    def __init__(self, intercept: float, coef: Floats, low: Floats, high: Floats) -> None:
        self.intercept = intercept
        self.coef = coef
        self.low = low
        self.high = high

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of each row; higher means that the topic is more likely."""
        columns = np.clip(np.asarray(X, dtype=np.float64), self.low, self.high)
        return np.asarray(self.intercept + columns @ self.coef)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of 0 and of 1."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])


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
        problem = _Problem(columns, targets, folds, weight, units, self.own)
        weights = problem.start(self.slope)
        self.penalties_ = []
        for step in self.steps:
            weights, penalty = problem.take(step, weights)
            self.penalties_.append(penalty)
        self.lines_ = [problem.line(topic) for topic in weights[-1]]
        self.held_out_ = np.full(targets.shape, np.nan)
        for fold, (_, test) in enumerate(folds):
            for t, topic in enumerate(weights[fold]):
                self.held_out_[test, t] = problem.line(topic).decision_function(columns[test, t])
        return self

    @property
    def is_start(self) -> bool:
        """Whether every step was left out."""
        return bool(np.isinf(self.penalties_).all())


class _Problem:
    """Standardised rows to learn from, topic after topic: without each fold in turn, then all; and steps on them.

    `weights` of all methods have the shape (n_parts, n_topics, 1 + n_columns), intercepts first.
    """

    def __init__(
        self,
        columns: Floats,
        targets: Ints,
        folds: Sequence[Split],
        weight: Floats,
        units: NDArray[Any],
        own: int,
    ) -> None:
        self.own, self.n_topics = own, targets.shape[1]
        known = np.asarray(~np.isnan(columns).any(axis=2))
        budget = MOST_ROWS // self.n_topics
        kept = [
            _kept_rows(columns[:, t, own], targets[:, t], known[:, t], budget)
            for t in range(self.n_topics)
        ]
        rows = np.concatenate([rows for rows, _ in kept])
        self.topic = np.repeat(np.arange(self.n_topics), [len(rows) for rows, _ in kept])
        self.weight = np.concatenate([share for _, share in kept]) * weight[rows]
        self.target = targets[rows, self.topic].astype(np.float64)
        self.units = units[rows]
        self.tests = [np.isin(rows, test) for _, test in folds]
        self.parts = [*(~test for test in self.tests), np.ones(len(rows), dtype=bool)]
        raw = columns[rows, self.topic]
        self.center = np.average(raw, axis=0, weights=self.weight) if len(raw) else raw.sum(axis=0)
        self.center[own] = 0.0  # 0 is where the model's own decision changes
        spread = ((raw - self.center) ** 2 * self.weight[:, None]).sum(axis=0)
        self.scale = np.sqrt(spread / max(self.weight.sum(), 1e-300))
        self.scale[self.scale == 0] = 1.0
        self.low, self.high = raw.min(axis=0, initial=np.inf), raw.max(axis=0, initial=-np.inf)
        self.low[own], self.high[own] = -np.inf, np.inf
        self.table = with_ones((raw - self.center) / self.scale)

    def start(self, slope: float | None) -> Floats:
        """Weights before the first step: the given slope of the own column, or for each part the best one."""
        weights = np.zeros((len(self.parts), self.n_topics, self.table.shape[1]))
        for part, mask in enumerate(self.parts):
            if slope is None:
                column, zero = self.table[mask][:, [1 + self.own]], np.zeros(1)
                data = column, self.target[mask], self.weight[mask]
                weights[part, :, 1 + self.own] = fit_logistic(*data, np.array([LIGHT]), zero, zero)
            else:
                weights[part, :, 1 + self.own] = slope * self.scale[self.own]
        return weights

    def take(self, step: Step, weights: Floats) -> tuple[Floats, float]:
        """Weights after a step, and its penalty; the weights before it and inf if it does not reduce the loss."""
        places = np.array([0, *(1 + np.asarray(step.columns, dtype=np.int64))])
        candidates, changes = [weights], np.zeros((*weights.shape[:2], len(places)))
        for strength in PENALTIES:
            changes = self._changes(step, places, weights, changes, strength)
            changed = weights.copy()
            changed[:, :, places] += changes
            candidates.append(changed)
        losses = np.column_stack([self._held_out_losses(each) for each in candidates])
        best = best_departure(losses, self.weight, self.units)
        after = candidates[best].copy()
        if step.by_topic and best:
            for t in range(self.n_topics):
                own = self.topic == t
                if not best_departure(losses[own][:, [0, best]], self.weight[own], self.units[own]):
                    after[:, t] = weights[:, t]
        return after, (np.inf, *PENALTIES)[best]

    def _changes(
        self, step: Step, places: Ints, weights: Floats, starts: Floats, strength: float
    ) -> Floats:
        """Changes of the weights at `places` for each part and topic, with one penalty."""
        changes = starts.copy()
        penalty = np.full(len(places), strength)
        penalty[0] = min(strength, LIGHT)
        every = np.ones(len(self.topic), dtype=bool)
        groups = [self.topic == t for t in range(self.n_topics)] if step.by_topic else [every]
        for part, mask in enumerate(self.parts):
            offset = self._log_odds(weights[part])
            for number, group in enumerate(groups):
                chosen = np.flatnonzero(mask & group)
                changes[part, number if step.by_topic else slice(None)] = fit_logistic(
                    self.table[np.ix_(chosen, places)],
                    self.target[chosen],
                    self.weight[chosen],
                    penalty,
                    np.zeros(len(places)),
                    starts[part, number],
                    offset[chosen],
                )
        return changes

    def _held_out_losses(self, weights: Floats) -> Floats:
        """Brier loss of each row by the weights that were learned without its fold.

        Log loss would mostly count how small the probabilities of the many easy rows are.
        """
        losses = np.zeros(len(self.table))
        for test, part in zip(self.tests, weights, strict=False):
            losses[test] = (expit(self._log_odds(part)[test]) - self.target[test]) ** 2
        return losses

    def _log_odds(self, weights: Floats) -> Floats:
        """Log-odds of all learned rows by the weights of their topics."""
        return np.asarray(np.einsum("rc,rc->r", self.table, weights[self.topic]))

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
    sampled = easy[:: -(-len(easy) // (most - most // 2))]
    share = np.ones(len(positive) + len(hard) + len(sampled))
    share[len(positive) + len(hard) :] = len(easy) / len(sampled)
    return np.concatenate([positive, hard, sampled]), share
