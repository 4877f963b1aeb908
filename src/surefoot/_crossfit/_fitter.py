"""Cross-fitting: outputs and columns of training rows, from models and neighbours that never saw them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

from surefoot._crossfit._panel import Outputs, build_panels, join, named
from surefoot._crossfit._training import TrainingRows, divide
from surefoot._models import fit_model, predict_labels
from surefoot._parallel import counted
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Split
from surefoot.indicators import Indicator


class Fold(NamedTuple):
    """Model of some training rows, with indicators and neighbours among these.

    Attributes
    ----------
    train, test : ndarray of int
        Positions of the rows that the model has learned from, and of those that it holds out; none for the deployed
        model.
    model, panel : fitted estimator and Panel
        The model, and the indicators around it.
    inner : Outputs or None
        Outputs of the rows of `train` when they are held out themselves, by models that saw neither them nor `test`;
        None unless they were asked for.
    """

    train: Ints
    test: Ints
    model: Any
    panel: Any
    inner: Outputs | None = None


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Result of a cross-fit: the deployed model, the folds, and what these say of the rows that they hold out.

    Attributes
    ----------
    training : TrainingRows
        The training rows, and how they were divided.
    deployed : Fold
        That of all rows, or with a single split of its training rows.
    folds : list of Fold
        The folds.
    held_out : Outputs
        Outputs and columns of the held-out rows.
    truth, weight, units : ndarrays
        Targets of the held-out rows, their weights, and what belongs together (see `units_of`); the last two may
        be None.
    """

    training: TrainingRows
    deployed: Fold
    folds: list[Fold]
    held_out: Outputs
    truth: NDArray[Any]
    weight: Floats | None
    units: NDArray[Any] | None


def cross_fit(
    estimator: Any,
    indicators: Mapping[str, Indicator] | Sequence[Indicator],
    X: Any,
    y: NDArray[Any],
    *,
    cv: Any,
    groups: Any = None,
    sample_weight: Floats | None = None,
    response: str = "auto",
    max_reference_rows: int | None = None,
    methods: Sequence[str] = (),
    opinions: bool = False,
    inner: Collection[str] | None = None,
    twice: bool = False,
    deploy_all: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    build: Callable[..., list[Any]] = build_panels,
) -> CrossFit:
    """Fit a model on all rows and on the rows outside of each fold, with indicators around each of these models.

    Outputs of a held-out row come from a model that was not trained on it, and from neighbours among that model's
    training rows. Scores of a neighbour (`needs_held_out_scores`) come from models that saw neither the neighbour nor
    the row: if the folds are a partition, from the models with two folds left out, which both folds share.

    Parameters
    ----------
    estimator : estimator
        Fitted on parts of the rows; a frozen one is used as it is, and must not have seen the rows.
    indicators : mapping of str to Indicator, or sequence of Indicator
        Indicators whose columns are computed for each row.
    X, y : table and ndarray
        Training rows and targets.
    cv : int, splitter or iterable of splits
        Folds.
    groups, sample_weight : ndarrays, default=None
        Groups that stay in one fold, and weights for the model.
    response : str, default="auto"
        Method of the model that the scores are made of.
    max_reference_rows : int, default=None
        Most rows in which neighbours are searched; of a larger part a random sample is taken.
    methods : sequence of str, default=()
        Methods of the model whose outputs are returned as `answers`.
    opinions : bool, default=False
        Whether the outputs of the other models in `SecondOpinion` are returned too.
    inner : collection of str, default=None
        Indicators whose columns are also computed for the rows of a single split's model, held out once more.
    twice : bool, default=False
        Whether this is done with several splits, too.
    deploy_all : bool, default=False
        Whether the deployed model learns from all rows with a single split, too.
    random_state : int, RandomState or None, default=0
        Seed of the sample of rows, and of the folds.
    n_jobs : int, default=None
        Parallel fits and folds.
    build : callable, default=build_panels
        Builds what describes rows around each model, as `build_panels` does.
    """
    by_name = named(indicators)
    training = divide(
        estimator,
        X,
        y,
        cv=cv,
        groups=groups,
        sample_weight=sample_weight,
        random_state=random_state,
        most=max_reference_rows,
        deploy_all=deploy_all,
    )
    splits = training.splits
    is_inner = inner is not None and (twice or len(splits) == 1)
    nested = [training.within(train) if is_inner else [] for train, _ in splits]
    if is_inner and not all(nested):
        raise ValueError(
            "A training fold has one row or group only, and rows of it must be held out again: there must be more."
        )
    # Parts of the rows: those of the deployed model, those outside of each fold, and these without another fold.
    parts = distinct([training.deployed, *(train for train, _ in chain(splits, *nested))])
    for part in parts:
        if missing := missing_classes(estimator, y, part):
            raise ValueError(
                f"cv leaves a training fold without class {missing.pop()!r}: it may be stratified, "
                "or have fewer folds."
            )
    # Within each part, models for out-of-fold scores of its rows.
    needs_scores = any(indicator.needs_held_out_scores for indicator in by_name.values())
    within = [training.within(part) if needs_scores else [] for part in parts]
    within = [[s for s in each if not missing_classes(estimator, y, s[0])] for each in within]
    learned = distinct([*parts, *(train for train, _ in chain(*within))])
    models = ByRows(learned, fit_models(estimator, training, learned, n_jobs))
    scorers = [[(models[train], train, test) for train, test in each] for each in within]
    fitted = [models[part] for part in parts]
    settings = {"response": response, "n_jobs": n_jobs}
    panels = ByRows(parts, build(by_name, training, parts, fitted, scorers, **settings))
    held_out = hold_out(X, splits, panels, None, methods, opinions=opinions, n_jobs=n_jobs)
    folds = [
        Fold(
            train,
            test,
            models[train],
            panels[train],
            hold_out(X, again, panels, inner, n_jobs=n_jobs) if again else None,
        )
        for (train, test), again in zip(splits, nested, strict=True)
    ]
    rows, whole = held_out.rows, training.deployed
    return CrossFit(
        training=training,
        deployed=Fold(whole, rows[:0], models[whole], panels[whole]),
        folds=folds,
        held_out=held_out,
        truth=y[rows],
        weight=None if sample_weight is None else sample_weight[rows],
        units=units_of(rows, training.copies.groups),
    )


def cross_predict(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    *,
    cv: Any,
    groups: Any = None,
    sample_weight: Floats | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> tuple[Any, Ints, NDArray[Any]]:
    """Deployed model, positions of the held-out rows, and out-of-fold predictions; the model needs no scores."""
    given = {"groups": groups, "sample_weight": sample_weight, "random_state": random_state}
    training = divide(estimator, X, y, cv=cv, **given)
    splits, whole = training.splits, training.deployed
    parts = distinct([whole, *(train for train, _ in splits)])
    models = ByRows(parts, fit_models(estimator, training, parts, n_jobs))
    predictions = [predict_labels(models[train], take_rows(X, test)) for train, test in splits]
    rows = np.concatenate([test for _, test in splits])
    order = np.argsort(rows, kind="stable")
    return models[whole], rows[order], np.concatenate(predictions)[order]


def units_of(rows: Ints, groups: NDArray[Any] | None) -> NDArray[Any] | None:
    """Group of each held-out row, or its position where rows were held out twice; None if rows are independent."""
    if groups is not None:
        return groups[rows]
    return rows if len(np.unique(rows)) < len(rows) else None


class ByRows:
    """Values of parts of the training rows, each looked up by the positions of its rows."""

    def __init__(self, parts: Sequence[Ints], values: Sequence[Any]) -> None:
        self._values = {part.tobytes(): value for part, value in zip(parts, values, strict=True)}

    def __getitem__(self, part: Ints) -> Any:
        return self._values[part.tobytes()]


def distinct(parts: Sequence[Ints]) -> list[Ints]:
    """Different ones of several parts of the training rows."""
    return list({part.tobytes(): part for part in parts}.values())


def missing_classes(estimator: Any, y: NDArray[Any], part: Ints) -> set[Any]:
    """Classes that no row of a part has, but other rows have; none for a frozen model or a regressor."""
    if isinstance(estimator, FrozenEstimator) or not is_classifier(estimator):
        return set()
    return set(y.tolist()) - set(y[part].tolist())


def fit_models(
    estimator: Any, training: TrainingRows, parts: Sequence[Ints], n_jobs: int | None
) -> list[Any]:
    """Model of each part of the rows."""
    weight = training.weight
    tasks = (
        delayed(fit_model)(
            estimator,
            take_rows(training.X, part),
            training.y[part],
            None if weight is None else weight[part],
        )
        for part in parts
    )
    return list(counted(Parallel(n_jobs=n_jobs, return_as="generator")(tasks), "fit"))


def hold_out(
    X: Any,
    splits: Sequence[Split],
    panels: ByRows,
    names: Collection[str] | None = None,
    methods: Sequence[str] = (),
    *,
    opinions: bool = False,
    n_jobs: int | None = None,
) -> Outputs:
    """Outputs for the rows that each split holds out, by the panel of its training rows, in the order of the table."""
    tasks = (
        delayed(panels[train])(take_rows(X, test), names, methods, opinions=opinions)
        for train, test in splits
    )
    outputs = list(counted(Parallel(n_jobs=n_jobs, return_as="generator")(tasks), "describe"))
    rows = np.concatenate([test for _, test in splits])
    numbers = np.concatenate([np.full(len(test), i) for i, (_, test) in enumerate(splits)])
    order = np.argsort(rows, kind="stable")
    return join(outputs, order)._replace(rows=rows[order], splits=numbers[order])
