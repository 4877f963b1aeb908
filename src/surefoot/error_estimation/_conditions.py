"""Conditions on one column of a table that a person can read."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._tables import as_values, column_names, missing_mask, take_column, take_rows
from surefoot._typing import Floats, Ints, Mask

# Places between the values of a column where it is divided, and values that a category may have.
MOST_CUTS = 9
SHARES = np.arange(1, MOST_CUTS + 1) / (MOST_CUTS + 1)
MOST_CATEGORIES = 30


class Condition(NamedTuple):
    """One column compared with a value: "<=", ">", "=" or "is missing"."""

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
        """Which rows of a table it holds for; a gap is neither above nor below anything."""
        return self.compare(as_values(take_column(table, self.column)))

    def compare(self, values: NDArray[Any]) -> Mask:
        """Which of the values of the column it holds for."""
        if self.relation == "is missing":
            return missing_mask(values)
        if self.relation == "=":
            return np.asarray([value is not None and str(value) == self.value for value in values])
        return np.asarray(values <= self.value if self.relation == "<=" else values > self.value)


def list_conditions(table: Any, rows: Ints) -> list[tuple[Condition, Mask]]:
    """Every condition worth trying, with the rows (of those given) that it holds for."""
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
    gaps = missing_mask(values)
    missing: list[tuple[str, Any]] = [("is missing", None)] if gaps.any() else []
    known = values[~gaps]
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
    """Values that divide the column into parts of about equal size, as round as that allows."""
    if len(np.unique(values)) <= MOST_CUTS + 1:
        distinct = np.unique(values)
        return [float(value) for value in distinct[:-1]]
    cuts = np.unique(np.quantile(values, SHARES))
    gap = float(np.diff(cuts).min()) if len(cuts) > 1 else 0.0
    digits = int(-np.floor(np.log10(gap))) if gap > 0 else 3
    return sorted({float(np.round(cut, digits)) for cut in cuts})
