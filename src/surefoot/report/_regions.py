"""Section "Where it fails": rules on the table's columns, and a map of the rows."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD

from surefoot._tables import is_frame, take_rows
from surefoot._typing import Floats, Ints
from surefoot._words import number, percent
from surefoot.error_estimation import HeldOut, find_error_regions
from surefoot.report._statistics import mistaken

# With fewer rows, the half that finds rules and the half that tests them are too small.
LEAST_ROWS = 40


def describe_regions(
    error_estimator: Any, X: Any, labels: Ints, shown: Ints, n_sampled: int
) -> dict[str, Any]:
    """Regions of high error, and a map of the rows at the positions `shown` among the held-out rows."""
    held_out: HeldOut = error_estimator.held_out_
    unit, regions, sentence = held_out.unit, [], None
    if held_out.losses.sum() == 0:
        sentence = f"{unit.nothing.format(number(len(held_out)))}."
    elif len(held_out) < LEAST_ROWS:
        sentence = f"{len(held_out)} rows are too few to search for rules."
    elif not is_frame(X) and (issparse(X) or X.ndim != 2):
        sentence = (
            "Rules are searched in columns that a person can read, not in texts or sparse rows."
        )
    else:
        regions = find_error_regions(
            take_rows(X, held_out.rows),
            held_out.losses,
            groups=held_out.groups,
            random_state=error_estimator.random_state,
        )
        sentence = "No short rule about its errors was confirmed on rows that were not used to find the rule."
    if regions:
        worst = regions[0]
        sentence = (
            f"It is worst where {worst.rule}: {unit.all_rows.format(unit.show(worst.error))}, elsewhere "
            f"{unit.show(worst.other_error)}. The rules were found on one half of the rows; the figures are measured "
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
        "map": _draw_map(error_estimator, X, labels, shown, n_sampled),
    }


def _draw_map(
    error_estimator: Any, X: Any, labels: Ints, shown: Ints, n_sampled: int
) -> dict[str, Any]:
    """Map of the rows shown: their first two principal components."""
    held_out: HeldOut = error_estimator.held_out_
    rows = held_out.rows[shown]
    coordinates = error_estimator.coordinates(take_rows(X, rows))
    n_axes = min(2, *coordinates.shape)
    is_sparse = issparse(coordinates)
    dense = coordinates.toarray() if is_sparse else coordinates
    flat, explained = np.zeros((len(shown), 2)), np.zeros(2)
    if np.ptp(dense, axis=0).any():  # otherwise all rows are equal, and have no direction
        kind = TruncatedSVD if is_sparse else PCA
        axes = kind(n_axes, random_state=error_estimator.random_state)
        flat[:, :n_axes] = axes.fit_transform(coordinates)
        # 1 of two columns is 1, not nearly
        explained[:n_axes] = axes.explained_variance_ratio_.round(9)
    # The sign of a component is arbitrary: make it the same on every machine.
    flat *= np.where(np.abs(flat).max(axis=0) > np.abs(flat.min(axis=0)), 1, -1)
    about = "Similar rows are close together."
    if len(shown) < len(held_out):
        about += (
            f" The map shows the {number(len(shown) - n_sampled)} rows with the highest estimated error and "
            f"{number(n_sampled)} others drawn at random, of {number(len(held_out))}."
        )
    return {
        "x": flat[:, 0].round(4).tolist(),
        "y": flat[:, 1].round(4).tolist(),
        "error": held_out.error[shown].tolist(),
        "row": labels[rows].tolist(),
        "wrong": None if held_out.classes is None else mistaken(held_out)[shown].tolist(),
        "explained": explained.tolist(),
        "n_total": len(held_out),
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
