"""Charts of the page: each is a Vega-Lite specification with a description, a table and a legend."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from surefoot._words import UNITS, percent
from surefoot.report.page._charts_classes import class_charts
from surefoot.report.page._charts_map import map_chart
from surefoot.report.page._charts_regression import coverage_chart, residual_chart, truth_chart
from surefoot.report.page._charts_truth import (
    held_chart,
    reliability_chart,
    width_chart,
    width_fifths_chart,
)
from surefoot.report.page._drawing import (
    SERIES,
    Chart,
    Drawing,
    Show,
    axis,
    by_series,
    data,
    diagonal,
    figure,
    rule_at,
    write_range,
)


def make_charts(summary: dict[str, Any]) -> dict[str, Chart]:
    """Make every chart that the summary has figures for, by name."""
    show: Show = UNITS[summary["unit"]].show
    answer, probabilities = summary["answer"], summary["probabilities"] or {}
    charts = {
        "risk": _risk(answer, show),
        "caught": _caught(answer),
        "errors": _errors(answer, show),
    }
    if summary["classes"]:
        charts |= class_charts(summary["classes"])
    for when in ("before", "after"):
        if probabilities.get(when):
            charts[when] = reliability_chart(probabilities[when], when)
    if intervals := summary["intervals"]:
        charts |= {"held": held_chart(intervals), "width": width_chart(intervals)}
        charts["fifths"] = width_fifths_chart(intervals["by_width"])
    if predictions := summary["predictions"]:
        charts |= {"truth": truth_chart(predictions), "residuals": residual_chart(predictions)}
        if predictions["parts"][0]["coverage"] is not None:
            charts["tenths"] = coverage_chart(predictions)
    if summary["regions"]["map"]["row"]:
        charts["map"] = map_chart(summary["regions"]["map"], show)
    return charts


def _risk(answer: dict[str, Any], show: Show) -> Chart:
    curves = {name: values for name, values in answer["risk"].items() if values}
    name, coverage = answer["risk_name"], answer["coverage"]
    # The risk of the first few rows is very uncertain, and would stretch the axis.
    settled = np.asarray(list(curves.values()))[:, np.asarray(coverage) >= 0.05]
    x = alt.X(**axis("x", "share of rows answered", domain=[0, 1]))
    y = alt.Y(**axis("y", name, show, domain=[0, float(settled.max()) * 1.08 or 1.0]))
    return figure(
        f"{name[:1].upper()}{name[1:]}, by share of rows answered",
        f"The {name} among the answered rows (selective risk), against the share of rows answered (coverage).",
        _at_slider(alt.layer(*_curves(coverage, curves, x, y, "at"))),
        _tenths(coverage, curves, "Rows answered", show),
        _legend(curves),
    )


def _caught(answer: dict[str, Any]) -> Chart:
    what = answer["total"].removeprefix("all ")
    curves = {name: values[::-1] for name, values in answer["caught"].items() if values}
    checked = [round(1 - coverage, 9) for coverage in reversed(answer["coverage"])]
    x = alt.X(**axis("x", "share of rows checked by a person", domain=[0, 1]))
    y = alt.Y(**axis("y", f"share of {what} caught", domain=[0, 1]))
    return figure(
        f"Share of {what} caught, by share of rows checked",
        f"The share of {what} that a person catches by checking the rows that are not answered.",
        _at_slider(alt.layer(diagonal(), *_curves(checked, curves, x, y, "1 - at"))),
        _tenths(checked, curves, "Rows checked", percent),
        [*_legend(curves), {"class": "line best", "label": "rows chosen at random"}],
    )


def _curves(
    x: Sequence[float], curves: dict[str, Sequence[float]], x_axis: alt.X, y_axis: alt.Y, at: str
) -> list[alt.Chart]:
    """Draw curves over x, with a rule and points where x is the expression `at`."""
    lines = alt.Chart(data(x=x, **curves)).transform_fold(list(curves), as_=["by", "y"])
    look = by_series(list(curves))
    here = lines.transform_filter(f"abs(datum.x - ({at})) < 1e-6")
    return [
        lines.mark_line(strokeWidth=2.5, clip=True).encode(x=x_axis, y=y_axis, **look),
        rule_at(at),
        here.mark_point(filled=True, size=70, opacity=1, clip=True).encode(
            x=x_axis, y=y_axis, color=look["color"]
        ),
    ]


def _at_slider(chart: Drawing) -> Drawing:
    return chart.add_params(alt.param(name="at", value=1.0))


def _legend(curves: dict[str, Any]) -> list[dict[str, str]]:
    return [{"class": f"line {name}", "label": SERIES[name]} for name in curves]


def _tenths(
    x: Sequence[float], curves: dict[str, Sequence[float]], name: str, show: Show
) -> dict[str, Any]:
    """Table of the curves at every tenth of x."""
    at = [int(np.argmin(np.abs(np.asarray(x) - tenth / 10))) for tenth in range(1, 11)]
    rows = [[percent(x[i]), *(show(values[i]) for values in curves.values())] for i in at]
    return {"head": [name, *(SERIES[curve] for curve in curves)], "rows": rows}


def _errors(answer: dict[str, Any], show: Show) -> Chart:
    """Histogram of the estimated errors, from their quantiles: the limits at equal steps of coverage."""
    limits = np.asarray(answer["limit"], dtype="float64")
    ends = (min(0.0, float(limits.min())), float(limits.max()) or 1.0)
    counts, edges = np.histogram(limits, bins=24, range=ends)
    low, high, share = edges[:-1].tolist(), edges[1:].tolist(), (counts / len(limits)).tolist()
    bars = alt.Chart(data(low=low, high=high, share=share)).mark_bar(binSpacing=1)
    answered = alt.condition(
        "datum.low < limit", alt.value("var(--surefoot)"), alt.value("var(--own)")
    )
    bars = bars.encode(
        x=alt.X(**axis("low", "estimated error of the row", show, domain=ends), bin="binned"),
        x2="high",
        y=alt.Y(**axis("share", "share of rows")),
        color=answered,
    )
    limit = alt.param(name="limit", value=ends[1])
    rows = zip(low, high, share, strict=True)
    return figure(
        "Distribution of the estimated errors",
        "The share of rows by their estimated error. Rows left of the line are answered; "
        "rows right of it are left to a person.",
        (bars + rule_at("limit")).add_params(limit),
        {
            "head": ["Estimated error", "Share of rows"],
            "rows": [[write_range(a, b, show), percent(part)] for a, b, part in rows if part],
        },
        [
            {"class": "box surefoot", "label": "answered"},
            {"class": "box own", "label": "for a person"},
        ],
        height=130,
    )
