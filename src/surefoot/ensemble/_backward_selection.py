"""Backward selection: leave out groups of columns, one after another."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from surefoot._typing import Ints


class SelectionStep(NamedTuple):
    """One step of a backward selection: the group left out, the groups that remain, and the score with these."""

    dropped: str | None
    remaining: tuple[str, ...]
    score: float


def select_backward(
    chosen: Ints, groups: Mapping[str, Ints], evaluate: Callable[[Ints], float]
) -> list[SelectionStep]:
    """Leave out at each step the group whose absence lowers the score least; a higher score is better.

    The first step leaves out nothing. Columns that are in no group stay to the end.
    """
    remaining = dict(groups)
    steps = [SelectionStep(None, tuple(remaining), evaluate(chosen))]
    while remaining:
        scores = {
            name: evaluate(np.setdiff1d(chosen, columns)) for name, columns in remaining.items()
        }
        dropped = max(scores, key=lambda name: scores[name])
        chosen = np.setdiff1d(chosen, remaining.pop(dropped))
        steps.append(SelectionStep(dropped, tuple(remaining), scores[dropped]))
    return steps
