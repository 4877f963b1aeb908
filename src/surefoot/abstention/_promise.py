"""Promises (risk control): a risk, its confidence, and the estimated error up to which rows are answered."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import floor, log10
from typing import Any, Self

import numpy as np

from surefoot._typing import Floats, Mask
from surefoot._validation import check_share
from surefoot.abstention._risk_control import (
    are_shares,
    check_class_risks,
    check_held_out,
    risk_bounds,
    threshold_for_risk,
    too_few_sentence,
)
from surefoot.error_estimation import HeldOut, Judgement

# Shares of wrong answers that people choose between.
# fmt: off
ROUND_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
# fmt: on

# Round mean losses are these digits times a power of ten.
ROUND_DIGITS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)

# Goal of a risk that is chosen automatically, as a share of the mean loss: for losses of 0 and 1, and for others.
GOAL_OF_SHARES, GOAL_OF_SIZES = 0.5, 0.8

# Lowest and highest risk that is offered, in multiples of the mean loss; for losses of 0 and 1 the grid ends at 0.5.
LEAST_OFFERED, MOST_OFFERED = 1 / 8, 2

NOT_SEPARATED = (
    "No limit on the estimated error keeps the risk of the classes: too many of their rows are wrong although their "
    "estimated error is low. Higher costs for such mistakes raise it."
)


@dataclass(frozen=True)
class Promise:
    """A risk, the confidence with which it is kept, and the highest estimated error that is answered.

    With probability at least `confidence`, over draws of the held-out rows (or groups), the mean loss of all future
    rows that `accepted` picks is at most `max_risk`, and that of the rows of each class in `class_risks` at most its
    limit, all at once; see `threshold_for_risk` for the assumptions. Promises are made by `from_held_out`, or by
    `from_losses` if there is no error estimator.

    Parameters
    ----------
    max_risk : float or None
        Largest permitted mean loss of the answered rows; None if only classes have a limit.
    confidence : float
        Probability with which all limits are kept.
    threshold : float
        Highest estimated error that is answered. If every held-out row is answered, it is the largest of their
        estimates; new rows with a larger estimate are then answered too, because the promise is about all rows. −inf
        if nothing can be promised.
    coverage : float
        Share of the held-out rows that are answered.
    n_rows : int
        Held-out rows that the promise comes from.
    class_risks : dict of class to float
        Largest permitted mean loss of the answered rows whose true class it is.
    reason : str or None
        Sentence that says why the limits of classes cannot be promised, where they cannot.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.abstention import Promise
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> promise = Promise.from_held_out(error_estimator.held_out_, max_risk=0.03)
    >>> bool(promise.apply(error_estimator.judge(X)).accepted.mean() > 0.8)
    True
    """

    max_risk: float | None
    confidence: float
    threshold: float
    coverage: float
    n_rows: int
    class_risks: dict[Any, float] = field(default_factory=dict, hash=False)
    reason: str | None = field(default=None, compare=False)

    @classmethod
    def from_held_out(
        cls,
        held_out: HeldOut,
        max_risk: float | Mapping[Any, float] | None = None,
        confidence: float = 0.95,
    ) -> Self:
        """Promise from the held-out rows of an error estimator; by groups if it was fitted with groups.

        Parameters
        ----------
        held_out : HeldOut
            `held_out_` of a fitted `IndividualErrorClassifier` or `IndividualErrorRegressor`.
        max_risk, confidence
            See `from_losses`.

        Returns
        -------
        promise : Promise
            Its `kept` is False if no threshold is known to keep the risk.
        """
        if isinstance(max_risk, Mapping):
            check_class_risks(max_risk, [] if held_out.classes is None else held_out.classes)
        return cls.from_losses(
            held_out.error,
            held_out.losses,
            max_risk,
            confidence,
            groups=held_out.groups,
            labels=held_out.truth,
            loss_values=held_out.loss_values,
        )

    @classmethod
    def from_losses(
        cls,
        estimated_errors: Any,
        losses: Any,
        max_risk: float | Mapping[Any, float] | None = None,
        confidence: float = 0.95,
        *,
        groups: Any = None,
        labels: Any = None,
        loss_values: Any = None,
    ) -> Self:
        """Promise of a given risk, of one for each class, or of a round one, that answers as many rows as possible.

        Without `max_risk`, risks are round numbers that do not depend on the data: shares from 0.5 down to 0.001 for
        losses of 0 and 1; for other losses 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 and 8 times a power of ten. The highest risk
        is tested first, 0.5 or about twice the mean loss, then lower ones down to the one nearest to the goal: half of
        the mean loss, or 0.8 of it if losses are sizes. Testing stops at the first risk that cannot be promised; the
        promise is the one before it. A model without a mistake gets the lowest risk that this number of rows can
        promise.

        Parameters
        ----------
        estimated_errors : array-like of shape (n_rows,)
            Estimated error of each held-out row.
        losses : array-like of shape (n_rows,)
            Loss of each prediction: 1 if it is wrong and 0 if not, or the size of its error.
        max_risk : float or dict of class to float, default=None
            Largest permitted mean loss of the answered rows, or of those of each class in the dict, with the key None
            for all rows. None chooses a round number: about half of the mean loss, or 0.8 of it if losses are sizes.
        confidence : float, default=0.95
            Probability, over draws of the held-out rows or groups, with which all limits are kept.
        groups : array-like of shape (n_rows,), default=None
            Groups that were sampled as a whole, such as all rows of one person.
        labels : array-like of shape (n_rows,), default=None
            True class of each row, if `max_risk` names classes.
        loss_values : array-like, or dict of class to array-like, default=None
            All values that a loss can have, such as the entries of a cost matrix; see `threshold_for_risk`.

        Returns
        -------
        promise : Promise
            Its `threshold` is −inf and its `kept` is False if no threshold is known to keep the risk.

        Examples
        --------
        >>> import numpy as np
        >>> from surefoot.abstention import Promise
        >>> wrong = np.r_[np.zeros(80), np.tile([1, 0], 10)]
        >>> promise = Promise.from_losses(np.linspace(0, 0.99, 100), wrong, max_risk=0.1)
        >>> promise.coverage, promise.threshold
        (0.86, 0.85)
        >>> promise.accepted([0.2, 0.85, 0.9])
        array([ True,  True, False])

        One prediction in ten is wrong, all of them among the highest estimates:

        >>> promise = Promise.from_losses(np.linspace(0, 1, 1000), np.arange(1000) >= 900)
        >>> promise.max_risk, promise.coverage
        (0.05, 0.934)
        """
        estimates, losses = _check_rows(estimated_errors, losses, groups)
        check_share(confidence, "confidence")
        known = {"groups": groups, "labels": labels, "loss_values": loss_values}
        if max_risk is None:
            tested = _tested_risks(losses)
            promises = (
                cls.from_losses(estimates, losses, risk, confidence, **known) for risk in tested
            )
            chosen = next(promises)
            if chosen.kept:
                for stricter in takewhile(lambda promise: promise.kept, promises):
                    chosen = stricter
            return chosen
        risks = check_class_risks(max_risk)
        found = threshold_for_risk(-estimates, losses, risks, confidence, **known)
        threshold = min(-found.score, float(estimates.max()))  # −inf stays if nothing is answered
        coverage, overall = found.n_answered / len(estimates), risks.pop(None, None)
        reason = None
        if coverage == 0 and risks:
            reason = too_few_sentence(risks, labels, confidence, loss_values) or NOT_SEPARATED
        return cls(overall, confidence, threshold, coverage, len(estimates), risks, reason)

    @classmethod
    def offer(
        cls, held_out: HeldOut, confidence: float = 0.95, also: Iterable[float] = ()
    ) -> list[Self]:
        """Promises to choose from, by ascending risk; some of them may not be kept.

        The risks are the round numbers from an eighth of the mean loss up to the mean loss, and the lowest one above it
        that can be promised for every row, if there is one. The confidence holds for each promise alone: to look at all
        of them and then choose is multiple testing. `from_held_out` chooses a risk without that problem.

        Parameters
        ----------
        held_out : HeldOut
            `held_out_` of an error estimator.
        confidence : float, default=0.95
            Probability with which each promise is kept.
        also : iterable of float, default=()
            Further risks to offer.

        Returns
        -------
        promises : list of Promise
            One for each risk.
        """
        losses = _check_rows(held_out.error, held_out.losses, held_out.groups)[1]
        mean = losses.mean()
        risks = [risk for risk in _round_risks(losses) if risk >= LEAST_OFFERED * mean]
        wanted = {*(risk for risk in risks if risk < mean), *map(float, also)}
        promises = {risk: cls.from_held_out(held_out, risk, confidence) for risk in wanted}
        for risk in risks:
            if risk >= mean:
                promise = promises.get(risk) or cls.from_held_out(held_out, risk, confidence)
                if promise.coverage == 1:
                    promises[risk] = promise
                    break
        return [promises[risk] for risk in sorted(promises)]

    @staticmethod
    def bounds(held_out: HeldOut, coverages: Any, confidence: float = 0.95) -> Floats:
        """Upper confidence bound of the risk at each coverage; inf where so few rows give none.

        The rows with the lowest estimated errors are answered. Each bound holds for a coverage that was chosen before
        its bound was seen, not for all of them together: to choose a coverage, make a promise.

        Parameters
        ----------
        held_out : HeldOut
            `held_out_` of an error estimator.
        coverages : array-like of shape (n_coverages,)
            Shares of the rows that are answered, above 0 and at most 1.
        confidence : float, default=0.95
            Probability, over draws of the held-out rows or groups, with which the risk is at most its bound.

        Returns
        -------
        bounds : ndarray of shape (n_coverages,)
            Upper bounds of the mean loss of the answered rows.
        """
        check_share(confidence, "confidence")
        return risk_bounds(held_out.error, held_out.losses, coverages, confidence, held_out.groups)

    @property
    def kept(self) -> bool:
        """True if any row is answered; if none is, nothing can be promised."""
        return self.coverage > 0

    def accepted(self, estimated_errors: Any) -> Mask:
        """Mask of the rows that are answered, by their estimated errors; a row with NaN is not answered."""
        estimates = np.asarray(estimated_errors, dtype=np.float64)
        return ~np.isnan(estimates) if self.coverage == 1 else estimates <= self.threshold

    def apply(self, judgement: Judgement) -> Judgement:
        """Copy of a judgement with `accepted` set: True for the answered rows."""
        return replace(judgement, accepted=self.accepted(judgement.error))


def _check_rows(estimated_errors: Any, losses: Any, groups: Any) -> tuple[Floats, Floats]:
    """Estimates and losses as arrays; raise an error if one is not finite, or if a loss is negative."""
    is_bad = ~np.isfinite(np.asarray(estimated_errors, dtype=np.float64))
    if is_bad.any():
        raise ValueError(
            f"The estimated error of {is_bad.sum()} of {is_bad.size} held-out rows is no finite number."
        )
    estimates, losses = check_held_out(estimated_errors, losses, groups)
    if (losses < 0).any():
        raise ValueError(f"A loss is {losses.min():.3g}: losses must not be negative.")
    return estimates, losses


def _round_risks(losses: Floats) -> list[float]:
    """Round risks, ascending: shares for losses of 0 and 1, else numbers of the order of the mean loss.

    These numbers range from below an eighth of the mean loss up to twice the mean loss or a little more.
    """
    if are_shares(losses):
        return list(ROUND_SHARES)
    mean = float(losses.mean())
    exponent = floor(log10(mean))
    powers = range(exponent - 1, exponent + 2)
    numbers = [float(f"{digits}e{power}") for power in powers for digits in ROUND_DIGITS]
    return numbers[: bisect_left(numbers, MOST_OFFERED * mean) + 1]


def _tested_risks(losses: Floats) -> list[float]:
    """Round risks from the highest down to the one nearest to the goal."""
    goal = (GOAL_OF_SHARES if are_shares(losses) else GOAL_OF_SIZES) * losses.mean()
    risks = _round_risks(losses)
    nearest = min(risks, key=lambda risk: abs(risk - goal))
    return [risk for risk in reversed(risks) if risk >= nearest]
