"""Learning rows and test rows that all attempts share."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from surefoot._models import predict_labels
from surefoot._tables import as_table, take_rows
from surefoot._typing import Floats, Ints
from surefoot.report.improvements._gain import (
    Gain,
    NotMeasurableError,
    describe,
    paired_gain,
)
from surefoot.report.improvements._models import transform_once
from surefoot.resampling import HoldoutSplit

HELD_OUT = 0.4
LEAST_LEARN, LEAST_TEST = 15, 10
LEAST_OF_A_CLASS = 5
LEAST_GROUPS = 4

# Smallest part of the learning rows that a model is fitted on.
SMALLEST_PART = 1 / 3

# Most draws of a division until both sides have two classes.
MOST_DRAWS = 10

# More folds for few rows; regressors get few folds, because each pair of folds needs another fit.
FEW_ROWS, MANY_FOLDS, FEW_FOLDS = 1000, 5, 3

# A gain below this share of the model's error is not worth the change.
RELEVANT_SHARE = 0.1


class Table(NamedTuple):
    """A model, and labelled rows; `labels` are the targets if these are classes, else None."""

    estimator: Any
    X: Any
    y: NDArray[Any]
    labels: NDArray[Any] | None
    groups: NDArray[Any] | None

    def rows(self, part: Ints) -> tuple[Any, NDArray[Any]]:
        """Rows and targets of a part."""
        return take_rows(self.X, part), self.y[part]

    def groups_of(self, part: Ints) -> NDArray[Any] | None:
        """Groups of the rows of a part, if there are any."""
        return None if self.groups is None else self.groups[part]

    def take(self, part: Ints) -> "Table":
        """Table of a part of the rows."""
        X, y = self.rows(part)
        labels = None if self.labels is None else y
        return Table(self.estimator, X, y, labels, self.groups_of(part))

    def fitted(self, part: Ints) -> Any:
        """Clone of the model fitted on a part of the rows, or the frozen model itself."""
        if isinstance(self.estimator, FrozenEstimator):
            return self.estimator
        return clone(self.estimator).fit(*self.rows(part))

    def divide(
        self, part: Ints, share: float, random: Any, *, whole_groups: bool = True
    ) -> tuple[Ints, Ints]:
        """Two random parts of `part`, the second with the share `share` of its rows; both have two classes."""
        labels = None if self.labels is None else self.labels[part]
        groups = self.groups_of(part) if whole_groups else None
        for _ in range(MOST_DRAWS):  # whole groups may lack a class by chance
            [sides] = HoldoutSplit(share, random_state=random).split(part, labels, groups)
            if labels is None or all(len(np.unique(labels[side])) > 1 for side in sides):
                return part[sides[0]], part[sides[1]]
        raise NotMeasurableError(
            "Fewer than two classes have enough rows, or groups, to fit on some and measure on others."
        )


class Costs(NamedTuple):
    """Cost matrix, truth by prediction, in the order of `classes`."""

    classes: NDArray[Any]
    matrix: Floats

    def of(self, truth: NDArray[Any], predictions: NDArray[Any]) -> Floats:
        """Cost of each prediction."""
        codes = (np.searchsorted(self.classes, labels) for labels in (truth, predictions))
        return self.matrix[tuple(codes)]


class Trial:
    """A model, learning rows and test rows, drawn once for all attempts.

    The transformers of a pipeline are fitted once, on the learning rows, if they do not depend on the targets.

    Parameters
    ----------
    estimator : estimator
        The model; fitted on the learning rows, or used as it is if frozen.
    X, y : table and targets
        All labelled rows; of a frozen model, rows that are new to it.
    task : {"classification", "regression"}
        Kind of the targets: classes or numbers.
    groups : array-like or None
        Rows of one group are either learned from or tested on.
    max_rows : int
        Most learning rows and test rows together.
    random_state : int, RandomState or None
        Seed of the drawn rows.
    n_jobs : int or None
        Parallel fits.
    costs : Costs or None
        Costs of mistakes; None counts each as 1.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        task: str,
        groups: Any,
        max_rows: int,
        random_state: Any,
        n_jobs: int | None,
        costs: Costs | None = None,
    ) -> None:
        self.costs = costs
        self.task, self.classifies, self.n_jobs = task, task == "classification", n_jobs
        self.frozen = isinstance(estimator, FrozenEstimator)
        self.random = check_random_state(random_state)
        self.seed = int(self.random.randint(np.iinfo(np.int32).max))
        targets: NDArray[Any] = np.asarray(y)
        labels = targets if self.classifies else None
        groups = None if groups is None else np.asarray(groups)
        self.everything = Table(estimator, as_table(X), targets, labels, groups)
        self.drawn = self._draw(max_rows)
        raw = self.everything.take(self.drawn)
        self.learn, self.test = self._split(raw)
        self.table = raw._replace(
            **transform_once(estimator, raw.X, raw.y, self.learn, self.random)
        )
        self.folds = self._fold()
        self._check_smallest_part()

    @cached_property
    def test_rows(self) -> Any:
        """Test rows."""
        return self.table.rows(self.test)[0]

    @property
    def test_targets(self) -> NDArray[Any]:
        """Targets of the test rows."""
        return self.table.y[self.test]

    @cached_property
    def model(self) -> Any:
        """The model, fitted on the learning rows."""
        return self.table.fitted(self.learn)

    @cached_property
    def loss(self) -> Floats:
        """Losses of the model on the test rows."""
        return self.loss_of(self.model)

    @property
    def relevant(self) -> float:
        """Smallest decrease of the loss that is worth a change."""
        return RELEVANT_SHARE * float(self.loss.mean())

    @property
    def parted(self) -> str:
        """Name of what bias and variance are parts of, whatever mistakes cost."""
        return "error" if self.costs is None else "error rate"

    def loss_of(self, model: Any) -> Floats:
        """Losses of a model on the test rows: 1 if wrong, or the size of the error."""
        return self.cost(predict_labels(model, self.test_rows))

    def cost(self, predictions: NDArray[Any]) -> Floats:
        """Losses of predictions for the test rows."""
        if self.costs is not None:
            return self.costs.of(self.test_targets, predictions)
        if self.classifies:
            return np.asarray(predictions != self.test_targets, dtype=np.float64)
        return np.abs(predictions.astype(np.float64) - self.test_targets.astype(np.float64))

    def gain(self, before: Floats, after: Floats, *, shared: bool = False) -> Gain:
        """Gain of a change, from the losses on the test rows before and after it."""
        units = self.table.groups_of(self.test)
        counts = self.classifies and self.costs is None
        return paired_gain(before, after, units, counts=counts, shared=shared)

    @property
    def size_note(self) -> str:
        """Sentence that says how many rows were learned from, if not all were; else empty."""
        n_all = len(self.everything.y)
        if n_all == len(self.drawn):
            return ""
        return f" This was measured with {len(self.learn):,} training rows; with all {n_all:,} it may differ."

    def describe(self, gain: Gain, sentence: str) -> dict[str, Any]:
        """Improvement as a dict of the report, from a gain in the loss."""
        unit = "share of rows" if self.classifies else "unit of the target"
        unit = unit if self.costs is None else "mean cost"
        of = "error" if self.costs is None else "mean cost"
        why_not = f"Even at best, the gain is below a tenth of its {of}."
        if self.relevant == 0:
            why_not = f"It made no mistake on the {len(self.test):,} test rows."
        n_rows = len(self.test)
        return describe(gain, self.relevant, unit, sentence, why_not=why_not, n_rows=n_rows)

    def change(self, gain: Gain) -> str:
        """Words of a sentence that say what a gain in the loss changes for the user."""
        better = gain.value >= 0
        if self.costs is not None:
            size, interval = gain.words()
            return f"cost {size} {'less' if better else 'more'} on average {interval}"
        if not self.classifies:
            size, interval = gain.words()
            return f"be off by {size} {'less' if better else 'more'} {interval}"
        size, interval = Gain(*(100 * figure for figure in gain)).words(digits=1)
        if size == "0.0":
            return f"be wrong as often as now {interval[:-1]} percentage points less)"
        return (
            f"be wrong {'less' if better else 'more'} often, by {size} percentage points {interval}"
        )

    def grow(self, n_pairs: int, n_large_pairs: int) -> tuple[int, Floats, Floats]:
        """Number of all rows that can be learned from, losses with halves of them, and losses with all of them."""
        if len(self.drawn) == len(self.everything.y):
            halves = self._halves(self.table, self.learn, n_pairs)
            losses = [self.loss_of(self.table.fitted(half)) for half in halves]
            return len(self.learn), np.stack(losses), self.loss
        table, test = self.everything, self.drawn[self.test]
        may_learn = np.ones(len(table.y), dtype=bool)
        may_learn[test] = False
        if table.groups is not None:
            may_learn = ~np.isin(table.groups, table.groups[test])
        rows, (X_test, _) = np.flatnonzero(may_learn), table.rows(test)
        parts = [*self._halves(table, rows, n_large_pairs), rows]
        costs = [self.cost(predict_labels(table.fitted(part), X_test)) for part in parts]
        return len(rows), np.stack(costs[:-1]), costs[-1]

    def _halves(self, table: Table, part: Ints, n_pairs: int) -> list[Ints]:
        pairs = [table.divide(part, 0.5, self.random) for _ in range(n_pairs)]
        return [half for pair in pairs for half in pair]

    def _draw(self, max_rows: int) -> Ints:
        rows: Ints = np.arange(len(self.everything.y))
        if len(rows) <= max_rows:
            return rows
        splitter = HoldoutSplit(max_rows / len(rows), random_state=self.random)
        [(_, drawn)] = splitter.split(rows, self.everything.labels)
        return drawn

    def _split(self, table: Table) -> tuple[Ints, Ints]:
        """Learning rows, without classes that are too rare to learn, and test rows."""
        n_rows = len(table.y)
        if n_rows < LEAST_LEARN + LEAST_TEST:
            raise NotMeasurableError(f"{n_rows} rows are too few to fit a model and to measure it.")
        if table.groups is not None and len(np.unique(table.groups)) < LEAST_GROUPS:
            raise NotMeasurableError(
                f"Fewer than {LEAST_GROUPS} groups are too few to fit a model and to measure it."
            )
        learn, test = table.divide(np.arange(n_rows), HELD_OUT, self.random)
        if table.labels is not None:
            known, counts = np.unique(table.labels[learn], return_counts=True)
            common = known[counts >= LEAST_OF_A_CLASS]
            if len(common) < 2:
                raise NotMeasurableError(
                    f"Fewer than two classes have the {LEAST_OF_A_CLASS} rows that fitting needs here."
                )
            learn = learn[np.isin(table.labels[learn], common)]
        return learn, test

    def _fold(self) -> list[tuple[Ints, Ints]]:
        """Folds of the learning rows, which all attempts with cross-fitting share."""
        labels, groups = self.table.y[self.learn], self.table.groups_of(self.learn)
        n_folds = MANY_FOLDS if self.classifies and len(self.learn) <= FEW_ROWS else FEW_FOLDS
        if groups is None:
            kind = StratifiedKFold if self.classifies else KFold
        else:
            kind = StratifiedGroupKFold if self.classifies else GroupKFold
            n_folds = min(n_folds, len(np.unique(groups)))
        if n_folds < 2:
            raise NotMeasurableError("All training rows are of one group.")
        splitter = kind(n_folds, shuffle=True, random_state=self.seed)
        folds = list(splitter.split(self.learn, labels, groups))
        known = len(np.unique(labels))
        if self.classifies and any(len(np.unique(labels[train])) < known for train, _ in folds):
            raise NotMeasurableError(
                "A class occurs in too few groups to fit on some and measure on others."
            )
        return folds

    def _check_smallest_part(self) -> None:
        """Raise an error if the model cannot be fitted on the smallest part of the rows."""
        if self.frozen:
            return
        part, _ = self.table.divide(self.learn, 1 - SMALLEST_PART, self.random, whole_groups=False)
        try:
            self.table.fitted(part).predict(self.test_rows)
        except ValueError as error:
            raise NotMeasurableError(
                f"The model cannot be fitted on {len(part)} rows, which the measurement needs: {error}"
            ) from error
