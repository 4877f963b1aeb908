"""Cross-fitting: outputs and columns of training rows, from models and neighbours that never saw them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from surefoot._copies import Copies, group_copies
from surefoot._crossfit._panel import Outputs, build_panels, join
from surefoot._models import fit_model, inputs_of, predict_labels
from surefoot._parallel import counted
from surefoot._splits import fresh_splits, mean_held_out, never_held_out, resolve_cv
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Mask, Split
from surefoot.indicators import Indicator

# Most rows on which indicators fit models of their own; of a larger part a random sample is taken.
MOST_LEARNED_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Training table and its division. A part of it is an ascending array of row positions.

    Attributes
    ----------
    X, y, weight : table and ndarrays
        Rows, targets and weights; the weights may be None.
    copies : Copies
        Which rows are equal; with the groups, it says which are together.
    splits : list of (train, test)
        Rows to learn from, and rows that are held out.
    deployed : ndarray of int
        Rows of the deployed model: all, or with a single split those to learn from.
    too_rare : ndarray of int
        Rows that are never held out, as their class is too rare.
    seed : int
        Seed of the samples, and of whatever is drawn afterwards.
    most : int or None
        Most rows in which neighbours are searched.
    """

    X: Any
    y: NDArray[Any]
    weight: Floats | None
    copies: Copies
    splits: list[Split]
    deployed: Ints
    too_rare: Ints
    seed: int
    most: int | None

    def reference(self, part: Ints) -> Ints:
        """Rows of a part in which neighbours are searched: all, or a random sample."""
        return part[self._sample(len(part), self.most)]

    def learned(self, part: Ints) -> Ints:
        """Rows of a part that indicators fit models of their own on: its reference rows if these are all."""
        is_all = len(self.reference(part)) == len(part)
        return part if is_all else part[self._sample(len(part), MOST_LEARNED_ROWS)]

    def counted(self) -> Mask | None:
        """Reference rows of the deployed model that distances are measured to: as many as folds have on the mean.

        None if these are all.
        """
        n_rows = len(self.reference(self.deployed))
        n_counted = round(np.mean([len(self.reference(train)) for train, _ in self.splits]))
        return (
            None if n_counted >= n_rows else np.isin(range(n_rows), self._sample(n_rows, n_counted))
        )

    def within(self, part: Ints) -> list[Split]:
        """Splits restricted to the rows of a part; fresh folds of it where no split divides it."""
        if np.array_equal(part, np.arange(len(self.y))):
            return self.splits
        inner = [
            (np.intersect1d(train, part), np.intersect1d(test, part)) for train, test in self.splits
        ]
        inner = [(train, test) for train, test in inner if len(train) and len(test)]
        return inner or fresh_splits(part, self.copies.groups, self.seed)

    @cached_property
    def fold_of_row(self) -> Ints | None:
        """Number of the split that holds each row out, -1 if none does; None unless several folds divide the rows."""
        folds = np.full(len(self.y), -1)
        for number, (train, test) in enumerate(self.splits):
            if len(train) + len(test) != len(self.y) or (folds[test] >= 0).any():
                return None
            folds[test] = number
        return folds if len(self.splits) > 1 else None

    def held_out_scores(
        self, part: Ints, scorers: Sequence[tuple[Any, Ints, Ints]], score: Callable[..., Floats]
    ) -> Floats:
        """Out-of-fold scores of the reference rows of a part; NaN where there is none.

        `scorers` are the models within the part, with the rows that they have learned from and those that they score;
        `score(model, train, test)` returns these scores.
        """
        rows = self.reference(part)
        known, copies = np.unique(rows, return_inverse=True)
        tests = [np.intersect1d(test, known) for *_, test in scorers]
        scored = [
            (np.searchsorted(known, test), score(model, train, test))
            for (model, train, _), test in zip(scorers, tests, strict=True)
            if len(test)
        ]
        return mean_held_out(len(known), scored)[copies]

    def _sample(self, n_rows: int, most: int | None) -> Ints:
        """Numbers below `n_rows`: all, or a random sample of `most`, ascending."""
        if most is None or n_rows <= most:
            return np.arange(n_rows)
        draw = np.random.RandomState(self.seed)
        return np.sort(draw.choice(n_rows, most, replace=False))


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


def divide(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    *,
    cv: Any,
    groups: Any = None,
    sample_weight: Floats | None = None,
    random_state: Any = 0,
    most: int | None = None,
    deploy_all: bool = False,
) -> TrainingRows:
    """Division of a table by `cv`, in which copies of a row are never on both sides of a split."""
    copies = group_copies(inputs_of(estimator, X), groups)
    seed: int = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    splitter = resolve_cv(
        cv,
        y,
        stratified=is_classifier(estimator),
        random_state=seed,
        refits=not isinstance(estimator, FrozenEstimator),
        groups=copies.groups,
    )
    is_own = cv is None or isinstance(cv, Integral)
    # A splitter of the user does not know of copies: they leave the training rows where one is held out.
    splits = [
        (np.sort(train[~np.isin(copies.sets[train], copies.sets[test])]), np.sort(test))
        for train, test in splitter.split(X, y, copies.groups if is_own else groups)
    ]
    has_one = len(splits) == 1 and not deploy_all
    return TrainingRows(
        X,
        y,
        sample_weight,
        copies,
        splits,
        deployed=splits[0][0] if has_one else np.arange(len(y)),
        too_rare=never_held_out(splitter, splits, len(y)),
        seed=seed,
        most=most,
    )


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
