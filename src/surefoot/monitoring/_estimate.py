"""Performance of a model on new rows without labels, corrected for a shift of the inputs."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from surefoot._sure import Sure
from surefoot._typing import Floats
from surefoot._validation import check_option, check_share
from surefoot._words import plural
from surefoot.monitoring._classes import ClassPerformance, class_performance
from surefoot.monitoring._shift import ALARM, Ratio, Shift
from surefoot.monitoring._sizes import size_performance
from surefoot.monitoring._weights import make_weights

CLASS_METRICS = ("error", "accuracy", "cost", "precision", "recall", "f1")
SIZE_METRICS = ("mean_absolute_error", "mean_squared_error")

# Fewest new rows, and fewest effective held-out rows, from which a figure is given.
LEAST_ROWS = 20
LEAST_EFFECTIVE = 50

# Largest share of new rows outside of what was seen with which a figure is given.
MOST_OUTSIDE = 0.25

ASSUMPTION = (
    "The estimate assumes that only the inputs have changed: rows with the same inputs have the same "
    "targets as before, as often as before (P(y|x) unchanged). Labels alone can show whether that holds."
)


@dataclass(frozen=True, eq=False)
class PerformanceEstimate:
    """Estimated performance on new rows without labels.

    Attributes
    ----------
    metric : str
        Name of the figure.
    estimate : float
        The figure; NaN where none can be given.
    interval : tuple of two floats
        Interval of what the figure would be if the new rows had labels, with both parts: what new rows and what
        held-out rows leave open. It assumes what `assumption` says.
    confidence : float
        Confidence of the interval.
    baseline : float
        The same figure on the held-out rows of `fit`.
    n_rows : int
        Number of new rows.
    effective_rows : float
        Held-out rows that the estimate rests on: as informative as so many rows that are like the new ones.
    shift : Shift
        Difference between the inputs of new and held-out rows.
    reason : str, or None
        One sentence why no figure can be given; None if there is one.
    classes : ndarray, or None
        Class labels; None for a regressor, as are the next two.
    confusion : ndarray of shape (n_classes, n_classes), or None
        Expected number of new rows by true class (rows) and predicted class (columns).
    per_class : dict, or None
        Arrays `precision`, `recall` and `f1` with one entry per class; NaN where a class is never predicted or never
        true.
    assumption : str
        One sentence about what must not have changed.
    """

    metric: str
    estimate: float
    interval: tuple[float, float]
    confidence: float
    baseline: float
    n_rows: int
    effective_rows: float
    shift: Shift
    reason: str | None = None
    classes: NDArray[Any] | None = None
    confusion: Floats | None = field(default=None, repr=False)
    per_class: dict[str, Floats] | None = field(default=None, repr=False)
    assumption: str = field(default=ASSUMPTION, repr=False)


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgements of a uniform sample of new rows, how many rows there are, and how many of them are novel."""

    prediction: NDArray[Any]
    error: Floats
    n_rows: int
    share_novel: float
    wrong: Floats | None = None
    probabilities: Floats | None = None


def estimate_from(
    sure: Sure, new: Judged, ratio: Ratio, metric: str, confidence: float
) -> PerformanceEstimate:
    """Estimate of a metric from the judgements of new rows, and the density ratio at the held-out rows."""
    check_metric(sure, metric)
    check_share(confidence, "confidence")
    weights = make_weights(ratio.ratio)
    shift = Shift(
        ratio.auc,
        ratio.p_value,
        ratio.p_value <= ALARM,
        new.share_novel,
        weights.share_outside,
    )
    measure = class_performance if is_classifier(sure) else size_performance
    performance = measure(sure, new, weights.weight, metric, confidence)
    result = PerformanceEstimate(
        metric=metric,
        estimate=performance.estimate,
        interval=performance.interval,
        confidence=confidence,
        baseline=performance.baseline,
        n_rows=new.n_rows,
        effective_rows=weights.effective_rows,
        shift=shift,
        reason=reason_against(new.n_rows, weights.effective_rows, shift, performance.estimate),
        classes=getattr(sure, "classes_", None),
    )
    if result.reason is not None:
        return replace(result, estimate=np.nan, interval=(np.nan, np.nan))
    if isinstance(performance, ClassPerformance):
        return replace(result, confusion=performance.confusion, per_class=performance.per_class)
    return result


def check_metric(sure: Sure, metric: Any) -> None:
    """Raise one sentence unless the metric is one for this model."""
    options = CLASS_METRICS if is_classifier(sure) else SIZE_METRICS
    check_option(metric, "metric", options)
    if metric == "cost" and sure.loss is None:
        raise ValueError(
            "metric='cost' needs a model that was fitted with costs: give it a `loss`."
        )


def reason_against(n_rows: int, effective_rows: float, shift: Shift, estimate: float) -> str | None:
    """One sentence why no figure can be given, or None."""
    if n_rows < LEAST_ROWS:
        return f"There are {plural(n_rows, 'new row')} only, and an estimate needs at least {LEAST_ROWS}."
    if max(shift.share_outside, shift.share_novel) > MOST_OUTSIDE:
        share = max(shift.share_outside, shift.share_novel)
        return (
            f"About {share:.0%} of the new rows lie outside of what was seen in fit, where nothing is known "
            "of errors."
        )
    if effective_rows < LEAST_EFFECTIVE:
        return (
            f"Too few held-out rows are like the new ones: they count as {effective_rows:.0f}, and an estimate "
            f"needs at least {LEAST_EFFECTIVE}."
        )
    if np.isnan(estimate):
        return "No new row is predicted as the class whose precision is asked for."
    return None
