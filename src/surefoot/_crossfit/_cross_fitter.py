"""Scores and columns of training rows from models and neighbours that never saw them."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import check_random_state

from surefoot._crossfit._panel import Panel, named
from surefoot._models import fit_model
from surefoot._splits import resolve_cv
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints, Split
from surefoot.indicators import Indicator

# Folds within a part of the rows that the given splits do not divide any further.
FRESH_FOLDS = 5


class CrossFit(NamedTuple):
    """Scores, columns and answers of held-out rows, by models and neighbours of the other folds.

    `rows` are positions in the training table, in order: each once if the folds are a partition, else
    as often as it was held out; `splits` says by which split. `scores` (the model's, like log-odds),
    `columns` (by indicator name) and `answers` (of the model, by method) are aligned with them.
    """

    rows: Ints
    splits: Ints
    scores: Floats
    columns: dict[str, Floats]
    answers: dict[str, NDArray[Any]]


class CrossFitter:
    """A model and its neighbours for every part of the training rows, each fitted once.

    A part is an ascending array of row positions. Whatever is said of a row of a part comes from a
    model, and from neighbours, that the row is not among; and whatever an indicator learns of a
    neighbour (`needs_held_out_scores`) from models that saw neither the neighbour nor the row.
    With folds that are a partition these are the models with two folds left out, shared by both.

    Parameters
    ----------
    indicators : mapping of str to Indicator, or sequence of Indicator
        What to say of each row.
    estimator : estimator
        Fitted on parts of the rows; a frozen one is used as it is, and the rows must be new to it.
    X, y : table and ndarray
        The training rows.
    cv, groups, sample_weight
        How rows are held out, what stays together, and weights for the model.
    response : str, default="auto"
        What the scores are made of.
    max_reference_rows : int, default=None
        Most rows to look for neighbours in; a random sample of a larger part.
    random_state : int, RandomState or None, default=0
        Draws that sample, and fresh folds.
    n_jobs : int, default=None
        Parallel fits and folds.
    """

    # What describes rows around the model of a part.
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
            cv, y, stratified=is_classifier(estimator), refits=not self._frozen, groups=groups
        )
        self.splits: list[Split] = [
            (np.sort(train), np.sort(test)) for train, test in splitter.split(X, y, groups)
        ]
        self._models: dict[bytes, Any] = {}
        self._panels: dict[bytes, Panel] = {}

    @cached_property
    def everything(self) -> Ints:
        """The part that is all rows."""
        return np.arange(len(self.y))

    @property
    def deployed(self) -> Ints:
        """Training rows of the deployed model: all, but with a single split those that it left in."""
        return self.splits[0][0] if len(self.splits) == 1 else self.everything

    def held_out(
        self,
        part: Ints | None = None,
        names: Collection[str] | None = None,
        methods: Sequence[str] = (),
    ) -> CrossFit:
        """Out-of-fold scores, columns of the named indicators and answers for the rows of a part."""
        splits = self.splits_within(self.everything if part is None else part)
        if not splits:
            raise ValueError(
                "A training fold has one row or group only, and rows of it must be held out again: there must be more."
            )
        self._check_classes([train for train, _ in splits])
        panels = self._build_panels([train for train, _ in splits])
        outputs = Parallel(n_jobs=self.n_jobs)(
            delayed(panel)(take_rows(self.X, test), names, methods)
            for panel, (_, test) in zip(panels, splits, strict=True)
        )
        rows = np.concatenate([test for _, test in splits])
        numbers = np.concatenate([np.full(len(test), i) for i, (_, test) in enumerate(splits)])
        # A partition comes back in the order of the table, which is then its own reference.
        order = np.argsort(rows, kind="stable")
        return CrossFit(
            rows[order],
            numbers[order],
            np.concatenate([output.scores for output in outputs])[order],
            *(
                {key: np.concatenate([v[key] for v in values])[order] for key in values[0]}
                for values in (
                    [output.columns for output in outputs],
                    [output.answers for output in outputs],
                )
            ),
        )

    def held_out_predictions(self, method: str = "predict") -> tuple[Ints, NDArray[Any]]:
        """Held-out rows, in the order of `held_out`, and the answers of the models that did not see them."""
        rows = np.concatenate([test for _, test in self.splits])
        answers = [
            np.asarray(getattr(self.model(train), method)(take_rows(self.X, test)))
            for train, test in self.splits
        ]
        order = np.argsort(rows, kind="stable")
        return rows[order], np.concatenate(answers)[order]

    def panel(self, part: Ints | None = None) -> Panel:
        """The indicators around the model of a part; of all rows that a new row may meet by default."""
        return self._build_panels([self.deployed if part is None else part])[0]

    def lay_out_like(self, panel: Panel) -> None:
        """Give all panels that are still to be built the columns of this one."""
        self.indicators = {
            name: indicator.laid_out_like(panel.indicators[name])
            for name, indicator in self.indicators.items()
        }

    def model(self, part: Ints) -> Any:
        """The model of a part, fitted when it is first asked for."""
        self._fit([part])
        return self._models[part.tobytes()]

    def scorer(self, part: Ints) -> Panel:
        """A panel without indicators, which only scores."""
        rows = self._rows(
            self.reference_rows(part)
        )  # as many as in the part's panel: it scores alike
        return self.panel_type({}, self.model(part), *rows, response=self.response)

    def units(self, rows: Ints) -> NDArray[Any] | None:
        """What must stay together of held-out rows: groups, or copies of a row that was held out twice."""
        if self.groups is not None:
            return self.groups[rows]
        return rows if len(np.unique(rows)) < len(rows) else None

    def splits_within(self, part: Ints) -> list[Split]:
        """The splits as far as they divide the part; where none does, fresh folds of it."""
        if np.array_equal(part, self.everything):
            return self.splits
        inner = [
            (np.intersect1d(train, part), np.intersect1d(test, part)) for train, test in self.splits
        ]
        inner = [(train, test) for train, test in inner if len(train) and len(test)]
        return inner or self._fresh_splits(part)

    def _fresh_splits(self, part: Ints) -> list[Split]:
        units = part if self.groups is None else self.groups[part]
        n_units = len(np.unique(units))
        if n_units < 2:
            return []
        folds = min(FRESH_FOLDS, n_units)
        if n_units < len(part):  # groups, or copies of a row in a bootstrap, stay together
            splits = GroupKFold(folds).split(part, groups=units)
        else:
            splits = KFold(folds, shuffle=True, random_state=self.seed).split(part)
        return [(part[train], part[test]) for train, test in splits]

    def held_out_scores(self, part: Ints) -> Floats:
        """Scores of the rows of a part by models of the rest of it; NaN where there is none."""
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

    def _known_scores(self, part: Ints) -> Floats | None:
        needed = any(i.needs_held_out_scores for i in self.indicators.values())
        return self.held_out_scores(part) if needed else None

    def _build_panels(self, parts: list[Ints]) -> list[Panel]:
        """The panels of the parts, each built once."""
        new = {part.tobytes(): part for part in parts if part.tobytes() not in self._panels}
        self._fit(list(new.values()))
        known = [self._known_scores(part) for part in new.values()]
        built = Parallel(n_jobs=self.n_jobs)(
            delayed(_build_panel)(
                self.panel_type, self.indicators, self._models[key], *settings, self.response
            )
            for (key, part), scores in zip(new.items(), known, strict=True)
            if (settings := self._reference(part, scores))
        )
        self._panels.update(zip(new, built, strict=True))
        return [self._panels[part.tobytes()] for part in parts]

    def _reference(self, part: Ints, scores: Floats | None) -> tuple[Any, NDArray[Any], Any]:
        """Rows of a part to look for neighbours in, with their targets and held-out scores."""
        kept = self._kept(part)
        return *self._rows(part[kept]), None if scores is None else scores[kept]

    def reference_rows(self, part: Ints | None = None) -> Ints:
        """Positions of the rows that neighbours of a part's panel are looked for in."""
        part = self.deployed if part is None else part
        return part[self._kept(part)]

    def _kept(self, part: Ints) -> Ints:
        if self.max_reference_rows is None or len(part) <= self.max_reference_rows:
            return np.arange(len(part))
        draw = np.random.RandomState(self.seed)
        return np.sort(draw.choice(len(part), self.max_reference_rows, replace=False))

    def _rows(self, part: Ints) -> tuple[Any, NDArray[Any]]:
        return take_rows(self.X, part), self.y[part]

    def _fit(self, parts: list[Ints]) -> None:
        """Fit the models of those parts that have none yet."""
        new = {part.tobytes(): part for part in parts if part.tobytes() not in self._models}
        weights = [None if (w := self.sample_weight) is None else w[part] for part in new.values()]
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_model)(self.estimator, *self._rows(part), weight)
            for part, weight in zip(new.values(), weights, strict=True)
        )
        self._models.update(zip(new, fitted, strict=True))

    @cached_property
    def _labels(self) -> set[Any]:
        return set(self.y.tolist())

    def _missing(self, part: Ints) -> set[Any]:
        """Classes that a model of the part would not know."""
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
        if not is_classifier(self.estimator):
            return 1
        n_classes = len(self.estimator.classes_ if self._frozen else self._labels)
        return 1 if n_classes == 2 else n_classes


def cross_fit(
    indicators: Sequence[Indicator],
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    *,
    cv: Any,
    groups: Any = None,
    sample_weight: Any = None,
    response: str = "auto",
    n_jobs: int | None = None,
) -> CrossFit:
    """Out-of-fold scores and columns of every row, by models and neighbours of the other folds."""
    return CrossFitter(
        indicators,
        estimator,
        X,
        y,
        cv=cv,
        groups=groups,
        sample_weight=sample_weight,
        response=response,
        n_jobs=n_jobs,
    ).held_out()


def _build_panel(
    panel_type: Any,
    indicators: Mapping[str, Indicator],
    model: Any,
    X: Any,
    y: Any,
    scores: Any,
    response: str,
) -> Panel:
    return panel_type(indicators, model, X, y, response=response, held_out_scores=scores)
