"""Map of the rows: points, similar rows close together, coloured by estimated error."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from surefoot._words import number, percent
from surefoot.report.page._drawing import Chart, Show, data, figure, write_range


def map_chart(points: dict[str, Any], show: Show) -> Chart:
    """Draw the map; a rectangle drawn on it is the selection `brush`."""
    limits = shade_limits(points["error"])
    names = _shade_names(limits, show)
    legend = [{"class": f"dot shade-{i}", "label": name} for i, name in enumerate(names)]
    if points["wrong"]:
        legend.append({"class": "cross", "label": "wrong prediction"})
    return figure(
        "Map of the rows, coloured by estimated error",
        "Each point is a row; similar rows are close together. The stronger the colour, "
        "the higher the estimated error.",
        _spec(points, limits, show),
        _table(points, limits, names),
        legend,
        height=420,
    )


def shade_limits(errors: Sequence[float]) -> list[float]:
    """Limits between the shades, at quantiles that are closer together for high errors.

    Examples
    --------
    >>> shade_limits([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    [0.4, 0.6, 0.8, 0.9]
    """
    quantiles = np.quantile(np.asarray(errors, dtype="float64"), [0.4, 0.6, 0.8, 0.9])
    return sorted({float(f"{quantile:.2g}") for quantile in quantiles})


def _spec(points: dict[str, Any], limits: Sequence[float], show: Show) -> alt.Chart:
    brush = alt.selection_interval(name="brush", encodings=["x", "y"], zoom=False)
    shades = [f"var(--shade-{i})" for i in range(len(limits) + 1)]
    colors = alt.Scale(type="threshold", domain=list(limits), range=shades)
    first, second = points["explained"]
    encoding = {
        "x": alt.X(**_axis("first", first)),
        "y": alt.Y(**_axis("second", second)),
        "color": alt.Color("error:Q", scale=colors, legend=None),
        "opacity": alt.condition(brush, alt.value(0.9), alt.value(0.15)),
        "order": alt.Order("error:Q"),
        "tooltip": "about:N",
    }
    if points["wrong"]:
        shapes = alt.Scale(domain=[False, True], range=["circle", "cross"])
        encoding["shape"] = alt.Shape("wrong:N", scale=shapes, legend=None)
    marks = alt.Chart(_records(points, show)).mark_point(filled=True, size=36, shape="circle")
    return marks.encode(**encoding).add_params(brush)


def _records(points: dict[str, Any], show: Show) -> alt.InlineData:
    errors_of_rows = zip(points["row"], points["error"], strict=True)
    about = [f"Row {row}: estimated error {show(error)}" for row, error in errors_of_rows]
    names = {"x": "first", "y": "second", "error": "error", "row": "row", "wrong": "wrong"}
    columns = {new: _rounded(points[old]) for old, new in names.items() if points[old]}
    records = data(**columns, about=about)
    records.name = "points"  # charts.js reads them by this name
    return records


def _rounded(values: Sequence[Any]) -> list[Any]:
    """Values rounded to the digits that a screen can show."""
    return [float(f"{value:.5g}") if isinstance(value, float) else value for value in values]


def _axis(name: str, explained: float) -> dict[str, Any]:
    return {
        "field": name,
        "type": "quantitative",
        "title": f"{name} axis: {percent(explained)} of the variance",
        "axis": alt.Axis(labels=False, ticks=False, grid=False, domain=False),
        "scale": alt.Scale(zero=False, padding=8),
    }


def _shade_names(limits: Sequence[float], show: Show) -> list[str]:
    between = [write_range(*ends, show) for ends in pairwise(limits)]
    return [f"below {show(limits[0])}", *between, f"{show(limits[-1])} and more"]


def _table(points: dict[str, Any], limits: Sequence[float], names: Sequence[str]) -> dict[str, Any]:
    """Table of the number of points of every shade and, for a classifier, the share of wrong ones."""
    shade = np.searchsorted(limits, points["error"], side="right")
    rows = [[name, number(int((shade == i).sum()))] for i, name in enumerate(names)]
    if not points["wrong"]:
        return {"head": ["Estimated error", "Points"], "rows": rows}
    wrong = np.asarray(points["wrong"], dtype="float64")
    shares = [
        percent(wrong[shade == i].mean()) if (shade == i).any() else "–" for i in range(len(names))
    ]
    return {
        "head": ["Estimated error", "Points", "Of these wrong"],
        "rows": [[*row, share] for row, share in zip(rows, shares, strict=True)],
    }
