"""Pages: one HTML file each, made from a summary, that opens offline and loads nothing from the network."""

import json
import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from surefoot._files import write_whole
from surefoot._words import UNITS, number, percent, quoted, round_up
from surefoot.report.page._charts import THEME, Chart, Show, make_charts
from surefoot.report.page._charts_watch import MOST_COLUMNS, watch_charts

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
WATCH_SCRIPTS = ("elements.js", "charts.js", "menu.js", "watch.js")

BUDGET = 1_600_000  # bytes of the listed rows; with Vega, the charts and the texts the page stays below 3 MB

# Most digits of a number and most characters of a text in a cell; the next pair is tried if the rows take too much.
CELLS = ((6, 200), (6, 60), (4, 60), (4, 20), (3, 20))

# Values of a row besides those of the CSV, whose names the summary lists.
KEPT = ("wrong", "own_error", "rank")

# Digits of the numbers that only the CSV has.
DIGITS_OF_OTHERS = 4
EXACT = {"row", "truth", "prediction", "estimated_error", "own_error", "low", "high", "novel"}

SNIPPET = "window.vegaEmbed = vegaEmbed;"


def render(summary: dict[str, Any]) -> str:
    """HTML page of the summary of a reliability report, or of a monitoring report."""
    unit = UNITS[summary["unit"]]
    context = {**summary, "show": unit.show, "loss_unit": unit}
    if "periods" in summary:
        context["most_columns"] = MOST_COLUMNS
        return _assemble("watch.html", WATCH_SCRIPTS, watch_charts(summary), {}, context)
    answer = _answer(summary["answer"], unit.show)
    rows = listed_rows(summary["rows"], summary["task"], unit.show, advise=answer["is_useful"])
    data = {
        "answer": {key: answer[key] for key in ("coverage", "limit", "n_answered", "texts")},
        "rows": packed(rows),
    }
    context |= {
        "answer": answer,
        "listed": rows,
        "gauge": _gauge,
        "bars": _region_bars(summary["regions"]),
    }
    return _assemble("page.html", SCRIPTS, make_charts(summary), data, context)


def _answer(answer: dict[str, Any], show: Show) -> dict[str, Any]:
    """Section "answer" with the texts for every position of the slider, and its first position.

    The position of a promise is that of the last point of the grid up to its coverage, where it still holds.
    """
    coverages, chosen = answer["coverage"], answer["chosen"]
    limits = np.array([0.9, *(each["coverage"] for each in answer["promises"])])
    at = np.maximum(np.searchsorted(coverages, limits + 1e-9, side="right") - 1, 0).tolist()
    promises = [
        {**each, "at": place} for each, place in zip(answer["promises"], at[1:], strict=True)
    ]
    first = at[0] if chosen is None else promises[chosen]["at"]
    texts = [_slider_texts(answer, i, show) for i in range(len(coverages))]
    return {**answer, "promises": promises, "first": first, "texts": texts}


def _slider_texts(answer: dict[str, Any], i: int, show: Show) -> dict[str, str]:
    coverage, answered, bound = (answer[name][i] for name in ("coverage", "n_answered", "bound"))
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
    texts |= {f"{name}_risk": show(values and values[i]) for name, values in answer["risk"].items()}
    caught, ends = answer["caught"].items(), answer["caught_interval"]
    texts["caught_interval"] = f"{percent(ends['low'][i])} to {percent(ends['high'][i])}"
    return texts | {f"{name}_caught": percent(values and values[i]) for name, values in caught}


def _gauge(gain: float, low: float, high: float) -> dict[str, float]:
    """Positions of a gain and its interval on a line from 0 to 300 with zero in its middle."""
    widest = 1.15 * max(abs(gain), abs(low), abs(high)) or 1.0
    return {
        name: round(150 + 150 * value / widest, 1)
        for name, value in (("gain", gain), ("low", low), ("high", high))
    }


def _region_bars(regions: dict[str, Any]) -> dict[str, Any]:
    """Bars of the regions and the mark of the overall error, in percent of the longest."""
    errors, overall = [region["error"] for region in regions["items"]], regions["overall_error"]
    longest = max([*errors, overall]) or 1.0
    return {
        "bars": [round(100 * error / longest, 2) for error in errors],
        "overall": round(100 * overall / longest, 2),
    }


def listed_rows(
    rows: dict[str, Any], task: str, show: Show, budget: int = BUDGET, *, advise: bool = True
) -> dict[str, Any]:
    """Rows for the page: cells are shortened, then the last rows left out, until the bytes they take fit the budget.

    Unless `advise`, no column says whether to answer a row.
    """
    if not advise:
        rows = {**rows, "fields": [name for name in rows["fields"] if name != "accepted"]}
    n_items = len(rows["items"])
    halved = [n_items >> halvings for halvings in range(1, n_items.bit_length())]
    for n_listed, cells in [
        *((n_items, each) for each in CELLS),
        *((n, CELLS[-1]) for n in halved),
    ]:
        listed = _listed(rows, task, show, n_listed, *cells)
        text = json.dumps(packed(listed), ensure_ascii=False, separators=(",", ":"))
        if len(text.encode()) <= budget:
            break
    return listed


def packed(listed: dict[str, Any]) -> dict[str, Any]:
    """Rows in a compact form: the names of fields and of reasons are written only once.

    Examples
    --------
    >>> reasons = [{"name": "alone", "effect": 0.1, "text": "10 %"}]
    >>> packed({"items": [{"row": 7, "against": reasons}, {"row": 9, "against": []}]})
    {'items': [[7, [[0, 0.1, '10 %']]], [9, []]], 'fields': ['row', 'against'], 'reasons': ['alone']}
    """
    items = listed["items"]
    names = list(dict.fromkeys(reason["name"] for item in items for reason in item["against"]))
    lines = [
        {
            **item,
            "against": [
                [names.index(one["name"]), one["effect"], one["text"]] for one in item["against"]
            ],
        }
        for item in items
    ]
    return {
        **listed,
        "items": [list(line.values()) for line in lines],
        "fields": list(items[0]) if items else [],
        "reasons": names,
    }


def _listed(
    rows: dict[str, Any], task: str, show: Show, n_items: int, digits: int, longest: int
) -> dict[str, Any]:
    items, fields, is_number = rows["items"][:n_items], rows["fields"], task == "regression"
    near = [row for item in items for row in item["near"]]
    has_own, has_interval = (
        any(item[key] is not None for item in items) or not items for key in ("own_error", "low")
    )
    columns = [
        ("row", "Row", True, True),
        ("prediction", "Prediction", is_number, True),
        ("estimated_error", "Estimated error", True, True),
        ("truth", "Truth", is_number, True),
        ("own_error", "Own confidence says", True, has_own),
        ("interval", "90 % interval", True, has_interval),
        ("accepted", "Advice", False, "accepted" in fields),
    ]
    for i, name in enumerate(rows["columns"]):
        values = [item["values"][i] for item in items if item["values"][i] is not None]
        holds_numbers = bool(values) and all(isinstance(value, int | float) for value in values)
        columns.append((f"value{i}", name, holds_numbers, True))
    ends = [end for item in items for end in item["band"]] if is_number else [0.0, 1.0]
    return {
        "task": task,
        "columns": [
            {"key": key, "label": label, "number": number}
            for key, label, number, is_shown in columns
            if is_shown
        ],
        "cells": {
            row["row"]: [_cell(value, digits, longest) for value in (row["truth"], *row["values"])]
            for row in (*near, *items)
        },
        "items": [_listed_row(item, fields, task, show, longest) for item in items],
        "export": fields,
        # A column of the table with a name of ours gets another one in the CSV.
        "export_values": [
            f"{name} (of the table)" if name in fields else name for name in rows["columns"]
        ],
        # Ends of the axis of the stability bands, which all listed rows share.
        "range": [min(ends, default=0.0), max(ends, default=1.0)],
        "largest": max((item["estimated_error"] for item in items), default=0.0) or 1.0,
    }


def _listed_row(
    item: dict[str, Any], fields: Sequence[str], task: str, show: Show, longest: int
) -> dict[str, Any]:
    """Values of a row that the page shows or exports, with the figures shown formatted as text."""
    show_output = percent if task == "classification" else number
    shown = {
        key: _cell(item[key], 6 if key in EXACT else DIGITS_OF_OTHERS, longest)
        for key in dict.fromkeys([*fields, *KEPT])
        if key != "accepted"  # the slider decides
    }
    shown["estimated_error_text"] = show(item["estimated_error"])
    shown["own_error_text"] = (
        "" if item["own_error"] is None else f"{show(item['own_error'])} wrong"
    )
    if task == "regression":
        shown |= {f"{key}_text": number(item[key]) for key in ("prediction", "truth")}
        ends = [end for end in (shown["low"], shown["high"]) if end is not None]
        shown["interval_text"] = " to ".join(map(number, ends))
    return shown | {
        "band": [_cell(end, 6, longest) for end in item["band"]],
        "band_text": [*map(show_output, item["band"])],
        "against": [
            {**one, "effect": _cell(one["effect"], 3, longest), "text": show(one["effect"])}
            for one in item["against"]
        ],
        "near": [row["row"] for row in item["near"]],
    }


def _cell(value: Any, digits: int, longest: int) -> Any:
    """Value of a cell: a number rounded to `digits` digits, or a text cut to `longest` characters."""
    if isinstance(value, float) and value != round(value):
        return float(f"{value:.{digits}g}") if abs(value) < 10**digits else float(round(value))
    if isinstance(value, str) and len(value) > longest:
        return f"{value[: longest - 1]}…"
    return value


def _assemble(
    template: str,
    scripts: Iterable[str],
    charts: dict[str, Chart],
    data: dict[str, Any],
    context: dict[str, Any],
) -> str:
    """HTML of a template with its charts; the scripts read `data`, besides the charts and their theme."""
    code = {
        "style": _asset("style.css"),
        "vega": vega_script(),
        "script": "\n".join(map(_asset, scripts)),
    }
    hashes = {
        name: b64encode(sha256(text.encode()).digest()).decode() for name, text in code.items()
    }
    # The page may run its own scripts and style only.
    policy = (
        f"default-src 'none'; script-src 'sha256-{hashes['vega']}' 'sha256-{hashes['script']}'; "
        f"style-src 'sha256-{hashes['style']}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    shown = {
        "theme": THEME,
        "charts": {name: chart["spec"] for name, chart in charts.items()},
        **data,
    }
    text = json.dumps(shown, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":  # so that data cannot end the script element
        text = text.replace(character, f"\\u{ord(character):04x}")
    page = _environment().get_template(template)
    return page.render(
        context,
        charts=charts,
        code={name: Markup(each) for name, each in code.items()},  # noqa: S704 - our own files
        data_script=Markup(text),  # noqa: S704 - escaped above
        policy=policy,
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
    environment.filters |= {"percent": percent, "number": number, "quoted": quoted}
    environment.globals |= {"percent": percent, "number": number}
    return environment


def _keep_together(value: Any) -> Any:
    """Put a non-breaking space between a number and its percent sign."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return value.replace(" %", "\u00a0%") if plain else value


@cache
def _asset(name: str) -> str:
    return (files("surefoot.report.page") / "templates" / name).read_text("utf-8")


def vega_script() -> str:
    """Script that sets `window.vegaEmbed`; it takes a second to make, and is kept in the user's cache.

    The first line of the file is the digest of the rest: a damaged file is made again.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    path = Path(base) / "surefoot" / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        digest, _, script = path.read_text("utf-8").partition("\n")
        if digest == f"// {sha256(script.encode()).hexdigest()}":
            return script
    script = vl_convert.javascript_bundle(SNIPPET)
    with suppress(OSError):  # a home that cannot be written costs a second each time
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"// {sha256(script.encode()).hexdigest()}\n{script}".encode())
    return script
