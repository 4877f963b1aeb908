"""Rendering of the page of `surefoot watch` from its summary."""

from typing import Any

from surefoot._words import UNITS
from surefoot.report.page._assembly import assemble
from surefoot.report.page._charts_watch import MOST_COLUMNS, watch_charts

SCRIPTS = ("elements.js", "charts.js", "menu.js", "watch.js")


def render_watch(summary: dict[str, Any]) -> str:
    """HTML page of a summary, which opens offline and loads nothing from the network."""
    unit = UNITS[summary["unit"]]
    context = {**summary, "show": unit.show, "loss_unit": unit, "most_columns": MOST_COLUMNS}
    return assemble("watch.html", SCRIPTS, watch_charts(summary), {}, context)
