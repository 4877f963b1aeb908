"""Bars of the regions on one axis, with a mark for the error of all rows: positions in percent of the width."""

from math import ceil, floor, log10
from typing import Any

from surefoot.report.page._drawing import Show

# Most steps of an axis.
MOST_STEPS = 5


def region_bars(regions: dict[str, Any], show: Show) -> dict[str, Any]:
    """Ends of the bars in the order of the regions, the mark of the overall error, and the ticks of the axis."""
    errors = [region["error"] for region in regions["items"]]
    ticks = tick_values(max([*errors, regions["overall_error"]]))
    return {
        "bars": [_place(error, ticks) for error in errors],
        "overall": _place(regions["overall_error"], ticks),
        "ticks": [{"at": _place(tick, ticks), "text": show(tick)} for tick in ticks],
    }


def tick_values(high: float) -> list[float]:
    """Round values from 0 up to the first one that is not below `high`.

    Examples
    --------
    >>> tick_values(0.31)
    [0.0, 0.1, 0.2, 0.3, 0.4]
    >>> tick_values(47)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    if high <= 0:
        return [0.0, 1.0]
    power = 10.0 ** floor(log10(high / MOST_STEPS))
    step = next(
        factor for factor in (1, 2, 5, 10) if factor * power * MOST_STEPS >= high * (1 - 1e-9)
    )
    n_steps = ceil(high / (step * power) - 1e-9)
    return [float(f"{i * step * power:.12g}") for i in range(n_steps + 1)]


def _place(value: float, ticks: list[float]) -> float:
    return round(100 * value / ticks[-1], 2)
