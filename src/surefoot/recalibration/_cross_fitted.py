"""Base of recalibrated classifiers: a model, and its out-of-fold scores."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from surefoot._crossfit import (
    CrossFit,
    CrossFitter,
    check_rows,
    check_training_rows,
    known_classes,
)
from surefoot._models import check_model
from surefoot._shrunk import Step, SteppedLogistic
from surefoot._splits import learner_folds, resolve_cv
from surefoot._typing import Floats, Ints
from surefoot.indicators import Indicator


class HeldOutRows(NamedTuple):
    """Targets (0 or 1) of held-out rows for each calibrated class, their weights, and the group or row of each."""

    targets: list[Ints]
    weight: Floats
    units: NDArray[Any]

    def fit_steps(self, tables: Sequence[Floats], *, slope: float | None) -> SteppedLogistic:
        """Log-odds of each calibrated class from its table, whose first column is the model's score.

        The start is the score itself (`slope` 1), or times a learned slope. The next steps change intercept and
        slope for all classes alike, then class by class, and then the weights of all columns.
        """
        columns = np.stack(tables, axis=1)
        n_classes, n_columns = columns.shape[1:]
        steps = [Step([0], by_topic=False)]
        if n_classes > 1:
            steps.append(Step([0], by_topic=True))
        if n_columns > 1:
            steps.append(Step(range(n_columns), by_topic=True))
        repeated = len(np.unique(self.units)) < len(self.units)
        folds = list(learner_folds(len(columns), self.units if repeated else None, 0))
        return SteppedLogistic(0, steps, slope=slope).fit(
            columns, np.column_stack(self.targets), folds, weight=self.weight, units=self.units
        )


class CrossFittedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of classifiers that learn to recalibrate a model's scores from held-out rows.

    A subclass checks its parameters (`_prepare`), learns from the held-out scores (`_learn`), and
    turns scores into probabilities (`_probabilities`).
    """

    @abstractmethod
    def _prepare(self) -> list[Indicator]:
        """Check the parameters before any model is fitted, and return the indicators to use."""

    @abstractmethod
    def _learn(self, X: Any, cross: CrossFit, rows: HeldOutRows) -> None:
        """Learn from the scores and columns of held-out rows."""

    def _slope(self) -> float | None:
        """Slope of the start: 1 for log-odds of probabilities, None for other scores, whose unit is not known."""
        return 1.0 if self._response == "predict_proba" else None

    @abstractmethod
    def _probabilities(self, X: Any) -> Floats:
        """Class probabilities of checked rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model, and learn from its out-of-fold scores how to recalibrate them.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the model takes them.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the model and the recalibration.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows that stay in one fold.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        indicators = self._prepare()
        X, y, sample_weight = self._check(X, y, sample_weight)
        refits = not isinstance(self.estimator, FrozenEstimator)
        # A class can be calibrated only on held-out rows of it.
        cv = resolve_cv(
            self.cv,
            y,
            stratified=True,
            random_state=self.random_state,
            refits=refits,
            groups=groups,
            hold_out_all=True,
        )
        fitter = CrossFitter(
            indicators,
            self.estimator,
            cv=cv,
            response=self._response,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        cross = fitter.fit(X, y, groups=groups, sample_weight=sample_weight, deploy_all=True)
        rows = cross.held_out.rows
        targets = class_targets(np.searchsorted(self.classes_, y[rows]), len(self.classes_))
        self.estimator_ = cross.model
        units = rows if groups is None else np.asarray(groups)[rows]
        weight = np.ones(len(rows)) if sample_weight is None else sample_weight[rows]
        self._learn(X, cross, HeldOutRows(targets, weight, units))
        return self

    @property
    def _response(self) -> str:
        """Method that the scores are made of: probabilities where there are any, so that they can stay as they are."""
        has_probabilities = hasattr(self.estimator, "predict_proba")
        return "predict_proba" if self.response == "auto" and has_probabilities else self.response

    def predict_proba(self, X: Any) -> Floats:
        """Recalibrated class probabilities.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            One column per class, in the order of `classes_`.
        """
        X = check_rows(self, X)
        return self.estimator_.predict_proba(X) if self.is_unchanged_ else self._probabilities(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row, after recalibration."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _check(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], Floats | None]:
        """Checked rows, targets and weights; the model itself checks the values of the rows."""
        check_model(self.estimator)
        if not is_classifier(self.estimator):
            raise ValueError(
                f"estimator={self.estimator!r} is no classifier, and only those are recalibrated."
            )
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        self.classes_ = known_classes(self.estimator, y)
        if sample_weight is not None:
            for label in np.unique(y).tolist():
                if sample_weight[y == label].sum() == 0:
                    raise ValueError(f"sample_weight leaves class {label!r} without weight.")
        return X, y, sample_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def class_targets(codes: Ints, n_classes: int) -> list[NDArray[Any]]:
    """0/1 targets of the calibrators: of the positive class for two classes, else of each class."""
    calibrated = [1] if n_classes == 2 else range(n_classes)
    return [(codes == c).astype(np.int64) for c in calibrated]


def as_probabilities(positive: Floats) -> Floats:
    """Probabilities of all classes, which sum to 1, from the calibrators' outputs of shape (n, 1 or n_classes)."""
    if positive.shape[1] == 1:
        return np.hstack([1 - positive, positive])
    total = positive.sum(axis=1, keepdims=True)
    even = np.full_like(positive, 1 / positive.shape[1])
    return np.divide(positive, total, out=even, where=total > 0)
