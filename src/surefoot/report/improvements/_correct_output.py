"""Attempts to correct the model's output: recalibrated probabilities, corrected predictions."""

from typing import Any

import numpy as np

from surefoot._typing import Floats
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.indicators import LocalSensitivity
from surefoot.metrics import smooth_calibration_error
from surefoot.recalibration import RecalibratedClassifier
from surefoot.report._probabilities import as_forecast, brier_scores
from surefoot.report.improvements._gain import NotMeasurableError, describe, paired_gain
from surefoot.report.improvements._trial import Trial

# Gain in Brier score if probabilities that are 5 points off are corrected.
RELEVANT_BRIER = 0.05**2


def recalibrate(trial: Trial) -> dict[str, Any]:
    """Gain of recalibration, by the score alone or also by the stability of each prediction."""
    if not hasattr(trial.model, "predict_proba"):
        raise NotMeasurableError("The model gives no probabilities to recalibrate.")
    own = np.asarray(trial.model.predict_proba(trial.test_rows))
    stability = LocalSensitivity(random_state=trial.seed)
    plain, local = (_recalibrated(trial, indicators) for indicators in (None, stability))
    before, after, after_local = (
        brier_scores(probabilities, trial.test_targets, trial.model.classes_)
        for probabilities in (own, plain, local)
    )
    units = trial.table.groups_of(trial.test)
    gain, name, recalibrated = paired_gain(before, after, units), "Recalibration", plain
    if paired_gain(after, after_local, units).low > 0:
        gain, recalibrated = paired_gain(before, after_local, units), local
        name = "Recalibration that also uses the stability of each prediction"
    size, interval = gain.words(digits=4)
    errors = [f"{_calibration_error(trial, each):.3f}" for each in (own, recalibrated)]
    return describe(
        gain,
        RELEVANT_BRIER,
        "Brier score",
        f"{name} would {'lower' if gain.value >= 0 else 'raise'} the Brier score by {size} {interval} and "
        f"bring the smooth calibration error from {errors[0]} to {errors[1]}.{trial.size_note}",
        why_not="Even at best, that is less than the gain of correcting probabilities that are 5 points off.",
        n_rows=len(trial.test),
    )


def correct(trial: Trial) -> dict[str, Any]:
    """Gain of predictions corrected by their expected residual."""
    corrected = IndividualErrorRegressor(
        trial.table.estimator,
        corrected=True,
        cv=trial.folds,
        random_state=trial.seed,
        n_jobs=trial.n_jobs,
    ).fit(*trial.table.rows(trial.learn), groups=trial.table.groups_of(trial.learn))
    gain = trial.gain(trial.loss, trial.loss_of(corrected))
    return trial.describe(
        gain,
        f"With the expected residual added to each prediction, it would {trial.change(gain)}."
        f"{trial.size_note}",
    )


def _recalibrated(trial: Trial, indicators: Any) -> Floats:
    model = RecalibratedClassifier(
        trial.table.estimator, indicators, cv=trial.folds, n_jobs=trial.n_jobs
    ).fit(*trial.table.rows(trial.learn), groups=trial.table.groups_of(trial.learn))
    return model.predict_proba(trial.test_rows)


def _calibration_error(trial: Trial, probabilities: Floats) -> float:
    forecast, outcomes = as_forecast(probabilities, trial.test_targets, trial.model.classes_)
    return smooth_calibration_error(outcomes, forecast)
