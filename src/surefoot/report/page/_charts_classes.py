"""Charts of the ranking of classes: ROC, and precision against recall."""

from typing import Any

import altair as alt
import numpy as np

from surefoot._words import percent
from surefoot.report.page._drawing import GUIDE, Chart, axis, by_series, data, diagonal, figure

# Colours of the first and of the second curve.
SERIES = ("surefoot", "own")


def class_charts(classes: dict[str, Any]) -> dict[str, Chart]:
    """Draw both curves, where there are any."""
    curves = classes["curves"]
    if not curves:
        return {}
    return {"roc": _roc(curves), "precision_recall": _precision_recall(curves)}


def _roc(curves: list[dict[str, Any]]) -> Chart:
    return figure(
        "Share of the class found, by share of other rows taken for it (ROC)",
        "The share of rows of the class that are found (recall, true positive rate), against the share of other rows "
        "that are taken for it (false positive rate), for every limit on the model's score of the class.",
        diagonal() + _lines(curves, "roc", "other rows taken for it", "rows of the class found"),
        _table(curves, "roc", "Other rows taken for it"),
        [*_legend(curves), {"class": "line best", "label": "rows ranked at random"}],
        height=300,
    )


def _precision_recall(curves: list[dict[str, Any]]) -> Chart:
    share = curves[0]["share"]
    base = alt.Chart(data(y=[share])).mark_rule(**GUIDE)
    base = base.encode(y=alt.Y("y:Q", scale=alt.Scale(domain=[0, 1])))
    return figure(
        "Share of predictions that are right, by share of the class found (precision and recall)",
        "The share of rows taken for the class that are of the class (precision), against the share of its rows that "
        "are found (recall), for every limit on the model's score of the class.",
        base
        + _lines(
            curves, "precision_recall", "rows of the class found", "of the rows taken for it, right"
        ),
        _table(curves, "precision_recall", "Rows of the class found"),
        [
            *_legend(curves),
            {"class": "line best", "label": f"rows ranked at random: {percent(share)}"},
        ],
        height=300,
    )


def _lines(curves: list[dict[str, Any]], kind: str, x_title: str, y_title: str) -> alt.Chart:
    names = SERIES[: len(curves)]
    points = [
        (x, y, name, place)
        for name, curve in zip(names, curves, strict=True)
        for place, (x, y) in enumerate(zip(curve[kind]["x"], curve[kind]["y"], strict=True))
    ]
    x, y, by, place = (
        [_rounded(value) for value in column] for column in zip(*points, strict=True)
    )
    lines = alt.Chart(data(x=x, y=y, by=by, place=place))
    return lines.mark_line(strokeWidth=2.5, clip=True).encode(
        x=alt.X(**axis("x", x_title, domain=[0, 1])),
        y=alt.Y(**axis("y", y_title, domain=[0, 1])),
        order="place:Q",
        **by_series(names),
    )


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _legend(curves: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {"class": f"line {name}", "label": curve["name"]}
        for name, curve in zip(SERIES, curves, strict=False)
    ]


def _table(curves: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """Curves at every tenth of x: the first point that reaches it."""
    rows = [
        [percent(tenth / 10), *(percent(_at(curve[kind], tenth / 10)) for curve in curves)]
        for tenth in range(1, 11)
    ]
    return {"head": [name, *(curve["name"] for curve in curves)], "rows": rows}


def _at(curve: dict[str, list[float]], x: float) -> float:
    xs = np.asarray(curve["x"])
    place = min(int(np.searchsorted(xs, x - 1e-9)), len(xs) - 1)
    return curve["y"][place]
