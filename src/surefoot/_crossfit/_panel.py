"""Several indicators around one fitted model; those with equal settings share one neighbour search."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from surefoot._models import saw_no_labels
from surefoot._typing import Floats, Ints, Mask
from surefoot.indicators import Indicator, Part
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex


class PanelOutput(NamedTuple):
    """Scores of the model, columns by indicator name, further outputs of the model by method (`answers`).

    `opinions` are the outputs of the other models that `SecondOpinion` fitted, by name.
    """

    scores: Floats
    columns: dict[str, Floats]
    answers: dict[str, NDArray[Any]]
    opinions: dict[str, NDArray[Any]]


class Panel:
    """Indicators attached to one fitted model; calling it describes rows. An action has one for each fold.

    Parameters
    ----------
    members : list of lists of str
        Names of the indicators that share an index.
    indexes : list of NeighborhoodIndex
        Index of each group of members; that of the first gives the scores.
    indicators : mapping of str to Indicator
        Fitted indicators, by name.
    """

    def __init__(
        self,
        members: list[list[str]],
        indexes: list[NeighborhoodIndex],
        indicators: Mapping[str, Indicator],
    ) -> None:
        self.members, self.indexes, self.indicators = members, indexes, dict(indicators)

    def set_held_out_scores(self, scores: Floats) -> None:
        """Give the indexes the out-of-fold scores of their rows, for indicators that need them."""
        for index in self.indexes:
            index.held_out_scores = scores

    def __call__(
        self,
        X: Any,
        names: Collection[str] | None = None,
        methods: Sequence[str] = (),
        *,
        opinions: bool = False,
    ) -> PanelOutput:
        """Scores, columns and answers for every row of X, from one pass: each method of the model is called once.

        Parameters
        ----------
        X : table
            Rows to describe.
        names : collection of str, default=None
            Names of the indicators to compute; None means all of them.
        methods : sequence of {"predict", "predict_proba"}, default=()
            Methods of the model whose outputs are returned as `answers`, as far as it has them.
        opinions : bool, default=False
            Whether the outputs of the other models in `SecondOpinion` are returned too.
        """
        names = self.indicators if names is None else names

        def describe(near: Neighborhood) -> PanelOutput:
            columns: dict[str, Floats] = {}
            others: dict[str, NDArray[Any]] = {}
            for index, group in zip(self.indexes, self.members, strict=True):
                chosen = [name for name in group if name in names]
                in_this_space = index is near.index or not chosen
                around = near if in_this_space else Neighborhood(index, near.table, near)
                for name in chosen:
                    columns[name], outputs = self.indicators[name].columns_and_opinions(around)
                    others |= outputs
            # Last, as a call for samples around the rows gives the outputs of the rows, too.
            has = near.index.outputs.has_probabilities
            answers = {m: near.answer(m) for m in methods if m == "predict" or has}
            in_order = {name: columns[name] for name in self.indicators if name in columns}
            return PanelOutput(near.scores, in_order, answers, others if opinions else {})

        n_samples = max((self.indicators[name].needed_samples() for name in names), default=0)
        return join(self.indexes[0].map(describe, X, n_samples))


class ModelRows(NamedTuple):
    """Model of a part of the rows, and the rows that its panel knows.

    Attributes
    ----------
    model : fitted estimator
        The model that the indicators describe.
    X, y : table and targets
        Rows in which neighbours are searched.
    learned : tuple of table and targets, or None
        Rows on which indicators fit models of their own; None means X and y.
    folds : ndarray of int or None
        Fold that holds out each row to learn from, -1 if none does; None if folds may share nothing.
    fold : int
        Number of the fold that the model has not seen; -1 if it has seen all.
    positions : ndarray of int or None
        Positions of the rows in those of the deployed panel.
    counted : ndarray of bool or None
        Rows of X that distances are measured to; None means all.
    """

    model: Any
    X: Any
    y: Any
    learned: tuple[Any, NDArray[Any]] | None = None
    folds: Ints | None = None
    fold: int = -1
    positions: Ints | None = None
    counted: Mask | None = None


def build_panels(
    indicators: Mapping[str, Indicator] | Sequence[Indicator],
    parts: Sequence[ModelRows],
    *,
    response: str = "auto",
    n_trained: int | None = None,
    like: Panel | None = None,
    n_jobs: int | None = None,
) -> list[Panel]:
    """Panel of each part. The indicators are cloned, then fitted for all parts at once.

    Rows are described in the space of the panel `like`, that of the deployed model. Without it the first part is
    the deployed one, and the others are described in its space.
    """
    by_name = named(indicators)
    if like is not None:
        by_name = {n: i.laid_out_like(like.indicators[n]) for n, i in by_name.items()}
    members = _group(by_name, response)
    first = [] if like is not None else [_indexes(by_name, members, parts[0], response, n_trained)]
    deployed = first[0] if like is None else like.indexes
    if len(parts) > 1 and like is None:
        smallest = min(part.X.shape[0] for part in parts[1:])
        for index in deployed:
            index.prepare_parts(smallest)
    rest = Parallel(n_jobs=n_jobs)(
        delayed(_indexes)(by_name, members, part, response, n_trained, deployed)
        for part in parts[len(first) :]
    )
    indexes = [*first, *rest]
    fitted: dict[str, list[Indicator]] = {}
    for number, group in enumerate(members):
        chosen = [by_name[name] for name in group]
        given = [_part(chosen, part, own[number]) for part, own in zip(parts, indexes, strict=True)]
        fitted |= {name: by_name[name].fit_parts(given, n_jobs=n_jobs) for name in group}
    return [
        Panel(members, own, {name: fitted[name][place] for name in by_name})
        for place, own in enumerate(indexes)
    ]


def _indexes(
    indicators: Mapping[str, Indicator],
    members: list[list[str]],
    part: ModelRows,
    response: str,
    n_trained: int | None,
    deployed: list[NeighborhoodIndex] | None = None,
) -> list[NeighborhoodIndex]:
    """Index of each group of indicators around the model of a part."""
    indexes = []
    for number, group in enumerate(members):
        chosen = [indicators[name] for name in group]
        like = None if deployed is None else deployed[number]
        n_reference = part.X.shape[0] if like is None else like.n_reference
        needs = [indicator.needed_neighbors(n_reference) for indicator in chosen]
        settings = chosen[0].index_settings() if chosen else {}
        index = NeighborhoodIndex(
            part.model,
            part.X,
            part.y,
            n_neighbors=max(needs, default=0),
            n_trained=n_trained,
            like=like,
            positions=part.positions,
            counted=part.counted,
            copy=False,
            **{"response": response, **settings},
        )
        indexes.append(index)
    return indexes


def _part(indicators: list[Indicator], part: ModelRows, index: NeighborhoodIndex) -> Part:
    """Rows of a part for the indicators of one index, in its space."""
    if not any(indicator.learns for indicator in indicators):
        return Part(index)
    rows, labels = index.space.rows, index.labels
    if part.learned is not None:
        rows, labels = index.coordinates(part.learned[0]), part.learned[1]
    space = indicators[0].index_settings().get("space")
    may_share = part.folds is not None and saw_no_labels(part.model, space)
    return Part(index, rows, labels, part.folds if may_share else None, part.fold)


def join(batches: Sequence[PanelOutput]) -> PanelOutput:
    """Output for the rows of all batches, in their order."""
    first, *_ = batches
    return PanelOutput(
        np.concatenate([batch.scores for batch in batches]),
        *(
            {key: np.concatenate([getattr(one, field)[key] for one in batches]) for key in values}
            for field, values in zip(first._fields[1:], first[1:], strict=True)
        ),
    )


def named(indicators: Mapping[str, Indicator] | Sequence[Indicator]) -> dict[str, Indicator]:
    """Indicators by class name, with a number for the second of a class and later ones.

    Examples
    --------
    >>> from surefoot.indicators import Confidence
    >>> list(named([Confidence(), Confidence(per_class=True)]))
    ['Confidence', 'Confidence_2']
    """
    if isinstance(indicators, Mapping):
        return dict(indicators)
    kinds = [type(indicator).__name__ for indicator in indicators]
    numbers = [kinds[: place + 1].count(kind) for place, kind in enumerate(kinds)]
    names = [f"{kind}_{n}" if n > 1 else kind for kind, n in zip(kinds, numbers, strict=True)]
    return dict(zip(names, indicators, strict=True))


def _group(indicators: Mapping[str, Indicator], response: str) -> list[list[str]]:
    """Names of the indicators, grouped by the index that they can share; the first group has the given response.

    The first group may be empty: its index then only computes scores.
    """
    groups: list[list[str]] = []
    settings = {name: indicator.index_settings() for name, indicator in indicators.items()}
    # The indicator with the most settings comes first; one without settings then joins any group.
    for name in sorted(settings, key=lambda name: -len(settings[name])):
        fitting = (g for g in groups if settings[name].items() <= settings[g[0]].items())
        group = next(fitting, None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    groups.sort(key=lambda g: settings[g[0]].get("response", response) != response)
    first_fits = groups and settings[groups[0][0]].get("response", response) == response
    return groups if first_fits else [[], *groups]
