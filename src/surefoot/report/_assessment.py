"""Input of all sections of the report: a model, its error estimator and the rows they were fitted on."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import column_or_1d

from surefoot._crossfit import known_classes
from surefoot._models import margin, top_class
from surefoot._splits import never_held_out, resolve_cv
from surefoot._tables import as_table, count_rows, row_index
from surefoot._typing import Floats, Ints, Mask, Split
from surefoot._validation import check_number, check_share
from surefoot._words import LossUnit, listed
from surefoot.abstention import Promise
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
    never_held_out: Ints
    confidence: float
    max_risk: float | Mapping[Any, float] | None
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
    def unit(self) -> LossUnit:
        """Unit of losses and estimated errors: a share, a cost or a size."""
        return self.held_out.unit

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
        """Loss of each held-out prediction: 0 or 1, its cost, or the size of its error."""
        return self.held_out.losses

    @property
    def wrong(self) -> Mask:
        """Mask of the held-out predictions that differ from the target, whatever that costs."""
        return np.asarray(self.held_out.prediction != self.truth)

    @property
    def estimated(self) -> Floats:
        """Estimated error of each held-out prediction."""
        return self.held_out.error

    @property
    def counts_mistakes(self) -> bool:
        """True if losses are 0 or 1."""
        return self.unit.name == "share"

    def losses_of(self, prediction: NDArray[Any], places: Any = slice(None)) -> Floats:
        """Losses of other predictions for the held-out rows, or for those at the given places among them."""
        truth = self.truth[places]
        if not self.is_classifier:
            return np.abs(prediction - truth)
        if self.held_out.costs is None:
            return np.asarray(prediction != truth, dtype=np.float64)
        classes = self.error_estimator.classes_
        codes = (np.searchsorted(classes, labels) for labels in (truth, prediction))
        return self.held_out.costs[tuple(codes)]

    @property
    def holds_out_later_rows(self) -> bool:
        """True if each model was fitted on rows that come before those it was tested on."""
        return all(train.max() < test.min() for train, test in self.splits)

    @cached_property
    def recalibrated(self) -> Floats | None:
        """Probabilities of the held-out rows after recalibration, learned from others; None if there are none.

        They are 0 for a class that no held-out row has, which cannot be calibrated.
        """
        scores, classes = self.held_out.scores, self.held_out.classes
        if self.held_out.probabilities is None or len(np.unique(self.truth)) < 2:
            return None
        present = np.isin(np.asarray(classes), self.truth)
        if scores.shape[1] > 1:
            scores = scores[:, present]
            scores = (
                np.diff(scores) if scores.shape[1] == 2 else scores
            )  # two classes share a column
        after = np.zeros((len(scores), len(present)))
        after[:, present] = recalibrated_probabilities(
            scores, self.truth, groups=self.held_out.groups, random_state=self.random_state
        )
        return after

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
        """Doubt of the model itself, None for a regressor: 1 − its probability of the class, or minus its lead.

        With costs, the expected cost by its own probabilities.
        """
        if not self.is_classifier:
            return None
        if self.held_out.probabilities is None:
            return -self.lead
        codes = np.searchsorted(self.error_estimator.classes_, self.held_out.prediction)
        if self.held_out.costs is not None:
            return (self.held_out.probabilities * self.held_out.costs[:, codes].T).sum(axis=1)
        return 1 - self.held_out.probabilities[np.arange(len(codes)), codes]

    @property
    def lead(self) -> Floats:
        """Lead of each predicted class over the runner-up, like log-odds."""
        scores = self.held_out.scores
        return margin(scores, top_class(scores))

    @cached_property
    def promise(self) -> Promise:
        """Promise of the risk that the user asked for, else of the automatic one; its `kept` may be False."""
        return Promise.from_held_out(self.held_out, self.max_risk, self.confidence)

    @cached_property
    def promises(self) -> list[Promise]:
        """Promises to choose from, by ascending risk, `promise` among them; one about classes is the last."""
        promise = self.promise
        is_offered = promise.kept or self.max_risk is not None
        is_plain = not promise.class_risks
        also = (
            [promise.max_risk] if is_offered and promise.max_risk is not None and is_plain else []
        )
        offered = Promise.offer(self.held_out, self.confidence, also)
        return offered if is_plain else [*offered, promise]

    @property
    def chosen(self) -> int | None:
        """Position of `promise` in `promises`; None if it cannot be kept."""
        return self.promises.index(self.promise) if self.promise.kept else None

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
    max_risk: float | Mapping[Any, float] | None,
    max_reference_rows: int,
    random_state: int,
    n_jobs: int | None,
    loss: Any = None,
) -> Assessment:
    """Fit the model on folds, and learn from the held-out rows to estimate its error on each row."""
    X, y = as_table(X), column_or_1d(y)
    check_share(confidence, "confidence")
    if is_classifier(estimator):
        known_classes(estimator, y)
    check_limits(max_risk, np.unique(y) if is_classifier(estimator) else None, loss)
    kind = IndividualErrorClassifier if is_classifier(estimator) else IndividualErrorRegressor
    costs = {} if loss is None else {"loss": loss}
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
        **costs,
        cv=splits,
        max_reference_rows=max_reference_rows,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(X, y, groups=groups)
    if len(np.unique(error_estimator.held_out_.rows)) < len(error_estimator.held_out_.rows):
        raise ValueError("cv holds a row out more than once, and a report counts each row once.")
    groups = None if groups is None else np.asarray(groups)
    rare = never_held_out(splitter, splits, len(y))
    limits = (confidence, max_risk, random_state)
    return Assessment(error_estimator, X, y, groups, splits, rare, *limits)


def check_limits(max_risk: Any, classes: NDArray[Any] | None, loss: Any) -> None:
    """Raise one sentence for a risk out of its range or of an unknown class, and for costs of a regressor."""
    if loss is not None and classes is None:
        raise ValueError("loss holds costs of classes, and the model is a regressor.")
    risks = max_risk if isinstance(max_risk, Mapping) else {None: max_risk}
    known = [] if classes is None else classes.tolist()
    unknown = [label for label in risks if label is not None and label not in known]
    if unknown:
        classes_are = f"the classes are {listed(known)}" if known else "a regressor has no classes"
        raise ValueError(f"max_risk limits the risk of {listed(unknown)}, and {classes_are}.")
    most = 1 if loss is None and classes is not None else np.inf
    for label, risk in risks.items():
        name = "max_risk" if label is None else f"max_risk[{label!r}]"
        if max_risk is not None:
            check_number(risk, name, min_val=0, max_val=most, include_boundaries="neither")
