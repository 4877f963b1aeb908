"""Cross-fitting: outputs and columns of training rows, from models and neighbours that never saw them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from surefoot._copies import Copies, group_copies
from surefoot._crossfit._panel import ModelRows, Panel, build_panels, join, named
from surefoot._models import fit_model, inputs_of, predict_labels
from surefoot._parallel import counted
from surefoot._splits import fresh_splits, never_held_out, resolve_cv
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Mask, Split
from surefoot.indicators import Indicator
from surefoot.neighborhoods import NeighborhoodIndex

# Most rows on which indicators fit models of their own; of a larger part a random sample is taken.
MOST_LEARNED_ROWS = 50_000


class HeldOutOutputs(NamedTuple):
    """Outputs and columns of held-out rows, by models and neighbours of the other folds.

    `rows` are positions in the training table, ascending: each once if the folds are a partition, else
    as often as it was held out. `splits` (number of the split that held the row out), `scores` (log-odds-like,
    of the model), `columns` (by indicator name), `answers` (of the model, by method) and `opinions` (outputs of
    other models, by name) are aligned with them.
    """

    rows: Ints
    splits: Ints
    scores: Floats
    columns: dict[str, Floats]
    answers: dict[str, NDArray[Any]]
    opinions: dict[str, NDArray[Any]]


class Fold(NamedTuple):
    """Model and panel of the rows outside of one fold.

    `inner` are the outputs of these rows when they are held out themselves, by models that saw neither them nor the
    fold; None unless they were asked for.
    """

    train: Ints
    test: Ints
    model: Any
    panel: Panel
    inner: HeldOutOutputs | None


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Result of a cross-fit: the deployed model and its panel, the folds, and what these say of held-out rows.

    Attributes
    ----------
    y, groups, sample_weight : ndarrays
        Targets, groups and weights of the training rows; the last two may be None. Copies of a row are in one group.
    distinct : ndarray of bool
        True for one row of each set of copies.
    seed : int
        Seed of whatever is drawn afterwards.
    model, panel : fitted estimator and Panel
        Those of the deployed rows: all rows, or with a single split its training rows.
    reference_rows : ndarray of int
        Positions of the rows in which the deployed panel searches neighbours.
    folds : list of Fold
        The folds.
    held_out : HeldOutOutputs
        Outputs and columns of the held-out rows.
    truth, weight, units : ndarrays
        Targets of the held-out rows, their weights, and what belongs together (see `units_of`); the last two may
        be None.
    too_rare : ndarray of int
        Positions of rows that are never held out, as their class is too rare.
    """

    y: NDArray[Any]
    groups: NDArray[Any] | None
    distinct: Mask
    sample_weight: Floats | None
    seed: int
    model: Any
    panel: Any
    reference_rows: Ints
    folds: list[Fold]
    held_out: HeldOutOutputs
    truth: NDArray[Any]
    weight: Floats | None
    units: NDArray[Any] | None
    too_rare: Ints


def units_of(rows: Ints, groups: NDArray[Any] | None) -> NDArray[Any] | None:
    """Group of each held-out row, or its position where rows were held out twice; None if rows are independent."""
    if groups is not None:
        return groups[rows]
    return rows if len(np.unique(rows)) < len(rows) else None


class CrossFitter:
    """Fits a model on all rows and on the rows outside of each fold, with indicators around each of these models.

    Outputs of a held-out row come from a model that was not trained on it, and from neighbours among that model's
    training rows. Scores of a neighbour (`needs_held_out_scores`) come from models that saw neither the neighbour nor
    the row: if the folds are a partition, from the models with two folds left out, which both folds share.

    Parameters
    ----------
    indicators : mapping of str to Indicator, or sequence of Indicator
        Indicators whose columns are computed for each row.
    estimator : estimator
        Fitted on parts of the rows; a frozen one is used as it is, and must not have seen the rows.
    cv : int, splitter or iterable of splits
        Folds.
    response : str, default="auto"
        Method of the model that the scores are made of.
    max_reference_rows : int, default=None
        Most rows in which neighbours are searched; of a larger part a random sample is taken.
    random_state : int, RandomState or None, default=0
        Seed of that sample, and of the folds.
    n_jobs : int, default=None
        Parallel fits and folds.
    """

    def __init__(
        self,
        indicators: Mapping[str, Indicator] | Sequence[Indicator],
        estimator: Any,
        *,
        cv: Any,
        response: str = "auto",
        max_reference_rows: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.indicators = named(indicators)
        self.estimator = estimator
        self.cv = cv
        self.response = response
        self.max_reference_rows = max_reference_rows
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        *,
        groups: Any = None,
        sample_weight: Floats | None = None,
        methods: Sequence[str] = (),
        opinions: bool = False,
        inner: Collection[str] | None = None,
        twice: bool = False,
        deploy_all: bool = False,
    ) -> CrossFit:
        """Fit the models and the indicators, and describe the held-out rows.

        Parameters
        ----------
        X, y : table and ndarray
            Training rows and targets.
        groups, sample_weight : ndarrays, default=None
            Groups that stay in one fold, and weights for the model.
        methods : sequence of str, default=()
            Methods of the model whose outputs are returned as `answers`.
        opinions : bool, default=False
            Whether the outputs of the other models in `SecondOpinion` are returned too.
        inner : collection of str, default=None
            Indicators whose columns are also computed for the rows of a single split's model, held out once more.
        twice : bool, default=False
            Whether this is done with several splits, too; folds then share nothing.
        deploy_all : bool, default=False
            Whether the deployed model learns from all rows with a single split, too.
        """
        copies = group_copies(inputs_of(self.estimator, X), groups)
        run = _CrossFitRun(self, X, y, groups, copies, sample_weight, deploy_all)
        run.shares = not twice
        panels = run.build([train for train, _ in run.splits])
        held_out = run.describe(run.splits, methods=methods, opinions=opinions)
        folds = []
        for (train, test), panel in zip(run.splits, panels, strict=True):
            outputs = None
            if inner is not None and (twice or len(run.splits) == 1):
                outputs = run.describe(run.splits_within(train), names=inner)
            folds.append(Fold(train, test, run.models[train.tobytes()], panel, outputs))
        rows, deployed = held_out.rows, run.deployed
        return CrossFit(
            y=y,
            groups=copies.groups,
            distinct=copies.distinct,
            sample_weight=sample_weight,
            seed=run.seed,
            model=run.models[deployed.tobytes()],
            panel=run.panels[deployed.tobytes()],
            reference_rows=run.reference_rows(deployed),
            folds=folds,
            held_out=held_out,
            truth=y[rows],
            weight=None if sample_weight is None else sample_weight[rows],
            units=units_of(rows, copies.groups),
            too_rare=run.too_rare,
        )

    def predict(
        self, X: Any, y: NDArray[Any], *, groups: Any = None, sample_weight: Floats | None = None
    ) -> tuple[Any, Ints, NDArray[Any]]:
        """Deployed model, positions of the held-out rows, and out-of-fold predictions; the model needs no scores."""
        copies = group_copies(inputs_of(self.estimator, X), groups)
        run = _CrossFitRun(self, X, y, groups, copies, sample_weight)
        run.fit_models([run.deployed, *(train for train, _ in run.splits)])
        rows = np.concatenate([test for _, test in run.splits])
        predictions = [
            predict_labels(run.models[train.tobytes()], take_rows(X, test))
            for train, test in run.splits
        ]
        order = np.argsort(rows, kind="stable")
        model = run.models[run.deployed.tobytes()]
        return model, rows[order], np.concatenate(predictions)[order]

    def build(self, parts: list[ModelRows], n_trained: int, like: Panel | None) -> list[Any]:
        """Panel of each part; `like` is that of the deployed model, which comes first if there is none yet."""
        return build_panels(
            self.indicators,
            parts,
            response=self.response,
            n_trained=n_trained,
            like=like,
            n_jobs=self.n_jobs,
        )

    def score(self, part: ModelRows, X: Any, n_trained: int, like: Panel) -> Floats:
        """Scores of rows by the model of a part; one that votes by neighbours reads the deployed panel's lists."""
        deployed = like.indexes[0]
        index = NeighborhoodIndex(
            part.model,
            part.X,
            part.y,
            n_neighbors=0 if deployed.voter is None else 1,
            response=self.response,
            n_trained=n_trained,
            like=deployed,
            positions=part.positions,
        )
        return np.concatenate(index.map(lambda near: near.scores, X, 0))


class _CrossFitRun:
    """Models and panels of parts of the training rows while a cross-fit runs, each built once.

    A part is an ascending array of row positions.
    """

    # Whether indicators may share models between folds.
    shares = True

    def __init__(
        self,
        fitter: CrossFitter,
        X: Any,
        y: NDArray[Any],
        groups: Any,
        copies: Copies,
        sample_weight: Floats | None,
        deploy_all: bool = False,
    ) -> None:
        self.fitter, self.X, self.y = fitter, X, y
        self.groups, self.sample_weight = copies.groups, sample_weight
        self.seed: int = check_random_state(fitter.random_state).randint(np.iinfo(np.int32).max)
        self.is_frozen = isinstance(fitter.estimator, FrozenEstimator)
        splitter = resolve_cv(
            fitter.cv,
            y,
            stratified=is_classifier(fitter.estimator),
            random_state=self.seed,
            refits=not self.is_frozen,
            groups=copies.groups,
        )
        is_own = fitter.cv is None or isinstance(fitter.cv, Integral)
        splits = splitter.split(X, y, copies.groups if is_own else groups)
        # A splitter of the user does not know of copies: they leave the training rows where one is held out.
        self.splits: list[Split] = [
            (np.sort(train[~np.isin(copies.sets[train], copies.sets[test])]), np.sort(test))
            for train, test in splits
        ]
        self.too_rare = never_held_out(splitter, self.splits, len(y))
        has_one = len(self.splits) == 1 and not deploy_all
        self.deployed: Ints = self.splits[0][0] if has_one else np.arange(len(y))
        self.models: dict[bytes, Any] = {}
        self.panels: dict[bytes, Panel] = {}

    def build(self, parts: Iterable[Ints]) -> list[Panel]:
        """Panels of parts, each built once; that of the deployed rows comes first, and the others are like it."""
        parts = list(parts)
        wanted = {part.tobytes(): part for part in parts}
        for part in wanted.values():
            if missing := self._missing(part):
                raise ValueError(
                    f"cv leaves a training fold without class {missing.pop()!r}: it may be stratified, "
                    "or have fewer folds."
                )
        first = self.deployed.tobytes()
        like = self.panels.get(first)
        needed = {first: self.deployed, **wanted}
        new = {key: part for key, part in needed.items() if key not in self.panels}
        self.fit_models(new.values())
        if new:
            rows = [self._panel_rows(part) for part in new.values()]
            built = self.fitter.build(rows, len(self.deployed), like)
            self.panels.update(zip(new, built, strict=True))
            if any(i.needs_held_out_scores for i in self.fitter.indicators.values()):
                self._set_scores(new.values())
        return [self.panels[part.tobytes()] for part in parts]

    def describe(
        self,
        splits: list[Split],
        names: Collection[str] | None = None,
        methods: Sequence[str] = (),
        *,
        opinions: bool = False,
    ) -> HeldOutOutputs:
        """Outputs and columns of the rows that each split holds out, by the panel of its training rows."""
        if not splits:
            raise ValueError(
                "A training fold has one row or group only, and rows of it must be held out again: there must be more."
            )
        panels = self.build(train for train, _ in splits)
        tasks = (
            delayed(panel)(take_rows(self.X, test), names, methods, opinions=opinions)
            for panel, (_, test) in zip(panels, splits, strict=True)
        )
        outputs = self._run(tasks, "describe")
        rows = np.concatenate([test for _, test in splits])
        numbers = np.concatenate([np.full(len(test), i) for i, (_, test) in enumerate(splits)])
        # If the folds are a partition, the rows come back in the order of the table.
        order = np.argsort(rows, kind="stable")
        scores, *blocks = join(outputs)
        by_name = [{name: block[name][order] for name in block} for block in blocks]
        return HeldOutOutputs(rows[order], numbers[order], scores[order], *by_name)

    def splits_within(self, part: Ints) -> list[Split]:
        """Splits restricted to the rows of a part; fresh folds of it where no split divides it."""
        if len(part) == len(self.y) and np.array_equal(part, np.arange(len(self.y))):
            return self.splits
        inner = [
            (np.intersect1d(train, part), np.intersect1d(test, part)) for train, test in self.splits
        ]
        inner = [(train, test) for train, test in inner if len(train) and len(test)]
        return inner or fresh_splits(part, self.groups, self.seed)

    def reference_rows(self, part: Ints) -> Ints:
        """Positions of the rows in which the panel of a part searches neighbours: all, or a random sample."""
        return part[self._sample(len(part), self.fitter.max_reference_rows)]

    def fit_models(self, parts: Iterable[Ints]) -> None:
        """Fit the models of the parts that have none yet."""
        new = {part.tobytes(): part for part in parts if part.tobytes() not in self.models}
        weight = self.sample_weight
        tasks = (
            delayed(fit_model)(
                self.fitter.estimator,
                take_rows(self.X, part),
                self.y[part],
                None if weight is None else weight[part],
            )
            for part in new.values()
        )
        self.models.update(zip(new, self._run(tasks, "fit"), strict=True))

    def _panel_rows(self, part: Ints) -> ModelRows:
        """Model and rows of a part, for its panel."""
        reference = self.reference_rows(part)
        learned, sampled = part, None
        if len(reference) < len(part):
            learned = part[self._sample(len(part), MOST_LEARNED_ROWS)]
            if any(indicator.learns for indicator in self.fitter.indicators.values()):
                sampled = take_rows(self.X, learned), self.y[learned]
        is_deployed = np.array_equal(part, self.deployed)
        folds = (i for i, (train, _) in enumerate(self.splits) if np.array_equal(train, part))
        whole = self.reference_rows(self.deployed)
        positions = np.searchsorted(whole, reference)
        is_part = np.array_equal(whole[np.minimum(positions, len(whole) - 1)], reference)
        return ModelRows(
            model=self.models[part.tobytes()],
            X=take_rows(self.X, reference),
            y=self.y[reference],
            learned=sampled,
            folds=None if self._folds is None else self._folds[learned],
            fold=next(folds, -1),
            positions=positions if is_part else None,
            counted=self._counted() if is_deployed else None,
        )

    @cached_property
    def _folds(self) -> Ints | None:
        """Number of the split that holds each row out, -1 if none does; None unless folds divide the rows."""
        if not self.shares or len(self.splits) < 2:
            return None
        folds = np.full(len(self.y), -1)
        for number, (train, test) in enumerate(self.splits):
            if len(train) + len(test) != len(self.y) or (folds[test] >= 0).any():
                return None
            folds[test] = number
        return folds

    def _counted(self) -> Mask | None:
        """Reference rows of the deployed panel that distances are measured to: as many as folds have on the mean."""
        n_rows = len(self.reference_rows(self.deployed))
        of_folds = [len(self.reference_rows(train)) for train, _ in self.splits]
        n_counted = round(float(np.mean(of_folds)))
        if n_counted >= n_rows:
            return None
        mask = np.zeros(n_rows, dtype=bool)
        mask[self._sample(n_rows, n_counted)] = True
        return mask

    def _set_scores(self, parts: Collection[Ints]) -> None:
        """Give the indexes of each part the out-of-fold scores of its rows, by models fitted within that part."""
        by_part = [
            [split for split in self.splits_within(part) if not self._missing(split[0])]
            for part in parts
        ]
        self.fit_models(train for splits in by_part for train, _ in splits)
        for part, splits in zip(parts, by_part, strict=True):
            scores = self._held_out_scores(part, splits)
            places = self._sample(len(part), self.fitter.max_reference_rows)
            self.panels[part.tobytes()].set_held_out_scores(scores[places])

    def _held_out_scores(self, part: Ints, splits: list[Split]) -> Floats:
        """Out-of-fold scores of the rows of a part, averaged over the splits; NaN where there is none."""
        rows, copies = np.unique(part, return_inverse=True)
        like, n_trained = self.panels[self.deployed.tobytes()], len(self.deployed)
        scored = [
            self.fitter.score(self._panel_rows(train), take_rows(self.X, test), n_trained, like)
            for train, test in splits
        ]
        n_columns = scored[0].shape[1] if scored else 1
        total, count = np.zeros((len(rows), n_columns)), np.zeros((len(rows), 1))
        for (_, test), scores in zip(splits, scored, strict=True):
            where = np.searchsorted(rows, test)
            total[where] += scores
            count[where] += 1
        means = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        return means[copies]

    def _sample(self, n_rows: int, most: int | None) -> Ints:
        """Numbers below `n_rows`: all, or a random sample of `most`, ascending."""
        if most is None or n_rows <= most:
            return np.arange(n_rows)
        draw = np.random.RandomState(self.seed)
        return np.sort(draw.choice(n_rows, most, replace=False))

    def _run(self, tasks: Iterable[Any], kind: str) -> list[Any]:
        """Results of tasks that run in parallel, each counted as a step of this kind."""
        results = Parallel(n_jobs=self.fitter.n_jobs, return_as="generator")(tasks)
        return list(counted(results, kind))

    def _missing(self, part: Ints) -> set[Any]:
        """Classes that no row of the part has, but other rows have; none for a frozen model or a regressor."""
        if self.is_frozen or not is_classifier(self.fitter.estimator):
            return set()
        return set(self.y.tolist()) - set(self.y[part].tolist())
