"""A training table, and how it is divided: into folds, copies of a row, and samples of its rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from surefoot._copies import Copies, group_copies
from surefoot._models import inputs_of
from surefoot._splits import fresh_splits, mean_held_out, never_held_out, resolve_cv
from surefoot._typing import Floats, Ints, Mask, Split

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
