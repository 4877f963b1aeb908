"""Error regions (slices): short rules on columns where a model fails, searched and checked on separate rows."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom, ttest_1samp
from sklearn.utils import check_array, check_consistent_length, check_random_state, check_scalar

from surefoot._tables import (
    as_table,
    as_values,
    column_names,
    missing_mask,
    take_column,
    take_rows,
)
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_number

# Most thresholds for a column of numbers, their quantiles, and most categories of a column of strings.
MOST_CUTS = 9
QUANTILES = np.arange(1, MOST_CUTS + 1) / (MOST_CUTS + 1)
MOST_CATEGORIES = 30

# Width of the beam search, and most rows that rules are searched on.
BEAM = 20
MOST_SEARCHED = 20_000

# Significance level: probability that a rule with no higher error than the rest passes the check.
LEVEL = 0.05


class Condition(NamedTuple):
    """Comparison of one column with a value: "<=", ">", "=" or "is missing"."""

    column: Any
    name: str
    relation: str
    value: Any

    def __str__(self) -> str:
        if self.relation == "is missing":
            return f"{self.name} is missing"
        value = f"{self.value + 0.0:g}" if isinstance(self.value, float) else str(self.value)
        return f"{self.name} {self.relation} {value}"

    def compare(self, values: NDArray[Any]) -> Mask:
        """Mask of the column's values that meet the condition; a missing value meets "is missing" only."""
        if self.relation == "is missing":
            return missing_mask(values)
        if self.relation == "=":
            return np.asarray([value is not None and str(value) == self.value for value in values])
        return np.asarray(values <= self.value if self.relation == "<=" else values > self.value)


Rule = tuple[Condition, ...]


class ErrorRegion(NamedTuple):
    """Part of the data with a high error; its numbers come from rows that were not used in the search.

    `rule` reads like "age > 61.5 and job = none"; `conditions` are its parts. `error` is the mean error of the
    `n_rows` checked rows in it, `other_error` that of the checked rows outside, and `p_value` the probability
    of such a mean if the region were like all rows, corrected for the number of rules checked.
    """

    rule: str
    conditions: Rule
    error: float
    other_error: float
    n_rows: int
    p_value: float

    def contains(self, X: Any) -> Mask:
        """Mask of the rows of a table that meet the rule."""
        return _meets(self.conditions, as_table(X))


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
        Named tuples with `rule` (a text), `conditions`, `error` and `other_error` (mean error of the checked rows
        inside and outside), `n_rows` and `p_value`; `contains(X)` is the mask of the rows in the region. Empty if no
        rule passed the check.

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
    conditions = _list_conditions(take_rows(table, searched))
    excess = errors[searched] - errors[searched].mean()
    rules: list[Rule] = []
    masks = np.array([mask for _, mask in conditions], dtype=np.float64)
    uncovered, least = np.ones(len(excess)), max(2.0, min_share * len(excess))
    while conditions and len(rules) < max_regions:
        best = _best_rule(masks, excess, uncovered, max_conditions, least)
        if not best:
            break
        rules.append(tuple(conditions[place][0] for place in best))
        uncovered = uncovered * (1 - masks[best].min(axis=0))
    regions = [_check(rule, table, errors, checked, len(rules)) for rule in rules]
    return sorted(filter(None, regions), key=lambda region: -region.error)


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


def _list_conditions(table: Any) -> list[tuple[Condition, Mask]]:
    """Conditions that some but not all rows of a table meet, each with the mask of those that do."""
    conditions = []
    for name in column_names(table):
        label = name if isinstance(name, str) else f"column {name}"
        values = as_values(take_column(table, name))
        for relation, value in _comparisons(values):
            condition = Condition(name, label, relation, value)
            holds = condition.compare(values)
            if holds.any() and not holds.all():
                conditions.append((condition, holds))
    return conditions


def _comparisons(values: NDArray[Any]) -> list[tuple[str, Any]]:
    """Pairs of relation and value to try for a column."""
    is_missing = missing_mask(values)
    missing: list[tuple[str, Any]] = [("is missing", None)] if is_missing.any() else []
    known, cuts = values[~is_missing], np.empty(0)
    if values.dtype.kind not in "fM":
        labels, counts = np.unique([str(value) for value in known], return_counts=True)
        common = labels[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]]
        return missing + [("=", str(label)) for label in common]
    if values.dtype.kind == "f":
        cuts = _cuts(known)
    elif len(known):
        days = known.astype("datetime64[D]").astype(np.int64)
        cuts = np.unique(np.round(np.quantile(days, QUANTILES))).astype("datetime64[D]")
    return missing + [(sign, cut) for cut in cuts for sign in ("<=", ">")]


def _cuts(values: Floats) -> NDArray[Any]:
    """Thresholds that divide the column into parts of about equal size, rounded as far as they stay distinct."""
    distinct = np.unique(values).astype(np.float64)
    if len(distinct) <= MOST_CUTS + 1:
        return distinct[:-1]
    cuts = np.unique(np.quantile(values, QUANTILES))
    least_step = float(np.diff(cuts).min()) if len(cuts) > 1 else 0.0
    digits = int(-np.floor(np.log10(least_step))) if least_step > 0 else 3
    return np.unique(np.round(cuts, digits))


def _best_rule(
    masks: Floats, excess: Floats, uncovered: Floats, max_conditions: int, least: float
) -> list[int]:
    """Positions of the conditions of the rule with the most significant excess error, by beam search; [] for none."""
    beam: list[tuple[int, ...]] = [()]
    best, best_clarity = [], 0.0
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
        if beam and trials[beam[0]] > best_clarity * 1.1:
            best, best_clarity = list(beam[0]), trials[beam[0]]
    return best


def _clarity(masks: Floats, inside: Floats, excess: Floats, least: float) -> Floats:
    """Mean excess error of the rows of each mask, divided by its standard error if there were no difference."""
    counts = masks @ inside
    total = masks @ (inside * excess)
    spread = np.sqrt(np.mean(excess**2))
    enough = (counts >= least) & (counts < inside.size)
    return np.where(
        enough & (spread > 0), total / np.sqrt(np.maximum(counts, 1)) / (spread or 1), 0.0
    )


def _meets(rule: Rule, table: Any) -> Mask:
    """Mask of the rows of a table that meet all conditions of a rule."""
    masks = [each.compare(as_values(take_column(table, each.column))) for each in rule]
    return np.logical_and.reduce(masks)


def _check(
    rule: Rule, table: Any, errors: Floats, checked: Mask, n_rules: int
) -> ErrorRegion | None:
    """Region with its numbers on the checked rows; None if its error there is not significantly high."""
    holds = _meets(rule, table)
    every, inside, outside = errors[checked], errors[holds & checked], errors[~holds & checked]
    if len(inside) < 2 or len(outside) < 2:
        return None
    if np.isin(every, (0, 1)).all():  # so many errors in a random set of so many rows
        p_value = hypergeom.sf(inside.sum() - 1, len(every), int(every.sum()), len(inside))
    elif np.ptp(inside) == 0:  # no variance for a t-test: all rows of a random set at least as bad
        p_value = np.mean(every >= inside[0]) ** len(inside)
    else:
        p_value = ttest_1samp(inside, every.mean(), alternative="greater").pvalue
    p_value = min(1.0, float(p_value) * n_rules)
    if p_value > LEVEL:
        return None
    text = " and ".join(str(condition) for condition in rule)
    return ErrorRegion(
        text, rule, float(inside.mean()), float(outside.mean()), len(inside), p_value
    )
