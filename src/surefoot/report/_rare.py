"""Classes that are too rare for their rows to be held out, part of the section on the data."""

from typing import Any

import numpy as np

from surefoot._words import number, plural
from surefoot.report._assessment import Assessment

MOST_NAMED = 6


def describe_rare(assessment: Assessment) -> dict[str, Any] | None:
    """Rows that are learned from but never held out, their classes, and a sentence; None if there are none."""
    rows = assessment.never_held_out
    if len(rows) == 0:
        return None
    measured = set(np.unique(assessment.truth).tolist())
    labels, counts = np.unique(assessment.y[rows], return_counts=True)
    classes = [
        {"label": str(label), "n_rows": int(count)}
        for label, count in zip(labels.tolist(), counts, strict=True)
        if label not in measured
    ]
    sentence = _sentence(len(rows), classes, grouped=assessment.held_out.groups is not None)
    return {"n_rows": len(rows), "classes": classes, "sentence": sentence}


def _sentence(n_rows: int, classes: list[dict[str, Any]], *, grouped: bool) -> str:
    """Sentence that says how many rows nothing is measured on, and why."""
    names = [f"{each['label']} ({plural(each['n_rows'], 'row')})" for each in classes]
    more = [f"{number(len(names) - MOST_NAMED)} more"] if len(names) > MOST_NAMED else []
    which = f"the class{'es' if len(names) > 1 else ''} {', '.join([*names[:MOST_NAMED], *more])}"
    few = f"too few rows have {which}"
    if grouped:  # a class may have too few groups even if it is held out in one of them
        few = f"too few groups have {which if names else 'one of their classes'}, and a group is held out as a whole"
    are, they = ("is", "it is") if n_rows == 1 else ("are", "they are")
    return (
        f"{plural(n_rows, 'row')} {are} learned from but never held out, so that nothing here tells how well {they} "
        f"predicted: {few}."
    )
