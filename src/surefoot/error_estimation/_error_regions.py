"""Where a model fails: short rules on the columns of the data, found on some rows and checked on others."""

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

# Rules that are refined at each length, and rows that rules are searched on.
BEAM = 20
MOST_SEARCHED = 20_000

# Chance of a rule that is no worse than the rest passing the check.
LEVEL = 0.05


class ErrorRegion(NamedTuple):
    """A part of the data with a high error, by figures of rows that it was not found on.

    `rule` reads like "age > 61.5 and job = none"; `conditions` are its parts. `error` is the mean error of the
    `n_rows` checked rows in it, `other_error` that of the checked rows outside, and `p_value` the chance
    of as high a mean if the region were like all rows, corrected for the number of rules checked.
    """

    rule: str
    conditions: tuple[Condition, ...]
    error: float
    other_error: float
    n_rows: int
    p_value: float

    def contains(self, X: Any) -> Mask:
        """Which rows of a table the rule holds for."""
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
    """Find the parts of the data where errors are high; the worst first.

    Rules are searched on one half of the rows: the one that lies most clearly above the mean, then
    the next among the rows that no rule covers. On the other half each is checked, and only those
    whose mean error there is above that of all rows, beyond chance, are returned.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        Rows, as a person knows them: numbers and categories, with gaps.
    errors : array-like of shape (n_rows,)
        What each prediction cost, 0 or 1 or any size, of rows that the model did not see: for example
        `IndividualErrorClassifier.held_out_.errors` for its `rows`.
    max_regions : int, default=5
        Most regions to return.
    max_conditions : int, default=2
        Most conditions in a rule.
    min_share : float, default=0.02
        Least share of the rows in a region.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are in the same half. The check takes rows as independent all the same.
    random_state : int, RandomState or None, default=None
        Draws the halves.

    Returns
    -------
    regions : list of ErrorRegion
        None if no rule passed the check.

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
    found = _search(conditions, errors[searched], max_regions, max_conditions, min_share)
    rules = [tuple(conditions[i][0] for i in rule) for rule in found]
    regions = [_check(rule, table, errors, checked, len(rules)) for rule in rules]
    kept = [region for region in regions if region is not None]
    return sorted(kept, key=lambda region: -region.error)


def _halves(n_rows: int, groups: Any, random_state: Any) -> tuple[Ints, Mask]:
    """Rows to search on, at most so many, and the mask of rows to check on."""
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
    """The best rule, then the best among the rows it leaves, and so on."""
    if not conditions:
        return []
    masks = np.array([mask for _, mask in conditions], dtype=np.float64)
    left = np.ones(len(errors))
    found: list[tuple[int, ...]] = []
    least = max(2.0, min_share * len(errors))
    for _ in range(max_regions):
        rule = _best_rule(masks, errors - errors.mean(), left, max_conditions, least)
        if rule is None:
            break
        found.append(rule)
        left = left * (1 - masks[list(rule)].min(axis=0))
    return found


def _best_rule(
    masks: Floats, excess: Floats, left: Floats, max_conditions: int, least: float
) -> tuple[int, ...] | None:
    """Beam search for the rule whose mean excess is the most standard errors above zero."""
    beam: list[tuple[int, ...]] = [()]
    best: tuple[float, tuple[int, ...] | None] = (0.0, None)
    for _ in range(max_conditions):
        trials: dict[tuple[int, ...], float] = {}
        for rule in beam:
            inside = left * masks[list(rule)].min(axis=0) if rule else left
            clarity = _clarity(masks, inside, excess, least)
            for i in np.argsort(-clarity)[:BEAM]:
                if clarity[i] > 0:
                    trials[tuple(sorted({*rule, int(i)}))] = float(clarity[i])
        beam = sorted(trials, key=lambda rule: -trials[rule])[:BEAM]
        # A longer rule must be clearer than a shorter one by more than a search finds anywhere.
        if beam and trials[beam[0]] > best[0] * 1.1:
            best = trials[beam[0]], beam[0]
    return best[1]


def _clarity(masks: Floats, inside: Floats, excess: Floats, least: float) -> Floats:
    """Mean excess of the rows of each mask over its standard error under no difference."""
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
    """The region with its figures on rows it was not found on; None if these do not bear it out."""
    holds = np.logical_and.reduce([condition.holds(table) for condition in rule])
    inside, outside = errors[holds & checked], errors[~holds & checked]
    if len(inside) < 2 or len(outside) < 2:
        return None
    overall = float(errors[checked].mean())
    if np.isin(errors[checked], (0, 1)).all():  # as many errors among as many rows, by chance
        total, wrong = int(checked.sum()), int(errors[checked].sum())
        p_value = float(hypergeom.sf(inside.sum() - 1, total, wrong, len(inside)))
    elif np.ptp(inside) == 0:  # no spread to test by: as many rows at least as bad, by chance
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
