"""Are the probabilities true? Before and after recalibration, on rows that neither saw."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats
from surefoot.metrics import smooth_calibration_error
from surefoot.recalibration import recalibrated_probabilities
from surefoot.report._assessment import Assessment
from surefoot.report._figures import percent
from surefoot.report._shares import wilson_interval

LEAST_IN_A_BIN = 40
MOST_BINS = 12
N_DRAWS = 40


def describe_probabilities(assessment: Assessment) -> dict[str, Any] | None:
    """Reliability, smooth calibration error and Brier score; a sentence only if there are no probabilities."""
    if not assessment.is_classifier:
        return None
    told, classes = assessment.held_out, assessment.sure.classes_
    if told.probabilities is None:
        return {"sentence": "The model gives no probabilities, only scores of its classes."}
    if not np.array_equal(np.unique(assessment.truth), classes):
        return {
            "sentence": "The held-out rows lack a class that the model knows, so its probabilities cannot be checked."
        }
    after = recalibrated_probabilities(
        told.scores,
        assessment.truth,
        groups=assessment.held_out.groups,
        random_state=assessment.random_state,
    )
    forecasts = {
        name: as_forecast(probabilities, assessment.truth, classes)
        for name, probabilities in (("before", told.probabilities), ("after", after))
    }
    off = {
        name: smooth_calibration_error(came, chance) for name, (chance, came) in forecasts.items()
    }
    by_chance = error_of_truth(forecasts["before"][0], assessment.random_state)
    return {
        **{name: reliability(*forecast) for name, forecast in forecasts.items()},
        "smooth_calibration_error": off,
        "brier": {
            name: float(brier_scores(chances, assessment.truth, classes).mean())
            for name, chances in (("before", told.probabilities), ("after", after))
        },
        "sentence": _sentence(off, by_chance, classes),
    }


def as_forecast(probabilities: Floats, truth: NDArray[Any], classes: Any) -> tuple[Floats, Floats]:
    """Forecasts, of the second of two classes or of the most probable class, and whether each came true."""
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


def error_of_truth(chance: Floats, random_state: int) -> float:
    """95 % quantile of the calibration error of calibrated probabilities, by chance, on as many rows."""
    draw = np.random.default_rng(random_state)
    errors = [
        smooth_calibration_error(draw.random(len(chance)) < chance, chance) for _ in range(N_DRAWS)
    ]
    return float(np.quantile(errors, 0.95))


def brier_scores(chances: Floats, truth: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Brier score of each row, halved for two classes."""
    scores = ((chances - (truth[:, None] == classes)) ** 2).sum(axis=1)
    return np.asarray(scores / 2 if len(classes) == 2 else scores)


def _sentence(off: dict[str, float], by_chance: float, classes: Any) -> str:
    of = f"of {classes[1]!s}" if len(classes) == 2 else "of the predicted class"
    told = f"Its probabilities {of} are off by {percent(off['before'])} on average (smooth calibration error)"
    if off["before"] <= by_chance:
        return f"{told}, no more than chance explains: calibrated probabilities may be off as much on so many rows."
    return f"{told}; after recalibration, by {percent(off['after'])}."
