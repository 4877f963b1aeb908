"""Out-of-fold scores and columns: of training rows, from models and neighbours that never saw them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from surefoot._crossfit._cross_fit import CrossFit
from surefoot._crossfit._known_series import known_series
from surefoot._crossfit._panel import Panel, join, named
from surefoot._crossfit._sharing import fold_of_each_row
from surefoot._models import fit_model
from surefoot._parallel import counted
from surefoot._search import KnownLists, knowing
from surefoot._splits import fresh_splits, never_held_out, resolve_cv
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Mask, Split
from surefoot.indicators import Indicator, SecondOpinion
from surefoot.neighborhoods import NeighborhoodIndex

# Most rows on which indicators fit models of their own; of a larger part a random sample is taken.
MOST_LEARNED_ROWS = 50_000


class CrossFitter:
    """Models and panels for parts of the training rows, each fitted once, and out-of-fold outputs from them.

    A part is an ascending array of row positions. Out-of-fold outputs of a row come from a model
    that was not trained on it, and from neighbours among that model's training rows. Scores of a
    neighbour (`needs_held_out_scores`) come from models that saw neither the neighbour nor the row: if
    the folds are a partition, from the models with two folds left out, which both folds share.

    Parameters
    ----------
    indicators : mapping of str to Indicator, or sequence of Indicator
        Indicators whose columns are computed for each row.
    estimator : estimator
        Fitted on parts of the rows; a frozen one is used as it is, and must not have seen the rows.
    X, y : table and ndarray
        The training rows.
    cv, groups, sample_weight
        Splitter or number of folds, groups that stay in one fold, and weights for the model.
    response : str, default="auto"
        Method of the model that the scores are made of.
    max_reference_rows : int, default=None
        Most rows in which neighbours are searched; of a larger part a random sample is taken.
    random_state : int, RandomState or None, default=0
        Seed of that sample, and of the folds.
    n_jobs : int, default=None
        Parallel fits and folds.
    """

    # Class of the object that computes scores and columns around the model of a part.
    panel_type: Any = Panel

    def __init__(
        self,
        indicators: Mapping[str, Indicator] | Sequence[Indicator],
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        *,
        cv: Any,
        groups: Any = None,
        sample_weight: Floats | None = None,
        response: str = "auto",
        max_reference_rows: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.indicators = named(indicators)
        self.estimator = estimator
        self.X, self.y = X, y
        self.groups = None if groups is None else np.asarray(groups)
        self.sample_weight = sample_weight
        self.response = response
        self.max_reference_rows = max_reference_rows
        self.n_jobs = n_jobs
        self.seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        self._frozen = isinstance(estimator, FrozenEstimator)
        splitter = resolve_cv(
            cv,
            y,
            stratified=is_classifier(estimator),
            random_state=self.seed,
            refits=not self._frozen,
            groups=groups,
        )
        self.splits: list[Split] = [
            (np.sort(train), np.sort(test)) for train, test in splitter.split(X, y, groups)
        ]
        self.too_rare = never_held_out(splitter, self.splits, len(y))
        # Fold of each row, while the trees that the folds share are fitted; and these trees, by indicator.
        self._folds: Ints | None = None
        self._shared: dict[str, tuple[Any, NeighborhoodIndex]] = {}
        self._models: dict[bytes, Any] = {}
        self._panels: dict[bytes, Panel] = {}

    @cached_property
    def everything(self) -> Ints:
        """Positions of all rows."""
        return np.arange(len(self.y))

    @property
    def deployed(self) -> Ints:
        """Training rows of the deployed model: all rows, or with a single split its training rows."""
        return self.splits[0][0] if len(self.splits) == 1 else self.everything

    def held_out(
        self,
        part: Ints | None = None,
        names: Collection[str] | None = None,
        methods: Sequence[str] = (),
        *,
        opinions: bool = False,
    ) -> CrossFit:
        """Out-of-fold scores, columns of the named indicators, and answers of the models, for the rows of a part."""
        splits = self.splits_within(self.everything if part is None else part)
        if not splits:
            raise ValueError(
                "A training fold has one row or group only, and rows of it must be held out again: there must be more."
            )
        self._check_classes([train for train, _ in splits])
        panels = self._build_panels([train for train, _ in splits])
        outputs = self._run(
            (
                delayed(panel)(take_rows(self.X, test), names, methods, opinions=opinions)
                for panel, (_, test) in zip(panels, splits, strict=True)
            ),
            "describe",
        )
        rows = np.concatenate([test for _, test in splits])
        split_numbers = np.concatenate(
            [np.full(len(test), i) for i, (_, test) in enumerate(splits)]
        )
        # If the folds are a partition, the rows come back in the order of the table.
        order = np.argsort(rows, kind="stable")
        scores, *blocks = join(outputs)
        by_name = [{name: block[name][order] for name in block} for block in blocks]
        return CrossFit(rows[order], split_numbers[order], scores[order], *by_name)

    def held_out_predictions(self, method: str = "predict") -> tuple[Ints, NDArray[Any]]:
        """Positions of the held-out rows, in the order of `held_out`, and the models' out-of-fold predictions."""
        rows = np.concatenate([test for _, test in self.splits])
        predictions = [
            np.asarray(getattr(self.model(train), method)(take_rows(self.X, test)))
            for train, test in self.splits
        ]
        order = np.argsort(rows, kind="stable")
        return rows[order], np.concatenate(predictions)[order]

    def panel(self, part: Ints | None = None) -> Panel:
        """Panel of the model of a part; by default of the deployed model, for new rows."""
        return self._build_panels([self.deployed if part is None else part])[0]

    def deployed_panel(self) -> Panel:
        """Panel of the deployed model; those of the folds, built later, get its columns and share its trees."""
        if is_classifier(self.estimator):
            self._folds = fold_of_each_row(self.splits, len(self.y))
        panel = self.panel()
        self._folds = None
        self._shared = {
            name: (shared, indicator.index_)
            for name, indicator in panel.indicators.items()
            if isinstance(indicator, SecondOpinion) and (shared := indicator.take_shared())
        }
        self.indicators = {
            name: indicator.laid_out_like(panel.indicators[name])
            for name, indicator in self.indicators.items()
        }
        return panel

    def model(self, part: Ints) -> Any:
        """Model of a part, fitted at the first request."""
        self._fit([part])
        return self._models[part.tobytes()]

    def scorer(self, part: Ints) -> Panel:
        """Panel without indicators, which only computes scores."""
        rows = self._rows(self.reference_rows(part))
        return self.panel_type(
            {}, self.model(part), *rows, response=self.response, n_trained=len(self.deployed)
        )

    def units(self, rows: Ints) -> NDArray[Any] | None:
        """Group of each held-out row, or its position where rows were held out twice; None if rows are independent."""
        if self.groups is not None:
            return self.groups[rows]
        return rows if len(np.unique(rows)) < len(rows) else None

    def splits_within(self, part: Ints) -> list[Split]:
        """Splits restricted to the rows of a part; fresh folds of it where no split divides it."""
        if np.array_equal(part, self.everything):
            return self.splits
        inner = [
            (np.intersect1d(train, part), np.intersect1d(test, part)) for train, test in self.splits
        ]
        inner = [(train, test) for train, test in inner if len(train) and len(test)]
        return inner or fresh_splits(part, self.groups, self.seed)

    def held_out_scores(self, part: Ints) -> Floats:
        """Out-of-fold scores of the rows of a part, by models fitted within that part; NaN where there is none."""
        splits = [split for split in self.splits_within(part) if not self._missing(split[0])]
        self._fit([train for train, _ in splits])
        rows, copies = np.unique(part, return_inverse=True)
        total, count = np.zeros((len(rows), self._n_scores())), np.zeros((len(rows), 1))
        for train, test in splits:
            where = np.searchsorted(rows, test)
            total[where] += self.scorer(train)(take_rows(self.X, test)).scores
            count[where] += 1
        means = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        return means[copies]

    def _needed_scores(self, part: Ints) -> Floats | None:
        """Out-of-fold scores of the rows of a part, or None if no indicator needs them."""
        needed = any(i.needs_held_out_scores for i in self.indicators.values())
        return self.held_out_scores(part) if needed else None

    def _build_panels(self, parts: list[Ints]) -> list[Panel]:
        """Panels of the parts, each built once."""
        new = {part.tobytes(): part for part in parts if part.tobytes() not in self._panels}
        deployed = self.deployed.tobytes()
        if deployed not in self._panels and list(new) != [deployed]:
            # The panel of the deployed model comes first: all others describe rows in its space.
            self._fit([self.deployed, *new.values()])
            self._build_panels([self.deployed])
            new.pop(deployed, None)
        like = self._panels.get(deployed)
        self._fit(list(new.values()))
        held_out_scores = [self._needed_scores(part) for part in new.values()]
        built = self._run(
            (
                delayed(self.panel_type)(
                    self.indicators,
                    self._models[key],
                    *self._rows(self.reference_rows(part)),
                    response=self.response,
                    held_out_scores=None if scores is None else scores[self._kept(part)],
                    **self._learning(part),
                    **self._shared_by(part),
                    n_trained=len(self.deployed),
                    like=like,
                    counted=self._counted(part) if key == deployed else None,
                )
                for (key, part), scores in zip(new.items(), held_out_scores, strict=True)
            ),
            "search",
        )
        self._panels.update(zip(new, built, strict=True))
        return [self._panels[part.tobytes()] for part in parts]

    def _counted(self, part: Ints) -> Mask | None:
        """Reference rows of the deployed panel that distances are measured to: as many as folds have on the mean."""
        n_rows = len(self._kept(part))
        n_counted = round(float(np.mean([len(self._kept(train)) for train, _ in self.splits])))
        if n_counted >= n_rows:
            return None
        mask = np.zeros(n_rows, dtype=bool)
        mask[self._sample(n_rows, n_counted)] = True
        return mask

    def _learning(self, part: Ints) -> dict[str, Any]:
        """Option of a panel: rows on which indicators fit models, where these are not its reference rows."""
        learns = any(indicator.learns for indicator in self.indicators.values())
        if not learns:
            return {}
        sampled = len(self._kept(part)) < len(part)
        learned = part[self._sample(len(part), MOST_LEARNED_ROWS)] if sampled else part
        learning = {"learning": self._rows(learned)} if sampled else {}
        return learning if self._folds is None else {**learning, "folds": self._folds[learned]}

    def _shared_by(self, part: Ints) -> dict[str, Any]:
        """Option of a panel: by indicator, trees that have not seen the fold outside of the part."""
        if not self._shared:
            return {}
        number = next(
            (i for i, (train, _) in enumerate(self.splits) if np.array_equal(train, part)), None
        )
        if number is None:
            return {}
        trees = {
            name: (shared.without(number), index) for name, (shared, index) in self._shared.items()
        }
        return {"trees": trees}

    def reference_rows(self, part: Ints | None = None) -> Ints:
        """Positions of the rows in which the panel of a part searches neighbours."""
        part = self.deployed if part is None else part
        return part[self._kept(part)]

    def _kept(self, part: Ints) -> Ints:
        """Places within a part of its reference rows: all, or a random sample of `max_reference_rows`."""
        return self._sample(len(part), self.max_reference_rows)

    def _sample(self, n_rows: int, most: int | None) -> Ints:
        """Numbers below `n_rows`: all, or a random sample of `most`, ascending."""
        if most is None or n_rows <= most:
            return np.arange(n_rows)
        draw = np.random.RandomState(self.seed)
        return np.sort(draw.choice(n_rows, most, replace=False))

    def _rows(self, part: Ints) -> tuple[Any, NDArray[Any]]:
        return take_rows(self.X, part), self.y[part]

    def _run(self, tasks: Iterable[Any], kind: str) -> list[Any]:
        """Results of tasks that run in parallel, each counted as a step of this kind."""
        with knowing(self._known):
            results = Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks)
            return list(counted(results, kind))

    @cached_property
    def _known(self) -> KnownLists | None:
        """Neighbours of all training series, for a model that compares series."""
        given = self.estimator, self.X, self.indicators.values(), self.splits, self.n_jobs
        return known_series(*given)

    def _fit(self, parts: list[Ints]) -> None:
        """Fit the models of the parts that have none yet."""
        new = {part.tobytes(): part for part in parts if part.tobytes() not in self._models}
        weights = [None if (w := self.sample_weight) is None else w[part] for part in new.values()]
        fitted = self._run(
            (
                delayed(fit_model)(self.estimator, *self._rows(part), weight)
                for part, weight in zip(new.values(), weights, strict=True)
            ),
            "fit",
        )
        self._models.update(zip(new, fitted, strict=True))

    @cached_property
    def _labels(self) -> set[Any]:
        return set(self.y.tolist())

    def _missing(self, part: Ints) -> set[Any]:
        """Classes that no row of the part has."""
        if self._frozen or not is_classifier(self.estimator):
            return set()
        return self._labels - set(self.y[part].tolist())

    def _check_classes(self, parts: list[Ints]) -> None:
        for part in parts:
            if missing := self._missing(part):
                raise ValueError(
                    f"cv leaves a training fold without class {missing.pop()!r}: it may be stratified, "
                    "or have fewer folds."
                )

    def _n_scores(self) -> int:
        """Columns of the scores: one for a regressor or two classes, else one per class."""
        if not is_classifier(self.estimator):
            return 1
        n_classes = len(self.estimator.classes_ if self._frozen else self._labels)
        return 1 if n_classes == 2 else n_classes
