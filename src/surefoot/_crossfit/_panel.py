"""Several indicators around one fitted model; those with equal settings share one neighbour search."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from surefoot._crossfit._sharing import saw_no_labels
from surefoot._typing import Floats, Ints, Mask
from surefoot.indicators import Indicator, SecondOpinion
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex


class PanelOutput(NamedTuple):
    """Scores of the model, columns by indicator name, further outputs of the model by method (`answers`).

    `opinions` are the predictions of the other models that `SecondOpinion` fitted, by name.
    """

    scores: Floats
    columns: dict[str, Floats]
    answers: dict[str, NDArray[Any]]
    opinions: dict[str, NDArray[Any]]


class Panel:
    """Indicators attached to one fitted model; calling it describes rows. An action builds one per fold.

    Parameters
    ----------
    indicators : mapping of str to Indicator, or sequence of Indicator
        Cloned, then attached; their own `estimator` is not used. A sequence gets the names of `named`.
    model : fitted estimator
        The model whose predictions they describe.
    X, y : training rows and targets of the model
        Rows in which neighbours are searched.
    response : str, default="auto"
        Method of the model that the scores are made of; an indicator may use another one for itself.
    held_out_scores : ndarray, default=None
        Out-of-fold scores of the training rows, for indicators that need them.
    learning : tuple of table and ndarray, default=None
        Rows and targets on which indicators fit models of their own; None means X and y.
    folds : ndarray of shape (n_rows,), default=None
        Fold of each row to learn from, -1 if it has none, where each `SecondOpinion` fits trees that folds may share.
    trees : mapping of str to tuple, default=None
        Trees for a `SecondOpinion` by its name, and the index in whose space they were fitted.
    n_trained : int, default=None
        Number of rows that limits the log-odds; None means those of X.
    like : Panel, default=None
        Panel of the deployed model, with the same indicators: rows are described in its space.
    counted : ndarray of bool of shape (n_rows,), default=None
        Rows of X that distances are measured to; None means all.
    n_jobs : int, default=None
        Threads for searches and batches.
    """

    def __init__(
        self,
        indicators: Mapping[str, Indicator] | Sequence[Indicator],
        model: Any,
        X: Any,
        y: Any,
        *,
        response: str = "auto",
        held_out_scores: Floats | None = None,
        learning: tuple[Any, NDArray[Any]] | None = None,
        folds: Ints | None = None,
        trees: Mapping[str, Any] | None = None,
        n_trained: int | None = None,
        like: "Panel | None" = None,
        counted: Mask | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        by_name = named(indicators)
        attached: dict[str, Indicator] = {}
        self.indexes: list[NeighborhoodIndex] = []
        self.members: list[list[str]] = _group(by_name, response)
        for number, group in enumerate(self.members):
            chosen = [by_name[name] for name in group]
            deployed = None if like is None else like.indexes[number]
            n_reference = X.shape[0] if deployed is None else deployed.n_reference
            needs = [indicator.needed_neighbors(n_reference) for indicator in chosen]
            settings = chosen[0].index_settings() if chosen else {}
            index = NeighborhoodIndex(
                model,
                X,
                y,
                n_neighbors=max(needs, default=0),
                held_out_scores=held_out_scores,
                n_trained=n_trained,
                like=deployed,
                counted=counted,
                n_jobs=n_jobs,
                **{"response": response, **settings},
            )
            self.indexes.append(index)
            may_share = folds is not None and saw_no_labels(model, settings.get("space"))
            options = {"folds": folds} if may_share else {}
            given = [
                {"trees": trees[name]} if trees and name in trees else options for name in group
            ]
            attached.update(zip(group, attach_all(chosen, index, learning, given), strict=True))
        self.indicators: dict[str, Indicator] = {name: attached[name] for name in by_name}

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
            Methods of the model whose outputs are returned as `answers`.
        opinions : bool, default=False
            Whether the predictions of the other models in `SecondOpinion` are returned too.
        """
        names = self.indicators if names is None else names

        def describe(near: Neighborhood) -> PanelOutput:
            answers = {method: near.answer(method) for method in methods}
            columns: dict[str, Floats] = {}
            others: dict[str, NDArray[Any]] = {}
            for name, around in self._around(near, names):
                indicator = self.indicators[name]
                if opinions and isinstance(indicator, SecondOpinion):
                    columns[name], predictions = indicator.ask(around)
                    others |= predictions
                else:
                    columns[name] = indicator.columns(around)
            return PanelOutput(near.scores, columns, answers, others)

        n_samples = max((self.indicators[name].needed_samples() for name in names), default=0)
        output = join(self.indexes[0].map(describe, X, n_samples))
        columns = output.columns
        return output._replace(columns={n: columns[n] for n in self.indicators if n in columns})

    def _around(
        self, near: Neighborhood, names: Collection[str]
    ) -> Iterator[tuple[str, Neighborhood]]:
        """Chosen indicators, each with the neighbourhood in the space that it shares with others."""
        for index, group in zip(self.indexes, self.members, strict=True):
            chosen = [name for name in group if name in names]
            if chosen:
                around = near if index is near.index else Neighborhood(index, near.table, near)
                yield from ((name, around) for name in chosen)


def attach_all(
    indicators: Sequence[Indicator],
    index: NeighborhoodIndex,
    learning: tuple[Any, NDArray[Any]] | None = None,
    given: Sequence[dict[str, Any]] = (),
) -> list[Indicator]:
    """Copies of the indicators, attached to an index; models of their own are fitted on its rows, or on `learning`.

    `given` are options of `learn` for each indicator that is a `SecondOpinion`.
    """
    attached = [clone(indicator).attach(index) for indicator in indicators]
    if any(indicator.learns for indicator in attached):
        if learning is None:
            rows, labels = index.space.rows, index.labels
        else:
            rows, labels = index.coordinates(learning[0]), learning[1]
        for place, indicator in enumerate(attached):
            if isinstance(indicator, SecondOpinion):
                indicator.learn(rows, labels, **(given[place] if given else {}))
            elif indicator.learns:
                indicator.learn(rows, labels)
    return attached


def join(parts: Sequence[PanelOutput]) -> PanelOutput:
    """Output for the rows of all parts, in their order."""
    first, *_ = parts
    return PanelOutput(
        np.concatenate([part.scores for part in parts]),
        *(
            {key: np.concatenate([getattr(part, field)[key] for part in parts]) for key in values}
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
    counts: Counter[str] = Counter()
    names = []
    for indicator in indicators:
        name = type(indicator).__name__
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return dict(zip(names, indicators, strict=True))


def with_fixed_seed(indicator: Indicator, random_state: Any = None) -> Indicator:
    """Copy with an int as `random_state`, if it has that parameter: it then draws the same for every fold.

    An indicator without a seed gets one from `random_state`, that of the action around it. The other parameters are
    not copied, so that indicators with one space object still share a search.
    """
    fixed = copy(indicator)
    parameters = fixed.get_params(deep=False)
    if "random_state" in parameters:
        own = parameters["random_state"]
        random = check_random_state(random_state if own is None else own)
        fixed.set_params(random_state=random.randint(np.iinfo(np.int32).max))
    return fixed


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
