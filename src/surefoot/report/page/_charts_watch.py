"""Charts of the page of `surefoot watch`: errors and shares by period, and columns that moved."""

from typing import Any

import altair as alt
import numpy as np

from surefoot._periods import are_alone
from surefoot._words import UNITS, LossUnit, number, percent, quoted
from surefoot.report.page._charts import (
    DASHES,
    Chart,
    Drawing,
    axis,
    by_series,
    data,
    figure,
    level_at,
    write_range,
)

# Columns that are drawn and listed, those with the largest effect.
MOST_COLUMNS = 15

# Periods up to this number have a tick each.
MOST_TICKS = 8

LIMIT: dict[str, Any] = {"color": "var(--own)", "strokeDash": DASHES["own"], "strokeWidth": 1.5}


def watch_charts(summary: dict[str, Any]) -> dict[str, Chart]:
    """Make every chart that the summary has figures for, by name."""
    charts = {}
    if len(summary["periods"]) > 1:
        charts = {"over_time": _errors_by_period(summary), "answered": _shares(summary)}
    if summary["moved"]["columns"]:
        charts["moved"] = _moved(summary["moved"]["columns"])
    return charts


def _errors_by_period(summary: dict[str, Any]) -> Chart:
    """Draw the estimated error by period with its band, the error at fit and the limit."""
    unit, level, limit = UNITS[summary["unit"]], summary["reference"]["error"], summary["limit"]
    periods, every, confidence = (
        summary["periods"],
        summary["every"],
        percent(summary["confidence"]),
    )
    measured = [period["measured"] for period in periods if period["measured"]]
    rows = [
        [
            period["name"],
            number(period["n_rows"]),
            unit.show(period["estimate"]),
            write_range(period["low"], period["high"], unit.show),
            _about(period),
            *(_measured(period, unit) if measured else []),
        ]
        for period in periods
    ]
    legend = [
        {
            "class": "line surefoot",
            "label": f"estimated, {confidence} interval if only the inputs changed",
        },
        {"class": "line best", "label": f"at training: {unit.show(level)}"},
    ]
    columns = {
        name: [each[name] for each in periods] for name in ("start", "estimate", "low", "high")
    }
    about = [f"{row[0]}: {row[2]} ({row[3]}), {row[1]} rows" for row in rows]
    alone = are_alone(np.array([value is not None for value in columns["estimate"]])).tolist()
    points = alt.Chart(data(**columns, alone=alone, about=about))
    highest = [each["high"] for each in measured]
    tops = [value for value in (*columns["high"], *highest, level, limit) if value is not None]
    domain = [0, 1.08 * max(tops) or 1.0]
    y = axis("estimate", unit.mean, unit.show, domain=domain)
    x, color = _time(summary), "var(--surefoot)"
    ends: dict[str, Any] = {"x": x, "y": alt.Y(**{**y, "field": "low"}), "y2": "high:Q"}
    layers: list[Drawing] = [points.mark_area(color=color, opacity=0.18, clip=True).encode(**ends)]
    if any(alone):  # a band has no width where a period has no neighbour
        bars = points.transform_filter("datum.alone")
        layers.append(bars.mark_rule(color=color, strokeWidth=3, opacity=0.35).encode(**ends))
    layers.append(level_at(level, y))
    if limit is not None:
        layers.append(level_at(limit, y, LIMIT))
        legend.append({"class": "line own", "label": f"limit: {unit.show_risk(limit)}"})
    layers.append(points.mark_line(color=color, strokeWidth=2.5).encode(x=x, y=alt.Y(**y)))
    dots = points.mark_point(filled=True, size=45, opacity=1, color=color)
    layers.append(dots.encode(x=x, y=alt.Y(**y), tooltip="about:N"))
    head = [every.capitalize(), "Rows", "Estimated", "If only the inputs changed", "Rows outside"]
    if measured:
        label = f"measured, with its {confidence} interval"
        legend.insert(0, {"class": "dot own", "label": label})
        layers += _measured_marks(periods, unit, x, y)
        head += ["Measured", "Interval"]
    return figure(
        f"{unit.mean.capitalize()}, by {every}",
        f"The estimated {unit.mean} of the rows of each {every} with its interval, beside that of the held-out rows "
        f"at training{', and the one that labels show' if measured else ''}. A gap means that there is no estimate.",
        alt.layer(*layers),
        {"head": head, "rows": rows},
        legend,
        height=300,
    )


def _about(period: dict[str, Any]) -> str:
    """Share of the rows outside of the training data, and why there is no estimate, or which rows it is for."""
    named = f", most in {quoted(period['outside_in'])}" if period["outside_in"] else ""
    if period["reason"] is not None:
        return f"{percent(period['outside'])}{named}. {period['reason']}"
    about = "; estimate of the others" if period["n_estimated"] < period["n_rows"] else ""
    return f"{percent(period['outside'])}{named}{about}"


def _measured(period: dict[str, Any], unit: LossUnit) -> list[str]:
    """Cells of the measured error and its interval."""
    measured = period["measured"] or dict.fromkeys(("value", "low", "high"))
    ends = write_range(measured["low"], measured["high"], unit.show)
    return [unit.show(measured["value"]), ends]


def _measured_marks(
    periods: list[dict[str, Any]], unit: LossUnit, x: alt.X, y: dict[str, Any]
) -> list[Drawing]:
    """Draw the measured error of each period that has labels, with its interval."""
    known = [period for period in periods if period["measured"]]
    marks = alt.Chart(
        data(
            start=[period["start"] for period in known],
            **{
                name: [each["measured"][name] for each in known]
                for name in ("value", "low", "high")
            },
            about=[
                "{}: {} measured ({})".format(each["name"], *_measured(each, unit))
                for each in known
            ],
        )
    )
    color = "var(--own)"
    ends: dict[str, Any] = {"x": x, "y": alt.Y(**{**y, "field": "low"}), "y2": "high:Q"}
    bars = marks.mark_rule(color=color, strokeWidth=2).encode(**ends)
    dots = marks.mark_point(filled=True, size=55, opacity=1, color=color, shape="diamond")
    return [bars, dots.encode(x=x, y=alt.Y(**{**y, "field": "value"}), tooltip="about:N")]


def _shares(summary: dict[str, Any]) -> Chart:
    """Draw the share of rows that are answered, and of those outside of the training data, by period."""
    periods, reference = summary["periods"], summary["reference"]
    names = {"answered": "surefoot", "outside": "own"}
    points = data(
        start=[period["start"] for period in periods for _ in names],
        share=[period[name] for period in periods for name in names],
        by=[color for _ in periods for color in names.values()],
        about=[
            f"{period['name']}: {percent(period[name])} {name}"
            for period in periods
            for name in names
        ],
    )
    y, look = axis("share", "share of rows", domain=[0, 1]), by_series(list(names.values()))
    axes = {"x": _time(summary), "y": alt.Y(**y)}
    lines = alt.Chart(points).mark_line(strokeWidth=2.5).encode(**axes, **look)
    dots = alt.Chart(points).mark_point(filled=True, size=40, opacity=1)
    dots = dots.encode(**axes, color=look["color"], tooltip="about:N")
    return figure(
        f"Rows answered, and rows outside of the training data, by {summary['every']}",
        f"The share of rows of each {summary['every']} that are answered at the promised risk, and the "
        "share that lies outside of the training data.",
        alt.layer(level_at(reference["coverage"], y), lines, dots),
        {
            "head": [summary["every"].capitalize(), "Rows", "Answered", "Outside"],
            "rows": [
                [
                    period["name"],
                    number(period["n_rows"]),
                    percent(period["answered"]),
                    percent(period["outside"]),
                ]
                for period in periods
            ],
        },
        [
            {"class": "line surefoot", "label": "answered"},
            {"class": "line own", "label": "outside of the training data"},
            {
                "class": "line best",
                "label": f"answered when it was fitted: {percent(reference['coverage'])}",
            },
        ],
        height=220,
    )


def _moved(columns: list[dict[str, Any]]) -> Chart:
    """Draw how far each column has moved, the largest effect first."""
    shown = columns[:MOST_COLUMNS]
    rows = [
        [
            column["name"],
            number(column["effect"]),
            "below 0.001"
            if column["p_value"] is not None and column["p_value"] < 0.001
            else number(column["p_value"]),
            "yes" if column["moved"] else "no",
        ]
        for column in shown
    ]
    bars = alt.Chart(
        data(
            name=[column["name"] for column in shown],
            effect=[column["effect"] for column in shown],
            by=["own" if column["moved"] else "best" for column in shown],
            about=[f"{row[0]}: {row[1]}" for row in rows],
        )
    ).mark_bar(height={"band": 0.7})
    colors = alt.Scale(domain=["own", "best"], range=["var(--own)", "var(--best)"])
    spec = bars.encode(
        x=alt.X(**axis("effect", "difference, from 0 to 1", number)),
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=130)),
        color=alt.Color("by:N", scale=colors, legend=None),
        tooltip="about:N",
    )
    more = (
        f" The {MOST_COLUMNS} columns with the largest ones." if len(columns) > len(shown) else ""
    )
    return figure(
        "How far each column has moved",
        f"The difference between a column's distribution in the new rows and in the held-out rows.{more}",
        spec,
        {"head": ["Column", "Difference", "P value", "Moved"], "rows": rows},
        [
            {"class": "box own", "label": "has moved"},
            {"class": "box best", "label": "no more than chance allows"},
        ],
        height=60 + 24 * len(shown),
    )


def _time(summary: dict[str, Any]) -> alt.X:
    """Axis of the first days of the periods; few labels, which a narrow page has room for."""
    form = {"year": "%Y", "quarter": "%b %Y", "month": "%b %Y"}.get(summary["every"], "%-d %b")
    starts = [period["start"] for period in summary["periods"]]
    ticks: dict[str, Any] = {"tickCount": 6}
    if len(starts) <= MOST_TICKS:  # Vega's own weeks begin on Sunday
        days = [map(int, start.split("-")) for start in starts]
        ticks = {"values": [alt.DateTime(year=y, month=m, date=d, utc=True) for y, m, d in days]}
    return alt.X(
        "start:T",
        title=None,
        scale=alt.Scale(type="utc"),
        axis=alt.Axis(format=form, labelOverlap=True, grid=False, **ticks),
    )
