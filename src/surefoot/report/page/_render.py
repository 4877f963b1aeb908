"""Rendering of the page: summary, charts and templates become one file that needs no other."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from surefoot.report._figures import number, percent, round_up
from surefoot.report._loss_units import UNITS
from surefoot.report.page._charts import make_charts
from surefoot.report.page._drawing import THEME
from surefoot.report.page._listed_rows import listed_rows, packed
from surefoot.report.page._region_bars import region_bars
from surefoot.report.page._vega import vega_script

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
    charts = make_charts(summary)
    unit = UNITS[summary["unit"]]
    answer = _answer(summary["answer"], unit.show)
    rows = listed_rows(summary["rows"], summary["task"], show=unit.show)
    data = {
        "theme": THEME,
        "charts": {name: chart["spec"] for name, chart in charts.items()},
        "answer": {key: answer[key] for key in ("coverage", "limit", "n_answered", "texts")},
        "rows": packed(rows),
    }
    code = {
        "style": _asset("style.css"),
        "vega": vega_script(),
        "script": "\n".join(map(_asset, SCRIPTS)),
    }
    return (
        _environment()
        .get_template("page.html")
        .render(
            {**summary, "answer": answer, "listed": rows},
            charts=charts,
            gauge=_gauge,
            bars=region_bars(summary["regions"], unit.show),
            code={name: Markup(text) for name, text in code.items()},  # noqa: S704 - our own files
            data_script=Markup(_as_script(data)),  # noqa: S704 - escaped below
            policy=_policy(code),
            show=unit.show,
            loss_unit=unit,
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("surefoot.report.page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_keep_together,
    )
    environment.filters |= {"percent": percent, "number": number, "figure": _figure}
    environment.globals |= {"percent": percent, "number": number}
    return environment


def _keep_together(value: Any) -> Any:
    """Put a non-breaking space between a number and its percent sign."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return value.replace(" %", "\u00a0%") if plain else value


@cache
def _asset(name: str) -> str:
    return (files("surefoot.report.page") / "templates" / name).read_text("utf-8")


def _policy(code: dict[str, str]) -> str:
    """Content security policy that allows only the page's own scripts and style, by their hashes."""
    digests = {
        name: f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for name, text in code.items()
    }
    return (
        f"default-src 'none'; script-src {digests['vega']} {digests['script']}; style-src {digests['style']}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _as_script(data: dict[str, Any]) -> str:
    """JSON for a script element, escaped so that it cannot end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _figure(value: Any) -> str:
    return (
        number(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )


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
