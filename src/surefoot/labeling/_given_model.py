"""Rows that a model of the user would not answer: a person answers them first."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from surefoot.abstention import promise_for
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.labeling._queue import Question

# Rows that are judged at a time.
CHUNK = 10_000


def rows_not_answered(
    X: pd.DataFrame,
    sure: IndividualErrorClassifier,
    open_rows: Sequence[int],
    confidence: float = 0.95,
) -> list[Question]:
    """Questions about the rows that a model would not answer at its promised risk, the highest error first.

    If no risk can be promised, no row would be answered.
    """
    promise = promise_for(sure.held_out_, None, confidence)
    rows = np.asarray(open_rows)
    judged = [
        promise.apply(sure.judge(X.iloc[rows[start : start + CHUNK]]))
        for start in range(0, len(rows), CHUNK)
    ]
    errors = np.concatenate([each.error for each in judged])
    accepted = np.concatenate([np.asarray(each.accepted) for each in judged])
    return [
        Question(
            int(rows[i]),
            "model",
            f"The model would not answer this row: it is wrong on about {errors[i]:.0%} of such rows.",
            float(errors[i]),
        )
        for i in np.argsort(-errors, kind="stable")
        if not accepted[i]
    ]
