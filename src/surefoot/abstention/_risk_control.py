"""Which rows to answer so that few of the answers are wrong, chosen on rows that were held out."""

from math import ceil
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta, binom
from scipy.stats import t as student

from surefoot._typing import Floats, Ints, Mask


class Threshold(NamedTuple):
    """A least score to answer, and how the held-out rows with at least that score fared.

    `lost` is the sum of their errors: how many are wrong, where an error is 0 or 1.
    """

    score: float
    n_answered: int
    lost: float


class Thresholds(NamedTuple):
    """Thresholds from the highest score to the lowest, how many rows each answers, and the errors of these.

    `lost` is the sum of their errors, `lost2` that of the squares.
    """

    scores: Floats
    n_answered: Ints
    lost: Floats
    lost2: Floats

    def at(self, i: Any) -> Threshold:
        """The i-th of them."""
        return Threshold(float(self.scores[i]), int(self.n_answered[i]), float(self.lost[i]))


NOTHING = Threshold(np.inf, 0, 0.0)

# Rows that a mean of errors of any size must have before it is tested by its normal limit.
LEAST_TESTED = 50

# And groups of rows.
LEAST_GROUPS = 10


def threshold_for_risk(
    scores: Any, errors: Any, max_risk: float, confidence: float = 0.95, *, groups: Any = None
) -> Threshold:
    """Threshold that answers the most rows with a mean error of at most `max_risk`.

    Every threshold is tested, from the one that answers fewest rows to the one that answers all: a
    test of the hypothesis that the mean error of the answered rows is above `max_risk`. Errors of 0 and 1
    have an exact one, the binomial; others Student's, which holds for many rows and no heavy tail. Of
    the permitted 1 − confidence, the first test gets a part, and so does each test where the number of
    answered rows has doubled; what a test has is handed to the next one if it rejects, and is
    lost if not (Wiens' fallback procedure, of which fixed-sequence testing is the case with one
    part). Of the
    thresholds whose hypothesis was rejected, the one that answers most rows is taken.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        How far each prediction is to be trusted; higher is more. For example minus the
        `held_out_.error` of an `IndividualErrorClassifier`.
    errors : array-like of shape (n_rows,)
        What each prediction cost: whether it is wrong, or how far off it is.
    max_risk : float
        Mean error of the answered rows that is not to be exceeded.
    confidence : float, default=0.95
        Probability, over draws of the held-out rows, with which it is not.
    groups : array-like of shape (n_rows,), default=None
        What was drawn as a whole, such as the rows of one person: the test is then Student's, of the groups.

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
    >>> found = threshold_for_risk(np.linspace(1, 0, 100), wrong, max_risk=0.1)
    >>> found.n_answered, found.lost
    (86, 3.0)
    """
    candidates = every_threshold(scores, errors)
    is_share = bool(np.isin(errors, (0, 1)).all()) and groups is None
    starts, share = starting_points(len(scores), max_risk, 1 - confidence, is_share=is_share)
    # A start inside a run of equal scores belongs to the threshold that answers the whole run.
    places = np.searchsorted(candidates.n_answered, starts)
    gained = np.bincount(places, minlength=len(candidates.scores)) * np.float64(share)
    if groups is not None:
        p_values = group_test(scores, errors, groups, max_risk)
    else:
        p_values = (binomial_test if is_share else student_test)(candidates, max_risk)
    rejected = np.flatnonzero(fallback_test(p_values, gained))
    return candidates.at(rejected[-1]) if rejected.size else NOTHING


def binomial_test(candidates: Thresholds, max_risk: float) -> Floats:
    """Chance of as few wrong answers if a share of `max_risk` were wrong."""
    return np.asarray(binom.cdf(candidates.lost, candidates.n_answered, max_risk))


def student_test(candidates: Thresholds, max_risk: float) -> Floats:
    """Chance of as small a mean error if it were `max_risk`; 1 for too few rows to tell."""
    n_rows = candidates.n_answered
    mean = candidates.lost / n_rows
    spread = np.sqrt(np.maximum(candidates.lost2 / n_rows - mean**2, 0) / np.maximum(n_rows - 1, 1))
    distance = np.where(mean < max_risk, -np.inf, np.inf)
    distance = np.divide(mean - max_risk, spread, out=distance, where=spread > 0)
    return np.where(n_rows < LEAST_TESTED, 1.0, student.cdf(distance, np.maximum(n_rows - 1, 1)))


def group_test(scores: Any, errors: Any, groups: Any, max_risk: float) -> Floats:
    """The same for rows that come in groups, at each distinct score, by the groups' sums of errors.

    Of the answered rows of a group, d is the sum of error − max_risk; the sum of all d is compared with
    its standard error over groups.
    """
    scores = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    codes = np.unique(groups, return_inverse=True)[1][order].tolist()
    excess = (np.asarray(errors, dtype=np.float64)[order] - max_risk).tolist()
    sums = [0.0] * (max(codes) + 1)
    seen: set[int] = set()
    squares, total, found = 0.0, 0.0, []
    for code, value in zip(codes, excess, strict=True):
        squares += 2 * sums[code] * value + value**2
        sums[code] += value
        total += value
        seen.add(code)
        found.append((total, squares, len(seen)))
    totals, squared, n_groups = np.array(found).T
    centered = np.maximum(squared - totals**2 / n_groups, 1e-300)
    distance = totals / np.sqrt(centered * n_groups / np.maximum(n_groups - 1, 1))
    p_values = np.where(
        n_groups < LEAST_GROUPS, 1.0, student.cdf(distance, np.maximum(n_groups - 1, 1))
    )
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    return p_values[ends]


def threshold_for_coverage(scores: Any, errors: Any, coverage: float) -> Threshold:
    """Highest threshold that answers at least the share `coverage` of the rows."""
    candidates = every_threshold(scores, errors)
    wanted = ceil(coverage * len(scores) - 1e-9)  # 0.3 * 10 is a little more than 3
    return candidates.at(np.searchsorted(candidates.n_answered, wanted))


def every_threshold(scores: Any, errors: Any) -> Thresholds:
    """Each distinct score as a threshold, from the highest; the one that answers all is −inf.

    Rows with equal scores are answered together.
    """
    scores, errors = np.asarray(scores, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    found = ranked[ends]
    found[-1] = -np.inf
    lost = errors[order]
    return Thresholds(found, ends + 1, np.cumsum(lost)[ends], np.cumsum(lost**2)[ends])


def starting_points(
    n_rows: int, max_risk: float, level: float, *, is_share: bool = True
) -> tuple[Ints, float]:
    """Numbers of answered rows where testing starts anew, ascending, and the level that each gets.

    All rows, half of them, a quarter and so on, as long as that many rows without a single error
    would be evidence enough, or for errors of any size there are enough to test.
    """
    starts = [n_rows]
    while True:
        half = ceil(starts[-1] / 2)
        enough = (
            (1 - max_risk) ** half <= level / (len(starts) + 1)
            if is_share
            else half >= LEAST_TESTED
        )
        if not enough or half == starts[-1]:
            break
        starts.append(half)
    return np.array(starts[::-1]), level / len(starts)


def fallback_test(p_values: Floats, gained: Floats) -> Mask:
    """Which of an ordered list of hypotheses are rejected by Wiens' fallback procedure.

    Each is tested at the level it gained plus that of the one before, if that one was rejected.
    """
    rejected = np.zeros(len(p_values), dtype=bool)
    level = 0.0
    for i, (p_value, more) in enumerate(zip(p_values, gained, strict=True)):
        level += more
        rejected[i] = level > 0 and p_value <= level
        if not rejected[i]:
            level = 0.0
    return rejected


def upper_bound(n_wrong: int, n_rows: int, confidence: float) -> float:
    """Clopper and Pearson's upper confidence bound of a share, from one count."""
    if n_wrong == n_rows:
        return 1.0
    return float(beta.ppf(confidence, n_wrong + 1, n_rows - n_wrong))


def why_nothing(n_rows: int, max_risk: float, confidence: float) -> str:
    """One sentence that says that no threshold was found, and why."""
    least = upper_bound(0, n_rows, confidence)
    reason = (
        "there are too many errors, or the score tells too little of them"
        if least <= max_risk
        else f"so few rows promise {least:.2g} at best, even if none is wrong"
    )
    return (
        f"No threshold is known to keep max_risk={max_risk} with confidence={confidence} by the {n_rows} "
        f"rows set aside, and no row will be answered: {reason}."
    )
