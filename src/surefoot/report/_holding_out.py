"""How rows were held out, in words: part of the section on the data."""

from numbers import Integral
from typing import Any

from sklearn.frozen import FrozenEstimator

from surefoot._words import number
from surefoot.report._assessment import Assessment

LONGEST_NAME = 60

# What a promise is worth where rows are held out in time.
LATER = "Promises and intervals hold only as far as the future is like the past."


def describe_holding_out(assessment: Assessment, cv: Any) -> str:
    """Sentence that says how rows were held out; `cv` is that of the report."""
    if isinstance(assessment.error_estimator.estimator, FrozenEstimator):
        return "The model was used as it is, not fitted again: no row here may be one that it was trained on."
    n_folds = len(assessment.splits)
    if assessment.holds_out_later_rows:
        n_first = number(len(assessment.splits[0][0]))
        return (
            f"Each row was predicted by a model of earlier rows only ({n_folds} folds in the order of time); the first "
            f"{n_first} were only learned from. {LATER}"
        )
    if cv is not None and not isinstance(cv, Integral):
        name = type(cv).__name__ if hasattr(cv, "split") else "the splits that were given"
        return f"Rows were held out by {name[:LONGEST_NAME]}, in {n_folds} splits."
    if assessment.groups is not None:
        return f"Rows were held out in {n_folds} folds, all rows of a group together."
    return f"Rows were held out in {n_folds} folds, drawn at random (shuffled)."
