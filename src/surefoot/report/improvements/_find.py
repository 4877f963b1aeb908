"""Search for improvements of a model; the gain of each is measured on the held-out rows of the report."""

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._tables import count_rows
from surefoot.active_learning import query
from surefoot.report._assessment import Assessment
from surefoot.report.improvements._corrected_output import correct, recalibrate
from surefoot.report.improvements._measured import Improvement, measured_or_not
from surefoot.report.improvements._other_models import OtherModels
from surefoot.report.improvements._refits import Refits

# Number of rows that are proposed to be labelled next.
N_NEXT = 10

LABELS = "Labels for the most doubtful rows"
ROWS = "More rows"

# Where more rows help, models of all rows are better than those of the folds: gains over the latter may vanish.
STEEP = " It still learns much from more rows, so that with all of them the gain may be another."


def find_improvements(assessment: Assessment, X_unlabelled: Any = None) -> list[Improvement]:
    """Improvements of a model, each with its gain on held-out rows as a share of its error; higher is better.

    Other models and corrections are measured on all held-out rows, by fits that were made already; the others take
    four more fits on parts of the training rows of one or two folds. An improvement "helps" if the 90 % interval of
    its gain lies above 0 and the gain is 2 % or more; it "would not help" if the interval lies below 10 %; otherwise
    the verdict is "cannot tell". Intervals account for new rows and for new fits.

    Parameters
    ----------
    assessment : Assessment
        The model, its error estimator and its held-out rows.
    X_unlabelled : array-like, CSR or frame, default=None
        Rows without a target, some of which are proposed to be labelled next.

    Returns
    -------
    improvements : list of dict
        With `name`, `verdict`, `gain`, `low`, `high`, `of` (what the gain is a share of), `at_full_size` (whether the
        gain is one of the model as it is, not of one with fewer rows), `sentence` and `rows`.
    """
    refits = Refits(assessment)
    classifies = assessment.is_classifier
    options: dict[str, Callable[[], Improvement]] = {
        "Another model for every row": lambda: OtherModels(assessment).everywhere(),
        "Another model where it is better": lambda: OtherModels(assessment).where_better(),
        "Recalibrated probabilities" if classifies else "Correction by the expected error": (
            lambda: recalibrate(assessment) if classifies else correct(assessment)
        ),
        "Averaging several fits": refits.average,
        ROWS: refits.grow,
        LABELS: refits.label,
    }
    next_rows = _next_rows(assessment, X_unlabelled)
    improvements = [
        {"name": name, **measured_or_not(option), "rows": next_rows if name == LABELS else []}
        for name, option in options.items()
    ]
    learns = any(each["name"] == ROWS and each["verdict"] == "helps" for each in improvements)
    return [_doubted(each) if learns and each["at_full_size"] else each for each in improvements]


def _doubted(improvement: Improvement) -> Improvement:
    """Improvement whose gain may be another for a model of all rows."""
    sentence = improvement["sentence"] + STEEP
    return improvement | {"at_full_size": False, "sentence": sentence}


def _next_rows(assessment: Assessment, X_unlabelled: Any) -> list[int]:
    """Positions of the unlabelled rows to label next, the most useful first."""
    if X_unlabelled is None or count_rows(X_unlabelled) == 0:
        return []
    error_estimator = assessment.error_estimator
    if not assessment.is_classifier:
        doubt = error_estimator.predict_error(X_unlabelled)
        return [int(row) for row in np.argsort(-doubt, kind="stable")[:N_NEXT]]
    chosen = query(
        "confidence",
        error_estimator.estimator_,
        X_unlabelled,
        N_NEXT,
        random_state=assessment.random_state,
    )
    return [int(row) for row in chosen]
