"""Section "Slice by slice": error, estimated error, coverage and calibration in the groups of a column."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._tables import as_values, column_names, count_rows, missing_mask, take_column
from surefoot._typing import Ints, Mask
from surefoot._words import LossUnit, listed, number
from surefoot.abstention import Promise
from surefoot.error_estimation import HeldOut
from surefoot.report._statistics import difference_interval, group_codes, with_interval

# Quantile bins of a column of numbers with more values than MOST_VALUES, and most groups of any other column.
N_BINS, MOST_VALUES = 5, 12

# Values with fewer rows are merged into "others".
LEAST_ROWS = 20

LONGEST_NAME = 60


def check_by(by: Any, X: Any) -> dict[str, Any]:
    """Columns to slice by, by their names; one sentence for a column that X lacks or that has another length."""
    if by is None:
        return {}
    if isinstance(by, Mapping):
        columns = {
            str(name): values if hasattr(values, "dtype") else np.array(values, dtype=object)
            for name, values in by.items()
        }
    else:
        names = [by] if isinstance(by, (str, int)) else list(by)
        known = column_names(X)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"by names {listed(unknown)}, and X has the columns {listed(known)}.")
        columns = {
            name if isinstance(name, str) else f"column {name}": take_column(X, name)
            for name in names
        }
    for name, values in columns.items():
        if len(values) != count_rows(X):
            raise ValueError(f"by[{name!r}] has {len(values)} values, and X {count_rows(X)} rows.")
    return columns


def describe_slices(
    held_out: HeldOut, by: dict[str, Any], promise: Promise
) -> list[dict[str, Any]]:
    """Groups of each column with their figures; the column with the widest gap first."""
    slices = []
    for name, column in by.items():
        codes, labels = cut_into_groups(as_values(column)[held_out.rows])
        # All intervals of one column hold together (Bonferroni).
        confidence = 1 - (1 - promise.confidence) / len(labels)
        groups = [
            {"label": label, **_describe_group(held_out, codes == code, promise, confidence)}
            for code, label in enumerate(labels)
        ]
        groups.sort(key=_by_gap)
        slices.append(
            {
                "column": name,
                "groups": groups,
                "gap": abs(groups[0]["difference"] or 0.0),
                "confidence": promise.confidence,
                "sentence": _about_gap(held_out.unit, name, groups),
            }
        )
    return sorted(slices, key=lambda one: -one["gap"])


def cut_into_groups(values: NDArray[Any]) -> tuple[Ints, list[str]]:
    """Number of each row's group and the names of the groups: values, bins of numbers or dates, others, missing."""
    is_missing = missing_mask(values)
    known = values[~is_missing]
    codes = np.full(len(values), -1)
    if known.dtype.kind in "fM" and len(np.unique(known)) > MOST_VALUES:
        codes[~is_missing], names = _quantile_bins(known)
    else:
        codes[~is_missing], names = _values_and_others(known)
    if is_missing.any():
        codes[is_missing] = len(names)
        names = [*names, "missing"]
    return codes, names


def _quantile_bins(known: NDArray[Any]) -> tuple[Ints, list[str]]:
    """Bins of about equal numbers of rows, each named by its ends; equal values are in one bin."""
    is_date = known.dtype.kind == "M"
    numbers = known.astype("datetime64[D]").astype(np.int64) if is_date else known
    cuts = np.unique(np.quantile(numbers, np.arange(1, N_BINS) / N_BINS, method="inverted_cdf"))
    present, codes = np.unique(np.searchsorted(cuts, numbers), return_inverse=True)
    ends = [
        (known[codes == code].min(), known[codes == code].max()) for code in range(len(present))
    ]
    show = _value_name if is_date else number
    return codes, [f"{show(low)} to {show(high)}" for low, high in ends]


def _values_and_others(known: NDArray[Any]) -> tuple[Ints, list[str]]:
    """Groups by value, the most frequent first; rare values are together in "others"."""
    if len(known) == 0:
        return np.empty(0, dtype=np.intp), []
    texts = np.array([_value_name(value) for value in known])
    labels, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = [code for code in order[: MOST_VALUES - 1] if counts[code] >= LEAST_ROWS]
    n_rest = len(labels) - len(kept)
    if n_rest == 1:  # one value needs no name for several
        kept, n_rest = list(order), 0
    place = np.full(len(labels), len(kept))
    place[kept] = np.arange(len(kept))
    others = [f"{n_rest} others"] if n_rest else []
    return place[codes], [str(labels[code]) for code in kept] + others


def _value_name(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, "D"))
    name = f"{value:.10g}" if isinstance(value, float) else str(value)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _describe_group(
    held_out: HeldOut, inside: Mask, promise: Promise, confidence: float
) -> dict[str, Any]:
    """Figures of the rows of one group, and the difference of its error to that of all other rows."""
    losses, estimated, units = held_out.losses, held_out.error, group_codes(held_out)
    is_share, own = held_out.unit.is_share, units[inside]
    excess = estimated[inside] - losses[inside]
    group: dict[str, Any] = {
        "n_rows": int(inside.sum()),
        "error": with_interval(losses[inside], own, confidence, is_share=is_share, least=0.0),
        "estimated_error": float(estimated[inside].mean()),
        "calibration": with_interval(excess, own, confidence),
        "coverage": None,
        **dict.fromkeys(("difference", "low", "high")),
    }
    if promise.kept:
        accepted = promise.accepted(estimated[inside])
        group["coverage"] = with_interval(accepted, own, confidence, is_share=True)
    if not inside.all():
        low, high = difference_interval(losses, inside, units, confidence, is_share=is_share)
        other = float(losses[~inside].mean())
        group |= {"difference": group["error"]["value"] - other, "low": low, "high": high}
        group["other_error"] = other
    return group


def _by_gap(group: dict[str, Any]) -> tuple[float, float]:
    """Widest gap first; of two groups, which differ from each other alike, the worse one."""
    difference = group["difference"] or 0.0
    return -round(abs(difference), 12), -difference


def _about_gap(unit: LossUnit, name: str, groups: list[dict[str, Any]]) -> str:
    if len(groups) == 1:
        return f"All held-out rows are in one group of {name}, so there is nothing to compare."
    known = [group for group in groups if group["low"] is not None]
    clear = [group for group in known if group["low"] > 0 or group["high"] < 0]
    if not clear:
        return f"No group of {name} differs measurably from the other rows."
    worst = clear[0]
    return (
        f"The widest gap that chance does not explain is that of {name} = {worst['label']}: "
        f"{unit.all_rows.format(unit.show(worst['error']['value']))}, elsewhere {unit.show(worst['other_error'])}."
    )
