"""Several indicators around one fitted model; those with equal settings share one neighbour search."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from surefoot._models import saw_no_labels
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot.indicators import Indicator
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

if TYPE_CHECKING:
    from surefoot._crossfit._fitter import TrainingRows


class Outputs(NamedTuple):
    """What a model, and the indicators around it, say of some rows.

    Attributes
    ----------
    scores : ndarray of shape (n_rows, 1 or n_classes)
        Log-odds-like scores of the model, or predictions of a regressor.
    columns : dict of str to ndarray
        Columns of each indicator, by its name.
    answers : dict of str to ndarray
        Further outputs of the model, by method.
    opinions : dict of str to ndarray
        Outputs of the other models that `SecondOpinion` fitted, by name.
    rows, splits : ndarray of int, or None
        Of held-out rows, their positions in the training table, ascending (each once if the folds are a partition,
        else as often as it was held out), and the number of the split that held each out.
    """

    scores: Floats
    columns: dict[str, Floats]
    answers: dict[str, NDArray[Any]]
    opinions: dict[str, NDArray[Any]]
    rows: Any = None
    splits: Any = None


class Panel:
    """Indicators attached to one fitted model; calling it describes rows. An action has one for each fold.

    Parameters
    ----------
    index : NeighborhoodIndex
        The model, and the training rows in which neighbours are searched; it gives the scores.
    indicators : mapping of str to Indicator
        Fitted indicators, by name. Their indexes are of the same model and rows.
    """

    def __init__(self, index: NeighborhoodIndex, indicators: Mapping[str, Indicator]) -> None:
        self.index, self.indicators = index, dict(indicators)

    def __call__(
        self,
        X: Any,
        names: Collection[str] | None = None,
        methods: Sequence[str] = (),
        *,
        opinions: bool = False,
    ) -> Outputs:
        """Outputs for every row of X, from one pass: each method of the model is called once.

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
        chosen = {n: each for n, each in self.indicators.items() if names is None or n in names}
        samples = {name: indicator.needed_samples() for name, indicator in chosen.items()}
        # First those with samples around the rows: a call for these gives the outputs of the rows, too.
        order = sorted(chosen, key=lambda name: -samples[name])

        def describe(near: Neighborhood) -> Outputs:
            around = {id(near.index): near}
            columns = {}
            for name in order:
                index = chosen[name].index_
                if id(index) not in around:
                    around[id(index)] = Neighborhood(index, near.table, near)
                columns[name] = chosen[name].columns(around[id(index)])
            columns = {name: columns[name] for name in chosen}
            has = near.index.model.has_probabilities
            answers = {m: near.answer(m) for m in methods if m == "predict" or has}
            return Outputs(near.scores, columns, answers, near.opinions if opinions else {})

        return join(self.index.map(describe, X, max(samples.values(), default=0)))


def join(batches: Sequence[Outputs], order: Any = slice(None)) -> Outputs:
    """Outputs for the rows of all batches, in their order or in another one."""
    first, *_ = batches
    scores = np.concatenate([batch.scores for batch in batches])[order]
    blocks = (
        {k: np.concatenate([getattr(batch, name)[k] for batch in batches])[order] for k in values}
        for name, values in zip(first._fields[1:4], first[1:4], strict=True)
    )
    return Outputs(scores, *blocks)


def build_panels(
    indicators: Mapping[str, Indicator],
    training: "TrainingRows",
    parts: Sequence[Ints],
    models: Sequence[Any],
    scorers: Sequence[Sequence[tuple[Any, Ints, Ints]]],
    *,
    response: str = "auto",
    n_jobs: int | None = None,
) -> list[Panel]:
    """Panel of the model of each part of the training rows; the first is the deployed one.

    All parts are described in the space of the first, and the indicators are fitted for all parts at once. `scorers`
    are the models within each part that give the out-of-fold scores of its rows, with the rows that they have learned
    from and those that they hold out; none if no indicator needs these scores.
    """
    groups = group_by_index(indicators, response)
    whole = training.reference(parts[0])

    def settings(model: Any, part: Ints) -> dict[str, Any]:
        rows = training.reference(part)
        places = np.searchsorted(whole, rows)
        is_part = np.array_equal(whole[np.minimum(places, len(whole) - 1)], rows)
        return {
            "model": model,
            "X": take_rows(training.X, rows),
            "y": training.y[rows],
            "n_trained": len(parts[0]),
            "positions": places if is_part else None,
        }

    def score(model: Any, train: Ints, test: Ints) -> Floats:
        votes = int(deployed[0].voter is not None)  # by the lists of the deployed index
        given = {**settings(model, train), "n_neighbors": votes, "like": deployed[0], "copy": False}
        index = NeighborhoodIndex(**given, response=response)
        return np.concatenate(index.map(lambda near: near.scores, take_rows(training.X, test), 0))

    deployed = build_indexes(
        groups, response, **settings(models[0], parts[0]), counted=training.counted()
    )
    if len(parts) > 1:
        smallest = min(len(training.reference(part)) for part in parts[1:])
        for index in deployed:
            index.prepare_parts(smallest)
    tasks = (
        delayed(build_indexes)(groups, response, deployed, **settings(model, part))
        for model, part in zip(models[1:], parts[1:], strict=True)
    )
    indexes = [deployed, *Parallel(n_jobs=n_jobs)(tasks)]
    for own in indexes[1:]:
        for index, like in zip(own, deployed, strict=True):
            index.like = like  # no copy of it from another process
    for place, (part, within) in enumerate(zip(parts, scorers, strict=True)):
        if within:
            scores = training.held_out_scores(part, within, score)
            indexes[place] = [index.with_held_out_scores(scores) for index in indexes[place]]
    fitted = fit_indicators(groups, indexes, training, parts, models[0], n_jobs)
    return [
        Panel(own[0], {name: fitted[name][place] for name in indicators})
        for place, own in enumerate(indexes)
    ]


def fit_indicators(
    groups: Sequence[Mapping[str, Indicator]],
    indexes: Sequence[Sequence[NeighborhoodIndex]],
    training: "TrainingRows",
    parts: Sequence[Ints],
    deployed: Any,
    n_jobs: int | None,
) -> dict[str, list[Indicator]]:
    """Fitted copies of each indicator, by its name: one for each part, with the indexes of that part."""
    # The fold of each row, if the parts are the deployed rows and the folds: these may then share models.
    folds = training.fold_of_row if len(parts) == 1 + len(training.splits) else None
    fitted = {}
    for group, own in zip(groups, zip(*indexes, strict=True), strict=True):
        rows = [rows_to_learn(group, *each, training) for each in zip(own, parts, strict=True)]
        for name, indicator in group.items():
            held_by = None
            if folds is not None and saw_no_labels(deployed, getattr(indicator, "space", None)):
                held_by = folds[training.learned(parts[0])]
            fitted[name] = indicator.fit_folds(own, rows, held_by, n_jobs=n_jobs)
            for each, index in zip(fitted[name], own, strict=True):
                each.index_ = index  # no copy of it from another process
    return fitted


def build_panel(
    indicators: Mapping[str, Indicator],
    *,
    response: str = "auto",
    like: Panel | None = None,
    **given: Any,
) -> Panel:
    """Panel of one fitted model and its training rows; `like` is that of the deployed model, if it is another one.

    `given` are further parameters of the index: `model`, `X`, `y`.
    """
    groups = group_by_index(indicators, response)
    deployed = None
    if like is not None:
        deployed = [like.indicators[next(iter(g))].index_ if g else like.index for g in groups]
    indexes = build_indexes(groups, response, deployed, **given)
    fitted = {
        name: indicator.fit_folds(
            [index], [(index.space.rows, index.labels) if index.n_neighbors else None]
        )[0]
        for group, index in zip(groups, indexes, strict=True)
        for name, indicator in group.items()
    }
    return Panel(indexes[0], {name: fitted[name] for name in indicators})


def build_indexes(
    groups: Sequence[Mapping[str, Indicator]],
    response: str,
    deployed: Sequence[NeighborhoodIndex] | None = None,
    **given: Any,
) -> list[NeighborhoodIndex]:
    """Index of a model for each group of indicators; `deployed` are those of the deployed model, if it is another."""
    indexes = []
    for number, group in enumerate(groups):
        like = None if deployed is None else deployed[number]
        n_reference = given["X"].shape[0] if like is None else like.n_reference
        needs = [indicator.needed_neighbors(n_reference) for indicator in group.values()]
        settings = next(iter(group.values())).index_settings() if group else {}
        known = {"response": response, **settings, **given, "like": like, "copy": False}
        indexes.append(NeighborhoodIndex(**known, n_neighbors=max(needs, default=0)))
    return indexes


def rows_to_learn(
    group: Mapping[str, Indicator], index: NeighborhoodIndex, part: Ints, training: "TrainingRows"
) -> tuple[Any, Any] | None:
    """Rows of a part in the space of an index, and targets, for models of the indicators' own; None if none learns."""
    if not any(indicator.learns for indicator in group.values()):
        return None
    rows = training.learned(part)
    if len(rows) == index.n_rows:
        return index.space.rows, index.labels
    return index.coordinates(take_rows(training.X, rows)), training.y[rows]


def group_by_index(
    indicators: Mapping[str, Indicator], response: str
) -> list[dict[str, Indicator]]:
    """Indicators grouped by the index that they can share; the first group has the given response.

    The first group may be empty: its index then only computes scores.
    """
    groups: list[dict[str, Indicator]] = []
    asked: list[dict[str, Any]] = []
    settings = {name: indicator.index_settings() for name, indicator in indicators.items()}
    # The indicator with the most settings comes first; one without settings then joins any group.
    for name in sorted(settings, key=lambda name: -len(settings[name])):
        fitting = (i for i, known in enumerate(asked) if settings[name].items() <= known.items())
        place = next(fitting, len(groups))
        if place == len(groups):
            groups.append({})
            asked.append(settings[name])
        groups[place][name] = indicators[name]
    is_first = [known.get("response", response) == response for known in asked]
    groups = [groups[i] for i in np.argsort(np.logical_not(is_first), kind="stable")]
    return groups if any(is_first) else [{}, *groups]
