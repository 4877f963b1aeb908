"""Rows listed on the page: each cell once, figures formatted as text, and limited in size."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from surefoot._words import number, percent

Show = Callable[[float | None], str]

BUDGET = 1_600_000  # bytes; with Vega, the charts and the texts the page stays below 3 MB

# Most digits of a number and most characters of a text in a cell; the next pair is tried if the rows take too much.
CELLS = ((6, 200), (6, 60), (4, 60), (4, 20), (3, 20))

# Values of a row besides those of the CSV, whose names the summary lists.
KEPT = ("wrong", "own_error", "rank")

# Digits of the figures that only the CSV has.
DIGITS_OF_OTHERS = 4
EXACT = {"row", "truth", "prediction", "estimated_error", "own_error", "low", "high", "novel"}


def listed_rows(
    rows: dict[str, Any], task: str, budget: int = BUDGET, *, show: Show | None = None
) -> dict[str, Any]:
    """Rows for the page: cells are shortened, then the last rows left out, until the size fits the budget."""
    n_items = len(rows["items"])
    show = show or (percent if task == "classification" else number)
    for digits, longest in CELLS:
        listed = _listed(rows, task, show, n_items, digits, longest)
        if size_of(listed) <= budget:
            return listed
    while size_of(listed) > budget and n_items > 1:
        n_items //= 2
        listed = _listed(rows, task, show, n_items, digits, longest)
    return listed


def size_of(listed: dict[str, Any]) -> int:
    """Number of bytes that the rows take in the page."""
    return len(json.dumps(packed(listed), ensure_ascii=False, separators=(",", ":")).encode())


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
    place = {name: i for i, name in enumerate(names)}
    lines = []
    for item in items:
        reasons = [[place[one["name"]], one["effect"], one["text"]] for one in item["against"]]
        lines.append(list({**item, "against": reasons}.values()))
    return {**listed, "items": lines, "fields": list(items[0]) if items else [], "reasons": names}


def _listed(
    rows: dict[str, Any], task: str, show: Show, n_items: int, digits: int, longest: int
) -> dict[str, Any]:
    items = rows["items"][:n_items]
    near = [row for item in items for row in item["near"]]
    cells = {
        row["row"]: [_cell(value, digits, longest) for value in (row["truth"], *row["values"])]
        for row in (*near, *items)
    }
    values = [
        {"key": f"value{i}", "label": name, "number": _is_number(items, i)}
        for i, name in enumerate(rows["columns"])
    ]
    return {
        "task": task,
        "columns": _columns(items, task) + values,
        "cells": cells,
        "items": [_item(item, rows["fields"], task, show, longest) for item in items],
        "export": rows["fields"],
        # A column of the table with a name of ours gets another one in the CSV.
        "export_values": [
            f"{name} (of the table)" if name in rows["fields"] else name for name in rows["columns"]
        ],
        "range": _range(items, task),
        "largest": max((item["estimated_error"] for item in items), default=0.0) or 1.0,
    }


def _columns(items: list[dict[str, Any]], task: str) -> list[dict[str, Any]]:
    """Columns of the report's results; the table's own columns follow them."""
    is_number = task == "regression"
    columns = [
        {"key": "row", "label": "Row", "number": True},
        {"key": "prediction", "label": "Prediction", "number": is_number},
        {"key": "estimated_error", "label": "Estimated error", "number": True},
        {"key": "truth", "label": "Truth", "number": is_number},
        {"key": "own_error", "label": "Own confidence says", "number": True},
        {"key": "interval", "label": "90 % interval", "number": True},
        {"key": "accepted", "label": "Advice", "number": False},
    ]
    empty = {
        column
        for column, key in (("own_error", "own_error"), ("interval", "low"))
        if all(item[key] is None for item in items)
    }
    return [column for column in columns if column["key"] not in empty]


def _item(
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
    shown |= {
        "band": [_cell(end, 6, longest) for end in item["band"]],
        "band_text": [*map(show_output, item["band"])],
    }
    shown["against"] = [
        {
            "name": one["name"],
            "effect": _cell(one["effect"], 3, longest),
            "text": show(one["effect"]),
        }
        for one in item["against"]
    ]
    return {**shown, "near": [row["row"] for row in item["near"]]}


def _range(items: list[dict[str, Any]], task: str) -> list[float]:
    """Ends of the axis of the stability bands, which all listed rows share."""
    if task == "classification":
        return [0.0, 1.0]
    values = [end for item in items for end in item["band"]]
    return [min(values, default=0.0), max(values, default=1.0)]


def _is_number(items: list[dict[str, Any]], i: int) -> bool:
    values = [item["values"][i] for item in items if item["values"][i] is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _cell(value: Any, digits: int, longest: int) -> Any:
    """Value of a cell: a number rounded to `digits` digits, or a text cut to `longest` characters."""
    if isinstance(value, float) and value != round(value):
        return float(f"{value:.{digits}g}") if abs(value) < 10**digits else float(round(value))
    if isinstance(value, str) and len(value) > longest:
        return f"{value[: longest - 1]}…"
    return value
