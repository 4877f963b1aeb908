"""Which columns a combination can do without: leave them out one group after another."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from surefoot._typing import Ints


class SelectionStep(NamedTuple):
    """One step of a backward selection: what was left out, what remains, and how good that is."""

    dropped: str | None
    remaining: tuple[str, ...]
    score: float


def select_backward(
    chosen: Ints, groups: Mapping[str, Ints], evaluate: Callable[[Ints], float]
) -> list[SelectionStep]:
    """Leave out, again and again, the group whose absence costs the least; a higher score is better.

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
