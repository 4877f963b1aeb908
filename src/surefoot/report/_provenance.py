"""How the report was computed: versions, sizes, seeds and what to keep in mind."""

import platform
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from sklearn.frozen import FrozenEstimator

from surefoot.report._figures import number
from surefoot.report._judged import Judged

SEEN_BY_NONE = (
    "Every figure is of rows that the model judging them had not seen, and estimates of error were learned from "
    "other rows than they are measured on; only the nearest rows, what speaks against a row and the stability of a "
    "regressor's prediction are those of the model of all rows."
)
REFITTED = (
    "The model that you deploy has seen all rows, and is if anything a little better than these figures. A promised "
    "risk was found on the rows of all folds together, whose models differ a little from each other."
)
PROMISED = "A promised risk holds for rows drawn like these, answered one by one."
EXACT = "surefoot.AbstainingClassifier sets rows aside and makes the promise exactly."
MODULES = {"scikit-learn": "sklearn"}
PACKAGES = ("surefoot", "scikit-learn", "numpy", "scipy", "pandas", "altair")


def describe_provenance(
    judged: Judged, *, seconds: float, command: str, n_measured: int, n_map: int
) -> dict[str, Any]:
    """Date, versions, sizes and caveats."""
    sure = judged.sure
    n_rows, n_reference = len(judged.y), len(sure.reference_rows_)
    return {
        "date": date.today().isoformat(),  # noqa: DTZ011 - the reader's day, not an instant
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()} | _versions(),
        "random_state": judged.random_state,
        "sizes": {
            "rows": n_rows,
            "rows judged out of fold": len(judged.rows),
            "models fitted to parts of the rows": judged.n_models,
            "rows in which neighbours are searched": n_reference,
            "rows on the map and in the table": n_map,
            "rows on which improvements were measured": n_measured,
        },
        "caveats": _caveats(judged, n_reference < n_rows, n_measured < n_rows),
        "command": command,
    }


def _versions() -> dict[str, str]:
    """Versions of the packages that are there: a summary alone needs no pandas and no altair."""
    return {name: version(name) for name in PACKAGES if find_spec(MODULES.get(name, name))}


def _caveats(judged: Judged, neighbors_sampled: bool, measured_sampled: bool) -> list[str]:
    found = [SEEN_BY_NONE, f"{PROMISED} {EXACT}" if judged.is_classifier else PROMISED]
    if not isinstance(judged.sure.estimator, FrozenEstimator):
        found.append(REFITTED)
    if not judged.is_classifier:
        found.append(
            "A promised mean error rests on Student's t: it is approximate, the more so where errors have a heavy tail."
        )
    if judged.groups is not None:
        found.append(
            "Rows of a group were never on both sides of a split, and promises count groups; rules and the reliability "
            "of probabilities take rows as independent."
        )
    if neighbors_sampled:
        found.append(
            f"Neighbours are searched in {number(len(judged.sure.reference_rows_))} rows drawn at random."
        )
    if measured_sampled:
        found.append("What would help was measured on a random part of the rows.")
    return found
