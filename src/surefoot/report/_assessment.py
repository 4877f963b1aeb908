"""Input of all sections of the report: a model, its error estimator and the rows they were fitted on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import column_or_1d

from surefoot._models import margin, top_class
from surefoot._splits import resolve_cv
from surefoot._tables import as_table, count_rows, row_index
from surefoot._typing import Floats, Ints, Split
from surefoot._validation import check_number, check_share
from surefoot.abstention import Promise, offer_promises, promise_for
from surefoot.error_estimation import HeldOut, IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.recalibration import recalibrated_probabilities

# JavaScript cannot represent larger whole numbers exactly.
LARGEST_LABEL = 2**53


@dataclass(frozen=True)
class Assessment:
    """A fitted error estimator, and the rows and targets that it was fitted on."""

    error_estimator: IndividualErrorClassifier | IndividualErrorRegressor
    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    splits: list[Split]
    confidence: float
    max_risk: float | None
    random_state: int

    @property
    def is_classifier(self) -> bool:
        """True for a classifier, False for a regressor."""
        return is_classifier(self.error_estimator)

    @property
    def task(self) -> str:
        """Name of the task: "classification" or "regression"."""
        return "classification" if self.is_classifier else "regression"

    @property
    def held_out(self) -> HeldOut:
        """Judgement of the training rows, out of fold."""
        return self.error_estimator.held_out_

    @property
    def rows(self) -> Ints:
        """Positions of the held-out rows."""
        return self.held_out.rows

    @property
    def losses(self) -> Floats:
        """Loss of each held-out prediction: 0 or 1, or the size of its error."""
        return self.held_out.losses

    @property
    def estimated(self) -> Floats:
        """Estimated error of each held-out prediction."""
        return self.held_out.error

    @property
    def counts_mistakes(self) -> bool:
        """True if losses are 0 or 1."""
        return self.is_classifier

    @property
    def loss_name(self) -> str:
        """Name of the losses of several rows together."""
        return "mistakes" if self.is_classifier else "mean error"

    def losses_of(self, prediction: NDArray[Any], places: Any = slice(None)) -> Floats:
        """Losses of other predictions for the held-out rows, or for those at the given places among them."""
        truth = self.truth[places]
        if self.is_classifier:
            return np.asarray(prediction != truth, dtype=np.float64)
        return np.abs(prediction - truth)

    @property
    def holds_out_later_rows(self) -> bool:
        """True if each model was fitted on rows that come before those it was tested on."""
        return all(train.max() < test.min() for train, test in self.splits)

    @cached_property
    def recalibrated(self) -> Floats | None:
        """Probabilities of the held-out rows after recalibration, learned from others; None if there are none."""
        held_out, classes = (
            self.held_out,
            self.error_estimator.classes_ if self.is_classifier else (),
        )
        if held_out.probabilities is None or not np.array_equal(np.unique(self.truth), classes):
            return None
        return recalibrated_probabilities(
            held_out.scores, self.truth, groups=held_out.groups, random_state=self.random_state
        )

    @cached_property
    def labels(self) -> Ints:
        """Row labels of the whole table."""
        return row_labels(self.X)

    @property
    def truth(self) -> NDArray[Any]:
        """Targets of the held-out rows."""
        return self.y[self.rows]

    @cached_property
    def own_doubt(self) -> Floats | None:
        """Doubt of the model itself: 1 − its probability of the class, or minus its lead; None for a regressor."""
        if not self.is_classifier:
            return None
        if self.held_out.probabilities is None:
            return -self.lead
        codes = np.searchsorted(self.error_estimator.classes_, self.held_out.prediction)
        return 1 - self.held_out.probabilities[np.arange(len(codes)), codes]

    @property
    def lead(self) -> Floats:
        """Lead of each predicted class over the runner-up, like log-odds."""
        scores = self.held_out.scores
        return margin(scores, top_class(scores))

    @cached_property
    def promise(self) -> Promise:
        """Promise of the risk that the user asked for, else of the automatic one; its `kept` may be False."""
        return promise_for(self.held_out, self.max_risk, self.confidence)

    @cached_property
    def promises(self) -> list[Promise]:
        """Promises to choose from, by ascending risk, `promise` among them."""
        held_out = self.held_out
        is_offered = self.promise.kept or self.max_risk is not None
        also = [self.promise.max_risk] if is_offered else []
        return offer_promises(
            held_out.error, held_out.losses, self.confidence, groups=held_out.groups, also=also
        )

    @property
    def chosen(self) -> int | None:
        """Position of `promise` in `promises`; None if it cannot be kept."""
        risks = [promise.max_risk for promise in self.promises]
        return risks.index(self.promise.max_risk) if self.promise.kept else None

    @property
    def unit_codes(self) -> Ints:
        """Number of each held-out row's group; without groups each row has its own number."""
        if self.held_out.groups is None:
            return np.arange(len(self.rows))
        return np.unique(self.held_out.groups, return_inverse=True)[1]

    @property
    def n_models(self) -> int:
        """Number of models that predicted the held-out rows: one for each fold, 0 if the model is frozen."""
        return (
            0
            if isinstance(self.error_estimator.estimator, FrozenEstimator)
            else self.error_estimator.n_splits_
        )


def row_labels(X: Any) -> Ints:
    """Labels of rows: a pandas index of different whole numbers, else their positions."""
    labels = row_index(X)
    if labels is None or labels.dtype.kind not in "iu" or len(np.unique(labels)) < len(labels):
        return np.arange(count_rows(X))
    fits = len(labels) == 0 or np.abs(labels).max() < LARGEST_LABEL
    return labels if fits else np.arange(count_rows(X))


def assess_rows(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any,
    groups: Any,
    confidence: float,
    max_risk: float | None,
    max_reference_rows: int,
    random_state: int,
    n_jobs: int | None,
) -> Assessment:
    """Fit the model on folds, and learn from the held-out rows to estimate its error on each row."""
    X, y = as_table(X), column_or_1d(y)
    check_share(confidence, "confidence")
    if max_risk is not None:
        most = 1 if is_classifier(estimator) else np.inf
        check_number(max_risk, "max_risk", min_val=0, max_val=most, include_boundaries="neither")
    kind = IndividualErrorClassifier if is_classifier(estimator) else IndividualErrorRegressor
    splitter = resolve_cv(
        cv,
        y,
        stratified=is_classifier(estimator),
        random_state=random_state,
        refits=not isinstance(estimator, FrozenEstimator),
        groups=groups,
    )
    splits = [(np.sort(train), np.sort(test)) for train, test in splitter.split(X, y, groups)]
    error_estimator = kind(
        estimator,
        cv=splits,
        max_reference_rows=max_reference_rows,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(X, y, groups=groups)
    if len(np.unique(error_estimator.held_out_.rows)) < len(error_estimator.held_out_.rows):
        raise ValueError("cv holds a row out more than once, and a report counts each row once.")
    groups = None if groups is None else np.asarray(groups)
    return Assessment(error_estimator, X, y, groups, splits, confidence, max_risk, random_state)
