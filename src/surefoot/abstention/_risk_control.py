"""Thresholds on a score that control the risk of the answered rows, chosen on held-out rows."""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom
from scipy.stats import t as student
from sklearn.utils import check_consistent_length, column_or_1d

from surefoot._typing import Floats, Ints, Mask
from surefoot.abstention._class_risks import LimitedRisk, limited_risks
from surefoot.abstention._group_test import GroupedRows, group_test, has_large_groups


class Threshold(NamedTuple):
    """Lowest score that is answered, the number of held-out rows with at least that score, and their errors.

    `lost` is the sum of their errors: the number of mistakes if each error is 0 or 1.
    """

    score: float
    n_answered: int
    lost: float


class Thresholds(NamedTuple):
    """Thresholds from the highest score to the lowest, the number of rows that each answers, and their errors.

    `lost` is the sum of the errors of these rows, `lost2` the sum of the squared errors.
    """

    scores: Floats
    n_answered: Ints
    lost: Floats
    lost2: Floats

    def at(self, i: Any) -> Threshold:
        """Threshold number i."""
        return Threshold(float(self.scores[i]), int(self.n_answered[i]), float(self.lost[i]))


class RiskTest(NamedTuple):
    """P-value at each threshold, and the lowest p-value that n answered rows can reach: the one without errors."""

    p_values: Floats
    least_p_value: Callable[[int], float]


NOTHING = Threshold(np.inf, 0, 0.0)

# Fewest answered rows for Student's test, which relies on the normal limit of the mean.
LEAST_TESTED = 50


def threshold_for_risk(
    scores: Any,
    errors: Any,
    max_risk: float | Mapping[Any, float],
    confidence: float = 0.95,
    *,
    groups: Any = None,
    labels: Any = None,
    loss_values: Any = None,
) -> Threshold:
    """Threshold that answers the most rows with a mean error of at most `max_risk` (risk control).

    Every threshold is tested, from the one that answers fewest rows to the one that answers all. The null
    hypothesis is that the mean error of the answered rows is above `max_risk`. For errors of 0 and 1 the test is
    the exact binomial one; for others Student's, which needs many rows and no heavy tail. The permitted error
    rate 1 − confidence is divided: the first test gets a part, and so does each test where the number of
    answered rows has doubled. A test that rejects passes its part on to the next one, a test that does not
    loses it (Wiens' fallback procedure; with a single part it is fixed-sequence testing). Of the
    thresholds whose hypothesis was rejected, the one that answers most rows is taken.

    Rows of one group are not independent, but groups are. With `groups` the test is by betting (Waudby-Smith and
    Ramdas). It is valid for any number of groups, however much the rows of a group depend on each other, even if
    whole groups are wrong. It assumes that no future group is larger than the largest of these groups. Errors
    other than 0 and 1 need an upper bound: it is the largest error among the rows,
    but at least 2 · max_risk. Many rows in few groups are little evidence: with N groups of equal size, all
    answered and without an error, the promise is about 3 / N at best, as for N rows.

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
        true class it is. The key None stands for all answered rows.
    confidence : float, default=0.95
        Probability, over draws of the held-out rows or groups, with which all limits are kept.
    groups : array-like of shape (n_rows,), default=None
        Groups that were sampled as a whole, such as all rows of one person. If every group has one row, rows are
        tested as without groups.
    labels : array-like of shape (n_rows,), default=None
        True class of each row, if `max_risk` names classes.
    loss_values : array-like, or dict of class to array-like, default=None
        All values that an error can have; in a dict those of the rows of each class.

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
    candidates = every_threshold(scores, errors)
    risks = limited_risks(max_risk, labels, loss_values, len(scores))
    level = (1 - confidence) / len(risks)
    keeps = np.ones(len(candidates.scores), dtype=bool)
    for risk in risks:
        units = None if groups is None else np.asarray(groups)[risk.rows]
        safe = keeps_risk(scores[risk.rows], errors[risk.rows], risk, level, units)
        # A threshold of all rows is one of these rows, too: that which answers as many of them.
        n_answered = np.searchsorted(np.sort(-scores[risk.rows]), -candidates.scores, "right")
        keeps &= safe[n_answered]
    kept = np.flatnonzero(keeps)
    return candidates.at(kept[-1]) if kept.size else NOTHING


def keeps_risk(
    scores: Floats, errors: Floats, risk: LimitedRisk, level: float, groups: Any = None
) -> Mask:
    """Whether the risk of the n rows with the highest scores is known to be kept, for n from 0 to all rows.

    False inside a run of equal scores, whose rows are answered together.
    """
    safe = np.zeros(len(scores) + 1, dtype=bool)
    if len(scores) > 0:
        candidates = every_threshold(scores, errors)
        test = choose_test(candidates, scores, errors, risk, level, groups)
        starts, share = starting_points(len(scores), test.least_p_value, level)
        # A start inside a run of equal scores belongs to the threshold that answers the whole run.
        places = np.searchsorted(candidates.n_answered, starts)
        gained = np.bincount(places, minlength=len(candidates.scores)) * np.float64(share)
        safe[candidates.n_answered] = fallback_test(test.p_values, gained)
    return safe


def choose_test(
    candidates: Thresholds,
    scores: Floats,
    errors: Floats,
    risk: LimitedRisk,
    level: float,
    groups: Any = None,
) -> RiskTest:
    """Test to use: betting for groups and for several known sizes of error, binomial for one size, else Student's."""
    max_risk, sizes = risk.max_risk, risk.sizes
    if sizes is None and are_shares(errors) and max_risk < 1:
        sizes = np.ones(1)
    if sizes is not None and max_risk >= sizes.max(initial=0.0):  # no row can cost more
        return RiskTest(np.zeros(len(candidates.scores)), lambda _: 0.0)
    if has_large_groups(groups) or (sizes is not None and len(sizes) > 1):
        rows = GroupedRows.of(scores, np.arange(len(scores)) if groups is None else groups)
        bound = max(float(errors.max()), 2 * max_risk) if sizes is None else float(sizes.max())
        p_values, least = (
            group_test(rows, losses, max_risk, level, bound)
            for losses in (errors, np.zeros(len(errors)))
        )
        return RiskTest(p_values, lambda n: least[np.searchsorted(candidates.n_answered, n)])
    if sizes is not None:
        share = max_risk / float(sizes[0])
        return RiskTest(
            binomial_test(candidates, max_risk, float(sizes[0])), lambda n: (1 - share) ** n
        )
    return RiskTest(student_test(candidates, max_risk), lambda n: float(n < LEAST_TESTED))


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


def are_shares(errors: Floats) -> bool:
    """True if every error is 0 or 1, so that their mean is a share of rows."""
    return bool(np.isin(errors, (0, 1)).all())


def binomial_test(candidates: Thresholds, max_risk: float, size: float) -> Floats:
    """P-values: probability of so few mistakes or fewer, which cost `size` each, if the risk were `max_risk`."""
    n_mistakes = np.rint(candidates.lost / size)
    return np.asarray(binom.cdf(n_mistakes, candidates.n_answered, max_risk / size))


def student_test(candidates: Thresholds, max_risk: float) -> Floats:
    """P-values: probability of so small a mean error if the risk were `max_risk`; 1 below `LEAST_TESTED` rows."""
    n_rows = candidates.n_answered
    mean = candidates.lost / n_rows
    spread = np.sqrt(np.maximum(candidates.lost2 / n_rows - mean**2, 0) / np.maximum(n_rows - 1, 1))
    distance = np.where(mean < max_risk, -np.inf, np.inf)
    distance = np.divide(mean - max_risk, spread, out=distance, where=spread > 0)
    return np.where(n_rows < LEAST_TESTED, 1.0, student.cdf(distance, np.maximum(n_rows - 1, 1)))


def threshold_for_coverage(scores: Any, errors: Any, coverage: float) -> Threshold:
    """Highest threshold that answers at least the share `coverage` of the rows."""
    candidates = every_threshold(scores, errors)
    wanted = ceil(coverage * len(scores) - 1e-9)  # 0.3 * 10 is a little more than 3
    return candidates.at(np.searchsorted(candidates.n_answered, wanted))


def every_threshold(scores: Any, errors: Any) -> Thresholds:
    """Thresholds at each distinct score, from the highest; the one that answers all rows is −inf.

    Rows with equal scores are answered together.
    """
    scores, errors = np.asarray(scores, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    thresholds = ranked[ends]
    thresholds[-1] = -np.inf
    lost = errors[order]
    return Thresholds(thresholds, ends + 1, np.cumsum(lost)[ends], np.cumsum(lost**2)[ends])


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
