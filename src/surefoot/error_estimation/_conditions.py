"""Conditions on one column of a table that a person can read."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

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
        told = f"{self.value + 0.0:g}" if isinstance(self.value, float) else str(self.value)
        return f"{self.name} {self.relation} {told}"

    def holds(self, table: Any) -> Mask:
        """Which rows of a table it holds for; a gap is neither above nor below anything."""
        return self.compare(read_column(table, self.column))

    def compare(self, values: NDArray[Any]) -> Mask:
        """Which of the values of the column it holds for."""
        if self.relation == "is missing":
            return is_gap(values)
        if self.relation == "=":
            return np.asarray([str(value) == self.value for value in values])
        return np.asarray(values <= self.value if self.relation == "<=" else values > self.value)


def list_conditions(table: Any, rows: Ints) -> list[tuple[Condition, Mask]]:
    """Every condition worth trying, with the rows (of those given) that it holds for."""
    part = _safe_indexing(table, rows)
    names = list(table.columns) if hasattr(table, "columns") else list(range(table.shape[1]))
    found = []
    for name in names:
        told = name if isinstance(name, str) else f"column {name}"
        values = read_column(part, name)
        for relation, value in _comparisons(values):
            condition = Condition(name, told, relation, value)
            holds = condition.compare(values)
            if holds.any() and not holds.all():
                found.append((condition, holds))
    return found


def read_column(table: Any, name: Any) -> NDArray[Any]:
    """A column as floats with NaN for gaps, as dates, or as objects."""
    column = table[name] if hasattr(table, "columns") else table[:, name]
    if hasattr(column, "toarray"):
        column = column.toarray().ravel()
    kind = getattr(column.dtype, "kind", None)
    if kind == "M" or str(column.dtype).startswith("Date"):  # pandas and NumPy, or polars
        return np.asarray(column, dtype="datetime64[us]")
    numeric = column.dtype.is_numeric() if kind is None else kind in "iuf"
    if numeric and hasattr(column, "iloc"):  # pandas, whose nullable columns hold objects
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if kind == "O" and not hasattr(column, "iloc"):  # a mixed array: its numbers are objects, too
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            return np.asarray(values, dtype=object)
    return np.asarray(values, dtype=np.float64 if numeric else object)


def is_gap(values: NDArray[Any]) -> Mask:
    """Which values are missing."""
    if values.dtype.kind in "fM":
        return np.isnan(values) if values.dtype.kind == "f" else np.isnat(values)
    return np.array([value is None or str(value) in ("nan", "NaT", "<NA>") for value in values])


def _comparisons(values: NDArray[Any]) -> list[tuple[str, Any]]:
    gaps = is_gap(values)
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
