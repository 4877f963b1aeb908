"""Test of a mean loss for rows in groups, by betting on groups that are drawn independently."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import bisect

from surefoot._typing import Floats, Ints

# Number of bets whose payoffs are averaged, and the highest bet: with 1, one group that is all wrong loses everything.
N_BETS = 5
HIGHEST_BET = 0.999


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
        codes = group_codes(groups)[order]
        sizes = np.bincount(codes)
        ranked = scores[order]
        ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        first = np.append(0, np.cumsum(sizes)[:-1])
        return cls(order, np.argsort(codes, kind="stable"), first, ends, int(sizes.max()))


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
    evidence = np.full(len(rows.ends), -np.inf)
    for bet in bets(len(rows.first), max_risk / bound, level):
        evidence = np.logaddexp(evidence, log_payoff(rows, sums, bet))
    return np.exp(-np.maximum(evidence - np.log(N_BETS), 0))


def log_payoff(rows: GroupedRows, sums: Floats, bet: float) -> Floats:
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


def group_bound(
    scores: Floats, losses: Floats, groups: Any, least_score: float, confidence: float
) -> float:
    """Upper confidence bound of the share of errors among rows with a score of at least `least_score`, by groups.

    It is the lowest risk that `group_test` rejects. `scores` has all rows, also those below `least_score`, because the
    size of the largest group matters.
    """
    rows = GroupedRows.of(np.where(scores >= least_score, 1.0, 0.0), groups)

    def surplus(risk: float) -> float:
        return float(group_test(rows, losses, risk, 1 - confidence, 1.0)[0]) - (1 - confidence)

    low, high = 1e-9, 1 - 1e-9
    if surplus(high) > 0:
        return 1.0
    return float(bisect(surplus, low, high, xtol=1e-9))


def group_codes(groups: Any) -> Ints:
    """Number of each row's group, from 0."""
    return np.unique(np.asarray(groups), return_inverse=True)[1]


def has_large_groups(groups: Any) -> bool:
    """True if any group has more than one row; if none has, rows are independent."""
    return groups is not None and bool(np.bincount(group_codes(groups)).max() > 1)
