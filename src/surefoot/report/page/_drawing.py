"""Parts that the charts share: theme, axes, curves, points with intervals."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import altair as alt

from surefoot._words import percent

Chart = dict[str, Any]
Drawing = alt.Chart | alt.LayerChart | alt.FacetChart
Show = Callable[[float | None], str]

# Colours are variables of style.css, so that charts follow the page to dark mode and to print.
THEME: dict[str, Any] = {
    "aria": False,  # the page has a description and a table for every chart
    "background": "transparent",
    "font": "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif",
    "view": {"stroke": None},
    "axis": {
        **{f"{part}Color": "var(--soft)" for part in ("label", "title")},
        **{f"{part}Color": "var(--line)" for part in ("grid", "domain", "tick")},
        **{f"{part}FontSize": 12 for part in ("label", "title")},
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 5,
        "tickCount": 5,
        "labelFlush": False,
        "labelSeparation": 6,
    },
}
SERIES = {
    "surefoot": "surefoot",
    "own": "the model's own confidence",
    "best": "the best possible",
}
DASHES = {"surefoot": [1, 0], "own": [7, 3], "best": [2, 3]}
GUIDE: dict[str, Any] = {"color": "var(--best)", "strokeDash": DASHES["best"], "strokeWidth": 1.5}


def figure(
    title: str,
    description: str,
    spec: Drawing,
    table: dict[str, Any],
    legend: Sequence[dict[str, str]] = (),
    height: int = 260,
) -> Chart:
    """Chart with its title, description, table and legend."""
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    spec = spec.properties(width="container", height=height, autosize=fit)
    words = {"title": title, "description": description}
    return {**words, "spec": spec.to_dict(validate=False), "table": table, "legend": list(legend)}


def data(**columns: Iterable[Any]) -> alt.InlineData:
    """Records for Vega, from columns."""
    names = list(columns)
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return alt.InlineData(values=records)


def rounded(values: Iterable[Any], digits: int = 5) -> list[Any]:
    """Values rounded to the digits that a screen can show."""
    return [float(f"{value:.{digits}g}") if isinstance(value, float) else value for value in values]


def axis(field: str, title: str, show: Show = percent, **scale: Any) -> dict[str, Any]:
    """Settings of a numeric axis whose labels are formatted as in the text."""
    labels = "format(datum.value * 100, '~g') + '\u00a0%'" if show is percent else alt.Undefined
    form = alt.Undefined if show is percent else ",f"
    options = {"scale": alt.Scale(**scale)} if scale else {}
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "axis": alt.Axis(labelExpr=labels, format=form),
        **options,
    }


def by_series(names: Sequence[str]) -> dict[str, Any]:
    """Colours and dashes of the curves in `names`; dashes distinguish them without colour."""
    colors = alt.Scale(domain=list(names), range=[f"var(--{name})" for name in names])
    dashes = alt.Scale(domain=list(names), range=[DASHES[name] for name in names])
    return {
        "color": alt.Color("by:N", scale=colors, legend=None),
        "strokeDash": alt.StrokeDash("by:N", scale=dashes, legend=None),
    }


def rule_at(expression: str) -> alt.Chart:
    """Draw a vertical line at the value of an expression, such as the position of the slider."""
    line = alt.Chart(data(_=[0])).mark_rule(color="var(--ink)", strokeWidth=1, opacity=0.6)
    return line.encode(x=alt.XDatum(alt.ExprRef(expression), type="quantitative"))


def level_at(y: float, scale: alt.Scale | None = None) -> alt.Chart:
    """Draw a horizontal guide line."""
    line = alt.Chart(data(y=[y])).mark_rule(**GUIDE)
    return line.encode(y=alt.Y("y:Q", scale=scale) if scale else alt.Y("y:Q"))


def diagonal(low: float = 0.0, high: float = 1.0) -> alt.Chart:
    """Draw the line y = x."""
    scale = alt.Scale(domain=[low, high])
    line = alt.Chart(data(x=[low, high], y=[low, high])).mark_line(**GUIDE)
    return line.encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))


def dots(
    points: alt.InlineData, x: dict[str, Any], y: dict[str, Any], color: str
) -> alt.LayerChart:
    """Draw points, with the interval from `low` to `high` around each and its `about` as tooltip."""
    look: dict[str, Any] = {"color": f"var(--{color})"}
    bars = alt.Chart(points).mark_rule(**look, strokeWidth=2, opacity=0.45)
    marks = alt.Chart(points).mark_point(**look, filled=True, size=60, opacity=1)
    x_axis, y_axis, low = alt.X(**x), alt.Y(**y), alt.Y(**{**y, "field": "low"})
    bars = bars.encode(x=x_axis, y=low, y2="high:Q")
    return bars + marks.encode(x=x_axis, y=y_axis, tooltip="about:N")


def write_range(low: float | None, high: float | None, show: Show = percent) -> str:
    """Write both ends of an interval; a dash if there is none.

    Examples
    --------
    >>> write_range(0.2, 0.35)
    '20 % to 35 %'
    """
    return show(None) if low is None or high is None else f"{show(low)} to {show(high)}"
