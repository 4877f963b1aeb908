"""Which rows to answer so that few of the answers are wrong, chosen on rows that were held out."""

from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Threshold(NamedTuple):
    """A least score to answer, and how the held-out rows with at least that score fared."""

    score: float
    n_answered: int
    n_wrong: int


class Thresholds(NamedTuple):
    """Thresholds from the highest score to the lowest, and how many rows each answers, and answers wrongly."""

    scores: Floats
    n_answered: Ints
    n_wrong: Ints

    def at(self, i: Any) -> Threshold:
        """The i-th of them."""
        return Threshold(float(self.scores[i]), int(self.n_answered[i]), int(self.n_wrong[i]))


NOTHING = Threshold(np.inf, 0, 0)


def threshold_for_risk(
    scores: Any, wrong: Any, max_risk: float, confidence: float = 0.95
) -> Threshold:
    """Threshold that answers the most rows with a share of errors of at most `max_risk`.

    Every threshold is tested, from the one that answers fewest rows to the one that answers all: an
    exact binomial test of the hypothesis that the error among the answered rows is above `max_risk`. Of
    the permitted 1 − confidence, the first test gets a part, and so does each test where the number of
    answered rows has doubled; what a test has is handed to the next one if it rejects, and is
    lost if not (Wiens' fallback procedure, of which fixed-sequence testing is the case with one
    part). Of the
    thresholds whose hypothesis was rejected, the one that answers most rows is taken.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        How far each prediction is to be trusted; higher is more.
    wrong : array-like of shape (n_rows,)
        Whether each prediction is wrong.
    max_risk : float
        Share of errors among the answered rows that is not to be exceeded.
    confidence : float, default=0.95
        Probability, over draws of the held-out rows, with which it is not.

    Returns
    -------
    threshold : Threshold
        Infinite, with no row answered, if no threshold is known to keep the limit.
    """
    candidates = every_threshold(scores, wrong)
    starts, share = starting_points(len(scores), max_risk, 1 - confidence)
    # A start inside a run of equal scores belongs to the threshold that answers the whole run.
    places = np.searchsorted(candidates.n_answered, starts)
    gained = np.bincount(places, minlength=len(candidates.scores)) * np.float64(share)
    p_values = binom.cdf(candidates.n_wrong, candidates.n_answered, max_risk)
    rejected = np.flatnonzero(fallback_test(p_values, gained))
    return candidates.at(rejected[-1]) if rejected.size else NOTHING


def threshold_for_coverage(scores: Any, wrong: Any, coverage: float) -> Threshold:
    """Highest threshold that answers at least the share `coverage` of the rows."""
    candidates = every_threshold(scores, wrong)
    wanted = ceil(coverage * len(scores) - 1e-9)  # 0.3 * 10 is a little more than 3
    return candidates.at(np.searchsorted(candidates.n_answered, wanted))


def every_threshold(scores: Any, wrong: Any) -> Thresholds:
    """Each distinct score as a threshold, from the highest; the one that answers all is −inf.

    Rows with equal scores are answered together.
    """
    scores, wrong = np.asarray(scores, dtype=np.float64), np.asarray(wrong)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    found = ranked[ends]
    found[-1] = -np.inf
    return Thresholds(found, ends + 1, np.cumsum(wrong[order] != 0)[ends])


def starting_points(n_rows: int, max_risk: float, level: float) -> tuple[Ints, float]:
    """Numbers of answered rows where testing starts anew, ascending, and the level that each gets.

    All rows, half of them, a quarter and so on, as long as that many rows without a single error
    would be evidence enough.
    """
    starts = [n_rows]
    while (1 - max_risk) ** ceil(starts[-1] / 2) <= level / (len(starts) + 1):
        starts.append(ceil(starts[-1] / 2))
    return np.array(starts[::-1]), level / len(starts)


def fallback_test(p_values: Floats, gained: Floats) -> NDArray[np.bool_]:
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
