"""Section on calibration: the model's probabilities before and after recalibration, on held-out rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats
from surefoot._words import percent
from surefoot.metrics import smooth_calibration_error
from surefoot.report._assessment import Assessment
from surefoot.report._shares import wilson_interval

LEAST_IN_A_BIN = 40
MOST_BINS = 12
N_DRAWS = 40


def describe_probabilities(assessment: Assessment) -> dict[str, Any] | None:
    """Reliability curve, smooth calibration error and Brier score; only a sentence if there are no probabilities."""
    if not assessment.is_classifier:
        return None
    before, classes = assessment.held_out.probabilities, assessment.error_estimator.classes_
    if before is None:
        return {"sentence": "The model gives no probabilities, only scores of its classes."}
    after = assessment.recalibrated
    if after is None:
        return {
            "sentence": "The held-out rows are all of one class, so the probabilities cannot be checked."
        }
    forecasts = {
        name: as_forecast(probabilities, assessment.truth, classes)
        for name, probabilities in (("before", before), ("after", after))
    }
    calibration_errors = {
        name: smooth_calibration_error(outcomes, forecast)
        for name, (forecast, outcomes) in forecasts.items()
    }
    by_chance = error_by_chance(forecasts["before"][0], assessment.random_state)
    return {
        **{name: reliability(*forecast) for name, forecast in forecasts.items()},
        "smooth_calibration_error": calibration_errors,
        "brier": {
            name: float(brier_scores(probabilities, assessment.truth, classes).mean())
            for name, probabilities in (("before", before), ("after", after))
        },
        "sentence": _sentence(calibration_errors, by_chance, classes),
    }


def as_forecast(probabilities: Floats, truth: NDArray[Any], classes: Any) -> tuple[Floats, Floats]:
    """Forecast probabilities (of the second of two classes, or of the most probable class) and outcomes, 0 or 1."""
    if len(classes) == 2:
        return probabilities[:, 1], (truth == classes[1]).astype(np.float64)
    top = probabilities.argmax(axis=1)
    return probabilities.max(axis=1), (classes[top] == truth).astype(np.float64)


def reliability(forecast: Floats, outcomes: Floats) -> dict[str, list[float]]:
    """Mean forecast and observed share in bins of about equal numbers of rows, with 95 % intervals."""
    n_bins = int(np.clip(len(forecast) // LEAST_IN_A_BIN, 1, MOST_BINS))
    parts = np.array_split(np.argsort(forecast, kind="stable"), n_bins)
    counts = np.array([len(part) for part in parts])
    hits = np.array([outcomes[part].sum() for part in parts])
    low, high = wilson_interval(hits, counts)
    return {
        "predicted": [float(forecast[part].mean()) for part in parts],
        "observed": (hits / counts).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "n_rows": counts.tolist(),
    }


def error_by_chance(forecast: Floats, random_state: int) -> float:
    """95 % quantile of the calibration error if the forecasts were calibrated: outcomes are drawn from them."""
    draw = np.random.default_rng(random_state)
    errors = [
        smooth_calibration_error(draw.random(len(forecast)) < forecast, forecast)
        for _ in range(N_DRAWS)
    ]
    return float(np.quantile(errors, 0.95))


def brier_scores(probabilities: Floats, truth: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Brier score of each row, halved for two classes."""
    scores = ((probabilities - (truth[:, None] == classes)) ** 2).sum(axis=1)
    return np.asarray(scores / 2 if len(classes) == 2 else scores)


def _sentence(calibration_errors: dict[str, float], by_chance: float, classes: Any) -> str:
    of = f"of {classes[1]!s}" if len(classes) == 2 else "of the predicted class"
    before, after = calibration_errors["before"], calibration_errors["after"]
    start = (
        f"Its probabilities {of} are off by {percent(before)} on average (smooth calibration error)"
    )
    if before <= by_chance:
        return f"{start}, no more than chance explains: calibrated probabilities may be off as much on so many rows."
    return f"{start}; after recalibration, by {percent(after)}."
