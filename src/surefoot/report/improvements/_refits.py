"""Gains that take further fits, on parts of the training rows of a fold: more rows, chosen labels, averaging."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from surefoot._models import fit_model, predict_labels
from surefoot._parallel import step_done
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot._words import number
from surefoot.active_learning import query
from surefoot.report._assessment import Assessment
from surefoot.report.improvements._gain import Gain, NotMeasurableError, relative_gain
from surefoot.report.improvements._measured import Improvement, amount, measured
from surefoot.resampling import HoldoutSplit

# Folds whose training rows are fitted on again in parts: one for a large table, where a fit takes long and one fold has
# many rows to test on.
N_FOLDS, LARGE, N_LARGE_FOLDS = 2, 2000, 1

# Labels to add, as a share of the first ones.
MORE_LABELS = 0.25

# Fewest rows of a half to fit on.
LEAST_ROWS = 20


def n_refits(n_rows: int) -> int:
    """Number of further fits for a table of this many rows."""
    return 4 * n_refitted_folds(n_rows)


def n_refitted_folds(n_rows: int) -> int:
    """Number of folds whose training rows are fitted on again in parts."""
    return N_FOLDS if n_rows <= LARGE else N_LARGE_FOLDS


class FoldFits(NamedTuple):
    """Losses of further fits on the held-out rows of one fold; `places` are their places among all held-out rows."""

    places: Ints
    halves: list[Floats]
    averaged: Floats
    asked: Floats
    drawn: Floats


class Refits:
    """Fits on halves of a fold's training rows, and on one half and a few more rows; made at the first request."""

    def __init__(self, assessment: Assessment) -> None:
        self.assessment = assessment
        self.estimator = assessment.error_estimator.estimator
        self.random = check_random_state(assessment.random_state)

    def grow(self) -> Improvement:
        """Gain of all training rows of a fold over half of them."""
        fits = self.fits
        halves = [(half, self._own(fit)) for fit in fits for half in fit.halves]
        gain = self._gain(halves, [fit for fit in fits for _ in fit.halves])
        n_rows = len(self._chosen[-1][0])
        return measured(
            gain,
            f"Fitting on {number(n_rows)} rows instead of half of them led to "
            f"{amount(gain, self.assessment)}. If this trend continues, twice as many rows would gain "
            "at most about as much.",
            at_full_size=False,
        )

    def label(self) -> Improvement:
        """Gain of labels for the most doubtful rows over as many for random rows."""
        fits = self.fits
        gain = self._gain([(fit.drawn, fit.asked) for fit in fits], fits)
        n_rows = len(self._chosen[-1][0]) // 2
        why = "least sure" if self.assessment.is_classifier else "expected to be furthest off"
        return measured(
            gain,
            f"Starting from {number(n_rows)} labels, 25 % more for the rows where it is {why} would "
            f"lead to {amount(gain, self.assessment)} than as many for random rows.",
            at_full_size=False,
        )

    def average(self) -> Improvement:
        """Gain of the average of three fits, on all training rows and on each half, over the first."""
        fits = self.fits
        gain = self._gain([(self._own(fit), fit.averaged) for fit in fits], fits)
        return measured(
            gain,
            "The average of three fits, on all rows and on each half of them, would "
            f"lead to {amount(gain, self.assessment)}.",
            at_full_size=True,
        )

    @cached_property
    def fits(self) -> list[FoldFits]:
        """Losses of the further fits, fold by fold."""
        if isinstance(self.estimator, FrozenEstimator):
            raise NotMeasurableError(
                "The model is not fitted again, so that this cannot be measured."
            )
        if self.assessment.losses.sum() == 0:
            raise NotMeasurableError("It made no mistake, so that there is nothing to gain.")
        if min(len(train) for train, _ in self._chosen) < 2 * LEAST_ROWS:
            n_rows = number(len(self.assessment.y))
            raise NotMeasurableError(f"{n_rows} rows are too few to fit on parts of them.")
        try:
            return [self._refit(fold, train) for fold, (train, _) in self._numbered]
        except ValueError as error:
            raise NotMeasurableError(
                f"The model cannot be fitted on half of the rows, which the measurement needs: {error}"
            ) from error

    @property
    def _numbered(self) -> list[tuple[int, tuple[Ints, Ints]]]:
        """Last splits, with their numbers: where rows are held out in time, these have the most training rows."""
        n_folds = n_refitted_folds(len(self.assessment.y))
        return list(enumerate(self.assessment.splits))[-n_folds:]

    @property
    def _chosen(self) -> list[tuple[Ints, Ints]]:
        return [split for _, split in self._numbered]

    def _refit(self, fold: int, train: Ints) -> FoldFits:
        places = np.flatnonzero(self.assessment.held_out.splits == fold)
        halves = self._halve(train)
        models = [self._fitted(half) for half in halves]
        start, rest = halves
        n_more = round(MORE_LABELS * len(start))
        asked = self._most_doubtful(models[0], rest, n_more)
        drawn = self.random.permutation(rest)[:n_more]
        more = [self._fitted(np.sort(np.append(start, rows))) for rows in (asked, drawn)]
        return FoldFits(
            places,
            [self._loss(model, places) for model in models],
            self.assessment.losses_of(self._average(models, places), places),
            *(self._loss(model, places) for model in more),
        )

    def _halve(self, train: Ints) -> tuple[Ints, Ints]:
        labels = self.assessment.y[train] if self.assessment.is_classifier else None
        groups = self.assessment.groups
        own = None if groups is None else groups[train]
        [halves] = HoldoutSplit(0.5, random_state=self.random).split(train, labels, own)
        return train[halves[0]], train[halves[1]]

    def _most_doubtful(self, model: Any, rest: Ints, n_more: int) -> Ints:
        """Rows to label: those that the model is least sure of, or a regressor's with the highest estimated error."""
        if self.assessment.is_classifier:
            pool = take_rows(self.assessment.X, rest)
            # A quarter of the rows is diverse by itself.
            return rest[query("confidence", model, pool, n_more, diverse=False)]
        estimated = np.full(len(self.assessment.y), -np.inf)
        estimated[self.assessment.rows] = self.assessment.estimated
        return rest[np.argsort(-estimated[rest], kind="stable")[:n_more]]

    def _fitted(self, rows: Ints) -> Any:
        X = take_rows(self.assessment.X, rows)
        model = fit_model(self.estimator, X, self.assessment.y[rows])
        step_done("refit")
        return model

    def _table(self, places: Ints) -> Any:
        return take_rows(self.assessment.X, self.assessment.rows[places])

    def _loss(self, model: Any, places: Ints) -> Floats:
        return self.assessment.losses_of(predict_labels(model, self._table(places)), places)

    def _average(self, models: list[Any], places: Ints) -> NDArray[Any]:
        """Mean prediction of the held-out model and the others, by mean probabilities, or the vote of classes."""
        held_out, table = self.assessment.held_out, self._table(places)
        own = held_out.prediction[places]
        if not self.assessment.is_classifier:
            return np.mean([own, *(predict_labels(model, table) for model in models)], axis=0)
        classes: Any = self.assessment.error_estimator.classes_
        votes = np.zeros((len(places), len(classes)))
        for model in models:
            known = np.searchsorted(classes, model.classes_)
            votes[:, known] += self._votes(model, table)
        if held_out.probabilities is not None:
            votes += held_out.probabilities[places]
        else:
            votes += 1.5 * (
                own[:, None] == classes
            )  # the model of all rows decides where two disagree
        return np.asarray(classes[votes.argmax(axis=1)])

    def _votes(self, model: Any, table: Any) -> Floats:
        if self.assessment.held_out.probabilities is not None:
            return np.asarray(model.predict_proba(table))
        return np.asarray(predict_labels(model, table)[:, None] == model.classes_, dtype=np.float64)

    def _own(self, fit: FoldFits) -> Floats:
        return self.assessment.losses[fit.places]

    def _gain(self, pairs: list[tuple[Floats, Floats]], fits: list[FoldFits]) -> Gain:
        """Gain from pairs of losses before and after, one pair for each fit."""
        before, after = (np.concatenate(losses) for losses in zip(*pairs, strict=True))
        if before.sum() == 0:
            raise NotMeasurableError(
                "It made no mistake on these rows, so that nothing is left to gain."
            )
        return relative_gain(
            before,
            after,
            units=np.concatenate([self.assessment.unit_codes[fit.places] for fit in fits]),
            fits=np.repeat(np.arange(len(fits)), [len(fit.places) for fit in fits]),
            counts=self.assessment.counts_mistakes,
        )
