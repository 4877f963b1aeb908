"""Are the probabilities true? Before and after recalibration, on rows that neither saw."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.metrics import smooth_calibration_error
from surefoot.recalibration import recalibrated_probabilities
from surefoot.report._figures import percent
from surefoot.report._judged import Judged
from surefoot.report._shares import wilson_interval

Floats = NDArray[np.float64]

LEAST_IN_A_BIN = 40
MOST_BINS = 12


def describe_probabilities(judged: Judged) -> dict[str, Any] | None:
    """Reliability, smooth calibration error and Brier score; a sentence only if there are no probabilities."""
    if not judged.is_classifier:
        return None
    told, classes = judged.sure.held_out_, judged.sure.classes_
    if told.probabilities is None:
        return {"sentence": "The model gives no probabilities, only an order of its classes."}
    if not np.array_equal(np.unique(judged.truth), classes):
        return {
            "sentence": "The rows lack a class that the model knows: its probabilities cannot be checked."
        }
    after = recalibrated_probabilities(
        told.scores, judged.truth, groups=_of_rows(judged), random_state=judged.random_state
    )
    forecasts = {
        name: as_forecast(probabilities, judged.truth, classes)
        for name, probabilities in (("before", told.probabilities), ("after", after))
    }
    squares = {name: (chance - came) ** 2 for name, (chance, came) in forecasts.items()}
    return {
        **{name: reliability(*forecast) for name, forecast in forecasts.items()},
        "smooth_calibration_error": {
            name: smooth_calibration_error(came, chance)
            for name, (chance, came) in forecasts.items()
        },
        "brier": {name: float(values.mean()) for name, values in squares.items()},
        "sentence": _sentence(forecasts, squares["before"] - squares["after"], classes),
    }


def as_forecast(probabilities: Floats, truth: NDArray[Any], classes: Any) -> tuple[Floats, Floats]:
    """One forecast a row: of the second of two classes, else of the most probable class; and whether it came."""
    if len(classes) == 2:
        return probabilities[:, 1], (truth == classes[1]).astype(np.float64)
    top = probabilities.argmax(axis=1)
    return probabilities.max(axis=1), (classes[top] == truth).astype(np.float64)


def reliability(chance: Floats, came: Floats) -> dict[str, list[float]]:
    """Mean forecast and how often it came true, in bins of about equal numbers of rows, with 95 % intervals."""
    n_bins = int(np.clip(len(chance) // LEAST_IN_A_BIN, 1, MOST_BINS))
    parts = np.array_split(np.argsort(chance, kind="stable"), n_bins)
    counts = np.array([len(part) for part in parts])
    hits = np.array([came[part].sum() for part in parts])
    low, high = wilson_interval(hits, counts)
    return {
        "predicted": [float(chance[part].mean()) for part in parts],
        "observed": (hits / counts).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "n_rows": counts.tolist(),
    }


def _sentence(forecasts: dict[str, Any], saved: Floats, classes: Any) -> str:
    of = f"of {classes[1]!s}" if len(classes) == 2 else "of the predicted class"
    off = {name: smooth_calibration_error(c, p) for name, (p, c) in forecasts.items()}
    reach = 1.96 * saved.std() / np.sqrt(len(saved))
    if saved.mean() > reach:
        verdict = f"Recalibration mends that: {percent(off['after'])}."
    elif saved.mean() < -reach:
        verdict = "Recalibration would make them worse."
    else:
        verdict = "Recalibration would not help."
    told = f"Its probabilities {of} are off by {percent(off['before'])} on average"
    return f"{told} (smooth calibration error). {verdict}"


def _of_rows(judged: Judged) -> NDArray[Any] | None:
    return None if judged.groups is None else judged.groups[judged.rows]
