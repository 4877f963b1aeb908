"""Parts of the items of the section of checks."""

from typing import Any

import numpy as np

from surefoot._typing import Floats
from surefoot._words import number, percent
from surefoot.report._assessment import Assessment

# Most rows or columns that an item lists.
MOST_LISTED = 20

GROUPS = "--groups COLUMN, in Python groups="
TIME = "--time COLUMN"


def make_item(
    kind: str,
    sentence: str,
    figure: str,
    advice: str,
    *,
    columns: Any = (),
    rows: Any = (),
    **facts: Any,
) -> dict[str, Any]:
    """Item of the section: what was found, the figure it rests on, where, what to do, and the numbers behind it."""
    return {
        "kind": kind,
        "sentence": sentence,
        "figure": figure,
        "columns": list(columns),
        "rows": list(rows),
        "advice": advice,
        "facts": facts,
    }


def plain_losses(assessment: Assessment) -> Floats:
    """0 or 1 for each held-out class, or the size of the error, whatever the costs are."""
    return assessment.wrong.astype(np.float64) if assessment.is_classifier else assessment.losses


def how_good(assessment: Assessment, loss: float) -> str:
    """Mean loss as a text: the share of right answers, or the mean error."""
    if assessment.is_classifier:
        return f"right on {percent(1 - loss)} of rows"
    return f"off by {number(loss)} on average"


def chance(p_value: float) -> str:
    """P-value as a text."""
    return "p < 0.001" if p_value < 0.001 else f"p = {number(p_value)}"


def quoted(names: Any) -> str:
    """Names in quotation marks; of many, the first ones and the number of the others."""
    names = [f"“{name}”" for name in names]
    if len(names) > MOST_LISTED:
        names = [*names[: MOST_LISTED - 1], f"{len(names) - MOST_LISTED + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
