"""Conditions on one column of a table that a person can read."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._tables import as_values, column_names, missing_mask, take_column, take_rows
from surefoot._typing import Floats, Ints, Mask

# Most thresholds for a column of numbers, their quantiles, and most categories of a column of texts.
MOST_CUTS = 9
SHARES = np.arange(1, MOST_CUTS + 1) / (MOST_CUTS + 1)
MOST_CATEGORIES = 30


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

    def holds(self, table: Any) -> Mask:
        """Mask of the rows of a table that meet the condition; a missing value meets "is missing" only."""
        return self.compare(as_values(take_column(table, self.column)))

    def compare(self, values: NDArray[Any]) -> Mask:
        """Mask of the column's values that meet the condition."""
        if self.relation == "is missing":
            return missing_mask(values)
        if self.relation == "=":
            return np.asarray([value is not None and str(value) == self.value for value in values])
        return np.asarray(values <= self.value if self.relation == "<=" else values > self.value)


def list_conditions(table: Any, rows: Ints) -> list[tuple[Condition, Mask]]:
    """Conditions that some but not all of the given rows meet, each with the mask of those that do."""
    part = take_rows(table, rows)
    conditions = []
    for name in column_names(table):
        label = name if isinstance(name, str) else f"column {name}"
        values = as_values(take_column(part, name))
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
    known = values[~is_missing]
    if values.dtype.kind == "M":
        days = known.astype("datetime64[D]").astype(np.int64)
        cuts = np.unique(np.round(np.quantile(days, SHARES))) if len(days) else days
        dates = cuts.astype("datetime64[D]")
        return missing + [(sign, cut) for cut in dates for sign in ("<=", ">")]
    if values.dtype.kind != "f":
        labels, counts = np.unique([str(value) for value in known], return_counts=True)
        common = labels[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]]
        return missing + [("=", str(label)) for label in common]
    return missing + [(sign, cut) for cut in _cuts(known) for sign in ("<=", ">")]


def _cuts(values: Floats) -> list[float]:
    """Thresholds that divide the column into parts of about equal size, rounded as far as they stay distinct."""
    if len(np.unique(values)) <= MOST_CUTS + 1:
        distinct = np.unique(values)
        return [float(value) for value in distinct[:-1]]
    cuts = np.unique(np.quantile(values, SHARES))
    least_step = float(np.diff(cuts).min()) if len(cuts) > 1 else 0.0
    digits = int(-np.floor(np.log10(least_step))) if least_step > 0 else 3
    return sorted({float(np.round(cut, digits)) for cut in cuts})
