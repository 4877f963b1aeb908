"""Section "Can these estimates be trusted?": estimated and observed errors, and a regressor's intervals."""

from typing import Any

import numpy as np
from scipy.stats import binom

from surefoot._typing import Floats
from surefoot._words import LossUnit, number, percent
from surefoot.metrics import interval_width
from surefoot.report._statistics import (
    Sample,
    difference_interval,
    finite,
    mean_interval,
    wilson_interval,
)

# Bars of the histogram, and rows at the top of the table of rows, as many as the page lists first.
N_BARS = 24
N_TOP = 15

# Confidences of intervals; the sentences are about one of them.
CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHOWN = 0.9
AT = CONFIDENCES.index(SHOWN)

# Intervals whose score is better than that of constant ones by a smaller share are called equal.
LEAST_GAIN = 0.02


def describe_estimates(sample: Sample, *, is_predictable: bool = True) -> dict[str, Any]:
    """Estimated and observed errors: by tenths of the rows, in all, and where the estimates are highest."""
    held_out, confidence = sample.held_out, sample.confidence
    losses, estimated, unit = held_out.losses, held_out.error, held_out.unit
    tenths = sample.tenths(estimated, sample.loss)
    # What the mean loss may be by chance if the estimates are right.
    low, high = mean_interval(losses - estimated, sample.units, confidence)
    mean, reach = float(estimated.mean()), (high - low) / 2
    total = {
        "estimated": mean,
        "observed": float(losses.mean()),
        "low": max(0.0, mean - reach),
        "high": mean + reach,
        "n_rows": len(losses),
    }
    top = np.argsort(-estimated, kind="stable")[:N_TOP]
    highest = {
        "estimated": float(estimated[top].mean()),
        **sample.loss(top),
        "n_rows": len(top),
        "n_wrong": int(np.count_nonzero(losses[top])),
    }
    is_high = float(estimated[top].mean()) > (highest["high"] or np.inf)
    ends = (min(0.0, float(estimated.min())), float(estimated.max()) or 1.0)
    counts, edges = np.histogram(estimated, bins=N_BARS, range=ends)
    return {
        "tenths": tenths,
        "total": total,
        "top": highest,
        "histogram": {"edges": edges.tolist(), "n_rows": counts.tolist()},
        "confidence": confidence,
        "sentence": _about_tenths(unit, tenths, confidence, is_predictable, is_high),
        "about": [
            _about_total(unit, total, confidence),
            _about_top(unit, highest, confidence, is_high),
        ],
    }


def _about_tenths(
    unit: LossUnit,
    tenths: dict[str, list[Any]],
    confidence: float,
    is_predictable: bool,
    is_high: bool,
) -> str:
    """Sentence on how many intervals of tenths contain the estimate, and whether chance explains the others."""
    names = ("predicted", "observed", "low", "high")
    lines = [
        line for line in zip(*(tenths[name] for name in names), strict=True) if line[2] is not None
    ]
    if len(lines) < 2:
        return "There are too few rows to compare estimated errors with observed ones."
    missed = [line for line in lines if not line[2] <= line[0] <= line[3]]
    parts = "tenths" if len(lines) == 10 else "parts"
    held = (
        f"in {len(lines) - len(missed)} of {len(lines)} {parts} of the rows, the estimated error lies in the "
        f"{percent(confidence)} interval of the observed {unit.mean}"
    )
    if binom.sf(len(missed) - 1, len(lines), 1 - confidence) >= 1 - confidence:
        start = "In most rows, yes" if is_high else "Yes"
        start = start if is_predictable else "Only as averages, since they do not rank the rows"
        return f"{start}: {held}{'; chance explains the rest' if missed else ''}."
    estimate, observed, low, high = max(missed, key=lambda line: abs(line[0] - line[1]))
    return (
        f"Only roughly: {held}. They differ most where the estimate is {unit.show(estimate)} and the observed "
        f"{unit.mean} {unit.show(observed)} ({unit.show(low)} to {unit.show(high)})."
    )


def _about_total(unit: LossUnit, total: dict[str, Any], confidence: float) -> str:
    """Sentence on the sum of the estimates: the number of mistakes, or the mean error."""
    names = ("estimated", "observed", "low", "high")
    texts = [unit.show_total(total[name], total["n_rows"]) for name in names]
    return f"{unit.added_up.format(*texts)} ({percent(confidence)} interval)."


def _about_top(unit: LossUnit, top: dict[str, Any], confidence: float, is_high: bool) -> str:
    """Sentence on the rows with the highest estimates, and whether they are too high."""
    value, low, high = top["value"], top["low"], top["high"]
    ends = (
        ""
        if low is None
        else f", {percent(confidence)} interval {unit.show(low)} to {unit.show(high)}"
    )
    observed = f"their {unit.mean} is {unit.show(value)}{ends}"
    if unit.is_share:
        observed = f"{top['n_wrong']} are wrong ({unit.show(value)}{ends})"
    start = f"The {top['n_rows']} rows with the highest estimates have {unit.show(top['estimated'])} on average, and "
    return f"{start}{observed}{': these estimates are too high' if is_high else ''}."


def describe_intervals(error_estimator: Any, sample: Sample) -> dict[str, Any]:
    """Coverage and width of a regressor's held-out intervals, and whether the size of its errors can be predicted.

    It can if larger estimates go with larger errors, and intervals of their own score better than those of one width
    for all rows (Winkler's score at 90 %); both with confidence.
    """
    held_out, confidence = sample.held_out, sample.confidence
    truth, losses, n_rows = held_out.truth, held_out.losses, len(held_out.rows)
    intervals = [error_estimator.held_out_intervals(share) for share in CONFIDENCES]
    counts = np.array(
        [((low <= truth) & (truth <= high)).sum() for low, high in map(np.transpose, intervals)]
    )
    low, high = wilson_interval(counts, n_rows, confidence)
    # Half the width of conformal intervals that are equally wide for all rows: a quantile of the losses.
    sizes = np.sort(np.append(losses, np.inf))
    ranks = np.ceil(np.asarray(CONFIDENCES) * (n_rows + 1) - 1e-9).astype(int)
    halves = sizes[np.minimum(ranks, n_rows + 1) - 1]
    flat = held_out.prediction[:, None] + halves[AT] * np.array([-1, 1])
    own, constant = (_interval_scores(truth, ends) for ends in (intervals[AT], flat))
    upper = held_out.error > np.median(held_out.error)
    rises = difference_interval(losses, upper, sample.units, confidence, is_share=False)[0]
    gain = dict.fromkeys(("value", "low", "high"))
    if np.isfinite([own, constant]).all() and constant.any():
        gain = sample.mean((constant - own) / constant.mean())
    is_better = (gain["low"] or 0) > 0 and (gain["value"] or 0) >= LEAST_GAIN
    found = {
        "confidence": list(CONFIDENCES),
        "interval_confidence": confidence,
        "coverage": (counts / n_rows).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "width": [finite(interval_width(ends)) for ends in intervals],
        "constant_width": [finite(2 * half) for half in halves],
        "gain": gain,
        "predictable": bool(is_better and (rises or 0) > 0),
    }
    return found | _about_intervals(found)


def _interval_scores(truth: Any, ends: Floats) -> Floats:
    """Winkler's score of each 90 % interval: its width, and 20 times the distance of a true value outside."""
    outside = np.maximum(ends[:, 0] - truth, 0) + np.maximum(truth - ends[:, 1], 0)
    return np.asarray(ends[:, 1] - ends[:, 0] + 2 / (1 - SHOWN) * outside)


def _about_intervals(found: dict[str, Any]) -> dict[str, Any]:
    """Sentence on the intervals, and for the verdict a sentence and a figure if sizes cannot be predicted."""
    coverage, width, constant = (
        found[name][AT] for name in ("coverage", "width", "constant_width")
    )
    gain, level, wide = found["gain"], percent(SHOWN), number(width)
    sentence = f"There are too few rows for {level} intervals."
    if gain["low"] is not None:
        sentence = (
            f"{percent(coverage)} of the {level} conformal intervals contain the true value; their mean width is "
            f"{wide}, with one width for all rows it is {number(constant)}. Their score (Winkler, which counts width "
            f"and misses) is {percent(gain['value'])} better ({percent(gain['low'])} to {percent(gain['high'])})."
        )
    unpredictable = (
        f"The size of this model's errors cannot be predicted from these rows: all answers are equally uncertain, with "
        f"{level} intervals that are {wide} wide on average."
    )
    label = f"mean width of the {level} intervals"
    about = f"with one width for all rows: {number(constant)}"
    return {
        "sentence": sentence,
        "for_verdict": "" if found["predictable"] else unpredictable,
        "figure": {"value": wide, "label": label, "about": about},
    }
