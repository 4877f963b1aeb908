"""A model, its error estimator and the rows they were fitted on: what all sections of the report read."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.utils import column_or_1d

from surefoot._models import margin, top_class
from surefoot._tables import as_table, count_rows, row_index
from surefoot._typing import Floats, Ints
from surefoot._validation import check_number, check_share
from surefoot.abstention import Promise, offer_promises, promise_for
from surefoot.error_estimation import HeldOut, IndividualErrorClassifier, IndividualErrorRegressor

# Numbers beyond it are not the same in JavaScript.
LARGEST_LABEL = 2**53


@dataclass(frozen=True)
class Assessment:
    """A fitted error estimator, and the rows and targets that it was fitted on."""

    sure: IndividualErrorClassifier | IndividualErrorRegressor
    X: Any
    y: NDArray[Any]
    confidence: float
    max_risk: float | None
    random_state: int

    @property
    def is_classifier(self) -> bool:
        """Whether an error is a wrong class, rather than a distance."""
        return is_classifier(self.sure)

    @property
    def task(self) -> str:
        """The kind of model, by name."""
        return "classification" if self.is_classifier else "regression"

    @property
    def held_out(self) -> HeldOut:
        """Judgement of the training rows, out of fold."""
        return self.sure.held_out_

    @property
    def rows(self) -> Ints:
        """Positions of the held-out rows."""
        return self.held_out.rows

    @property
    def losses(self) -> Floats:
        """What each held-out prediction cost: 0 or 1, or how far off it is."""
        return self.held_out.losses

    @property
    def estimated(self) -> Floats:
        """Estimated error of each held-out prediction."""
        return self.held_out.error

    @cached_property
    def labels(self) -> Ints:
        """Labels of all rows of the table."""
        return row_labels(self.X)

    @property
    def truth(self) -> NDArray[Any]:
        """Targets of the held-out rows."""
        return self.y[self.rows]

    @cached_property
    def own(self) -> Floats | None:
        """Doubt of the model itself in each prediction: 1 − its probability, or minus its lead; None for numbers."""
        if not self.is_classifier:
            return None
        if self.held_out.probabilities is None:
            return -self.lead
        codes = np.searchsorted(self.sure.classes_, self.held_out.prediction)
        return 1 - self.held_out.probabilities[np.arange(len(codes)), codes]

    @property
    def lead(self) -> Floats:
        """Lead of each predicted class over the runner-up, like log-odds."""
        scores = self.held_out.scores
        return margin(scores, top_class(scores))

    @cached_property
    def promise(self) -> Promise:
        """Promise of the risk that was asked for, else of the automatic one; it may not be kept."""
        return promise_for(self.held_out, self.max_risk, self.confidence)

    @cached_property
    def promises(self) -> list[Promise]:
        """Promises to choose from, by ascending risk, `promise` among them."""
        held_out = self.held_out
        asked = self.promise.kept or self.max_risk is not None
        also = [self.promise.max_risk] if asked else []
        return offer_promises(
            held_out.error, held_out.losses, self.confidence, groups=held_out.groups, also=also
        )

    @property
    def chosen(self) -> int | None:
        """Place of `promise` among `promises`; None if it cannot be kept."""
        risks = [promise.max_risk for promise in self.promises]
        return risks.index(self.promise.max_risk) if self.promise.kept else None

    @property
    def unit_codes(self) -> Ints:
        """Number of the unit that each held-out row was drawn with: its group, or itself alone."""
        if self.held_out.groups is None:
            return np.arange(len(self.rows))
        return np.unique(self.held_out.groups, return_inverse=True)[1]

    @property
    def n_models(self) -> int:
        """Models that predicted the held-out rows: one for each part, none where the model is used as it is."""
        return 0 if isinstance(self.sure.estimator, FrozenEstimator) else self.sure.n_splits_


def row_labels(X: Any) -> Ints:
    """Labels of rows: a pandas index of whole numbers, each once, else their positions."""
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
    """Fit the model, and learn from held-out rows how wrong it is on each."""
    X, y = as_table(X), column_or_1d(y)
    check_share(confidence, "confidence")
    if max_risk is not None:
        most = 1 if is_classifier(estimator) else np.inf
        check_number(max_risk, "max_risk", min_val=0, max_val=most, include_boundaries="neither")
    if isinstance(cv, Integral) and groups is None and not is_classifier(estimator):
        n_folds = min(int(cv), len(y))
        cv = KFold(n_folds, shuffle=True, random_state=random_state)  # tables may be sorted
    kind = IndividualErrorClassifier if is_classifier(estimator) else IndividualErrorRegressor
    sure = kind(
        estimator,
        cv=cv,
        max_reference_rows=max_reference_rows,
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(X, y, groups=groups)
    if len(np.unique(sure.held_out_.rows)) < len(sure.held_out_.rows):
        raise ValueError("cv holds a row out more than once, and a report counts each row once.")
    return Assessment(sure, X, y, confidence, max_risk, random_state)
