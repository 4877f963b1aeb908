"""Limits for the risk of single classes, beside the one for all answered rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from surefoot._typing import Floats, Mask
from surefoot._validation import check_number
from surefoot._words import listed, plural

NOT_SEPARATED = (
    "No limit on the estimated error keeps the risk of the classes: too many of their rows are wrong although their "
    "estimated error is low. Higher costs for such mistakes raise it."
)


class LimitedRisk(NamedTuple):
    """Rows that a limit is about, the limit, and the sizes of error above 0 that they can have; None if unknown."""

    rows: Mask
    max_risk: float
    sizes: Floats | None


def risks_by_class(max_risk: Any) -> dict[Any, float]:
    """Limits by class, with None for all answered rows; a number is the limit for all rows."""
    return dict(max_risk) if isinstance(max_risk, Mapping) else {None: max_risk}


def limited_risks(max_risk: Any, labels: Any, loss_values: Any, n_rows: int) -> list[LimitedRisk]:
    """Limits that must be kept at once, each with the rows whose losses are evidence for it."""
    risks = risks_by_class(max_risk)
    if not risks:
        raise ValueError("max_risk is empty: it must have a limit for at least one class.")
    named = [label for label in risks if label is not None]
    if named and labels is None:
        raise ValueError(
            f"max_risk limits the risk of {listed(named)}: labels must hold the class of each row."
        )
    classes = np.full(n_rows, None) if labels is None else column_or_1d(labels)
    check_consistent_length(np.empty(n_rows), classes)
    return [
        LimitedRisk(
            np.ones(n_rows, dtype=bool) if label is None else np.asarray(classes == label),
            float(risk),
            _sizes(loss_values, label),
        )
        for label, risk in risks.items()
    ]


def check_class_risks(
    max_risk: Any, classes: Any = None, most: float | None = None
) -> dict[Any, float]:
    """Limits by class; one sentence for one that is no number above 0 and below `most`, or of an unknown class."""
    risks = risks_by_class(max_risk)
    known = None if classes is None else np.asarray(classes).tolist()
    unknown = [label for label in risks if known is not None and label not in {None, *known}]
    if unknown:
        raise ValueError(
            f"max_risk limits the risk of {listed(unknown)}, and the classes are {listed(known or [])}."
        )
    bounds = {"min_val": 0, "max_val": most, "include_boundaries": "neither"}
    return {
        label: check_number(risk, "max_risk" if label is None else f"max_risk[{label!r}]", **bounds)
        for label, risk in risks.items()
    }


def too_few_sentence(
    max_risk: Any, labels: Any, confidence: float, loss_values: Any = None
) -> str | None:
    """Sentence that names a class with too few rows to promise its risk, even without a mistake; None if none has."""
    risks = risks_by_class(max_risk)
    level = (1 - confidence) / len(risks)
    for part, label in zip(
        limited_risks(max_risk, labels, loss_values, len(labels)), risks, strict=True
    ):
        largest = 1.0 if part.sizes is None else part.sizes.max(initial=0.0)
        n_rows = int(part.rows.sum())
        least = (1 - level ** (1 / n_rows)) * largest if n_rows else np.inf
        if label is None or part.max_risk >= min(least, largest):
            continue
        best = f"can promise {least:.2g} at best" if n_rows else "can promise nothing"
        return (
            f"The class {label!r} has {plural(n_rows, 'held-out row')}, which {best}, even if none is wrong: "
            f"too few for a risk of {part.max_risk:g}."
        )
    return None


def _sizes(loss_values: Any, label: Any) -> Floats | None:
    """Sizes of error above 0, each once: those of one class, or of all; None if they are unknown."""
    if loss_values is None:
        return None
    values = loss_values
    if isinstance(loss_values, Mapping):
        by_class = [np.ravel(own) for own in loss_values.values()]
        values = np.concatenate(by_class) if label is None else loss_values.get(label, ())
    sizes = np.unique(np.asarray(values, dtype=np.float64))
    return np.asarray(sizes[sizes > 0])
