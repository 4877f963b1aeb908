"""Gains of corrected outputs: recalibrated probabilities, predictions with their expected residual added."""

from typing import Any

from surefoot._typing import Floats
from surefoot._words import number
from surefoot.error_estimation import IndividualErrorRegressor
from surefoot.report._assessment import Assessment
from surefoot.report._probabilities import brier_scores
from surefoot.report.improvements._gain import Gain, NotMeasurableError, relative_gain
from surefoot.report.improvements._measured import Improvement, amount, measured


def recalibrate(assessment: Assessment) -> Improvement:
    """Gain in Brier score of recalibrated probabilities: the same figures as in the section on probabilities."""
    before, after = assessment.held_out.probabilities, assessment.recalibrated
    if before is None or after is None:
        raise NotMeasurableError(
            "The model gives no probabilities that could be checked and recalibrated."
        )
    classes: Any = assessment.error_estimator.classes_
    scores = [brier_scores(each, assessment.truth, classes) for each in (before, after)]
    if scores[0].sum() == 0:
        raise NotMeasurableError("Its probabilities are all 0 or 1, and right.")
    gain = _gain(assessment, *scores)
    size = gain.words("lower", "higher")
    figures = f"from {number(scores[0].mean())} to {number(scores[1].mean())}"
    sentence = f"Recalibration would make the Brier score {size}, {figures}."
    return measured(gain, sentence, at_full_size=True, of="its Brier score")


def correct(assessment: Assessment) -> Improvement:
    """Gain of predictions with their expected residual added."""
    estimator = assessment.error_estimator
    if not isinstance(estimator, IndividualErrorRegressor) or assessment.losses.sum() == 0:
        raise NotMeasurableError("It makes no error that could be corrected.")
    corrected = assessment.held_out.prediction + estimator.held_out_corrections(assessment.y)
    gain = _gain(assessment, assessment.losses, assessment.losses_of(corrected))
    sentence = f"With the expected residual added to each prediction, it would make {amount(gain, assessment)}."
    return measured(gain, sentence, at_full_size=True)


def _gain(assessment: Assessment, before: Floats, after: Floats) -> Gain:
    return relative_gain(
        before, after, units=assessment.unit_codes, fits=assessment.held_out.splits
    )
