"""Section "How this was computed": versions, sizes, seed and caveats."""

import platform
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from surefoot._words import number
from surefoot.report._assessment import Assessment
from surefoot.report._holding_out import LATER

SEEN_BY_NONE = (
    "Every figure is measured on held-out rows (out-of-fold): the model that predicts a row was fitted without it, and "
    "its error is estimated from other rows. Exceptions: the nearest rows, and the reasons to doubt a prediction, are "
    "found with all rows."
)
REFITTED = (
    "The model that you deploy is fitted on all rows, so it is probably slightly better than these figures. A promised "
    "risk was set on the held-out rows of all folds together, whose models differ slightly from each other."
)
PROMISED = (
    "A promised risk holds for new rows from the same source as these, if only their estimated error decides which of "
    "them are answered."
)
EXACT = "For an exact promise use surefoot.AbstainingClassifier, which sets rows aside for it."

# Most costs that are named.
MOST_COSTS = 6
MODULES = {"scikit-learn": "sklearn"}
PACKAGES = ("surefoot", "scikit-learn", "numpy", "scipy", "pandas", "altair")


def describe_provenance(
    assessment: Assessment, *, seconds: float, command: str, n_map: int
) -> dict[str, Any]:
    """Date, versions, sizes and caveats."""
    error_estimator = assessment.error_estimator
    n_rows, n_reference = len(assessment.y), len(error_estimator.reference_rows_)
    return {
        "date": date.today().isoformat(),  # noqa: DTZ011 - the reader's day, not an instant
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()} | installed_versions(),
        "random_state": assessment.random_state,
        "sizes": {
            "rows": n_rows,
            "rows predicted out of fold": len(assessment.rows),
            "models fitted on parts of the rows": assessment.n_models,
            "rows among which neighbours are searched": n_reference,
            "rows on the map and in the table": n_map,
        },
        "caveats": _caveats(assessment, n_reference < n_rows),
        "command": command,
    }


def installed_versions() -> dict[str, str]:
    """Versions of the installed packages; a summary alone needs neither pandas nor altair."""
    return {name: version(name) for name in PACKAGES if find_spec(MODULES.get(name, name))}


def _caveats(assessment: Assessment, neighbors_sampled: bool) -> list[str]:
    is_share = assessment.unit.name == "share"
    caveats = [SEEN_BY_NONE, f"{PROMISED} {EXACT}" if is_share else PROMISED]
    if assessment.unit.name == "cost":
        caveats.append(_about_costs(assessment))
    if not isinstance(assessment.error_estimator.estimator, FrozenEstimator):
        caveats.append(REFITTED)
    if assessment.holds_out_later_rows:
        caveats.append(LATER)
    if not assessment.is_classifier:
        caveats.append(
            "The promise of a mean error uses Student's t; with groups, a test that takes the largest error seen as "
            "the largest possible. Both are approximate, and worse if a few errors are very large."
        )
    if assessment.held_out.groups is not None:
        caveats.append(
            "All rows of a group are on the same side of each split, and promises count groups, not rows. Rules and "
            "the calibration of probabilities treat rows as independent."
        )
    if neighbors_sampled:
        n_reference = number(len(assessment.error_estimator.reference_rows_))
        caveats.append(f"Neighbours are searched among {n_reference} rows drawn at random.")
    return caveats


def _about_costs(assessment: Assessment) -> str:
    """Sentence with the costs other than 1, the largest first."""
    classes = assessment.error_estimator.classes_
    costs = np.asarray(assessment.held_out.costs)
    others = [
        (
            float(costs[i, j]),
            f"“{classes[i]}” predicted as “{classes[j]}” {number(float(costs[i, j]))}",
        )
        for i, j in np.argwhere(costs != 1.0 - np.eye(len(classes)))
    ]
    ranked = [text for _, text in sorted(others, key=lambda pair: -pair[0])]
    more = f", and {len(ranked) - MOST_COSTS} more" if len(ranked) > MOST_COSTS else ""
    given = f" except {', '.join(ranked[:MOST_COSTS])}{more}" if ranked else ""
    return f"Figures of errors are costs: every mistake costs 1{given}, and a right answer 0 unless it is named here."
