"""Calibrated probability that a prediction is wrong, by any learner."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression

from surefoot._models import fit_model
from surefoot._splits import learner_folds
from surefoot._typing import Floats, Ints
from surefoot.error_estimation._pretrained_logistic import PretrainedLogisticRegression
from surefoot.error_estimation._prior import ErrorPrior
from surefoot.error_estimation._shrunk_logistic import ShrunkLogisticRegression

# Inverse of the penalty, which must have no effect on the two weights of a calibration.
NEGLIGIBLE_PENALTY = 1e6


class ErrorProbability:
    """P(wrong) from columns: by the default learner, or by any other, recalibrated on its out-of-fold output.

    The default learner starts from a `prior` for these columns, or without one from the first `n_own` columns.
    The probability or decision value of another classifier, or the prediction of a regressor of 0 and 1,
    is calibrated by a logistic regression on its out-of-fold values.
    """

    def __init__(
        self,
        learner: Any,
        *,
        n_own: int,
        random_state: Any,
        directions: Any = None,
        prior: ErrorPrior | None = None,
    ) -> None:
        self.learner = learner
        self.n_own = n_own
        self.random_state = random_state
        self.directions = directions
        self.prior = prior

    def fit(self, table: Floats, wrong: Ints, weight: Any, groups: Any) -> Self:
        """Fit on out-of-fold columns and on whether each prediction was wrong (1) or not (0)."""
        self.calibrator_ = None
        if self.learner is None:
            self.fitted_: Any = self._default_learner().fit(table, wrong, weight, groups)
            self.held_out_ = self.fitted_.held_out_
            return self
        counted = wrong if weight is None else wrong[weight > 0]
        if counted.min() == counted.max():
            return self._fit_constant(counted, len(wrong))
        self.fitted_ = fit_model(self.learner, table, wrong, weight)
        scores = out_of_fold(self.learner, table, wrong, weight, groups, self.random_state)
        self.calibrator_ = LogisticRegression(C=NEGLIGIBLE_PENALTY).fit(
            scores[:, None], wrong, sample_weight=weight
        )
        self.held_out_ = self.calibrator_.predict_proba(scores[:, None])[:, 1]
        return self

    def _default_learner(self) -> Any:
        """Logistic regression that starts from the prior, or without one from the model's own confidence."""
        if self.prior is None:
            return ShrunkLogisticRegression(
                n_own=self.n_own, directions=self.directions, random_state=self.random_state
            )
        return PretrainedLogisticRegression(self.prior, random_state=self.random_state)

    def _fit_constant(self, wrong: Ints, n_rows: int) -> Self:
        """Set one probability for all rows, by the rule of succession: all predictions are right, or all wrong."""
        self.fitted_ = None
        self.held_out_ = np.full(n_rows, (wrong.sum() + 1) / (len(wrong) + 2))
        return self

    def predict(self, table: Floats) -> Floats:
        """Probability that each prediction is wrong."""
        if self.fitted_ is None:
            return np.full(len(table), self.held_out_[0])
        if self.calibrator_ is None:
            return np.asarray(self.fitted_.predict_proba(table)[:, 1])
        scores = answer(self.fitted_, table)
        return np.asarray(self.calibrator_.predict_proba(scores[:, None])[:, 1])


def check_learner(learner: Any) -> None:
    """Raise one sentence unless this is None, a classifier or a regressor."""
    is_model = hasattr(learner, "fit") and hasattr(learner, "__sklearn_tags__")
    fits = is_model and not isinstance(
        learner, type
    )  # scikit-learn 1.8 cannot tell the kind of a class
    if learner is not None and not (fits and (is_classifier(learner) or is_regressor(learner))):
        raise TypeError(
            f"error_estimator={learner!r} is no model: it may be a classifier or regressor."
        )


def answer(learner: Any, table: Floats) -> Floats:
    """P(target = 1) or decision value of a classifier, or prediction of a regressor."""
    if is_regressor(learner):
        return np.asarray(learner.predict(table), dtype=np.float64)
    if hasattr(learner, "predict_proba"):
        classes = list(learner.classes_)
        probabilities = learner.predict_proba(table)
        is_known = 1 in classes
        return np.asarray(probabilities[:, classes.index(1)] if is_known else np.zeros(len(table)))
    return np.asarray(learner.decision_function(table), dtype=np.float64)


def out_of_fold(
    learner: Any, table: Floats, target: NDArray[Any], weight: Any, groups: Any, random_state: Any
) -> Floats:
    """Out-of-fold values of `answer` for each row."""
    answers = np.empty(len(target))
    for train, test in learner_folds(len(target), groups, random_state):
        train_weight = None if weight is None else weight[train]
        if is_classifier(learner) and target[train].min() == target[train].max():
            answers[test] = target[train[0]]
        else:
            fitted = fit_model(clone(learner), table[train], target[train], train_weight)
            answers[test] = answer(fitted, table[test])
    return answers
