"""Section "Where it fails": rules on columns, groups of given columns; and a map of the rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD

from surefoot._tables import as_values, column_names, count_rows, missing_mask, take_column
from surefoot._typing import Floats, Ints, Mask
from surefoot._words import LossUnit, listed, number, percent
from surefoot.error_estimation import HeldOut, find_error_regions
from surefoot.report._statistics import Sample, difference_interval

# With fewer rows, the half that finds rules and the half that tests them are too small.
LEAST_ROWS = 40

# Quantile bins of a column of numbers with more values than MOST_VALUES, and most groups of any other column.
N_BINS, MOST_VALUES = 5, 12

# Values with fewer rows are merged into "others".
LEAST_IN_A_GROUP = 20

LONGEST_NAME = 60


def describe_regions(
    held_out: HeldOut,
    X: Any,
    coordinates: Any,
    labels: Ints,
    *,
    shown: Ints,
    n_sampled: int,
    has_columns: bool,
    random_state: int,
) -> dict[str, Any]:
    """Regions of high error, and a map of the rows at the positions `shown`.

    `X` has the held-out rows, `coordinates` those of the rows shown, in the neighbour space.
    """
    unit, n_rows, regions = held_out.unit, len(held_out.rows), []
    if held_out.losses.sum() == 0:
        sentence = f"{unit.nothing.format(number(n_rows))}."
    elif n_rows < LEAST_ROWS:
        sentence = f"{n_rows} rows are too few to search for rules."
    elif not has_columns:
        sentence = (
            "Rules are searched in columns that a person can read, not in texts or sparse rows."
        )
    else:
        regions = find_error_regions(
            X, held_out.losses, groups=held_out.groups, random_state=random_state
        )
        sentence = "No short rule about its errors was confirmed on rows that were not used to find the rule."
    if regions:
        worst = regions[0]
        sentence = (
            f"It is worst where {worst.rule}: {unit.all_rows.format(unit.show(worst.error))}, elsewhere "
            f"{unit.show(worst.other_error)}. The rules were found on one half of the rows; the errors are measured "
            "on the other half."
        )
    return {
        "sentence": sentence,
        "overall_error": float(held_out.losses.mean()),
        "items": [
            {
                "rule": region.rule,
                "error": region.error,
                "other_error": region.other_error,
                "n_rows": region.n_rows,
                "p_value": region.p_value,
            }
            for region in regions
        ],
        "map": _draw_map(held_out, coordinates, labels, shown, n_sampled, random_state),
    }


def _draw_map(
    held_out: HeldOut,
    coordinates: Any,
    labels: Ints,
    shown: Ints,
    n_sampled: int,
    random_state: int,
) -> dict[str, Any]:
    """Map of the rows shown: their first two principal components."""
    n_total = len(held_out.rows)
    is_sparse = issparse(coordinates)
    dense = coordinates.toarray() if is_sparse else coordinates
    flat, explained = np.zeros((len(shown), 2)), np.zeros(2)
    if np.ptp(dense, axis=0).any():  # otherwise all rows are equal, and have no direction
        n_axes, kind = min(2, *coordinates.shape), TruncatedSVD if is_sparse else PCA
        axes = kind(n_axes, random_state=random_state)
        flat[:, :n_axes] = axes.fit_transform(coordinates)
        # 1 of two columns is 1, not nearly
        explained[:n_axes] = axes.explained_variance_ratio_.round(9)
    # The sign of a component is arbitrary: make it the same on every machine.
    flat *= np.where(np.abs(flat).max(axis=0) > np.abs(flat.min(axis=0)), 1, -1)
    about = "Similar rows are close together."
    if len(shown) < n_total:
        about += (
            f" The map shows the {number(len(shown) - n_sampled)} rows with the highest estimated error and "
            f"{number(n_sampled)} others drawn at random, of {number(n_total)}."
        )
    return {
        "x": flat[:, 0].round(4).tolist(),
        "y": flat[:, 1].round(4).tolist(),
        "error": held_out.error[shown].tolist(),
        "row": labels[held_out.rows[shown]].tolist(),
        "wrong": None if held_out.mistakes is None else held_out.mistakes[shown].tolist(),
        "explained": explained.tolist(),
        "n_total": n_total,
        "about": about + _about_axes(explained, is_sparse),
    }


def _about_axes(explained: Floats, is_sparse: bool) -> str:
    """Sentences about the axes of the map, and how much of the spread of the rows they show."""
    share = min(float(explained.sum()), 1.0)
    if share == 0:
        return " These rows are all equal for the model, so they lie on one point."
    if explained[1] == 0:
        return " These rows differ in one direction only, along the horizontal axis."
    axes = "the two directions in which the rows differ most (principal components)"
    if is_sparse:  # sparse rows are not centred: the first direction is that of their mean
        axes = "the first two directions of the rows (truncated singular value decomposition)"
    about = f" The axes are {axes}. They show {percent(share)} of the spread of these rows (explained variance)."
    if share == 1:
        return about
    return f"{about} Rows that are close on the map may differ in what it does not show."


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


def describe_slices(sample: Sample, by: dict[str, Any]) -> list[dict[str, Any]]:
    """Groups of each column with their numbers; the column with the widest gap first."""
    held_out, slices = sample.held_out, []
    for name, column in by.items():
        codes, labels = _cut_into_groups(as_values(column)[held_out.rows])
        # All intervals of one column hold together (Bonferroni).
        together = Sample(held_out, 1 - (1 - sample.confidence) / len(labels))
        groups = [
            {"label": label, **_describe_group(together, codes == code)}
            for code, label in enumerate(labels)
        ]
        groups.sort(key=_by_gap)
        slices.append(
            {
                "column": name,
                "groups": groups,
                "gap": abs(groups[0]["difference"] or 0.0),
                "confidence": sample.confidence,
                "sentence": _about_gap(held_out.unit, name, groups),
            }
        )
    return sorted(slices, key=lambda one: -one["gap"])


def _cut_into_groups(values: NDArray[Any]) -> tuple[Ints, list[str]]:
    """Number of each row's group and the names of the groups: values, bins of numbers or dates, others, missing."""
    is_missing = missing_mask(values)
    known = values[~is_missing]
    has_bins = known.dtype.kind in "fM" and len(np.unique(known)) > MOST_VALUES
    codes = np.full(len(values), -1)
    codes[~is_missing], names = _quantile_bins(known) if has_bins else _values_and_others(known)
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
    bins = [known[codes == code] for code in range(len(present))]
    show = _value_name if is_date else number
    return codes, [f"{show(each.min())} to {show(each.max())}" for each in bins]


def _values_and_others(known: NDArray[Any]) -> tuple[Ints, list[str]]:
    """Groups by value, the most frequent first; rare values are together in "others"."""
    texts = np.array([_value_name(value) for value in known])
    labels, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = [code for code in order[: MOST_VALUES - 1] if counts[code] >= LEAST_IN_A_GROUP]
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


def _describe_group(sample: Sample, inside: Mask) -> dict[str, Any]:
    """Numbers of the rows of one group, and the difference of its error to that of all other rows."""
    held_out = sample.held_out
    losses, estimated, accepted = held_out.losses, held_out.error, held_out.accepted
    group: dict[str, Any] = {
        "n_rows": int(inside.sum()),
        "error": sample.loss(inside),
        "estimated_error": float(estimated[inside].mean()),
        "calibration": sample.mean(estimated - losses, inside),
        "coverage": None if accepted is None else sample.share(accepted, inside),
        **dict.fromkeys(("difference", "low", "high")),
    }
    if not inside.all():
        low, high = difference_interval(
            losses, inside, sample.units, sample.confidence, is_share=held_out.unit.is_share
        )
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
    worst = next((group for group in known if group["low"] > 0 or group["high"] < 0), None)
    if worst is None:
        return f"No group of {name} differs measurably from the other rows."
    return (
        f"The widest gap that chance does not explain is that of {name} = {worst['label']}: "
        f"{unit.all_rows.format(unit.show(worst['error']['value']))}, elsewhere {unit.show(worst['other_error'])}."
    )
