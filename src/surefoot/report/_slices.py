"""Section "Slice by slice": error, estimated error, coverage and calibration in the groups of a column."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from surefoot._tables import as_values, column_names, count_rows, missing_mask, take_column
from surefoot._typing import Floats, Ints, Mask
from surefoot._words import listed, number
from surefoot.report._assessment import Assessment
from surefoot.report._shares import mean_interval, share_interval

# Quantile bins of a column of numbers with more values than MOST_VALUES, and most groups of any other column.
N_BINS, MOST_VALUES = 5, 12

# Values with fewer rows are merged into "others".
LEAST_ROWS = 20

# Fewest units, such as groups of rows, on either side of a difference: fewer do not show how much units differ.
LEAST_UNITS = 5

LONGEST_NAME = 60


def check_by(by: Any, X: Any) -> dict[str, Any]:
    """Columns to slice by, by their names; one sentence for a column that X lacks or that has another length."""
    if by is None:
        return {}
    if isinstance(by, Mapping):
        columns = {str(name): _as_column(values) for name, values in by.items()}
    else:
        names = [by] if isinstance(by, (str, int)) else list(by)
        known = column_names(X)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"by names {listed(unknown)}, and X has the columns {listed(known)}.")
        columns = {
            str(name) if isinstance(name, str) else f"column {name}": take_column(X, name)
            for name in names
        }
    for name, values in columns.items():
        if len(values) != count_rows(X):
            raise ValueError(f"by[{name!r}] has {len(values)} values, and X {count_rows(X)} rows.")
    return columns


def _as_column(values: Any) -> Any:
    return values if hasattr(values, "dtype") else np.array(values, dtype=object)


def describe_slices(assessment: Assessment, by: dict[str, Any]) -> list[dict[str, Any]]:
    """Groups of each column with their figures; the column with the widest gap first."""
    slices = []
    for name, column in by.items():
        values = as_values(column)[assessment.rows]
        slices.append(_describe_column(assessment, name, *cut_into_groups(values)))
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


def difference_interval(
    losses: Floats, inside: Mask, units: Ints, confidence: float, *, is_share: bool
) -> tuple[float | None, float | None]:
    """Ends of the interval of the mean loss inside minus that outside, by Student's t over units; None for few units.

    For shares one wrong and one right row are added on each side, so that the interval is not too narrow where
    hardly a row is wrong (Agresti and Caffo 2000).
    """
    n_least = min(len(np.unique(units[side])) for side in (inside, ~inside))
    if n_least < LEAST_UNITS:
        return None, None
    if is_share:
        units = np.append(units, units.max() + np.arange(1, 5))
        losses = np.append(losses, [0.0, 1.0, 0.0, 1.0])
        inside = np.append(inside, [True, True, False, False])
    parts = [(losses[side].mean(), side.sum()) for side in (inside, ~inside)]
    signed = np.where(
        inside, (losses - parts[0][0]) / parts[0][1], (parts[1][0] - losses) / parts[1][1]
    )
    sums = np.bincount(np.unique(units, return_inverse=True)[1], signed)
    n_units = len(sums)
    spread = np.sqrt(n_units / (n_units - 1) * float(sums @ sums))
    reach = float(student.ppf((1 + confidence) / 2, n_least - 1)) * spread
    middle = float(parts[0][0] - parts[1][0])
    return middle - reach, middle + reach


def _describe_column(
    assessment: Assessment, name: str, codes: Ints, names: list[str]
) -> dict[str, Any]:
    n_groups = len(names)
    # All intervals of one column hold together (Bonferroni).
    confidence = 1 - (1 - assessment.confidence) / n_groups
    groups = [
        _describe_group(assessment, label, codes == code, confidence)
        for code, label in enumerate(names)
    ]
    groups.sort(key=_by_gap)
    return {
        "column": name,
        "groups": groups,
        "gap": abs(groups[0]["difference"] or 0.0),
        "confidence": assessment.confidence,
        "sentence": _sentence(assessment, name, groups),
    }


def _by_gap(group: dict[str, Any]) -> tuple[float, float]:
    """Widest gap first; of two groups, which differ from each other alike, the worse one."""
    difference = group["difference"] or 0.0
    return -round(abs(difference), 12), -difference


def _describe_group(
    assessment: Assessment, label: str, inside: Mask, confidence: float
) -> dict[str, Any]:
    """Figures of the rows of one group, and the difference of its error to that of all other rows."""
    losses, estimated, units = assessment.losses, assessment.estimated, assessment.unit_codes
    is_share = assessment.unit.name == "share"
    ends: tuple[float | None, float | None]
    if is_share:
        ends = share_interval(losses[inside], units[inside], confidence)
    else:
        low, high = _mean_interval(losses[inside], units[inside], confidence)
        ends = None if low is None else max(0.0, low), high
    excess = estimated[inside] - losses[inside]
    group: dict[str, Any] = {
        "label": label,
        "n_rows": int(inside.sum()),
        "error": _figure(losses[inside], ends),
        "estimated_error": float(estimated[inside].mean()),
        "calibration": _figure(excess, _mean_interval(excess, units[inside], confidence)),
        "coverage": None,
        **dict.fromkeys(("difference", "low", "high")),
    }
    if assessment.promise.kept:
        answered = assessment.promise.accepted(estimated[inside])
        group["coverage"] = _figure(answered, share_interval(answered, units[inside], confidence))
    if not inside.all():
        low, high = difference_interval(losses, inside, units, confidence, is_share=is_share)
        difference = float(losses[inside].mean() - losses[~inside].mean())
        group |= {"difference": difference, "low": low, "high": high}
        group["other_error"] = float(losses[~inside].mean())
    return group


def _figure(values: Any, ends: tuple[float | None, float | None]) -> dict[str, float | None]:
    return {"value": float(np.mean(values)), "low": ends[0], "high": ends[1]}


def _mean_interval(
    values: Floats, units: Ints, confidence: float
) -> tuple[float | None, float | None]:
    codes = np.unique(units, return_inverse=True)[1]
    return mean_interval(values, codes, confidence) if codes.max() > 0 else (None, None)


def _quantile_bins(known: NDArray[Any]) -> tuple[Ints, list[str]]:
    """Bins of about equal numbers of rows; equal values are in one bin."""
    numbers = known.astype("datetime64[D]").astype(np.int64) if known.dtype.kind == "M" else known
    cuts = np.unique(np.quantile(numbers, np.arange(1, N_BINS) / N_BINS, method="inverted_cdf"))
    codes = np.searchsorted(cuts, numbers)
    present = np.unique(codes)
    names = [_bin_name(known[codes == code]) for code in present]
    return np.searchsorted(present, codes), names


def _bin_name(values: NDArray[Any]) -> str:
    low, high = values.min(), values.max()
    if values.dtype.kind == "M":
        return f"{np.datetime_as_string(low, 'D')} to {np.datetime_as_string(high, 'D')}"
    return f"{number(float(low))} to {number(float(high))}"


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


def _sentence(assessment: Assessment, name: str, groups: list[dict[str, Any]]) -> str:
    if len(groups) == 1:
        return f"All held-out rows are in one group of {name}, so there is nothing to compare."
    known = [group for group in groups if group["low"] is not None]
    clear = [group for group in known if group["low"] > 0 or group["high"] < 0]
    if not clear:
        return f"No group of {name} differs measurably from the other rows."
    worst, show = clear[0], assessment.unit.show
    return (
        f"The widest gap that chance does not explain is that of {name} = {worst['label']}: "
        f"{assessment.unit.all_rows.format(show(worst['error']['value']))}, elsewhere {show(worst['other_error'])}."
    )
