"""Charts of calibration: probabilities and intervals against what was observed."""

from typing import Any

import altair as alt

from surefoot._words import number, percent
from surefoot.report.page._drawing import (
    GUIDE,
    Chart,
    axis,
    by_series,
    data,
    diagonal,
    dots,
    figure,
    write_range,
)


def reliability_chart(bins: dict[str, Any], when: str) -> Chart:
    """Draw the observed share against the predicted probability, before or after recalibration."""
    names = ("predicted", "observed", "low", "high", "n_rows")
    rows = [
        [percent(predicted), percent(observed), write_range(low, high), number(n)]
        for predicted, observed, low, high, n in zip(*(bins[name] for name in names), strict=True)
    ]
    about = [
        f"{n} rows: {predicted} predicted, {observed} observed"
        for predicted, observed, _, n in rows
    ]
    color = "own" if when == "before" else "surefoot"
    points = dots(
        data(**{name: bins[name] for name in names}, about=about),
        axis("predicted", "predicted probability", domain=[0, 1]),
        axis("observed", "observed share", domain=[0, 1]),
        color,
    )
    return figure(
        f"{when.capitalize()} recalibration",
        f"{when.capitalize()} recalibration: the observed share of rows against the predicted probability. "
        "On the diagonal, probabilities are calibrated.",
        diagonal() + points,
        {
            "head": ["Predicted probability", "Observed share", "95 % interval", "Rows"],
            "rows": rows,
        },
        [{"class": f"dot {color}", "label": "observed, with its 95 % interval"}],
        height=300,
    )


def held_chart(intervals: dict[str, Any]) -> Chart:
    """Draw the observed coverage of the intervals against the promised coverage."""
    names = ("confidence", "coverage", "low", "high")
    ends = [max(0.0, min(*intervals["low"], *intervals["confidence"]) - 0.05), 1.0]
    rows = [
        [percent(promised), percent(observed), write_range(low, high)]
        for promised, observed, low, high in zip(*(intervals[name] for name in names), strict=True)
    ]
    about = [f"{promised} promised, {observed} observed" for promised, observed, _ in rows]
    confidence = percent(intervals["interval_confidence"])
    points = dots(
        data(**{name: intervals[name] for name in names}, about=about),
        axis("confidence", "promised coverage", domain=ends),
        axis("coverage", "observed coverage", domain=ends),
        "surefoot",
    )
    return figure(
        "Coverage of the intervals",
        "The share of rows whose true value lies in their interval (coverage), against the promised share. "
        "On the diagonal, the promise is kept.",
        diagonal(ends[0]) + points,
        {"head": ["Promised", "Observed", f"{confidence} interval"], "rows": rows},
        [{"class": "dot surefoot", "label": f"observed, with its {confidence} interval"}],
    )


def width_chart(intervals: dict[str, Any]) -> Chart:
    """Draw the mean width of the intervals, and the width that all rows would need if it were the same."""
    promised, own, constant = (
        intervals[name] for name in ("confidence", "width", "constant_width")
    )
    labels = {"surefoot": "an interval for each row", "own": "one width for all rows"}
    lines = alt.Chart(data(x=promised, surefoot=own, own=constant))
    lines = lines.transform_fold(list(labels), as_=["by", "y"])
    spec = lines.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=45)).encode(
        x=alt.X(**axis("x", "promised coverage", zero=False)),
        y=alt.Y(**axis("y", "mean width", number)),
        **by_series(list(labels)),
    )
    rows = zip(promised, own, constant, strict=True)
    return figure(
        "Mean width of the intervals",
        "The mean width of the intervals against the promised coverage, "
        "and the width that would be needed if it were the same for all rows.",
        spec,
        {
            "head": ["Promised", *(label.capitalize() for label in labels.values())],
            "rows": [[percent(share), number(a), number(b)] for share, a, b in rows],
        },
        [{"class": f"line {name}", "label": label} for name, label in labels.items()],
    )


def width_fifths_chart(fifths: list[dict[str, Any]]) -> Chart:
    """Draw the coverage of 90 % intervals, from the narrowest fifth of them to the widest."""
    coverages = [fifth["coverage"] for fifth in fifths]
    rows = [[number(f["width"]), percent(f["coverage"]), number(f["n_rows"])] for f in fifths]
    points = data(
        place=range(1, len(fifths) + 1),
        coverage=coverages,
        about=[f"{row[2]} rows: {row[1]} coverage" for row in rows],
    )
    scale = alt.Scale(domain=[max(0.0, min(0.5, *(share - 0.05 for share in coverages))), 1.0])
    marks = alt.Chart(points).mark_point(filled=True, size=80, opacity=1, color="var(--surefoot)")
    spec = alt.Chart(data(y=[0.9])).mark_rule(**GUIDE).encode(
        y=alt.Y("y:Q", scale=scale)
    ) + marks.encode(
        x=alt.X("place:O", title="fifth of the rows, narrowest first", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(**axis("coverage", "observed coverage, 90\u00a0% promised"), scale=scale),
        tooltip="about:N",
    )
    return figure(
        "Coverage of narrow and wide intervals",
        "The share of rows whose true value lies in their 90 % interval, "
        "in fifths of the rows from the narrowest intervals to the widest.",
        spec,
        {"head": ["Mean width", "Observed coverage", "Rows"], "rows": rows},
        [
            {"class": "dot surefoot", "label": "observed"},
            {"class": "line best", "label": "promised"},
        ],
    )
