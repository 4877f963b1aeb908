"""Promises (risk control): which risk can be kept on new rows, with which confidence, and up to which estimated error.

First the tests on held-out rows and the threshold that they permit, then `Promise`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import ceil, floor, log10
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from scipy.optimize import bisect
from scipy.stats import beta, binom
from sklearn.utils import check_consistent_length, column_or_1d

from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_class_risks, check_share, risks_by_class
from surefoot._words import InWords, LossUnit, enumerated, listed, number, percent, plural
from surefoot.error_estimation import HeldOut, Judgement

AnyJudgement = TypeVar("AnyJudgement", bound=Judgement)

# Number of bets whose payoffs are averaged, and the highest bet: with 1, one group that is all wrong loses everything.
N_BETS = 5
HIGHEST_BET = 0.999

# Risks that are tested to bound the risk by groups, in equal ratios: the bound is the lowest that is rejected.
N_RISKS = 60


class Threshold(NamedTuple):
    """Lowest score that is answered, the number of held-out rows with at least that score, and their errors.

    `lost` is the sum of their errors: the number of mistakes if each error is 0 or 1.
    """

    score: float
    n_answered: int
    lost: float


NOTHING = Threshold(np.inf, 0, 0.0)


def threshold_for_risk(
    scores: Any,
    errors: Any,
    max_risk: float | Mapping[Any, float],
    confidence: float = 0.95,
    *,
    groups: Any = None,
    labels: Any = None,
    loss_values: Any = None,
    cap: float | None = None,
) -> Threshold:
    """Threshold that answers the most rows with a mean error of at most `max_risk` (risk control).

    Every threshold is tested, from the one that answers fewest rows to the one that answers all. The null
    hypothesis is that the mean error of the answered rows is above `max_risk`. For errors of 0 and 1 the test is
    the exact binomial one. The mean of errors without a bound cannot be tested without assumptions about its tail:
    larger errors count as `cap`, and the test is by betting. The permitted error
    rate 1 − confidence is divided: the first test gets a part, and so does each test where the number of
    answered rows has doubled. A test that rejects passes its part on to the next one, a test that does not
    loses it (Wiens' fallback procedure; with a single part it is fixed-sequence testing). Of the
    thresholds whose hypothesis was rejected, the one that answers most rows is taken.

    Rows of one group are not independent, but groups are. With `groups` the test is by betting (Waudby-Smith and
    Ramdas). It is valid for any number of groups, however much the rows of a group depend on each other, even if
    whole groups are wrong. It assumes that no future group is larger than the largest of these groups.
    Many rows in few groups are little evidence: with N groups of equal size, all answered and without an error, the
    promise is about 3 / N at best, as for N rows.

    Several risks, such as one for each class, are tested each on its own rows, and 1 − confidence is divided equally
    among them (Bonferroni). Of the thresholds whose tests reject for all of them, the one that answers most rows is
    taken: it keeps all limits at once with the given confidence.

    If all values that an error can have are known, as with a cost matrix, pass them as `loss_values`: the test is then
    valid for any number of rows. It is the binomial one if an error has a single size, betting otherwise.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Trust in each prediction; higher is more. For example minus the
        `held_out_.error` of an `IndividualErrorClassifier`.
    errors : array-like of shape (n_rows,)
        Error of each prediction: 1 if it is wrong and 0 if not, or the size of its error.
    max_risk : float, or dict of class to float
        Largest permitted mean error of the answered rows; or, for each class in the dict, of the answered rows whose
        true class it is. The key None is for all answered rows.
    confidence : float, default=0.95
        Probability, over draws of the held-out rows or groups, with which all limits are kept.
    groups : array-like of shape (n_rows,), default=None
        Groups that were sampled as a whole, such as all rows of one person. If every group has one row, rows are
        tested as without groups.
    labels : array-like of shape (n_rows,), default=None
        True class of each row, if `max_risk` names classes.
    loss_values : array-like, or dict of class to array-like, default=None
        All values that an error can have; in a dict those of the rows of each class.
    cap : float, default=None
        Value that larger errors count as, if they are neither 0 and 1 nor `loss_values`. None is a round number that
        about one error in fifty exceeds, at least twice the mean error and twice `max_risk`.

    Returns
    -------
    threshold : Threshold
        Infinite, with no row answered, if no threshold is known to keep the limit.

    Examples
    --------
    The 80 rows with the highest scores are all right, half of the others are wrong:

    >>> import numpy as np
    >>> from surefoot.abstention import threshold_for_risk
    >>> wrong = np.r_[np.zeros(80), np.tile([1, 0], 10)]
    >>> threshold = threshold_for_risk(np.linspace(1, 0, 100), wrong, max_risk=0.1)
    >>> threshold.n_answered, threshold.lost
    (86, 3.0)

    If they come in 20 groups of five, there is too little evidence:

    >>> threshold_for_risk(np.linspace(1, 0, 100), wrong, max_risk=0.1, groups=np.arange(100) % 20)
    Threshold(score=inf, n_answered=0, lost=0.0)
    """
    scores, errors = check_held_out(scores, errors, groups)
    risks = limited_risks(max_risk, labels, loss_values, len(scores))
    if loss_values is None and (cap is not None or not are_shares(errors)):
        bound = round_cap(errors, max(risk.max_risk for risk in risks)) if cap is None else cap
        errors = np.minimum(errors, bound)
        risks = [risk._replace(bound=bound) for risk in risks]
    candidates = every_threshold(scores, errors)
    level = (1 - confidence) / len(risks)
    keeps = np.ones(len(candidates.scores), dtype=bool)
    for risk in risks:
        units = None if groups is None else np.asarray(groups)[risk.rows]
        safe = _keeps_risk(scores[risk.rows], errors[risk.rows], risk, level, units)
        # A threshold of all rows is one of these rows, too: that which answers as many of them.
        n_answered = np.searchsorted(np.sort(-scores[risk.rows]), -candidates.scores, "right")
        keeps &= safe[n_answered]
    kept = np.flatnonzero(keeps)
    return candidates.at(kept[-1]) if kept.size else NOTHING


def check_held_out(scores: Any, errors: Any, groups: Any = None) -> tuple[Floats, Floats]:
    """Scores and errors as arrays; raise an error if there are none, if one is missing, or if lengths differ."""
    scores = column_or_1d(scores).astype(np.float64)
    errors = column_or_1d(errors).astype(np.float64)
    check_consistent_length(scores, errors, groups)
    if len(scores) == 0:
        raise ValueError(
            "There is no held-out row, and without held-out rows nothing can be promised."
        )
    for name, is_bad in (("score", np.isnan(scores)), ("error", ~np.isfinite(errors))):
        if is_bad.any():
            raise ValueError(
                f"The {name} of {is_bad.sum()} of {len(scores)} held-out rows is no number."
            )
    return scores, errors


class Thresholds(NamedTuple):
    """Thresholds from the highest score to the lowest, the number of rows that each answers, and their errors.

    `lost` is the sum of the errors of these rows.
    """

    scores: Floats
    n_answered: Ints
    lost: Floats

    def at(self, i: Any) -> Threshold:
        """Threshold number i."""
        return Threshold(float(self.scores[i]), int(self.n_answered[i]), float(self.lost[i]))


def every_threshold(scores: Any, errors: Any) -> Thresholds:
    """Thresholds at each distinct score, from the highest; the one that answers all rows is −inf.

    Rows with equal scores are answered together.
    """
    doubts, places = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True)
    lost = np.cumsum(np.bincount(places, errors), dtype=np.float64)
    return Thresholds(np.append(-doubts[:-1], -np.inf), np.cumsum(np.bincount(places)), lost)


def threshold_for_coverage(scores: Any, errors: Any, coverage: float) -> Threshold:
    """Highest threshold that answers at least the share `coverage` of the rows."""
    candidates = every_threshold(scores, errors)
    wanted = ceil(coverage * len(scores) - 1e-9)  # 0.3 * 10 is a little more than 3
    return candidates.at(np.searchsorted(candidates.n_answered, wanted))


class LimitedRisk(NamedTuple):
    """Limit of the risk of a class, or of all rows for the label None, and the rows that are evidence for it.

    `sizes` are the sizes of error above 0 that these rows can have; None if unknown, where errors are 0 and 1 or at
    most `bound`.
    """

    label: Any
    max_risk: float
    rows: Mask
    sizes: Floats | None
    bound: float = 1.0


def limited_risks(max_risk: Any, labels: Any, loss_values: Any, n_rows: int) -> list[LimitedRisk]:
    """Limits that must be kept at once."""
    risks = risks_by_class(max_risk)
    if not risks:
        raise ValueError("max_risk is empty: it must have a limit for at least one class.")
    named = [label for label in risks if label is not None]
    if named and labels is None:
        raise ValueError(
            f"max_risk limits the risk of {listed(named)}: labels must hold the class of each row."
        )
    classes = np.full(n_rows, None) if labels is None else column_or_1d(labels)
    check_consistent_length(np.empty(n_rows), classes)
    every = np.ones(n_rows, dtype=bool)
    return [
        LimitedRisk(
            label,
            float(risk),
            every if label is None else np.asarray(classes == label),
            _error_sizes(loss_values, label),
        )
        for label, risk in risks.items()
    ]


def _error_sizes(loss_values: Any, label: Any) -> Floats | None:
    """Sizes of error above 0, each once: those of one class, or of all; None if they are unknown."""
    if loss_values is None:
        return None
    values = loss_values
    if isinstance(loss_values, Mapping):
        by_class = [np.ravel(own) for own in loss_values.values()]
        values = np.concatenate(by_class) if label is None else loss_values.get(label, ())
    sizes = np.unique(np.asarray(values, dtype=np.float64))
    return np.asarray(sizes[sizes > 0])


def too_few_sentence(
    max_risk: Any, labels: Any, confidence: float, loss_values: Any = None
) -> str | None:
    """Sentence that names a class with too few rows to promise its risk, even without a mistake; None if none has."""
    limits = limited_risks(max_risk, labels, loss_values, len(labels))
    level = (1 - confidence) / len(limits)
    for limit in limits:
        largest = 1.0 if limit.sizes is None else limit.sizes.max(initial=0.0)
        n_rows = int(limit.rows.sum())
        least = (1 - level ** (1 / n_rows)) * largest if n_rows else np.inf
        if limit.label is not None and limit.max_risk < min(least, largest):
            best = f"can promise {least:.2g} at best" if n_rows else "can promise nothing"
            return (
                f"The class {limit.label!r} has {plural(n_rows, 'held-out row')}, which {best}, even if none is wrong: "
                f"too few for a risk of {limit.max_risk:g}."
            )
    return None


def _keeps_risk(
    scores: Floats, errors: Floats, risk: LimitedRisk, level: float, groups: Any = None
) -> Mask:
    """Whether the risk of the n rows with the highest scores is known to be kept, for n from 0 to all rows.

    False inside a run of equal scores, whose rows are answered together.
    """
    safe = np.zeros(len(scores) + 1, dtype=bool)
    if len(scores) > 0:
        candidates = every_threshold(scores, errors)
        p_values, least_p_value = _risk_test(candidates, scores, errors, risk, level, groups)
        starts, share = starting_points(len(scores), least_p_value, level)
        # A start inside a run of equal scores belongs to the threshold that answers the whole run.
        places = np.searchsorted(candidates.n_answered, starts)
        gained = np.bincount(places, minlength=len(candidates.scores)) * np.float64(share)
        safe[candidates.n_answered] = fallback_test(p_values, gained)
    return safe


def _risk_test(
    candidates: Thresholds,
    scores: Floats,
    errors: Floats,
    risk: LimitedRisk,
    level: float,
    groups: Any = None,
) -> tuple[Floats, Callable[[int], float]]:
    """P-value at each threshold, and the lowest p-value that n answered rows can reach: the one without errors.

    The test is binomial for errors of one size, betting for groups and for errors of several sizes.
    """
    max_risk, sizes = risk.max_risk, risk.sizes
    if sizes is None and are_shares(errors) and risk.bound == 1:
        sizes = np.ones(1)
    bound = risk.bound if sizes is None else float(sizes.max(initial=0.0))
    if max_risk >= bound:  # no row can cost more
        return np.zeros(len(candidates.scores)), lambda _: 0.0
    if sizes is None or len(sizes) > 1 or has_large_groups(groups):
        rows = GroupedRows.of(scores, np.arange(len(scores)) if groups is None else groups)
        p_values = group_test(rows, errors, max_risk, level, bound)
        least = group_test(rows, np.zeros(len(errors)), max_risk, level, bound)
        return p_values, lambda n: least[np.searchsorted(candidates.n_answered, n)]
    share, n_mistakes = max_risk / bound, np.rint(candidates.lost / bound)
    p_values = np.asarray(binom.cdf(n_mistakes, candidates.n_answered, share))
    return p_values, lambda n: (1 - share) ** n


def are_shares(errors: Floats) -> bool:
    """True if every error is 0 or 1, so that their mean is a share of rows."""
    return bool(np.isin(errors, (0, 1)).all())


def starting_points(
    n_rows: int, least_p_value: Callable[[int], float], level: float
) -> tuple[Ints, float]:
    """Numbers of answered rows whose tests get a part of `level`, ascending, and the size of a part.

    These are all rows, half of them, a quarter and so on, as long as so many rows without a single error
    would be enough evidence.
    """
    starts = [n_rows]
    while (half := ceil(starts[-1] / 2)) < starts[-1]:
        if least_p_value(half) > level / (len(starts) + 1):
            break
        starts.append(half)
    return np.array(starts[::-1]), level / len(starts)


def fallback_test(p_values: Floats, gained: Floats) -> Mask:
    """Mask of the rejected hypotheses, in their order, by Wiens' fallback procedure.

    Each is tested at its own level in `gained`, plus the level of the hypothesis before it if that was rejected.
    """
    rejected = np.zeros(len(p_values), dtype=bool)
    level = 0.0
    for i, (p_value, more) in enumerate(zip(p_values, gained, strict=True)):
        level += more
        rejected[i] = level > 0 and p_value <= level
        if not rejected[i]:
            level = 0.0
    return rejected


class GroupedRows(NamedTuple):
    """Rows ranked by score, highest first, and the ranks of each group's rows.

    `by_group` lists the ranks group by group, ascending within a group; `first` has the position in that list where
    each group begins. `ends` are the ranks that end a run of equal scores: only there is a test needed.
    `most_rows` is the size of the largest group.
    """

    order: Ints
    by_group: Ints
    first: Ints
    ends: Ints
    most_rows: int

    @classmethod
    def of(cls, scores: Floats, groups: Any) -> Self:
        """Rank rows by their scores and sort the ranks by group."""
        order = np.argsort(-scores, kind="stable")
        codes = group_numbers(groups)[order]
        sizes = np.bincount(codes)
        first = np.append(0, np.cumsum(sizes)[:-1])
        by_group = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.unique(-scores, return_counts=True)[1]) - 1
        return cls(order, by_group, first, ends, int(sizes.max()))


def group_numbers(groups: Any) -> Ints:
    """Number of each row's group, from 0."""
    return np.unique(np.asarray(groups), return_inverse=True)[1]


def has_large_groups(groups: Any) -> bool:
    """True if any group has more than one row; if none has, rows are independent."""
    return groups is not None and bool(np.bincount(group_numbers(groups)).max() > 1)


def group_test(
    rows: GroupedRows, losses: Floats, max_risk: float, level: float, bound: float
) -> Floats:
    """P-value of "the mean loss of the answered rows is above `max_risk`", at each distinct score from the highest.

    Groups are independent draws, and a loss is at most `bound`, which is above `max_risk`. With n answered rows of a
    group, L the sum of their losses and m the rows of the largest group, the bet b on that group pays
    1 + b (max_risk · n − L) / (m (bound − max_risk)), which is never negative. If the mean loss is above
    `max_risk`, the product over independent groups is at most 1 on average, also if groups differ (by the
    inequality of the means), and so is the mean of such products over bets that were fixed before the losses
    were seen: by Markov's inequality its inverse is a p-value. It needs no order of the groups and no normal
    limit, and it is smaller the less the groups vary (Waudby-Smith and Ramdas, "Estimating means of bounded
    random variables by betting", 2024).
    """
    excess = (losses[rows.order] - max_risk)[rows.by_group] / (rows.most_rows * (bound - max_risk))
    sums = np.cumsum(excess)
    sizes = np.diff(np.append(rows.first, len(sums)))
    sums -= np.repeat(sums[rows.first] - excess[rows.first], sizes)
    tried = bets(len(rows.first), max_risk / bound, level)
    evidence = np.logaddexp.reduce([_log_payoff(rows, sums, bet) for bet in tried])
    return np.exp(-np.maximum(evidence - np.log(N_BETS), 0))


def _log_payoff(rows: GroupedRows, sums: Floats, bet: float) -> Floats:
    """Log of the product over groups of 1 − bet · sum, at each distinct score; `sums` run within groups."""
    logs = np.log1p(-bet * sums)
    steps = np.diff(logs, prepend=0.0)
    steps[rows.first] = logs[rows.first]
    by_rank = np.empty_like(steps)
    by_rank[rows.by_group] = steps
    return np.cumsum(by_rank)[rows.ends]


def bets(n_groups: int, max_risk: float, level: float) -> Floats:
    """Bets in equal ratios, from the highest down to the lowest that can win.

    The bet b is the best one if groups are wrong as a whole, a share of max_risk · (1 − b) of them. By the
    normal limit, `n_groups` groups are enough evidence of such a share at `level` if n_groups · b² ≥
    2 · log(1 / level) · (1 − max_risk) / max_risk; a lower bet could not win. Where
    rows of a group differ, or not all are answered, higher bets are best. If `max_risk` rises, every bet
    pays more and the p-value falls: that makes the test invertible.
    """
    least = np.sqrt(2 * np.log(1 / level) * (1 - max_risk) / (max_risk * n_groups))
    return HIGHEST_BET * np.geomspace(1, min(1.0, least), N_BETS)


def _bounds_by_betting(
    rows: GroupedRows, losses: Floats, confidence: float, bound: float
) -> Floats:
    """Lowest of N_RISKS risks that the test by betting rejects, at each distinct score; `bound` if it rejects none."""
    bounds = np.full(len(rows.ends), bound)
    least = min(1 / len(rows.first), 0.5)  # of a single group too, the risks differ
    for risk in bound * np.geomspace(1 - 1e-9, least, N_RISKS):
        bounds[group_test(rows, losses, float(risk), 1 - confidence, bound) <= 1 - confidence] = (
            risk
        )
    return bounds


def share_bound(n_wrong: Any, n_rows: Any, confidence: float) -> Any:
    """Upper confidence bound of a share, from a count (Clopper and Pearson); 1 if every row is wrong."""
    bounds = beta.ppf(confidence, n_wrong + 1, np.maximum(n_rows - n_wrong, 1))
    return np.where(n_wrong < n_rows, bounds, 1.0)


def risk_bound(
    scores: Floats, wrong: Any, threshold: Threshold, confidence: float, groups: Any
) -> float:
    """Upper confidence bound of the share of errors among the rows that a fixed threshold answers.

    By groups it is the lowest risk that `group_test` rejects. `scores` has all rows, also those that are not answered,
    because the size of the largest group matters.
    """
    if not has_large_groups(groups):
        return float(share_bound(threshold.lost, threshold.n_answered, confidence))
    rows = GroupedRows.of(np.where(scores >= threshold.score, 1.0, 0.0), groups)
    losses, level = np.asarray(wrong, dtype=np.float64), 1 - confidence

    def surplus(risk: float) -> float:
        return float(group_test(rows, losses, risk, level, 1.0)[0]) - level

    low, high = 1e-9, 1 - 1e-9
    return 1.0 if surplus(high) > 0 else float(bisect(surplus, low, high, xtol=1e-9))


# Shares of wrong answers that people choose between.
# fmt: off
ROUND_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
# fmt: on

# Round mean losses are these digits times a power of ten.
ROUND_DIGITS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)

# Share of the errors without a bound that count as the cap.
CAPPED_SHARE = 0.02

# Goal of a risk that is chosen automatically, as a share of the mean loss: for losses of 0 and 1, and for others.
GOAL_OF_SHARES, GOAL_OF_SIZES = 0.5, 0.8

# Lowest risk that is offered, as a share of the mean loss.
LEAST_OFFERED = 1 / 8

NOT_SEPARATED = (
    "No limit on the estimated error keeps the risk of the classes: too many of their rows are wrong although their "
    "estimated error is low. Higher costs for such mistakes raise it."
)


HAS_SEEN = (
    "The model makes nearly no error on these rows: it has probably learned from them, or its predictions are a copy "
    "of the target. So nothing can be promised for others."
)


@dataclass(frozen=True, repr=False)
class Promise(InWords):
    """A risk, the confidence with which it is kept, and the highest estimated error that is answered.

    With probability at least `confidence`, over draws of the held-out rows (or groups), the mean loss of all future
    rows that `apply` accepts is at most `max_risk`, and that of the rows of each class in `class_risks` at most its
    limit, all at once; see `threshold_for_risk` for the assumptions. Novel rows and training rows are never accepted.
    Losses without a bound, such as the errors of a regressor, count as `cap` if they are larger. Promises are made by
    `from_held_out`, or by `from_losses` if there is no error estimator.

    Parameters
    ----------
    max_risk : float or None
        Largest permitted mean loss of the answered rows; None if only classes have a limit.
    confidence : float
        Probability with which all limits are kept.
    threshold : float
        Highest estimated error that is answered; −inf if nothing can be promised.
    coverage : float
        Share of the held-out rows that are answered.
    n_rows : int
        Held-out rows that the promise comes from.
    class_risks : dict of class to float
        Largest permitted mean loss of the answered rows whose true class it is.
    reason : str or None
        Sentence that says why nothing can be promised, where there is more to say than too few rows or too many errors.
    cap : float or None
        Value that larger losses count as; None if losses are bounded: shares of mistakes, or costs.
    is_about : bool
        True if the limits hold approximately: models of several folds predicted the held-out rows, and not the model
        that is used.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.abstention import Promise
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0)
    >>> promise = Promise.from_held_out(error_estimator.fit(X[:400], y[:400]).held_out_, max_risk=0.05)
    >>> bool(promise.apply(error_estimator.judge(X[400:])).accepted.mean() > 0.8)
    True
    """

    max_risk: float | None
    confidence: float
    threshold: float
    coverage: float
    n_rows: int
    class_risks: dict[Any, float] = field(default_factory=dict, hash=False)
    reason: str | None = field(default=None, compare=False)
    cap: float | None = None
    is_about: bool = False

    def _lines(self) -> list[str]:
        risks = {"": self.max_risk} if self.max_risk is not None else {}
        risks |= {f" for {label!r}": risk for label, risk in self.class_risks.items()}
        limits = enumerated([f"at most {number(risk)}{whose}" for whose, risk in risks.items()])
        promised = f"a mean loss of {limits}, with {percent(self.confidence)} confidence"
        if not self.kept:
            lines = [f"Cannot be promised: {promised}, from {plural(self.n_rows, 'held-out row')}."]
            return lines if self.reason is None else [*lines, self.reason]
        return [
            f"Promised: {promised}, for {percent(self.coverage)} of the rows.",
            f"Rows with an estimated error up to {number(self.threshold)} are answered.",
        ]

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
        if getattr(held_out, "losses", None) is None:
            raise ValueError(
                "A promise needs the true losses of held-out rows: pass `held_out_` of a fitted error estimator."
            )
        rows, classes, limits = held_out.evidence, held_out.classes, {}
        if max_risk is not None:
            most = 1 if held_out.unit.is_share else np.inf
            limits = check_class_risks(max_risk, [] if classes is None else classes, most)
        cap = None
        if classes is None and rows.losses.any():  # sizes have no bound, even if all are 0 or 1
            cap = round_cap(rows.losses, max(limits.values(), default=0.0))
        promise = cls.from_losses(
            rows.error,
            rows.losses,
            max_risk,
            confidence,
            groups=rows.groups,
            labels=rows.truth,
            loss_values=rows.loss_values,
            cap=cap,
        )
        promise = replace(promise, n_rows=len(held_out), is_about=held_out.refitted)
        if held_out.seen:
            return replace(promise, threshold=-np.inf, coverage=0.0, reason=HAS_SEEN)
        accepted = promise.accepted(held_out.error) & ~held_out.novel
        return replace(promise, coverage=float(accepted.mean()))

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
        cap: float | None = None,
    ) -> Self:
        """Promise of a given risk, of one for each class, or of a round one, that answers as many rows as possible.

        Without `max_risk`, risks are round numbers that do not depend on the data: shares from 0.5 down to 0.001 for
        losses of 0 and 1; for other losses 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 and 8 times a power of ten. The highest risk
        that is not above the mean loss is tested first, then lower ones down to the one nearest to the goal: half of
        the mean loss, or 0.8 of it if losses are sizes. Testing stops at the first risk that cannot be promised; the
        promise is the one before it. A model with so few mistakes that this number of rows cannot show it, less than
        3 in all, gets the lowest risk that they can promise.

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
        cap : float, default=None
            Value that larger losses count as, if they have no bound; see `threshold_for_risk`.

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
        if max_risk is not None and np.asarray(losses).dtype == np.bool_:
            check_class_risks(max_risk, most=1)  # a share of mistakes
        estimates, losses = _check_estimates(estimated_errors, losses, groups)
        check_share(confidence, "confidence")
        if loss_values is None and (cap is not None or not are_shares(losses)):
            asked = [] if max_risk is None else check_class_risks(max_risk).values()
            cap = round_cap(losses, max(asked, default=0.0)) if cap is None else cap
            losses = np.minimum(losses, cap)
        known = {"groups": groups, "labels": labels, "loss_values": loss_values, "cap": cap}
        if max_risk is None:
            tested = _tested_risks(losses)
            promises = (
                cls.from_losses(estimates, losses, risk, confidence, **known) for risk in tested
            )
            first = next(promises)
            stricter = takewhile(lambda promise: promise.kept, promises) if first.kept else ()
            return [first, *stricter][-1]
        risks = check_class_risks(max_risk)
        found = threshold_for_risk(-estimates, losses, risks, confidence, **known)
        threshold = min(-found.score, float(estimates.max()))  # −inf if nothing is answered
        coverage, overall = found.n_answered / len(estimates), risks.pop(None, None)
        reason = None
        if coverage == 0 and risks:
            reason = too_few_sentence(risks, labels, confidence, loss_values) or NOT_SEPARATED
        return cls(overall, confidence, threshold, coverage, len(estimates), risks, reason, cap)

    @classmethod
    def offer(cls, held_out: HeldOut, confidence: float = 0.95) -> list[Self]:
        """Promises to choose from, by ascending risk; some of them may not be kept.

        The risks are the round numbers from an eighth of the mean loss up to the mean loss, and the lowest one above it
        that can be promised for every row that is not novel, if there is one. The confidence holds for each promise
        alone: to look at all of them and then choose is multiple testing. `from_held_out` chooses a risk without that
        problem.

        Parameters
        ----------
        held_out : HeldOut
            `held_out_` of an error estimator.
        confidence : float, default=0.95
            Probability with which each promise is kept.

        Returns
        -------
        promises : list of Promise
            One for each risk.
        """
        losses = _check_estimates(held_out.error, held_out.losses, held_out.groups)[1]
        mean = losses.mean()
        risks = [risk for risk in _round_risks(losses) if risk >= LEAST_OFFERED * mean]
        below = [cls.from_held_out(held_out, risk, confidence) for risk in risks if risk < mean]
        others = (cls.from_held_out(held_out, risk, confidence) for risk in risks if risk >= mean)
        largest = held_out.evidence.error.max()
        answers_all = next((each for each in others if each.threshold >= largest), None)
        return below if answers_all is None else [*below, answers_all]

    @staticmethod
    def bounds(held_out: HeldOut, coverages: Any, confidence: float = 0.95) -> Floats:
        """Upper confidence bound of the risk at each coverage; inf where so few rows give none.

        The rows with the lowest estimated errors are answered. Each bound holds for a coverage that was chosen before
        its bound was seen, not for all of them together: to choose a coverage, make a promise. The bounds are those of
        the tests of `threshold_for_risk`: exact for losses of 0 and 1 (Clopper and Pearson), by betting for groups and
        for others, which are capped. Between two thresholds, where some of the rows with equal estimates are answered,
        the bound is the higher one of both.

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
        shares = np.asarray(coverages, dtype=np.float64)
        if not ((shares > 0) & (shares <= 1)).all():
            raise ValueError("coverages must be above 0 and at most 1.")
        rows = held_out.evidence
        estimates, losses = check_held_out(rows.error, rows.losses, rows.groups)
        values = held_out.loss_values
        cap, is_share = 1.0, values is None and are_shares(losses)
        if not is_share:
            cap = round_cap(losses) if values is None else float(np.max(list(values.values())))
            losses = np.minimum(losses, cap)
        candidates = every_threshold(-estimates, losses)
        if is_share and not has_large_groups(rows.groups):
            bounds = share_bound(candidates.lost, candidates.n_answered, confidence)
        else:
            units = np.arange(len(losses)) if rows.groups is None else rows.groups
            bounds = _bounds_by_betting(GroupedRows.of(-estimates, units), losses, confidence, cap)
        # Highest estimate that each coverage answers; the rows with this estimate may be answered in part.
        ranked = np.sort(held_out.doubt)
        limits = ranked[np.ceil(shares * len(ranked) - 1e-9).astype(int) - 1]
        last = np.searchsorted(np.unique(estimates), limits, "right") - 1
        is_whole = np.searchsorted(ranked, limits, "right") <= shares * len(ranked) + 1e-9
        before = np.where(is_whole, last, np.maximum(last - 1, 0))
        return np.where(np.isinf(limits), np.inf, np.maximum(bounds[before], bounds[last]))

    @property
    def kept(self) -> bool:
        """True if any row is answered; if none is, nothing can be promised."""
        return self.coverage > 0

    def accepted(self, estimated_errors: Any) -> Mask:
        """Mask of the rows whose estimated error is low enough to be answered; a row with NaN is not."""
        return np.asarray(estimated_errors, dtype=np.float64) <= self.threshold

    def describe(self, unit: LossUnit) -> dict[str, str]:
        """Texts of the limits in the unit of the losses; see `LossUnit.describe_limits`."""
        return unit.describe_limits(
            self.max_risk, self.class_risks, cap=self.cap, about=self.is_about
        )

    def in_words(self, unit: LossUnit) -> str:
        """Limits and confidence, for a sentence."""
        return f"{self.describe(unit)['words']}, with {percent(self.confidence)} confidence"

    def apply(self, judgement: AnyJudgement) -> AnyJudgement:
        """Copy of a judgement with `accepted` set: rows with a low estimated error that are neither novel nor known."""
        accepted = self.accepted(judgement.error) & ~judgement.novel
        if judgement.known is not None:
            accepted &= ~judgement.known
        return replace(judgement, accepted=accepted)


def promise_of(
    error_estimator: Any,
    max_risk: float | Mapping[Any, float] | None = None,
    confidence: float = 0.95,
) -> Promise:
    """Promise that was saved with an error estimator, unless others are asked for; else one from its held-out rows.

    With another confidence, the saved limits are promised anew.

    Parameters
    ----------
    error_estimator : IndividualErrorClassifier or IndividualErrorRegressor
        The fitted error estimator; see the parameter `promise` of `surefoot.save`.
    max_risk, confidence
        See `Promise.from_losses`.

    Returns
    -------
    promise : Promise
        Its `kept` is False if no threshold is known to keep the risk.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot import IndividualErrorClassifier
    >>> from surefoot.abstention import promise_of
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> error_estimator = IndividualErrorClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> promise_of(error_estimator, max_risk=0.05).max_risk
    0.05
    """
    saved = getattr(error_estimator, "promise_", None)
    if saved is not None and max_risk is None:
        if saved.confidence == confidence:
            return cast("Promise", saved)
        max_risk = {None: saved.max_risk} if saved.max_risk is not None else {}
        max_risk |= saved.class_risks
    return Promise.from_held_out(error_estimator.held_out_, max_risk, confidence)


def _check_estimates(estimated_errors: Any, losses: Any, groups: Any) -> tuple[Floats, Floats]:
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

    These numbers range from below an eighth of the mean loss up to more than twice the mean loss.
    """
    return list(ROUND_SHARES) if are_shares(losses) else _round_numbers(float(losses.mean()))


def _round_numbers(size: float) -> list[float]:
    """Round numbers around a size, ascending, from a tenth of it or less to ten times of it or more."""
    exponent = floor(log10(size))
    powers = range(exponent - 1, exponent + 3)
    return [float(f"{digits}e{power}") for power in powers for digits in ROUND_DIGITS]


def round_cap(losses: Floats, max_risk: float = 0.0) -> float:
    """Round number that few losses exceed, and that is at least twice their mean and twice the permitted risk."""
    least = max(
        float(np.quantile(losses, 1 - CAPPED_SHARE)), 2 * float(losses.mean()), 2 * max_risk
    )
    return next(number for number in _round_numbers(least) if number >= least)


def _tested_risks(losses: Floats) -> list[float]:
    """Round risks from the highest that is not above the mean loss down to the one nearest to the goal.

    If the rows are too few to show so low a share of mistakes (below 3 / n), all higher round shares are tested.
    """
    mean = float(losses.mean())
    goal = (GOAL_OF_SHARES if are_shares(losses) else GOAL_OF_SIZES) * mean
    risks = _round_risks(losses)
    nearest = min(risks, key=lambda risk: abs(risk - goal))
    is_too_low = are_shares(losses) and mean < 3 / len(losses)
    most = np.inf if is_too_low else max(mean, nearest)
    return [risk for risk in reversed(risks) if nearest <= risk <= most]
