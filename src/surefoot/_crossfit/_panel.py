"""Several indicators around one fitted model, with one neighbourhood for all that agree on it."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from surefoot._typing import Floats
from surefoot.indicators._indicator import Indicator
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex


class Panel:
    """Indicators attached to one fitted model: what every action builds, once a fold.

    Parameters
    ----------
    indicators : sequence of Indicator
        Cloned, then attached; their own `estimator` is not used.
    model : fitted estimator
        The model that they judge.
    X, y : training rows and targets of the model
        Where neighbours come from.
    response : str, default="auto"
        What the scores that `judge` returns are made of, whatever the indicators ask for themselves.
    held_out_scores : ndarray, default=None
        Scores of the training rows by models that did not see them, for indicators that need them.
    n_jobs : int, default=None
        Threads for searches and batches.
    """

    def __init__(
        self,
        indicators: Sequence[Indicator],
        model: Any,
        X: Any,
        y: Any,
        *,
        response: str = "auto",
        held_out_scores: Floats | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.indicators: list[Indicator] = [clone(indicator) for indicator in indicators]
        self.indexes: list[NeighborhoodIndex] = []
        self.members: list[list[int]] = _group(indicators, response)
        for group in self.members:
            chosen = [self.indicators[i] for i in group]
            needs = [indicator.needed_neighbors(X.shape[0]) for indicator in chosen]
            settings = chosen[0].index_settings() if chosen else {}
            index = NeighborhoodIndex(
                model,
                X,
                y,
                n_neighbors=max(needs, default=0),
                held_out_scores=held_out_scores,
                n_jobs=n_jobs,
                **{"response": response, **settings},
            )
            self.indexes.append(index)
            for indicator in chosen:
                indicator.attach(index)

    def __getstate__(self) -> dict[str, Any]:
        """What to save: the model and each index once, as skops writes out an object wherever it is met."""
        bare = [copy(indicator) for indicator in self.indicators]
        for indicator in bare:
            del indicator.index_
        indexes = [index.without_model() for index in self.indexes]
        return {**self.__dict__, "indicators": bare, "indexes": indexes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Bring the parts together again."""
        self.__dict__.update(state)
        for index, group in zip(self.indexes, self.members, strict=True):
            index.use_model(self.model)
            for i in group:
                self.indicators[i].index_ = index

    def judge(self, X: Any) -> tuple[Floats, list[Floats]]:
        """Scores of the model, and the columns of each indicator, for every row of X."""
        columns: list[Floats] = [np.empty(0)] * len(self.indicators)
        looks = [
            self._look(index, group, X)
            for index, group in zip(self.indexes, self.members, strict=True)
        ]
        for (_, *found), group in zip(looks, self.members, strict=True):
            for i, values in zip(group, found, strict=True):
                columns[i] = values
        return looks[0][0], columns

    def ask(self, indicator: Indicator, X: Any) -> Floats:
        """Columns of one more indicator, around the same model and in the space of the last one here."""
        index = self.indicators[-1].index_
        asked = clone(indicator).attach(index)
        return np.concatenate(index.map(asked.columns, X, asked.needed_samples()))

    def _look(self, index: NeighborhoodIndex, group: list[int], X: Any) -> list[Floats]:
        """Scores, then the columns of the group's indicators, from one pass over the rows."""
        chosen = [self.indicators[i] for i in group]

        def look(near: Neighborhood) -> list[Floats]:
            return [near.scores, *(indicator.columns(near) for indicator in chosen)]

        n_samples = max((indicator.needed_samples() for indicator in chosen), default=0)
        return [np.concatenate(part) for part in zip(*index.map(look, X, n_samples), strict=True)]


def _group(indicators: Sequence[Indicator], response: str) -> list[list[int]]:
    """Positions of the indicators that can share an index; the first group has the given response.

    It may be empty: then its index only scores.
    """
    groups: list[list[int]] = []
    settings = [indicator.index_settings() for indicator in indicators]
    # The one with the most to say comes first: an indicator that needs no neighbours joins any group.
    for i in sorted(range(len(indicators)), key=lambda i: -len(settings[i])):
        fitting = (g for g in groups if settings[i].items() <= settings[g[0]].items())
        group = next(fitting, None)
        if group is None:
            groups.append([i])
        else:
            group.append(i)
    groups.sort(key=lambda g: settings[g[0]].get("response", response) != response)
    scored = groups and settings[groups[0][0]].get("response", response) == response
    return groups if scored else [[], *groups]


def with_fixed_seed(indicator: Indicator) -> Indicator:
    """A copy whose `random_state`, if it has one, is a number: attached to several models, it draws alike.

    Its other parameters are the same objects, so that indicators that share a space still share a search.
    """
    fixed = copy(indicator)
    if "random_state" in fixed.get_params(deep=False):
        seed = check_random_state(fixed.get_params()["random_state"]).randint(
            np.iinfo(np.int32).max
        )
        fixed.set_params(random_state=seed)
    return fixed
