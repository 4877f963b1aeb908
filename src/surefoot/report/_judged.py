"""A model whose every row was judged out of fold: what all sections of the report read."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.utils import check_scalar, column_or_1d

from surefoot._models import margin, top_class
from surefoot._tables import as_table, count_rows, take_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_share
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor

# Numbers beyond it are not the same in JavaScript.
LARGEST_LABEL = 2**53


@dataclass(frozen=True)
class Judged:
    """A fitted error estimator, and the rows and targets that it was fitted on.

    `errors` and `estimated` are aligned with `rows`, positions in the table of rows that were held out.
    """

    sure: IndividualErrorClassifier | IndividualErrorRegressor
    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
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
    def rows(self) -> Ints:
        """Positions of the held-out rows."""
        return self.sure.held_out_.rows

    @property
    def errors(self) -> Floats:
        """What each held-out prediction cost: 0 or 1, or how far off it is."""
        return self.sure.held_out_.errors

    @property
    def estimated(self) -> Floats:
        """What that was estimated to be."""
        return self.sure.held_out_.estimated_errors

    @cached_property
    def labels(self) -> Ints:
        """What every row of the table is called."""
        return row_labels(self.X)

    @property
    def truth(self) -> NDArray[Any]:
        """Targets of the held-out rows."""
        return self.y[self.rows]

    @cached_property
    def own(self) -> Floats | None:
        """How much the model itself doubts each prediction: 1 − its probability, or minus its lead."""
        if not self.is_classifier:
            return None
        told = self.sure.held_out_
        if told.probabilities is None:
            return -self.lead
        codes = np.searchsorted(self.sure.classes_, told.predictions)
        return 1 - told.probabilities[np.arange(len(codes)), codes]

    @property
    def lead(self) -> Floats:
        """The lead of each predicted class over the runner-up, like log-odds."""
        scores = self.sure.held_out_.scores
        return margin(scores, top_class(scores))

    @cached_property
    def stability(self) -> Floats:
        """Shift and spread of each row: how the output changes within its cell."""
        names = self.sure.get_indicator_names().tolist()
        if "local sensitivity" in names:  # out of fold already
            return self.sure.held_out_.columns[names.index("local sensitivity")][:, :2]
        return self.sure.predict_stability(take_rows(self.X, self.rows))

    @property
    def unit_codes(self) -> Ints:
        """What each held-out row was drawn with: its group, or itself alone."""
        if self.groups is None:
            return np.arange(len(self.rows))
        return np.unique(self.groups[self.rows], return_inverse=True)[1]

    @property
    def held_out_groups(self) -> NDArray[Any] | None:
        """Groups of the held-out rows, if there are any."""
        return None if self.groups is None else self.groups[self.rows]

    @property
    def n_models(self) -> int:
        """Fits that judged the rows: one for each part that was held out, none of a model that is used as it is."""
        return 0 if isinstance(self.sure.estimator, FrozenEstimator) else self.sure.n_splits_

    @cached_property
    def deployed_predictions(self) -> NDArray[Any]:
        """What the model that is deployed says of the held-out rows."""
        return np.asarray(self.sure.estimator_.predict(take_rows(self.X, self.rows)))

    @property
    def novel(self) -> Mask:
        """Rows that are unlike the others."""
        return self.sure.held_out_.columns[-1][:, 0] > self.sure.novelty_threshold_


def row_labels(X: Any) -> Ints:
    """What rows are called: by a pandas index of whole numbers, each once, else by their position."""
    found: NDArray[Any] = np.asarray(X.index) if hasattr(X, "iloc") else np.empty(0)
    is_whole = found.dtype.kind in "iu" and len(np.unique(found)) == len(found)
    if is_whole and (len(found) == 0 or np.abs(found).max() < LARGEST_LABEL):
        return found
    return np.arange(count_rows(X))


def judge(
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
) -> Judged:
    """Fit the model, and learn from held-out rows how wrong it is on each."""
    X, y = as_table(X), column_or_1d(y)
    check_share(confidence, "confidence")
    if max_risk is not None:
        most = 1 if is_classifier(estimator) else np.inf
        check_scalar(
            max_risk, "max_risk", Real, min_val=0, max_val=most, include_boundaries="neither"
        )
    if isinstance(cv, Integral) and groups is None and not is_classifier(estimator):
        cv = KFold(
            min(int(cv), len(y)), shuffle=True, random_state=random_state
        )  # tables may be sorted
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
    known = None if groups is None else np.asarray(groups)
    return Judged(sure, X, y, known, confidence, max_risk, random_state)
