"""Charts of a regressor: true values and residuals against the prediction, and coverage by prediction."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from surefoot._words import number, percent
from surefoot.report.page._drawing import (
    Chart,
    axis,
    data,
    diagonal,
    dots,
    figure,
    level_at,
    write_range,
)

# Rows as points: small and pale, because there are many.
POINT: dict[str, Any] = {"filled": True, "size": 22, "opacity": 0.4, "clip": True}


def truth_chart(predictions: dict[str, Any]) -> Chart:
    """Draw the true value of each point against its prediction."""
    points, parts = predictions["points"], predictions["parts"]
    low, high = _ends([*points["truth"], *points["prediction"]])
    marks = alt.Chart(_records(points, points["truth"])).mark_point(
        **POINT, color="var(--surefoot)"
    )
    marks = marks.transform_calculate(about=_about("true value")).encode(
        x=alt.X(**axis("x", "prediction", number, domain=[low, high])),
        y=alt.Y(**axis("y", "true value", number, domain=[low, high])),
        tooltip="about:N",
    )
    rows = [
        [number(part["prediction"]), number(part["truth"]), number(part["n_rows"])]
        for part in parts
    ]
    return figure(
        "True values against predictions",
        "The true value of each row against its prediction. On the diagonal, predictions are exact. The table has "
        f"means of {_parts(parts)}, from the lowest predictions to the highest.",
        diagonal(low, high) + marks,
        {"head": ["Mean prediction", "Mean true value", "Rows"], "rows": rows},
        [
            {"class": "dot surefoot", "label": "row"},
            {"class": "line best", "label": "exact prediction"},
        ],
        height=300,
    )


def residual_chart(predictions: dict[str, Any]) -> Chart:
    """Draw the residual of each point, and the mean residual of parts of the rows, against the prediction."""
    points, parts = predictions["points"], predictions["parts"]
    confidence = percent(predictions["confidence"])
    pairs = zip(points["truth"], points["prediction"], strict=True)
    residuals = [truth - predicted for truth, predicted in pairs]
    marks = alt.Chart(_records(points, residuals)).mark_point(**POINT, color="var(--surefoot)")
    marks = marks.transform_calculate(about=_about("residual")).encode(
        x=alt.X(**axis("x", "prediction", number, zero=False)),
        y=alt.Y(**axis("y", "residual: truth minus prediction", number)),
        tooltip="about:N",
    )
    rows = [
        [
            number(part["prediction"]),
            number(part["residual"]),
            _interval(part["residual_low"], part["residual_high"]),
            number(part["n_rows"]),
        ]
        for part in parts
    ]
    means = dots(
        data(
            x=[part["prediction"] for part in parts],
            y=[part["residual"] for part in parts],
            low=[part["residual_low"] for part in parts],
            high=[part["residual_high"] for part in parts],
            about=[f"{n} rows: mean residual {mean}" for _, mean, _, n in rows],
        ),
        axis("x", "prediction", number, zero=False),
        axis("y", "residual: truth minus prediction", number),
        "own",
    )
    return figure(
        "Residuals against predictions",
        "The residual of each row, that is its true value minus its prediction, against the prediction; and the mean "
        f"residual of {_parts(parts)}. Where the mean is above 0, predictions are too low.",
        level_at(0) + marks + means,
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


def coverage_chart(predictions: dict[str, Any]) -> Chart:
    """Draw the coverage of 90 % intervals, from the lowest predictions to the highest."""
    parts = predictions["parts"]
    confidence = percent(predictions["confidence"])
    rows = [
        [
            number(part["prediction"]),
            percent(part["coverage"]),
            write_range(part["coverage_low"], part["coverage_high"]),
            number(part["n_rows"]),
        ]
        for part in parts
    ]
    lowest = min(part["coverage_low"] for part in parts)
    domain = [max(0.0, min(0.5, lowest - 0.05)), 1.0]
    points = dots(
        data(
            x=[part["prediction"] for part in parts],
            y=[part["coverage"] for part in parts],
            low=[part["coverage_low"] for part in parts],
            high=[part["coverage_high"] for part in parts],
            about=[f"{n} rows: {coverage} coverage" for _, coverage, _, n in rows],
        ),
        axis("x", "mean prediction", number, zero=False),
        axis("y", "observed coverage, 90\u00a0% promised", domain=domain),
        "surefoot",
    )
    return figure(
        "Coverage by prediction",
        f"The share of rows whose true value lies in their 90 % interval, in {_parts(parts)}, from the lowest "
        "predictions to the highest.",
        level_at(0.9, alt.Scale(domain=domain)) + points,
        {
            "head": ["Mean prediction", "Observed coverage", f"{confidence} interval", "Rows"],
            "rows": rows,
        },
        [
            {"class": "dot surefoot", "label": f"observed, with its {confidence} interval"},
            {"class": "line best", "label": "promised"},
        ],
    )


def _records(points: dict[str, Any], y: Sequence[float]) -> alt.InlineData:
    """Points at x = prediction and y, with the digits that a screen can show."""
    short = [[float(f"{value:.5g}") for value in values] for values in (points["prediction"], y)]
    return data(row=points["row"], x=short[0], y=short[1])


def _about(name: str) -> str:
    """Expression for the tooltip of a point."""
    figures = [f"format(datum.{each}, ',.4~r')" for each in ("x", "y")]
    return f"'Row ' + datum.row + ': prediction ' + {figures[0]} + ', {name} ' + {figures[1]}"


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds all values, with a little room."""
    low, high = min(values), max(values)
    room = 0.02 * (high - low) or 1.0
    return low - room, high + room


def _parts(parts: Sequence[Any]) -> str:
    """Parts of the rows in words."""
    if len(parts) == 1:
        return "all rows"
    return "tenths of the rows" if len(parts) == 10 else f"{len(parts)} parts of the rows"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else write_range(low, high, number)
