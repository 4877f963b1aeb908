"""Charts of promises against what came true: probabilities, intervals."""

from typing import Any

import altair as alt

from surefoot.report._figures import number, percent
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
    """Draw the share observed against the probability given, before or after recalibration."""
    names = ("predicted", "observed", "low", "high", "n_rows")
    rows = [
        [percent(given), percent(seen), write_range(low, high), number(n)]
        for given, seen, low, high, n in zip(*(bins[name] for name in names), strict=True)
    ]
    about = [f"{n} rows: {given} given, {seen} observed" for given, seen, _, n in rows]
    color = "own" if when == "before" else "surefoot"
    points = dots(
        data(**{name: bins[name] for name in names}, about=about),
        axis("predicted", "probability given", domain=[0, 1]),
        axis("observed", "share observed", domain=[0, 1]),
        color,
    )
    return figure(
        f"{when.capitalize()} recalibration",
        f"{when.capitalize()} recalibration: how often what was given a probability came true. "
        "On the diagonal, probabilities are true.",
        diagonal() + points,
        {"head": ["Probability given", "Share observed", "95 % interval", "Rows"], "rows": rows},
        [{"class": f"dot {color}", "label": "observed, with its 95 % interval"}],
        height=300,
    )


def held_chart(intervals: dict[str, Any]) -> Chart:
    """Draw the share of rows inside their interval against the share promised."""
    names = ("confidence", "coverage", "low", "high")
    ends = [max(0.0, min(*intervals["low"], *intervals["confidence"]) - 0.05), 1.0]
    rows = [
        [percent(promised), percent(held), write_range(low, high)]
        for promised, held, low, high in zip(*(intervals[name] for name in names), strict=True)
    ]
    about = [f"{promised} promised, {held} held" for promised, held, _ in rows]
    told = percent(intervals["interval_confidence"])
    points = dots(
        data(**{name: intervals[name] for name in names}, about=about),
        axis("confidence", "promised", domain=ends),
        axis("coverage", "held", domain=ends),
        "surefoot",
    )
    return figure(
        "What intervals promise, and hold",
        "The share of rows whose value lies in their interval, against the share promised. "
        "On the diagonal, the promise is kept.",
        diagonal(ends[0]) + points,
        {"head": ["Promised", "Held", f"{told} interval"], "rows": rows},
        [{"class": "dot surefoot", "label": f"held, with its {told} interval"}],
    )


def width_chart(intervals: dict[str, Any]) -> Chart:
    """Draw the mean width of intervals, and the one width that would do for all rows."""
    promised, own, constant = (
        intervals[name] for name in ("confidence", "width", "constant_width")
    )
    labels = {"surefoot": "an interval for each row", "own": "one width for all rows"}
    lines = alt.Chart(data(x=promised, surefoot=own, own=constant))
    lines = lines.transform_fold(list(labels), as_=["by", "y"])
    spec = lines.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=45)).encode(
        x=alt.X(**axis("x", "promised", zero=False)),
        y=alt.Y(**axis("y", "mean width", number)),
        **by_series(list(labels)),
    )
    rows = zip(promised, own, constant, strict=True)
    return figure(
        "How wide they are",
        "The mean width of intervals against the share promised, "
        "and the width that would be needed for all rows alike.",
        spec,
        {
            "head": ["Promised", *(label.capitalize() for label in labels.values())],
            "rows": [[percent(share), number(a), number(b)] for share, a, b in rows],
        },
        [{"class": f"line {name}", "label": label} for name, label in labels.items()],
    )


def width_fifths_chart(fifths: list[dict[str, Any]]) -> Chart:
    """Draw how often 90 % intervals hold, from the narrowest fifth of them to the widest."""
    held = [fifth["coverage"] for fifth in fifths]
    rows = [[number(f["width"]), percent(f["coverage"]), number(f["n_rows"])] for f in fifths]
    points = data(
        place=range(1, len(fifths) + 1),
        held=held,
        about=[f"{row[2]} rows: {row[1]} held" for row in rows],
    )
    scale = alt.Scale(domain=[max(0.0, min(0.5, *(share - 0.05 for share in held))), 1.0])
    marks = alt.Chart(points).mark_point(filled=True, size=80, opacity=1, color="var(--surefoot)")
    spec = alt.Chart(data(y=[0.9])).mark_rule(**GUIDE).encode(
        y=alt.Y("y:Q", scale=scale)
    ) + marks.encode(
        x=alt.X("place:O", title="fifth of the rows, narrowest first", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(**axis("held", "held, 90\u00a0% promised"), scale=scale),
        tooltip="about:N",
    )
    return figure(
        "Narrow or wide, does the promise hold?",
        "The share of rows whose value lies in their 90 % interval, "
        "in fifths of the rows from the narrowest intervals to the widest.",
        spec,
        {"head": ["Mean width", "Held", "Rows"], "rows": rows},
        [{"class": "dot surefoot", "label": "held"}, {"class": "line best", "label": "promised"}],
    )
