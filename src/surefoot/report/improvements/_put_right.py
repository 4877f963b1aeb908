"""What a model says put right by what came of it: recalibrated probabilities, corrected predictions."""

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

# What probabilities that are 5 points off gain in Brier score by being put right.
RELEVANT_BRIER = 0.05**2


def recalibrate(trial: Trial) -> dict[str, Any]:
    """Gain of recalibrated probabilities, by the score alone or also by how stable each prediction is."""
    if not hasattr(trial.model, "predict_proba"):
        raise NotMeasurableError("The model gives no probabilities to recalibrate.")
    own = np.asarray(trial.model.predict_proba(trial.test_rows))
    stability = LocalSensitivity(random_state=trial.seed)
    plain, local = (_recalibrated(trial, what) for what in (None, stability))
    before, after, stable = (
        brier_scores(told, trial.test_targets, trial.model.classes_) for told in (own, plain, local)
    )
    units = trial.table.groups_of(trial.test)
    gain, name, chances = paired_gain(before, after, units), "Recalibration", plain
    if paired_gain(after, stable, units).low > 0:
        gain, chances = paired_gain(before, stable, units), local
        name = "Recalibration that also uses the stability of each prediction"
    size, interval = gain.words(digits=4)
    errors = [f"{_calibration_error(trial, told):.3f}" for told in (own, chances)]
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
    """Gain of predictions corrected by the residual that is expected of them."""
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


def _calibration_error(trial: Trial, chances: Floats) -> float:
    chance, came = as_forecast(chances, trial.test_targets, trial.model.classes_)
    return smooth_calibration_error(came, chance)
