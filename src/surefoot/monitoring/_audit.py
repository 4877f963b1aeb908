"""Audit: the mean loss of given rows from a few labels, valid whatever the model and whatever the shift."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, check_scalar

from surefoot._error_estimators import check_error_estimator
from surefoot._tables import count_rows, is_missing
from surefoot._typing import Floats, Ints
from surefoot._validation import check_number, check_share
from surefoot._words import InWords, listed, number, percent, plural

# Draws beyond this number, and beyond the number of rows, cannot be meant.
MOST_DRAWS = 100_000

# Share of the odds that is the same for every row; the rest follows the estimated error. No weight is then above
# 4/3, so that an estimate that is worth nothing costs little.
FLOOR = 0.75

# Share of the held-out errors of a regressor that are beyond the default tolerance.
BEYOND = 0.1

# Largest share of the capital that one draw can lose: with all of it, one surprise would end the game.
MOST_AT_STAKE = 0.9

# Draws that the variance expected beforehand counts as.
PRIOR_DRAWS = 10

# Confidence that the bets are best for. They are the same for any other, so that a higher one never gives less.
AIM = 0.9

# Halvings until the end of an interval is known to nine digits, and steps in which the ends before it are searched.
HALVINGS = 30
STEPS = 512


def audit(
    error_estimator: Any,
    X_new: Any,
    n_labels: int,
    *,
    tolerance: float | None = None,
    random_state: Any = None,
) -> "Audit":
    """Draw rows to label; from their labels, a valid interval for the share of wrong predictions on the given rows.

    Rows that are probably wrong are drawn more often, and the labels are weighed accordingly; what the error
    estimator knew already is subtracted. So the interval is narrower than from rows drawn evenly if the estimate is
    good, and it is valid if the estimate is not.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        Fitted error estimator.
    X_new : array-like, CSR or frame of shape (n_rows, n_columns)
        Rows that the model is used on.
    n_labels : int
        Number of draws, with replacement.
    tolerance : float, default=None
        Size beyond which the error of a regressor counts as wrong. The default is the size that 10 % of the held-out
        errors of `fit` are beyond.
    random_state : int, RandomState or None, default=None
        Seed of the draws. It must not be chosen by what it draws.

    Returns
    -------
    audit : Audit
        Has `rows`, the positions to have labelled, and `result(y, confidence=0.9)`.

    Notes
    -----
    The result is about the mean loss of the rows of `X_new`, and of no others: the share of wrong predictions; the
    mean cost if there is a cost matrix; for a regressor, the share of errors beyond `tolerance`. (Nothing valid can
    be said about a mean of errors that have no largest one.)

    With N rows, estimated losses f and draws with probabilities q = (3/4 + f / (4 mean f)) / N, each draw gives
    mean f + (loss − f) / (N q): bounded, independent, and the mean loss on average (active inference, Zrnic and Candès
    2024). Their mean is bounded by betting (Waudby-Smith and Ramdas 2023), with bets that depend on earlier draws only.

    References
    ----------
    Zrnic and Candès, "Active statistical inference", 2024. Waudby-Smith and Ramdas, "Estimating means of bounded
    random variables by betting", Journal of the Royal Statistical Society B 86, 2024.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.monitoring import audit
    >>> X, y = make_classification(3000, class_sep=0.5, random_state=0)
    >>> error_estimator = IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(X[:500], y[:500])
    >>> drawn = audit(error_estimator, X[500:], 200, random_state=0)
    >>> result = drawn.result(y[500:][drawn.rows])
    >>> low, high = result.interval
    >>> bool(low < (error_estimator.predict(X[500:]) != y[500:]).mean() < high)
    True
    >>> result.is_broken(0.05)
    True
    """
    check_scalar(n_labels, "n_labels", Integral, min_val=1)
    check_error_estimator(error_estimator)
    if count_rows(X_new) == 0:
        raise ValueError("X_new has no rows: there is nothing to audit.")
    if n_labels > (most := max(MOST_DRAWS, count_rows(X_new))):
        words = plural(count_rows(X_new), "row")
        raise ValueError(
            f"{n_labels:,} labels are too many for {words}: at most {most:,} are drawn."
        )
    loss = loss_of(error_estimator, tolerance)
    estimates = estimated_losses(error_estimator, X_new, loss)
    n_rows, mean = len(estimates), float(estimates.mean())
    # The probability of a row is a floor plus its estimated loss.
    odds = FLOOR + (1 - FLOOR) * estimates / mean if mean > 0 else np.ones(n_rows)
    rows = check_random_state(random_state).choice(n_rows, size=n_labels, p=odds / odds.sum())
    weights = 1 / odds
    return Audit(
        rows=rows.astype(np.int64),
        weights=weights[rows],
        predictions=np.asarray(error_estimator.predict(X_new))[rows],
        n_rows=n_rows,
        loss=loss,
        _estimates=estimates[rows],
        _plan=BettingPlan(
            n_labels,
            least=mean - float((weights * estimates).max()),
            most=mean + float((weights * (1 - estimates)).max()),
            mean=mean,
            # Of 0 and 1 with the estimated chances: sum of q w² f (1 − f), where q w is 1 / n_rows.
            variance=float((weights * estimates * (1 - estimates)).mean()),
        ),
    )


def loss_of(error_estimator: Any, tolerance: float | None) -> "Loss":
    """Loss that an error estimator is audited by."""
    held_out = error_estimator.held_out_
    if is_classifier(error_estimator):
        if tolerance is not None:
            raise ValueError("tolerance is a size of numbers: a classifier has none.")
        classes, costs = np.asarray(error_estimator.classes_).tolist(), held_out.costs
        least, most = (0.0, 1.0) if costs is None else (float(costs.min()), float(costs.max()))
        return Loss(least, most, classes, costs, None, float(held_out.losses.mean()))
    sizes = _sizes(error_estimator, held_out.losses)
    if tolerance is None:
        tolerance = float(np.quantile(sizes, 1 - BEYOND, method="higher"))
    tolerance = check_number(tolerance, "tolerance", min_val=0)
    return Loss(0.0, 1.0, None, None, tolerance, float(np.mean(sizes > tolerance)))


def estimated_losses(error_estimator: Any, X: Any, loss: "Loss") -> Floats:
    """Scaled loss that each row is expected to have, by the error estimator."""
    errors = np.asarray(error_estimator.predict_error(X), dtype=np.float64)
    if loss.tolerance is None:
        return loss.scaled(errors)
    # Errors are taken for their estimated sizes times a factor that is distributed as on the held-out rows.
    held_out, tiny = error_estimator.held_out_, np.finfo(np.float64).tiny
    factors = np.sort(
        _sizes(error_estimator, held_out.losses)
        / np.maximum(_sizes(error_estimator, held_out.error), tiny)
    )
    limits = loss.tolerance / np.maximum(_sizes(error_estimator, errors), tiny)
    return 1 - np.searchsorted(factors, limits, side="right") / len(factors)


def _sizes(error_estimator: Any, errors: Floats) -> Floats:
    """Absolute errors, also where the loss is the squared error."""
    sizes = np.asarray(errors, dtype=np.float64)
    return np.sqrt(sizes) if error_estimator.loss == "squared" else sizes


@dataclass(frozen=True, eq=False)
class Loss:
    """Loss of a prediction as a number from 0 to 1, and its unit.

    Attributes
    ----------
    least, most : float
        Loss that is scaled to 0, and loss that is scaled to 1.
    classes : list or None
        Classes of the model; None for a regressor.
    costs : ndarray of shape (n_classes, n_classes) or None
        Cost of each mistake, truth by prediction; None if every mistake counts alike.
    tolerance : float or None
        Size beyond which the error of a regressor counts; None for a classifier.
    when_fitted : float
        Mean loss of the held-out rows of `fit`.
    """

    least: float
    most: float
    classes: list[Any] | None
    costs: Floats | None
    tolerance: float | None
    when_fitted: float

    @property
    def is_share(self) -> bool:
        """Whether the mean loss is a share of predictions."""
        return self.costs is None

    def scaled(self, losses: Floats) -> Floats:
        """Losses between 0 and 1."""
        span = self.most - self.least
        return np.clip((losses - self.least) / span, 0.0, 1.0) if span > 0 else 0.0 * losses

    def unscaled(self, value: Any) -> Any:
        """Number between 0 and 1 in the unit of the loss."""
        return self.least + value * (self.most - self.least)

    def of(self, targets: Any, predictions: NDArray[Any]) -> Floats:
        """Scaled loss of each prediction, NaN where the target is not known."""
        if np.ndim(targets) != 1:
            raise ValueError("y must hold one target for each row of `rows`, in that order.")
        values = targets.tolist() if hasattr(targets, "tolist") else list(targets)
        if len(values) > len(predictions):
            raise ValueError(
                f"y has {plural(len(values), 'target')}, but {plural(len(predictions), 'row')} were drawn."
            )
        known = np.array([not is_missing(value) for value in values], dtype=np.bool_)
        answers = [value for value, is_known in zip(values, known, strict=True) if is_known]
        losses = np.full(len(values), np.nan)
        losses[known] = self._of_known(answers, predictions[: len(values)][known])
        return losses

    def _of_known(self, answers: list[Any], predictions: NDArray[Any]) -> Floats:
        if self.classes is None:
            try:
                numbers = np.array([float(value) for value in answers], dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"y has values that are no numbers: {error}.") from error
            return (np.abs(numbers - predictions) > self.tolerance).astype(np.float64)
        codes = {label: code for code, label in enumerate(self.classes)}
        strange = list(dict.fromkeys(value for value in answers if value not in codes))
        if strange:
            raise ValueError(
                f"y has {listed(strange)}, but the model knows only {listed(self.classes)}: leave an answer empty "
                "(None) if none of these is true."
            )
        truth = np.array([codes[value] for value in answers], dtype=np.int64)
        predicted = np.array([codes[value] for value in predictions.tolist()], dtype=np.int64)
        if self.costs is None:
            return (truth != predicted).astype(np.float64)
        return self.scaled(self.costs[truth, predicted])


@dataclass(frozen=True, eq=False, repr=False)
class Audit(InWords):
    """Rows to have labelled, and what their labels will be weighed with; `result` takes the labels.

    Attributes
    ----------
    rows : ndarray of shape (n_labels,)
        Positions in `X_new`, in the order of the draws. A row may be drawn more than once: it needs one label, and
        counts as often as it was drawn.
    weights : ndarray of shape (n_labels,)
        One over the odds of each drawn row, as multiples of even odds; at most 4/3.
    predictions : ndarray of shape (n_labels,)
        Prediction of each drawn row, which its label is compared with.
    n_rows : int
        Number of rows that the result is about.
    loss : Loss
        Loss that is measured, and its unit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> from surefoot.monitoring import audit
    >>> audit(error_estimator, X, 5, random_state=0)
    5 rows of 150 to have labelled, in 5 draws: ...
    result(y) takes the labels of `rows`, in their order.
    """

    rows: Ints
    weights: Floats
    predictions: NDArray[Any]
    n_rows: int
    loss: Loss
    _estimates: Floats
    _plan: "BettingPlan"

    def _lines(self) -> list[str]:
        rows = list(dict.fromkeys(self.rows.tolist()))
        n_draws = plural(len(self.rows), "draw")
        return [
            f"{plural(len(rows), 'row')} of {self.n_rows:,} to have labelled, in {n_draws}: {listed(rows)}.",
            "result(y) takes the labels of `rows`, in their order.",
        ]

    def result(self, y: Any, confidence: float = 0.9) -> "AuditResult":
        """Mean loss of all rows, with an interval that is valid whatever the model and whatever the shift.

        Parameters
        ----------
        y : array-like of shape (n_answers,)
            True targets of `rows`, in that order: all of them, or only the first ones. None or NaN means a target
            that nobody knows; it counts as the worst case, wrong for the upper end and right for the lower one.
        confidence : float, default=0.9
            Probability that the interval contains the mean loss, over the draws of `rows`; also that no interval of
            `sequence` misses it.

        Returns
        -------
        result : AuditResult
        """
        check_share(confidence, "confidence")
        losses = self._shared_by_row(self.loss.of(y, self.predictions))
        return AuditResult(self, losses, replace(self._plan, confidence=confidence))

    def draws(self, losses: Floats) -> Floats:
        """Independent numbers whose mean is the mean loss: weighted losses, with the estimate as control variate."""
        n = len(losses)
        return self._plan.mean + self.weights[:n] * (losses - self._estimates[:n])

    def _shared_by_row(self, losses: Floats) -> Floats:
        """Losses with that of a row at each of its draws; a ValueError if a row has two."""
        rows = self.rows[: len(losses)]
        known = ~np.isnan(losses)
        distinct, places = np.unique(rows, return_inverse=True)
        least, most = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
        np.minimum.at(least, places[known], losses[known])
        np.maximum.at(most, places[known], losses[known])
        if (strange := least < most).any():
            raise ValueError(f"y has two different targets for row {distinct[strange][0]}.")
        return np.where(np.isfinite(least), least, np.nan)[places]


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(InWords):
    """Mean loss of the audited rows, its interval, and whether a promise is broken.

    Attributes
    ----------
    audit : Audit
        Rows, and what their labels are weighed with.
    losses : ndarray of shape (n_answers,)
        Loss of each draw, scaled to [0, 1]; NaN if its row has no answer.
    plan : BettingPlan
        Bets, as they were fixed beforehand.
    estimate : float
        Mean loss of all rows, estimated without bias from the answered draws; NaN without any.
    interval : tuple of float
        Lower and upper end. With probability `confidence` it contains the mean loss.
    sequence : ndarray of shape (n_answers, 2)
        Interval after each answer: with probability `confidence` they all contain the mean loss, so that labelling
        may stop at any time for any reason.
    false_alarm_rate : float
        Highest probability that `is_broken` is true of a promise that is kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> from surefoot.monitoring import audit
    >>> drawn = audit(error_estimator, X, 60, random_state=0)
    >>> drawn.result(y[drawn.rows])
    The share of wrong predictions is about ... confidence).
    From 60 answered draws of 150 rows; it was 4.7 % when the model was fitted.
    """

    audit: Audit
    losses: Floats
    plan: "BettingPlan"

    def _lines(self) -> list[str]:
        loss, ends = self.audit.loss, (self.estimate, *self.interval)
        show = percent if loss.is_share else number
        estimate, low, high = map(show, ends)
        what = "mean cost" if not loss.is_share else "share of wrong predictions"
        if loss.tolerance is not None:
            what = f"share of errors beyond {number(loss.tolerance)}"
        n_draws, before = plural(self.n_answered, "answered draw"), show(loss.when_fitted)
        return [
            f"The {what} is about {estimate} ({low} to {high}, {percent(self.confidence)} confidence).",
            f"From {n_draws} of {self.audit.n_rows:,} rows; it was {before} when the model was fitted.",
        ]

    @property
    def confidence(self) -> float:
        """Probability that the interval contains the mean loss."""
        return self.plan.confidence

    @property
    def false_alarm_rate(self) -> float:
        """Highest probability that `is_broken` is true of a promise that is kept."""
        return (1 - self.confidence) / 2

    @property
    def n_answered(self) -> int:
        """Number of draws whose row has an answer."""
        return int(np.count_nonzero(~np.isnan(self.losses)))

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the mean loss."""
        right, wrong = self._worst_cases()
        least, most = (
            each[-1] if len(each) else end for each, end in zip(self._facts(), (0, 1), strict=True)
        )
        upper = 1 - lower_end(1 - wrong, self.plan.mirrored())
        ends = _within(lower_end(right, self.plan), upper, least, most)
        low, high = (float(self.audit.loss.unscaled(each)) for each in ends)
        return low, high

    @cached_property
    def sequence(self) -> Floats:
        """Interval after each answer."""
        right, wrong = self._worst_cases()
        upper = 1 - lower_ends(1 - wrong, self.plan.mirrored())
        ends = _within(lower_ends(right, self.plan), upper, *self._facts())
        return np.column_stack([self.audit.loss.unscaled(each) for each in ends])

    @property
    def estimate(self) -> float:
        """Mean loss of all rows, from the answered draws."""
        known = ~np.isnan(self.losses)
        if not known.any():
            return float("nan")
        mean = self.audit.loss.unscaled(float(self.audit.draws(self.losses)[known].mean()))
        return float(np.clip(mean, *self.interval))

    def is_broken(self, max_risk: float) -> bool:
        """Whether the promise of a mean loss of at most `max_risk` is broken, as the lower end is above it.

        If the promise is kept, this is true with a probability of at most `false_alarm_rate`.
        """
        return self.interval[0] > max_risk

    def is_kept(self, max_risk: float) -> bool:
        """Whether the promise of a mean loss of at most `max_risk` is kept, as the upper end is not above it.

        If the promise is broken, this is true with a probability of at most `false_alarm_rate`.
        """
        return self.interval[1] <= max_risk

    def _worst_cases(self) -> tuple[Floats, Floats]:
        """Draws with every row that has no answer right, and with every such row wrong."""
        right, wrong = (np.where(np.isnan(self.losses), value, self.losses) for value in (0.0, 1.0))
        return self.audit.draws(right), self.audit.draws(wrong)

    def _facts(self) -> tuple[Floats, Floats]:
        """Least and largest mean loss that the labelled rows leave possible, after each answer."""
        rows = self.audit.rows[: len(self.losses)]
        is_new = np.zeros(len(rows), dtype=np.bool_)
        is_new[np.unique(rows, return_index=True)[1]] = True
        is_new &= ~np.isnan(self.losses)
        wrong = np.cumsum(np.where(is_new, self.losses, 0.0)) / self.audit.n_rows
        right = np.cumsum(np.where(is_new, 1 - self.losses, 0.0)) / self.audit.n_rows
        return wrong, 1 - right


def _within(low: Any, high: Any, least: Any, most: Any) -> tuple[Floats, Floats]:
    """Ends within what is possible; 0 and 1 where no answer speaks against that."""
    low = np.where(least > 0, np.clip(low, least, most), 0.0)
    high = np.where(most < 1, np.clip(high, least, most), 1.0)
    return np.minimum(low, high), np.maximum(low, high)


@dataclass(frozen=True)
class BettingPlan:
    """Everything about the bets of an interval that is fixed before the first draw is seen.

    The interval is that of a mean, by betting against each candidate (Waudby-Smith and Ramdas 2023), and is valid after
    every draw.

    Attributes
    ----------
    n_draws : int
        Number of draws after which the interval shall be narrow.
    least, most : float
        Bounds that no draw can leave, whatever the truth is: at most 0, and at least 1.
    mean, variance : float
        Mean and variance that the draws are expected to have. Wrong ones make the interval wider, never invalid.
    confidence : float
        Probability that the interval contains the mean, after every draw at once.
    """

    n_draws: int
    least: float
    most: float
    mean: float
    variance: float
    confidence: float = AIM

    @property
    def goal(self) -> float:
        """Logarithm of the capital at which a candidate is rejected, each side with half of the error."""
        return float(np.log(2 / (1 - self.confidence)))

    def mirrored(self) -> "BettingPlan":
        """Plan for one minus each draw."""
        return replace(self, least=1 - self.most, most=1 - self.least, mean=1 - self.mean)


def lower_end(draws: Floats, plan: BettingPlan) -> float:
    """Largest candidate for the mean of numbers in [0, 1] that the draws reject as too low; 0 if they reject none.

    The capital against a candidate falls as the candidate grows, so that the rejected ones are an interval from 0.
    It is looked at after every draw (Ville's inequality): a candidate that was rejected once stays rejected.
    """
    bets, n_steps = _bets(draws, plan), 2**HALVINGS

    def is_possible(step: int) -> bool:
        capital = _log_capital(draws, bets, plan, step / n_steps)
        return bool(capital.max(initial=-np.inf) < plan.goal)

    return bisect_left(range(1, n_steps), True, key=is_possible) / n_steps


def lower_ends(draws: Floats, plan: BettingPlan) -> Floats:
    """Lower end after each draw; none is above that of `lower_end`, which the last one is."""
    last = lower_end(draws, plan)
    candidates = np.linspace(0.0, last, STEPS + 1)[1:]
    capital = _log_capital(draws, _bets(draws, plan), plan, candidates[:, None])
    rejected = np.maximum.accumulate(capital >= plan.goal, axis=1)
    ends: Floats = np.concatenate([[0.0], candidates])[np.count_nonzero(rejected, axis=0)]
    if len(ends):
        ends[-1] = last
    return ends


def _bets(draws: Floats, plan: BettingPlan) -> Floats:
    """Bet on each draw, from the draws before it: best for `n_draws` draws of their variance (predictable plug-in)."""
    n_before = np.arange(1, len(draws) + 1)
    means = (PRIOR_DRAWS * plan.mean + np.cumsum(draws)) / (PRIOR_DRAWS + n_before)
    squares = PRIOR_DRAWS * plan.variance + np.cumsum((draws - means) ** 2)
    variances = np.concatenate([[plan.variance], squares / (PRIOR_DRAWS + n_before)])[: len(draws)]
    return np.sqrt(2 * float(np.log(2 / (1 - AIM))) / (plan.n_draws * np.maximum(variances, 1e-12)))


def _log_capital(
    draws: Floats, bets: Floats, plan: BettingPlan, candidates: float | Floats
) -> Floats:
    """Logarithm of the capital after each draw of whoever bets that the mean is above the candidate."""
    most = MOST_AT_STAKE / (candidates - plan.least)
    return np.log1p(np.minimum(bets, most) * (draws - candidates)).cumsum(axis=-1)
