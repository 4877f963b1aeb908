"""Error regions (slices): short rules on columns where a model fails, searched and checked on separate rows."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom, ttest_1samp
from sklearn.utils import check_array, check_consistent_length, check_random_state, check_scalar

from surefoot._tables import as_table
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_number
from surefoot.error_estimation._conditions import Condition, list_conditions

# Width of the beam search, and most rows that rules are searched on.
BEAM = 20
MOST_SEARCHED = 20_000

# Significance level: probability that a rule with no higher error than the rest passes the check.
LEVEL = 0.05


class ErrorRegion(NamedTuple):
    """Part of the data with a high error; its figures come from rows that were not used in the search.

    `rule` reads like "age > 61.5 and job = none"; `conditions` are its parts. `error` is the mean error of the
    `n_rows` checked rows in it, `other_error` that of the checked rows outside, and `p_value` the probability
    of such a mean if the region were like all rows, corrected for the number of rules checked.
    """

    rule: str
    conditions: tuple[Condition, ...]
    error: float
    other_error: float
    n_rows: int
    p_value: float

    def contains(self, X: Any) -> Mask:
        """Mask of the rows of a table that meet the rule."""
        table = as_table(X)
        return np.logical_and.reduce([condition.holds(table) for condition in self.conditions])


def find_error_regions(
    X: Any,
    errors: Any,
    *,
    max_regions: int = 5,
    max_conditions: int = 2,
    min_share: float = 0.02,
    groups: Any = None,
    random_state: Any = None,
) -> list[ErrorRegion]:
    """Find the parts of the data where errors are high (slice discovery); the highest error first.

    Rules are searched on one half of the rows: first the rule whose mean error is most significantly above the
    overall mean, then the next one among the rows that no rule covers. Each rule is checked on the other half,
    and returned only if its mean error there is significantly above that of all rows.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        Rows with columns that people can read: numbers and categories; values may be missing.
    errors : array-like of shape (n_rows,)
        Error of each prediction, 0 or 1 or any size, on rows that the model did not see: for example
        `IndividualErrorClassifier.held_out_.losses` for its `rows`.
    max_regions : int, default=5
        Most regions to return.
    max_conditions : int, default=2
        Most conditions in a rule.
    min_share : float, default=0.02
        Least share of the rows in a region.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are in the same half. The check still treats rows as independent.
    random_state : int, RandomState or None, default=None
        Seed of the halves.

    Returns
    -------
    regions : list of ErrorRegion
        Empty if no rule passed the check.

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> X = draw.uniform(size=(1000, 3))
    >>> errors = draw.uniform(size=1000) < np.where(X[:, 1] > 0.8, 0.6, 0.1)
    >>> [region] = find_error_regions(X, errors, max_conditions=1, random_state=0)
    >>> region.rule
    'column 1 > 0.81'
    """
    check_scalar(max_regions, "max_regions", Integral, min_val=1)
    check_scalar(max_conditions, "max_conditions", Integral, min_val=1)
    check_number(min_share, "min_share", min_val=0, max_val=0.5)
    table = as_table(X)
    errors = check_array(errors, ensure_2d=False, dtype=np.float64, input_name="errors")
    check_consistent_length(table, errors)
    if len(errors) < 8:
        raise ValueError(
            f"{len(errors)} rows are too few to find a rule on some and check it on others."
        )
    searched, checked = _halves(len(errors), groups, random_state)
    conditions = list_conditions(table, searched)
    chosen = _search(conditions, errors[searched], max_regions, max_conditions, min_share)
    rules = [tuple(conditions[i][0] for i in places) for places in chosen]
    regions = [_check(rule, table, errors, checked, len(rules)) for rule in rules]
    kept = [region for region in regions if region is not None]
    return sorted(kept, key=lambda region: -region.error)


def _halves(n_rows: int, groups: Any, random_state: Any) -> tuple[Ints, Mask]:
    """Positions of the rows to search on, at most MOST_SEARCHED, and the mask of the rows to check on."""
    draw = check_random_state(random_state)
    units = np.arange(n_rows) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    if n_units < 2:
        raise ValueError(
            "groups has one group only: rules are found on some and checked on others."
        )
    first = draw.permutation(n_units) < n_units // 2
    rows = np.flatnonzero(first[units])
    if len(rows) > MOST_SEARCHED:
        rows = np.sort(draw.choice(rows, MOST_SEARCHED, replace=False))
    return rows, ~first[units]


def _search(
    conditions: Sequence[tuple[Condition, Mask]],
    errors: Floats,
    max_regions: int,
    max_conditions: int,
    min_share: float,
) -> list[tuple[int, ...]]:
    """Rules as positions of their conditions: the best, then the best among the rows it does not cover, and so on."""
    if not conditions:
        return []
    masks = np.array([mask for _, mask in conditions], dtype=np.float64)
    uncovered = np.ones(len(errors))
    rules: list[tuple[int, ...]] = []
    least = max(2.0, min_share * len(errors))
    for _ in range(max_regions):
        rule = _best_rule(masks, errors - errors.mean(), uncovered, max_conditions, least)
        if rule is None:
            break
        rules.append(rule)
        uncovered = uncovered * (1 - masks[list(rule)].min(axis=0))
    return rules


def _best_rule(
    masks: Floats, excess: Floats, uncovered: Floats, max_conditions: int, least: float
) -> tuple[int, ...] | None:
    """Rule whose mean excess error is the most standard errors above zero, by beam search; None if there is none."""
    beam: list[tuple[int, ...]] = [()]
    best: tuple[float, tuple[int, ...] | None] = (0.0, None)
    for _ in range(max_conditions):
        trials: dict[tuple[int, ...], float] = {}
        for rule in beam:
            inside = uncovered * masks[list(rule)].min(axis=0) if rule else uncovered
            clarity = _clarity(masks, inside, excess, least)
            for i in np.argsort(-clarity)[:BEAM]:
                if clarity[i] > 0:
                    trials[tuple(sorted({*rule, int(i)}))] = float(clarity[i])
        beam = sorted(trials, key=lambda rule: -trials[rule])[:BEAM]
        # A longer rule must be clearly better, as a search over more rules always finds a slightly better one.
        if beam and trials[beam[0]] > best[0] * 1.1:
            best = trials[beam[0]], beam[0]
    return best[1]


def _clarity(masks: Floats, inside: Floats, excess: Floats, least: float) -> Floats:
    """Mean excess error of the rows of each mask, divided by its standard error if there were no difference."""
    counts = masks @ inside
    total = masks @ (inside * excess)
    spread = np.sqrt(np.mean(excess**2))
    enough = (counts >= least) & (counts < inside.size)
    return np.where(
        enough & (spread > 0), total / np.sqrt(np.maximum(counts, 1)) / (spread or 1), 0.0
    )


def _check(
    rule: tuple[Condition, ...], table: Any, errors: Floats, checked: Mask, n_rules: int
) -> ErrorRegion | None:
    """Region with its figures on the checked rows; None if its error there is not significantly high."""
    holds = np.logical_and.reduce([condition.holds(table) for condition in rule])
    inside, outside = errors[holds & checked], errors[~holds & checked]
    if len(inside) < 2 or len(outside) < 2:
        return None
    overall = float(errors[checked].mean())
    if np.isin(errors[checked], (0, 1)).all():  # so many errors in a random set of so many rows
        total, wrong = int(checked.sum()), int(errors[checked].sum())
        p_value = float(hypergeom.sf(inside.sum() - 1, total, wrong, len(inside)))
    elif np.ptp(inside) == 0:  # no variance for a t-test: all rows of a random set at least as bad
        p_value = float(np.mean(errors[checked] >= inside[0]) ** len(inside))
    else:
        p_value = float(ttest_1samp(inside, overall, alternative="greater").pvalue)
    p_value = min(1.0, p_value * n_rules)
    if p_value > LEVEL:
        return None
    text = " and ".join(str(condition) for condition in rule)
    return ErrorRegion(
        text, rule, float(inside.mean()), float(outside.mean()), len(inside), p_value
    )
