"""Charts of the report: each is a Vega-Lite specification with a description, a table and a legend."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from surefoot._words import UNITS, number, percent

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

# Colours of the first and of the second curve of classes.
CLASS_SERIES = ("surefoot", "own")


def make_charts(summary: dict[str, Any]) -> dict[str, Chart]:
    """Make every chart that the summary has figures for, by name."""
    show: Show = UNITS[summary["unit"]].show
    answer, probabilities = summary["answer"], summary["probabilities"] or {}
    estimates, mean = summary["estimates"], UNITS[summary["unit"]].mean
    charts = {
        "risk": _risk(answer, show),
        "caught": _caught(answer),
        "estimates": reliability_chart(
            estimates["tenths"],
            f"Observed {mean}, by estimated error",
            f"The observed {mean} of {_name_parts(estimates['tenths']['n_rows'])}, by their mean estimated error. The "
            "points of exact estimates are on the diagonal.",
            ("mean estimated error", f"observed {mean}"),
            "surefoot",
            estimates["confidence"],
            show,
        ),
        "errors": _error_histogram(estimates["histogram"], show, is_split=answer["is_useful"]),
    }
    if summary["classes"] and (curves := summary["classes"]["curves"]):
        charts["roc"] = _class_chart(
            curves,
            "roc",
            "Share of the class found, by share of other rows taken for it (ROC)",
            "The share of rows of the class that are found (recall, true positive rate), against the share of other "
            "rows that are taken for it (false positive rate), for every limit on the model's score of the class.",
            ("other rows taken for it", "rows of the class found"),
            (diagonal(), "rows ranked at random"),
        )
        share = curves[0]["share"]
        charts["precision_recall"] = _class_chart(
            curves,
            "precision_recall",
            "Share of predictions that are right, by share of the class found (precision and recall)",
            "The share of rows taken for the class that are of the class (precision), against the share of its rows "
            "that are found (recall), for every limit on the model's score of the class.",
            ("rows of the class found", "of the rows taken for it, right"),
            (
                level_at(share, {"scale": alt.Scale(domain=[0, 1])}),
                f"rows ranked at random: {percent(share)}",
            ),
        )
    for when in ("before", "after"):
        if probabilities.get(when):
            charts[when] = reliability_chart(
                probabilities[when],
                f"{when.capitalize()} recalibration",
                f"{when.capitalize()} recalibration: the observed share of rows against the predicted probability, "
                "which are equal on the diagonal.",
                ("predicted probability", "observed share"),
                "own" if when == "before" else "surefoot",
                probabilities["confidence"],
            )
    if intervals := summary["intervals"]:
        charts["held"] = reliability_chart(
            {**intervals, "predicted": intervals["confidence"], "observed": intervals["coverage"]},
            "Coverage of the intervals",
            "The share of rows whose true value lies in their interval (coverage), against the promised share. On the "
            "diagonal, the promise is kept.",
            ("promised coverage", "observed coverage"),
            "surefoot",
            intervals["interval_confidence"],
            least=max(0.0, min(*intervals["low"], *intervals["confidence"]) - 0.05),
            others={"width": "Mean width", "constant_width": "One width for all rows"},
        )
    if predictions := summary["predictions"]:
        charts |= {"truth": truth_chart(predictions), "residuals": residual_chart(predictions)}
    if summary["regions"]["map"]["row"]:
        charts["map"] = map_chart(summary["regions"]["map"], show)
    return charts


def _risk(answer: dict[str, Any], show: Show) -> Chart:
    curves = {name: values for name, values in answer["risk"].items() if values}
    name, coverage = answer["risk_name"], answer["coverage"]
    # The risk of the first few rows is very uncertain, and would stretch the axis.
    settled = np.asarray(list(curves.values()))[:, np.asarray(coverage) >= 0.05]
    y = axis("y", name, show, domain=[0, float(settled.max()) * 1.08 or 1.0])
    return _slider_chart(
        f"{name[:1].upper()}{name[1:]}, by share of rows answered",
        f"The {name} among the answered rows (selective risk), against the share of rows answered (coverage).",
        coverage,
        curves,
        axis("x", "share of rows answered", domain=[0, 1]),
        y,
        "at",
        "Rows answered",
        show,
    )


def _caught(answer: dict[str, Any]) -> Chart:
    what = answer["total"].removeprefix("all ")
    chart = _slider_chart(
        f"Share of {what} caught, by share of rows checked",
        f"The share of {what} that a person catches by checking the rows that are not answered.",
        [round(1 - coverage, 9) for coverage in reversed(answer["coverage"])],
        {name: values[::-1] for name, values in answer["caught"].items() if values},
        axis("x", "share of rows checked by a person", domain=[0, 1]),
        axis("y", f"share of {what} caught", domain=[0, 1]),
        "1 - at",
        "Rows checked",
        percent,
        diagonal(),
    )
    chart["legend"].append({"class": "line best", "label": "rows chosen at random"})
    return chart


def _slider_chart(
    title: str,
    description: str,
    places: Sequence[float],
    curves: dict[str, Sequence[float]],
    x: dict[str, Any],
    y: dict[str, Any],
    at: str,
    head: str,
    show: Show,
    *below: Drawing,
) -> Chart:
    """Draw curves at places of x, with a rule and points where x is the expression `at`; the table has tenths of x."""
    lines = alt.Chart(data(x=places, **curves)).transform_fold(list(curves), as_=["by", "y"])
    look, axes = by_series(list(curves)), {"x": alt.X(**x), "y": alt.Y(**y)}
    here = lines.transform_filter(f"abs(datum.x - ({at})) < 1e-6")
    points = here.mark_point(filled=True, size=70, opacity=1, clip=True)
    drawing = alt.layer(
        *below,
        lines.mark_line(strokeWidth=2.5, clip=True).encode(**axes, **look),
        rule_at(at),
        points.encode(**axes, color=look["color"]),
    )
    tenths = [int(np.argmin(np.abs(np.asarray(places) - tenth / 10))) for tenth in range(1, 11)]
    rows = [[percent(places[i]), *(show(values[i]) for values in curves.values())] for i in tenths]
    return figure(
        title,
        description,
        drawing.add_params(alt.param(name="at", value=1.0)),
        {"head": [head, *(SERIES[curve] for curve in curves)], "rows": rows},
        [{"class": f"line {curve}", "label": SERIES[curve]} for curve in curves],
    )


def _error_histogram(histogram: dict[str, Any], show: Show, *, is_split: bool) -> Chart:
    """Histogram of the estimated errors of the rows; if `is_split`, the slider divides it."""
    edges, counts = histogram["edges"], histogram["n_rows"]
    low, high = edges[:-1], edges[1:]
    bars = alt.Chart(data(low=low, high=high, n_rows=counts)).mark_bar(binSpacing=1)
    answered = alt.condition(
        "datum.low < limit", alt.value("var(--surefoot)"), alt.value("var(--own)")
    )
    domain = [edges[0], edges[-1]]
    bars = bars.encode(
        x=alt.X(**axis("low", "estimated error of the row", show, domain=domain), bin="binned"),
        x2="high",
        y=alt.Y(**axis("n_rows", "rows", number)),
        color=answered,
    )
    lines = zip(low, high, counts, strict=True)
    return figure(
        "Distribution of the estimated errors",
        "The number of rows by their estimated error."
        + (
            " Rows left of the line are answered; rows right of it are left to a person."
            if is_split
            else ""
        ),
        (bars + rule_at("limit")).add_params(alt.param(name="limit", value=edges[-1])),
        {
            "head": ["Estimated error", "Rows", "Share of rows"],
            "rows": [
                [write_range(a, b, show), number(n), percent(n / sum(counts))]
                for a, b, n in lines
                if n
            ],
        },
        [
            {"class": "box surefoot", "label": "answered"},
            {"class": "box own", "label": "for a person"},
        ]
        if is_split
        else (),
        height=300,
    )


def _class_chart(
    curves: list[dict[str, Any]],
    kind: str,
    title: str,
    description: str,
    axes: tuple[str, str],
    chance: tuple[Drawing, str],
) -> Chart:
    """Draw one or two curves of classes above that of chance; the table has the first point from each tenth of x on."""
    names = CLASS_SERIES[: len(curves)]
    points = [
        (x, y, name, place)
        for name, curve in zip(names, curves, strict=True)
        for place, (x, y) in enumerate(zip(curve[kind]["x"], curve[kind]["y"], strict=True))
    ]
    x, y, by, place = (rounded(column, 4) for column in zip(*points, strict=True))
    lines = alt.Chart(data(x=x, y=y, by=by, place=place)).mark_line(strokeWidth=2.5, clip=True)
    lines = lines.encode(
        x=alt.X(**axis("x", axes[0], domain=[0, 1])),
        y=alt.Y(**axis("y", axes[1], domain=[0, 1])),
        order="place:Q",
        **by_series(names),
    )
    tenths = np.arange(1, 11) / 10
    rows = [list(map(percent, tenths))]
    for curve in curves:
        places = np.searchsorted(curve[kind]["x"], tenths - 1e-9)
        rows.append(
            [percent(value) for value in np.append(curve[kind]["y"], curve[kind]["y"][-1])[places]]
        )
    legend = [
        {"class": f"line {name}", "label": curve["name"]}
        for name, curve in zip(names, curves, strict=True)
    ]
    return figure(
        title,
        description,
        chance[0] + lines,
        {
            "head": [axes[0].capitalize(), *(curve["name"] for curve in curves)],
            "rows": [list(row) for row in zip(*rows, strict=True)],
        },
        [*legend, {"class": "line best", "label": chance[1]}],
        height=300,
    )


def reliability_chart(
    bins: dict[str, Any],
    title: str,
    description: str,
    axes: tuple[str, str],
    color: str,
    confidence: float,
    show: Show = percent,
    least: float = 0.0,
    others: Mapping[str, str] = {"n_rows": "Rows"},
) -> Chart:
    """Draw what was observed against what was predicted, from `least` on; the table has the `others`, too."""
    names = ("predicted", "observed", "low", "high", *others)
    interval = f"{percent(confidence)} interval"
    head = [*(words.capitalize() for words in axes), interval, *others.values()]
    rows = [
        [show(predicted), show(observed), write_range(low, high, show), *map(number, more)]
        for predicted, observed, low, high, *more in zip(*(bins[n] for n in names), strict=True)
    ]
    about = [", ".join(map("{}: {}".format, head, row)) for row in rows]
    ends = [end for name in names[:4] for end in bins[name] if end is not None]
    largest = 1.0 if show is percent and max(ends) > 0.5 else 1.05 * max(ends) or 1.0
    points = dots(
        data(**{name: bins[name] for name in names[:4]}, about=about),
        axis("predicted", axes[0], show, domain=[least, largest]),
        axis("observed", axes[1], show, domain=[least, largest]),
        color,
    )
    return figure(
        title,
        description,
        diagonal(least, largest) + points,
        {"head": head, "rows": rows},
        [{"class": f"dot {color}", "label": f"observed, with its {interval}"}],
        height=300,
    )


def truth_chart(predictions: dict[str, Any]) -> Chart:
    """Draw the true value of each point against its prediction."""
    points, parts = predictions["points"], predictions["parts"]
    values = [*points["truth"], *points["prediction"]]
    room = 0.02 * (max(values) - min(values)) or 1.0
    low, high = min(values) - room, max(values) + room
    x, y = (
        axis(*each, number, domain=[low, high])
        for each in (("x", "prediction"), ("y", "true value"))
    )
    rows = [
        [number(part["prediction"]), number(part["truth"]), number(part["n_rows"])]
        for part in parts
    ]
    return figure(
        "True values against predictions",
        "The true value of each row against its prediction. On the diagonal, predictions are exact. The table has "
        f"means of {_name_parts(parts)}, from the lowest predictions to the highest.",
        diagonal(low, high) + _row_points(points, points["truth"], "true value", x, y),
        {"head": ["Mean prediction", "Mean true value", "Rows"], "rows": rows},
        [
            {"class": "dot surefoot", "label": "row"},
            {"class": "line best", "label": "exact prediction"},
        ],
        height=300,
    )


def _row_points(
    points: dict[str, Any], values: Sequence[float], name: str, x: dict[str, Any], y: dict[str, Any]
) -> alt.Chart:
    """Draw a small pale point for each row, at its prediction and a value of that name."""
    records = data(row=points["row"], x=rounded(points["prediction"]), y=rounded(values))
    look: dict[str, Any] = {
        "filled": True,
        "size": 22,
        "opacity": 0.4,
        "clip": True,
        "color": "var(--surefoot)",
    }
    texts = [f"format(datum.{each}, ',.4~r')" for each in ("x", "y")]
    about = f"'Row ' + datum.row + ': prediction ' + {texts[0]} + ', {name} ' + {texts[1]}"
    marks = alt.Chart(records).mark_point(**look).transform_calculate(about=about)
    return marks.encode(x=alt.X(**x), y=alt.Y(**y), tooltip="about:N")


def _name_parts(parts: Sequence[Any]) -> str:
    if len(parts) == 1:
        return "all rows"
    return "tenths of the rows" if len(parts) == 10 else f"{len(parts)} parts of the rows"


def residual_chart(predictions: dict[str, Any]) -> Chart:
    """Draw the residual of each point, and the mean residual of parts of the rows, against the prediction."""
    points, parts = predictions["points"], predictions["parts"]
    confidence = percent(predictions["confidence"])
    residuals = (np.asarray(points["truth"]) - points["prediction"]).tolist()
    x = axis("x", "prediction", number, zero=False)
    y = axis("y", "residual: truth minus prediction", number)
    names = ("prediction", "residual", "residual_low", "residual_high")
    means = {
        key: [part[name] for part in parts]
        for key, name in zip(("x", "y", "low", "high"), names, strict=True)
    }
    rows = [
        [
            number(part["prediction"]),
            number(part["residual"]),
            write_range(part["residual_low"], part["residual_high"], number),
            number(part["n_rows"]),
        ]
        for part in parts
    ]
    about = [f"{n} rows: mean residual {mean}" for _, mean, _, n in rows]
    drawn = _row_points(points, residuals, "residual", x, y)
    drawn_means = dots(data(**means, about=about), x, y, "own")
    return figure(
        "Residuals against predictions",
        "The residual of each row, that is its true value minus its prediction, against the prediction; and the mean "
        f"residual of {_name_parts(parts)}. Where the mean is above 0, predictions are too low.",
        level_at(0) + drawn + drawn_means,
        {
            "head": ["Mean prediction", "Mean residual", f"{confidence} interval", "Rows"],
            "rows": rows,
        },
        [
            {"class": "dot surefoot", "label": "row"},
            {"class": "dot own", "label": f"mean of rows, with its {confidence} interval"},
        ],
        height=300,
    )


def map_chart(points: dict[str, Any], show: Show) -> Chart:
    """Draw the map; a rectangle drawn on it is the selection `brush`.

    The table has the number of points of every shade and, for a classifier, the share of wrong ones.
    """
    limits = shade_limits(points["error"])
    between = [write_range(*ends, show) for ends in pairwise(limits)]
    names = [f"below {show(limits[0])}", *between, f"{show(limits[-1])} and more"]
    legend = [{"class": f"dot shade-{i}", "label": name} for i, name in enumerate(names)]
    shade = np.searchsorted(limits, points["error"], side="right")
    head = ["Estimated error", "Points"]
    rows = [[name, number(int((shade == i).sum()))] for i, name in enumerate(names)]
    if points["wrong"]:
        legend.append({"class": "cross", "label": "wrong prediction"})
        wrong = np.asarray(points["wrong"])
        head = [*head, "Of these wrong"]
        for i, row in enumerate(rows):
            row.append(percent(wrong[shade == i].mean() if (shade == i).any() else None))
    return figure(
        "Map of the rows, coloured by estimated error",
        "Each point is a row; similar rows are close together. The stronger the colour, "
        "the higher the estimated error.",
        _map_points(points, limits, show),
        {"head": head, "rows": rows},
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


def _map_points(points: dict[str, Any], limits: Sequence[float], show: Show) -> alt.Chart:
    errors_of_rows = zip(points["row"], points["error"], strict=True)
    about = [f"Row {row}: estimated error {show(error)}" for row, error in errors_of_rows]
    fields = {"first": "x", "second": "y", "error": "error", "row": "row", "wrong": "wrong"}
    columns = {name: rounded(points[field]) for name, field in fields.items() if points[field]}
    records = data(**columns, about=about)
    records.name = "points"  # charts.js reads them by this name
    axes: list[dict[str, Any]] = [
        {
            "field": name,
            "type": "quantitative",
            "title": f"{name} axis: {percent(explained)} of the variance",
            "axis": alt.Axis(labels=False, ticks=False, grid=False, domain=False),
            "scale": alt.Scale(zero=False, padding=8),
        }
        for name, explained in zip(("first", "second"), points["explained"], strict=True)
    ]
    brush = alt.selection_interval(name="brush", encodings=["x", "y"], zoom=False)
    shades = [f"var(--shade-{i})" for i in range(len(limits) + 1)]
    colors = alt.Scale(type="threshold", domain=list(limits), range=shades)
    marks = (
        alt.Chart(records)
        .mark_point(filled=True, size=36, shape="circle")
        .encode(
            x=alt.X(**axes[0]),
            y=alt.Y(**axes[1]),
            color=alt.Color("error:Q", scale=colors, legend=None),
            opacity=alt.condition(brush, alt.value(0.9), alt.value(0.15)),
            order=alt.Order("error:Q"),
            tooltip="about:N",
        )
    )
    if points["wrong"]:
        shapes = alt.Scale(domain=[False, True], range=["circle", "cross"])
        marks = marks.encode(shape=alt.Shape("wrong:N", scale=shapes, legend=None))
    return marks.add_params(brush)


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
    return {
        "title": title,
        "description": description,
        "spec": spec.to_dict(validate=False),
        "table": table,
        "legend": list(legend),
    }


def data(**columns: Iterable[Any]) -> alt.InlineData:
    """Records for Vega, from columns."""
    rows = zip(*columns.values(), strict=True)
    return alt.InlineData(values=[dict(zip(columns, row, strict=True)) for row in rows])


def rounded(values: Iterable[Any], digits: int = 5) -> list[Any]:
    """Values rounded to the digits that a screen can show."""
    return [float(f"{value:.{digits}g}") if isinstance(value, float) else value for value in values]


def axis(field: str, title: str, show: Show = percent, **scale: Any) -> dict[str, Any]:
    """Settings of a numeric axis whose labels are formatted as in the text."""
    labels: dict[str, Any] = {"format": ",f"}
    if show is percent:
        labels = {"labelExpr": "format(datum.value * 100, '~g') + '\u00a0%'"}
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "axis": alt.Axis(**labels),
        **({"scale": alt.Scale(**scale)} if scale else {}),
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


def level_at(
    level: float, settings: Mapping[str, Any] | None = None, look: dict[str, Any] = GUIDE
) -> alt.Chart:
    """Draw a horizontal line at a level of the y axis with these settings."""
    y = {"type": "quantitative", **(settings or {}), "field": "y"}
    return alt.Chart(data(y=[level])).mark_rule(**look).encode(y=alt.Y(**y))


def diagonal(low: float = 0.0, high: float = 1.0) -> alt.Chart:
    """Draw the line y = x."""
    scale = alt.Scale(domain=[low, high])
    ends = alt.Chart(data(x=[low, high], y=[low, high]))
    return ends.mark_line(**GUIDE).encode(alt.X("x:Q", scale=scale), alt.Y("y:Q", scale=scale))


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
