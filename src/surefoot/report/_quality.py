"""Details on the outputs of a model: probabilities of a classifier, predictions of a regressor."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils import check_random_state

from surefoot._typing import Floats, Ints
from surefoot._words import number, percent
from surefoot.error_estimation import HeldOut
from surefoot.metrics import smooth_calibration_error
from surefoot.recalibration import RecalibratedClassifier
from surefoot.report._statistics import Sample, jackknife_interval, tenths_by

# Draws of outcomes that show how large a calibration error is by chance.
N_DRAWS = 40

# Most points of a scatter plot; of a larger table they are drawn at random.
MOST_POINTS = 1000


def recalibrate(held_out: HeldOut, random_state: int) -> Floats | None:
    """Probabilities of the held-out rows after recalibration, learned from others; None if there are none.

    The calibrator is the default one of `RecalibratedClassifier`. Probabilities are 0 for a class that no held-out row
    has, which cannot be calibrated.
    """
    truth = held_out.truth
    if held_out.probabilities is None or len(np.unique(truth)) < 2:
        return None
    present = np.isin(np.asarray(held_out.classes), truth)
    least = 1 / (2 * len(truth) + 2)  # as in scores of a model: 0 and 1 have no log-odds
    shares = np.clip(held_out.probabilities[:, present], least, 1 - least)
    scores = logit(shares / (shares.sum(axis=1, keepdims=True) if present.sum() == 2 else 1))
    after = np.zeros((len(truth), len(present)))
    after[:, present] = RecalibratedClassifier.recalibrate_scores(
        scores[:, 1:] if present.sum() == 2 else scores,  # two classes share a column
        truth,
        slope=1.0,
        groups=held_out.groups,
        random_state=random_state,
    )
    return after


def brier_of(held_out: HeldOut, probabilities: Floats) -> Floats:
    """Brier score of each row, halved for two classes, by some probabilities."""
    outcomes = held_out.truth[:, None] == np.asarray(held_out.classes)
    n_counted = 2 if outcomes.shape[1] == 2 else 1
    return np.asarray(((probabilities - outcomes) ** 2).sum(axis=1) / n_counted)


def describe_probabilities(
    sample: Sample, recalibrated: Floats | None, random_state: int
) -> dict[str, Any]:
    """Reliability curve, smooth calibration error and Brier score; only a sentence if there are no probabilities."""
    held_out = sample.held_out
    classes = np.asarray(held_out.classes)
    if held_out.probabilities is None:
        only = ", only scores of its classes" if np.ptp(np.abs(held_out.scores)) else ""
        return {"sentence": f"The model gives no probabilities{only}."}
    if recalibrated is None:
        return {
            "sentence": "The held-out rows are all of one class, so the probabilities cannot be checked."
        }
    both = {"before": held_out.probabilities, "after": recalibrated}
    forecasts = {name: _as_forecast(each, held_out.truth, classes) for name, each in both.items()}
    errors = {
        name: smooth_calibration_error(outcomes, forecast)
        for name, (forecast, outcomes) in forecasts.items()
    }
    # Calibration error that calibrated forecasts seldom exceed: outcomes are drawn from them.
    draw, forecast = np.random.default_rng(random_state), forecasts["before"][0]
    by_chance = np.quantile(
        [
            smooth_calibration_error(draw.random(len(forecast)) < forecast, forecast)
            for _ in range(N_DRAWS)
        ],
        0.95,
    )
    of = f"of {classes[1]!s}" if len(classes) == 2 else "of the predicted class"
    sentence = f"Its probabilities {of} are off by {percent(errors['before'])} on average (smooth calibration error)"
    if errors["before"] <= by_chance:
        sentence += ", no more than chance explains: calibrated probabilities may be off as much on so many rows."
    else:
        sentence += f"; after recalibration, by {percent(errors['after'])}."
    return {
        **{
            name: sample.tenths(forecast, partial(sample.share, outcomes))
            for name, (forecast, outcomes) in forecasts.items()
        },
        "confidence": sample.confidence,
        "smooth_calibration_error": errors,
        "brier": {name: float(brier_of(held_out, each).mean()) for name, each in both.items()},
        "sentence": sentence,
    }


def _as_forecast(probabilities: Floats, truth: NDArray[Any], classes: Any) -> tuple[Floats, Floats]:
    """Forecast probabilities (of the second of two classes, or of the most probable class) and outcomes, 0 or 1."""
    if len(classes) == 2:
        return probabilities[:, 1], (truth == classes[1]).astype(np.float64)
    top = probabilities.argmax(axis=1)
    return probabilities.max(axis=1), (classes[top] == truth).astype(np.float64)


def describe_predictions(sample: Sample, labels: Ints, random_state: int) -> dict[str, Any]:
    """R², RMSE and MAE of a regressor, points to draw, residuals and coverage by prediction.

    `labels` are those of all rows of the table.
    """
    held_out, units, confidence = sample.held_out, sample.units, sample.confidence
    truth, predicted = (
        np.asarray(values, dtype=np.float64) for values in (held_out.truth, held_out.prediction)
    )
    n_rows = len(truth)
    drawn = np.arange(n_rows)
    about = "Each point is a held-out row."
    if n_rows > MOST_POINTS:
        draw = check_random_state(random_state)
        drawn = np.sort(draw.choice(n_rows, MOST_POINTS, replace=False))
        about = (
            f"Each point is a held-out row; {number(MOST_POINTS)} of {number(n_rows)} are drawn, chosen at random. All "
            "rows count in the figures and tables."
        )
    explained, squares = _explained(truth, predicted, units, confidence), (truth - predicted) ** 2
    # The jackknife of the logarithm of the squared RMSE, so that no end is below 0.
    ends = jackknife_interval(
        np.column_stack([np.bincount(units), np.bincount(units, squares)]).astype(float),
        lambda sums: np.log(sums[..., 1] / sums[..., 0]),
        confidence,
        lambda ends: np.exp(ends / 2),
    )
    return {
        "r2": explained,
        "rmse": {"value": float(np.sqrt(squares.mean())), **ends},
        "mae": sample.mean(np.abs(truth - predicted), least=0.0),
        "confidence": confidence,
        "baseline": {
            "rmse": float(truth.std()),
            "mae": float(np.abs(truth - np.median(truth)).mean()),
        },
        "points": {
            "row": labels[held_out.rows[drawn]].tolist(),
            "truth": truth[drawn].tolist(),
            "prediction": predicted[drawn].tolist(),
        },
        "n_total": n_rows,
        "parts": _by_prediction(sample, truth, predicted),
        "sentence": _about_explained(explained["value"], n_rows),
        "about": about,
    }


def _explained(
    truth: Floats, predicted: Floats, units: Ints, confidence: float
) -> dict[str, float | None]:
    """R² with its interval: the jackknife of log(1 − R²), so that no end is above 1; None if it is not defined."""
    if np.ptp(truth) == 0:
        return dict.fromkeys(("value", "low", "high"))
    centred = truth - truth.mean()  # for sums of squares that do not lose digits
    parts = (np.ones(len(truth)), centred, centred**2, (truth - predicted) ** 2)
    sums = np.column_stack([np.bincount(units, part) for part in parts]).astype(np.float64)

    def log_unexplained(sums: Floats) -> Floats:
        n_rows, first, second, lost = np.moveaxis(sums, -1, 0)
        return np.log(lost) - np.log(np.maximum(second - first**2 / n_rows, 0))

    value = 1 - float(parts[3].sum()) / float(parts[2].sum())
    ends = jackknife_interval(sums, log_unexplained, confidence, lambda ends: -np.expm1(ends))
    return {"value": value, **ends}


def _about_explained(value: float | None, n_rows: int) -> str:
    if value is None:
        return "All true values are equal, so that there is nothing to explain: R² is not defined."
    if value == 1:
        return f"The predictions are exact on all {number(n_rows)} held-out rows."
    if value <= 0:
        return (
            "The predictions explain nothing of how the true values differ (R² is not above 0): always predicting "
            "their mean would be as good or better."
        )
    return f"The predictions explain {percent(value)} of the variance of the true values (R²)."


def _by_prediction(
    sample: Sample, truth: Floats, predicted: Floats
) -> list[dict[str, float | int | None]]:
    """Mean prediction, truth and residual of up to ten parts of the rows, from the lowest predictions up."""
    residuals = [(rows, sample.mean(truth - predicted, rows)) for rows in tenths_by(predicted)]
    return [
        {
            "prediction": float(predicted[rows].mean()),
            "truth": float(truth[rows].mean()),
            "residual": residual["value"],
            "residual_low": residual["low"],
            "residual_high": residual["high"],
            "n_rows": len(rows),
        }
        for rows, residual in residuals
    ]
