"""Section "Where it fails": rules on the table's columns, and a map of the rows."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD

from surefoot._tables import is_frame, take_rows
from surefoot._typing import Floats, Ints
from surefoot._words import number, percent
from surefoot.error_estimation import find_error_regions
from surefoot.report._assessment import Assessment

# With fewer rows, the half that finds rules and the half that tests them are too small.
LEAST_ROWS = 40


def describe_regions(assessment: Assessment, shown: Ints, n_sampled: int) -> dict[str, Any]:
    """Regions of high error, and a map of the rows at the positions `shown` among the held-out rows."""
    regions = find_regions(assessment)
    return {
        "sentence": _sentence(regions, assessment),
        "overall_error": float(assessment.losses.mean()),
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
        "map": draw_map(assessment, shown, n_sampled),
    }


def find_regions(assessment: Assessment) -> list[Any]:
    """Rules for high errors, tested on rows that were not used to find them; none without a table or with few rows."""
    if (
        len(assessment.rows) < LEAST_ROWS
        or not is_readable(assessment.X)
        or assessment.losses.sum() == 0
    ):
        return []
    return find_error_regions(
        take_rows(assessment.X, assessment.rows),
        assessment.losses,
        groups=assessment.held_out.groups,
        random_state=assessment.random_state,
    )


def is_readable(X: Any) -> bool:
    """True if the table has columns that a person can read: it is neither sparse nor a list of texts."""
    return is_frame(X) or (not issparse(X) and X.ndim == 2)


def draw_map(assessment: Assessment, shown: Ints, n_sampled: int) -> dict[str, Any]:
    """Map of the rows shown: their first two principal components."""
    coordinates = assessment.error_estimator.coordinates(
        take_rows(assessment.X, assessment.rows[shown])
    )
    n_axes = min(2, *coordinates.shape)
    kind = TruncatedSVD if issparse(coordinates) else PCA
    axes = kind(n_axes, random_state=assessment.random_state)
    flat = np.zeros((len(shown), 2))
    explained = np.zeros(2)
    dense = coordinates.toarray() if issparse(coordinates) else coordinates
    if np.ptp(dense, axis=0).any():  # otherwise all rows are equal, and have no direction
        flat[:, :n_axes] = axes.fit_transform(coordinates)
        explained[:n_axes] = axes.explained_variance_ratio_.round(
            9
        )  # 1 of two columns is 1, not nearly
    # The sign of a component is arbitrary: make it the same on every machine.
    flat *= np.where(np.abs(flat).max(axis=0) > np.abs(flat.min(axis=0)), 1, -1)
    wrong = assessment.wrong[shown].tolist() if assessment.is_classifier else None
    return {
        "x": flat[:, 0].round(4).tolist(),
        "y": flat[:, 1].round(4).tolist(),
        "error": assessment.estimated[shown].tolist(),
        "row": assessment.labels[assessment.rows[shown]].tolist(),
        "wrong": wrong,
        "explained": explained.tolist(),
        "n_total": len(assessment.rows),
        "about": _about_map(len(shown), len(assessment.rows), n_sampled)
        + _about_axes(explained, issparse(coordinates)),
    }


def _about_map(n_shown: int, n_total: int, n_sampled: int) -> str:
    if n_shown == n_total:
        return "Similar rows are close together."
    return (
        "Similar rows are close together. The map shows the "
        f"{number(n_shown - n_sampled)} rows with the highest estimated error and {number(n_sampled)} others drawn at "
        f"random, of {number(n_total)}."
    )


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


def _sentence(regions: list[Any], assessment: Assessment) -> str:
    if assessment.losses.sum() == 0:
        return f"{assessment.unit.nothing.format(number(len(assessment.rows)))}."
    if len(assessment.rows) < LEAST_ROWS:
        return f"{len(assessment.rows)} rows are too few to search for rules."
    if not is_readable(assessment.X):
        return "Rules are searched in columns that a person can read, not in texts or sparse rows."
    if not regions:
        return "No short rule about its errors was confirmed on rows that were not used to find the rule."
    worst = regions[0]
    how, show = assessment.unit.all_rows, assessment.unit.show
    return (
        f"It is worst where {worst.rule}: {how.format(show(worst.error))}, elsewhere {show(worst.other_error)}. "
        "The rules were found on one half of the rows; the figures are measured on the other half."
    )
