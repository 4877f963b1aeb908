"""Where it fails: rules on the table's own columns, and a map of the rows."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD

from surefoot._tables import is_frame, take_rows
from surefoot._typing import Ints
from surefoot.error_estimation import ErrorRegion, find_error_regions
from surefoot.report._assessment import Assessment
from surefoot.report._figures import number, percent

# Fewer rows cannot be divided into those that find a rule and those that check it.
LEAST_ROWS = 40


def describe_regions(assessment: Assessment, shown: Ints, n_sampled: int) -> dict[str, Any]:
    """Regions of high error, and the rows shown, by their position among the held-out rows, on a map."""
    regions = find_regions(assessment)
    return {
        "sentence": _sentence(regions, assessment),
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


def find_regions(assessment: Assessment) -> list[ErrorRegion]:
    """Rules for high errors, checked on rows they were not found on; none without a table or with few rows."""
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
    """Whether the table has columns that a person can read, neither sparse ones nor texts alone."""
    return is_frame(X) or (not issparse(X) and X.ndim == 2)


def draw_map(assessment: Assessment, shown: Ints, n_sampled: int) -> dict[str, Any]:
    """The rows shown, on the two directions along which they differ most."""
    place = assessment.sure.coordinates(take_rows(assessment.X, assessment.rows[shown]))
    n_axes = min(2, *place.shape)
    kind = TruncatedSVD if issparse(place) else PCA
    axes = kind(n_axes, random_state=assessment.random_state)
    flat = np.zeros((len(shown), 2))
    explained = np.zeros(2)
    if np.ptp(
        place.toarray() if issparse(place) else place, axis=0
    ).any():  # else all are in one place
        flat[:, :n_axes] = axes.fit_transform(place)
        explained[:n_axes] = axes.explained_variance_ratio_
    flat *= np.where(
        np.abs(flat).max(axis=0) > np.abs(flat.min(axis=0)), 1, -1
    )  # one sign everywhere
    wrong = (assessment.losses[shown] > 0).tolist() if assessment.is_classifier else None
    return {
        "x": flat[:, 0].round(4).tolist(),
        "y": flat[:, 1].round(4).tolist(),
        "error": assessment.estimated[shown].tolist(),
        "row": assessment.labels[assessment.rows[shown]].tolist(),
        "wrong": wrong,
        "explained": explained.tolist(),
        "n_total": len(assessment.rows),
        "about": _about_map(len(shown), len(assessment.rows), n_sampled),
    }


def _about_map(n_shown: int, n_total: int, n_sampled: int) -> str:
    about = "Similar rows are close together. The axes are the two directions in which the rows differ most."
    if n_shown == n_total:
        return about
    return (
        f"{about} The map shows the {number(n_shown - n_sampled)} rows with the highest estimated error and "
        f"{number(n_sampled)} others drawn at random, of {number(n_total)}."
    )


def _sentence(regions: list[ErrorRegion], assessment: Assessment) -> str:
    if assessment.losses.sum() == 0:
        return "It made no mistake on the held-out rows."
    if len(assessment.rows) < LEAST_ROWS:
        return f"{len(assessment.rows)} rows are too few to search for rules."
    if not is_readable(assessment.X):
        return "Rules are searched in columns that a person can read, not in texts or sparse rows."
    if not regions:
        return "No short rule about its errors was confirmed on rows that were not used to find the rule."
    worst = regions[0]
    how = "wrong on {} of rows" if assessment.is_classifier else "off by {} on average"
    show = percent if assessment.is_classifier else number
    return (
        f"It is worst where {worst.rule}: {how.format(show(worst.error))}, elsewhere {show(worst.other_error)}. "
        "The rules were found on one half of the rows; the figures are measured on the other half."
    )
