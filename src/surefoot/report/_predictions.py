"""Section "How close are the predictions?" of a regressor: R², RMSE, MAE, residuals and coverage by prediction."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from surefoot._typing import Floats, Ints, Mask
from surefoot._words import number, percent
from surefoot.report._assessment import Assessment
from surefoot.report._intervals import contains_truth
from surefoot.report._shares import jackknife_interval, mean_interval, share_interval

# Most points of a scatter plot; of a larger table they are drawn at random.
MOST_POINTS = 1000

# Parts of the rows by their prediction, and the fewest rows of a part.
N_PARTS = 10
LEAST_IN_A_PART = 20


def describe_predictions(assessment: Assessment) -> dict[str, Any] | None:
    """Figures with intervals, points to draw, residuals and coverage by prediction; None for a classifier."""
    if assessment.is_classifier:
        return None
    truth = np.asarray(assessment.truth, dtype=np.float64)
    predicted = np.asarray(assessment.held_out.prediction, dtype=np.float64)
    figures = {
        "r2": _explained(truth, predicted, assessment.unit_codes, assessment.confidence),
        "rmse": _root_mean_square(truth - predicted, assessment),
        "mae": _mean_size(truth - predicted, assessment),
    }
    sample = _sample(len(truth), assessment.random_state)
    return {
        **figures,
        "confidence": assessment.confidence,
        "baseline": {
            "rmse": float(truth.std()),
            "mae": float(np.abs(truth - np.median(truth)).mean()),
        },
        "points": {
            "row": assessment.labels[assessment.rows[sample]].tolist(),
            "truth": truth[sample].tolist(),
            "prediction": predicted[sample].tolist(),
        },
        "n_total": len(truth),
        "parts": _by_prediction(truth, predicted, assessment),
        "sentence": _sentence(figures["r2"], len(truth)),
        "about": _about_points(len(sample), len(truth)),
    }


def _explained(
    truth: Floats, predicted: Floats, units: Ints, confidence: float
) -> dict[str, float | None]:
    """R² with its interval: the jackknife of log(1 − R²), so that no end is above 1; None if it is not defined."""
    centred = truth - truth.mean()  # for sums of squares that do not lose digits
    parts = (np.ones(len(truth)), centred, centred**2, (truth - predicted) ** 2)
    sums = _sums(parts, units)

    def log_unexplained(sums: Floats) -> Floats:
        n_rows, first, second, lost = np.moveaxis(sums, -1, 0)
        return np.log(lost) - np.log(np.maximum(second - first**2 / n_rows, 0))

    if np.ptp(truth) == 0:
        return dict.fromkeys(("value", "low", "high"))
    value = 1 - float(parts[3].sum()) / float(parts[2].sum())
    ends = jackknife_interval(sums, log_unexplained, confidence)
    return {"value": value} | _transformed(ends, lambda ends: -np.expm1(ends[::-1]))


def _root_mean_square(residuals: Floats, assessment: Assessment) -> dict[str, float | None]:
    """RMSE with its interval: the jackknife of its logarithm, so that no end is below 0."""
    parts = (np.ones(len(residuals)), residuals**2)
    sums = _sums(parts, assessment.unit_codes)
    ends = jackknife_interval(
        sums, lambda sums: np.log(sums[..., 1] / sums[..., 0]) / 2, assessment.confidence
    )
    return {"value": float(np.sqrt(np.mean(residuals**2)))} | _transformed(ends, np.exp)


def _sums(parts: Sequence[Floats], units: Ints) -> Floats:
    """Sums over the rows of each unit, shape (n_units, n_parts)."""
    columns = [np.bincount(units, part) for part in parts]
    return np.column_stack(columns).astype(np.float64)


def _transformed(
    ends: tuple[float, float] | None, transform: Callable[[Floats], Floats]
) -> dict[str, float | None]:
    """Ends of an interval on the scale of the figure; None if there is none, or if it has no finite ends."""
    if ends is None:
        return {"low": None, "high": None}
    with np.errstate(over="ignore"):
        low, high = transform(np.array(ends)).tolist()
    is_finite = np.isfinite([low, high]).all()
    return {"low": low if is_finite else None, "high": high if is_finite else None}


def _mean_size(residuals: Floats, assessment: Assessment) -> dict[str, float | None]:
    """MAE with the interval that the verdict gives for the mean error."""
    sizes, units = np.abs(residuals), assessment.unit_codes
    low, high = mean_interval(sizes, units, assessment.confidence)
    is_known = len(np.unique(units)) > 1
    return {
        "value": float(sizes.mean()),
        "low": max(low, 0.0) if is_known else None,
        "high": high if is_known else None,
    }


def _sample(n_rows: int, random_state: int) -> Ints:
    """Positions of the rows that are drawn as points, ascending."""
    if n_rows <= MOST_POINTS:
        return np.arange(n_rows)
    draw = check_random_state(random_state)
    return np.sort(draw.choice(n_rows, MOST_POINTS, replace=False))


def _by_prediction(
    truth: Floats, predicted: Floats, assessment: Assessment
) -> list[dict[str, float | int | None]]:
    """Mean prediction, truth and residual, and coverage of the 90 % intervals, from the lowest predictions up."""
    intervals = assessment.held_out.interval
    inside: Mask | None = None
    if intervals is not None and np.isfinite(intervals).all():
        inside = contains_truth(truth, intervals)
    parts = []
    for rows in _parts(predicted):
        units = np.unique(assessment.unit_codes[rows], return_inverse=True)[1]
        residuals = truth[rows] - predicted[rows]
        low, high = mean_interval(residuals, units, assessment.confidence)
        is_known = units.max() > 0
        covered = dict.fromkeys(("coverage", "coverage_low", "coverage_high"))
        if inside is not None:
            ends = share_interval(inside[rows], units, assessment.confidence)
            covered = dict(zip(covered, (float(inside[rows].mean()), *ends), strict=True))
        parts.append(
            {
                "prediction": float(predicted[rows].mean()),
                "truth": float(truth[rows].mean()),
                "residual": float(residuals.mean()),
                "residual_low": low if is_known else None,
                "residual_high": high if is_known else None,
                **covered,
                "n_rows": len(rows),
            }
        )
    return parts


def _parts(predicted: Floats) -> list[Ints]:
    """Positions of the rows in up to ten parts of about equal size, by prediction; equal predictions stay together."""
    n_parts = int(np.clip(len(predicted) // LEAST_IN_A_PART, 1, N_PARTS))
    limits = np.quantile(predicted, np.arange(1, n_parts) / n_parts)
    places = np.searchsorted(limits, predicted, side="left")
    return [np.flatnonzero(places == place) for place in np.unique(places)]


def _sentence(explained: dict[str, float | None], n_rows: int) -> str:
    value = explained["value"]
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


def _about_points(n_shown: int, n_total: int) -> str:
    if n_shown == n_total:
        return "Each point is a held-out row."
    return (
        f"Each point is a held-out row; {number(n_shown)} of {number(n_total)} are drawn, chosen at random. All rows "
        "count in the figures and tables."
    )
