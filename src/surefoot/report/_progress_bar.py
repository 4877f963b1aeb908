"""Progress bar of a report: on a terminal and in a notebook; nothing in a pipe."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from surefoot._progress import Plan, Show

WIDTH = 24

# Costs of steps relative to one fit of the model on a fold, measured on tables of 1,500 to 8,000 rows.
COSTS = {"fit": 1.0, "search": 1.4, "describe": 1.0, "section": 1.5, "refit": 1.0}
WORDS = {
    "fit": "Fitting the model on folds",
    "search": "Fitting second opinions",
    "describe": "Judging held-out rows",
    "section": "Measuring",
    "refit": "Trying what would help",
}


def plan_report(
    progress: bool | Show, *, n_splits: int, classifies: bool, n_sections: int, n_refits: int
) -> Plan | None:
    """Plan of the steps of a report, to be shown as `progress` says; None if nothing is to be shown.

    A regressor's errors are learned within each training part again, by models of pairs of folds.
    """
    show = bar() if progress is True else progress
    if not show:
        return None
    pairs = 0 if classifies else n_splits * (n_splits - 1) // 2
    steps = {
        "fit": n_splits + 1 + pairs,
        "search": n_splits + 1 + pairs,
        "describe": n_splits + 2 * pairs,
        "section": n_sections,
        "refit": n_refits,
    }
    return Plan(steps, COSTS, WORDS, show)


def bar() -> Show | None:
    """Function that draws the bar; None where nobody would see it."""
    if "ipykernel" in sys.modules:
        return _in_notebook()
    return _on_terminal if sys.stderr.isatty() else None


def line(share: float, words: str, seconds: float | None) -> str:
    """Bar as one line of text.

    Examples
    --------
    >>> line(0.5, "Measuring", 12.2)
    '━━━━━━━━━━━━╶╶╶╶╶╶╶╶╶╶╶╶  50 %  Measuring, about 12 s left'
    """
    full = round(WIDTH * share)
    left = "" if seconds is None or share == 1 else f", about {seconds:.0f} s left"
    return f"{'━' * full}{'╶' * (WIDTH - full)} {100 * share:3.0f} %  {words}{left}"


def _on_terminal(share: float, words: str, seconds: float | None) -> None:
    text = "" if share == 1 else line(share, words, seconds)
    sys.stderr.write(f"\r\033[K{text}")
    sys.stderr.flush()


def _in_notebook() -> Show:
    shown: Any = import_module("IPython.display").display(
        {"text/plain": ""}, raw=True, display_id=True
    )
    update: Callable[..., None] = shown.update

    def show(share: float, words: str, seconds: float | None) -> None:
        update({"text/plain": line(share, words, seconds)}, raw=True)

    return show
