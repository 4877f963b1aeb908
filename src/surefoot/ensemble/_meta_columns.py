"""Columns of the metaclassifiers: the indicators that they come from, their order and their names."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot._crossfit import HeldOutOutputs, PanelOutput, with_fixed_seed
from surefoot._typing import Floats
from surefoot.ensemble._topic_panel import TopicPanel
from surefoot.indicators import Indicator

# Name of the block of the models' scores; the other blocks are indicators.
SCORES = "scores"


def by_model(indicators: Any, names: list[str], random_state: Any) -> dict[str, list[Indicator]]:
    """Indicators of each model, with fixed seeds, from None, one indicator, several, or a dict by model."""
    if isinstance(indicators, Mapping):
        if unknown := [name for name in indicators if name not in names]:
            raise ValueError(f"indicators names {unknown[0]!r}, which is none of the estimators.")
        return {name: _checked(indicators.get(name), random_state) for name in names}
    return {name: _checked(indicators, random_state) for name in names}


def _checked(indicators: Any, random_state: Any) -> list[Indicator]:
    several = indicators if isinstance(indicators, (list, tuple)) else [indicators]
    given = [] if indicators is None else several
    for indicator in given:
        if not isinstance(indicator, Indicator):
            raise TypeError(
                f"indicators={indicator!r} is no indicator: it may be one of surefoot.indicators, several, "
                "or a dict of them by the names of the estimators."
            )
        indicator.check_parameters()
    return [with_fixed_seed(indicator, random_state) for indicator in given]


def by_topic(output: HeldOutOutputs | PanelOutput, n_topics: int) -> Floats:
    """Columns by topic, of shape (n_rows, n_topics, n_columns): scores first, then indicator by indicator."""
    n_rows = len(output.scores)
    scores = output.scores.reshape(n_rows, -1, n_topics).transpose(0, 2, 1)
    blocks = [block.reshape(n_rows, n_topics, -1) for block in output.columns.values()]
    return np.concatenate([scores, *blocks], axis=2)


def name_blocks(names: list[str], owners: list[int], panel: TopicPanel) -> dict[str, list[str]]:
    """Names of the columns by block: the scores, then each model's indicators; a repeated name gets a number."""
    blocks = {SCORES: [f"{name}__score" for name in names]}
    taken = Counter(blocks[SCORES])
    keys: Counter[str] = Counter()
    for owner, indicator, columns in zip(
        owners, panel.indicators.values(), panel.column_names(), strict=True
    ):
        key = _numbered(f"{names[owner]}__{type(indicator).__name__}", keys)
        blocks[key] = [_numbered(f"{names[owner]}__{column}", taken) for column in columns]
    return blocks


def _numbered(name: str, taken: "Counter[str]") -> str:
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}_{taken[name]}"


def column_labels(model: Any, X: Any) -> list[str]:
    """Names of the columns of X."""
    return list(getattr(model, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])]))
