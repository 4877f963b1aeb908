"""Rendering of the report's page from its summary."""

from typing import Any

from surefoot._words import UNITS, number, percent, round_up
from surefoot.report.page._assembly import assemble
from surefoot.report.page._charts import make_charts
from surefoot.report.page._listed_rows import listed_rows, packed
from surefoot.report.page._region_bars import region_bars

SCRIPTS = (
    "elements.js",
    "charts.js",
    "answer.js",
    "detail.js",
    "rows.js",
    "csv.js",
    "menu.js",
    "page.js",
)


def render(summary: dict[str, Any]) -> str:
    """HTML page of a summary, which opens offline and loads nothing from the network."""
    unit = UNITS[summary["unit"]]
    answer = _answer(summary["answer"], unit.show)
    rows = listed_rows(summary["rows"], summary["task"], show=unit.show)
    data = {
        "answer": {key: answer[key] for key in ("coverage", "limit", "n_answered", "texts")},
        "rows": packed(rows),
    }
    context = {
        **summary,
        "answer": answer,
        "listed": rows,
        "gauge": _gauge,
        "bars": region_bars(summary["regions"], unit.show),
        "show": unit.show,
        "loss_unit": unit,
    }
    return assemble("page.html", SCRIPTS, make_charts(summary), data, context)


def _answer(answer: dict[str, Any], show: Any) -> dict[str, Any]:
    """Section "answer" with the texts for every position of the slider, and its first position."""
    promises = [
        {**promise, "at": _at(answer["coverage"], promise["coverage"])}
        for promise in answer["promises"]
    ]
    chosen = answer["chosen"]
    first = _at(answer["coverage"], 0.9) if chosen is None else promises[chosen]["at"]
    texts = [_texts(answer, i, show) for i in range(len(answer["coverage"]))]
    return {**answer, "promises": promises, "first": first, "texts": texts}


def _at(grid: list[float], coverage: float) -> int:
    """Position of the last point of the grid up to `coverage`, where the promise still holds."""
    return max(0, sum(point <= coverage + 1e-9 for point in grid) - 1)


def _texts(answer: dict[str, Any], i: int, show: Any) -> dict[str, str]:
    coverage, answered = answer["coverage"][i], answer["n_answered"][i]
    bound = answer["bound"][i]
    texts = {
        "coverage": percent(coverage),
        "rest": percent(round(1 - coverage, 9)),
        "answered": number(answered),
        "checked": number(answer["n_rows"] - answered),
        "bound": "no upper bound is known"
        if bound is None
        else f"at most {show(round_up(bound))}, with {percent(answer['confidence'])} confidence",
        "limit": show(answer["limit"][i]),
    }
    for name, values in answer["risk"].items():
        texts[f"{name}_risk"] = show(values[i] if values else None)
    for name, values in answer["caught"].items():
        texts[f"{name}_caught"] = percent(values[i] if values else None)
    return texts


def _gauge(gain: float, low: float, high: float) -> dict[str, float]:
    """Positions of a gain and its interval on a line from 0 to 300 with zero in its middle."""
    widest = 1.15 * max(abs(gain), abs(low), abs(high)) or 1.0
    return {
        name: round(150 + 150 * value / widest, 1)
        for name, value in (("gain", gain), ("low", low), ("high", high))
    }
