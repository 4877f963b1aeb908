"""Error estimators as other packages use them: type and check of a fitted one, and ensembles with one per model."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from surefoot._models import clone_with_seed
from surefoot._sklearn_private import HeterogeneousEnsemble, check_sample_weight
from surefoot._splits import resolve_cv
from surefoot._typing import Floats, Ints
from surefoot._validation import (
    check_class_labels,
    check_same_rows,
    check_training_rows,
    common_classes,
)
from surefoot.error_estimation import IndividualErrorClassifier, IndividualErrorRegressor

ErrorEstimator = IndividualErrorClassifier | IndividualErrorRegressor


def check_error_estimator(error_estimator: Any) -> None:
    """Raise one sentence unless this is a fitted error estimator."""
    if not isinstance(error_estimator, ErrorEstimator):
        raise TypeError(
            f"error_estimator is a {type(error_estimator).__name__}: wrap the model in IndividualErrorClassifier or "
            "IndividualErrorRegressor, and fit it."
        )
    check_is_fitted(error_estimator)


class HeldOutErrors(NamedTuple):
    """Out-of-fold predictions, true errors (`losses`) and estimated errors of the models, one column per model.

    Neither the models nor the error estimators saw the row; `rows` are positions in the training table.
    """

    rows: Ints
    prediction: NDArray[Any]
    losses: Floats
    error: Floats


def all_have_probabilities(ensemble: Any) -> bool:
    """True if every model of an ensemble has `predict_proba`."""
    models = [model for _, model in ensemble.estimators if model != "drop"]
    return all(hasattr(model, "predict_proba") for model in models)


class ErrorEstimatorEnsemble(HeterogeneousEnsemble):
    """Base of ensembles that use the estimated error of each of their models on each row.

    `_fit_error_estimators` wraps each model in an estimator of its errors, all on the same folds, and
    `_estimate_errors` returns their estimates. A subclass may override their parameters
    (`_error_estimator_settings`).
    """

    def __init__(
        self,
        estimators: Any,
        learner: Any = None,
        *,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.learner = learner
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _error_estimator_settings(self) -> dict[str, Any]:
        """Further parameters of the error estimators."""
        return {}

    def _fit_error_estimators(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Floats:
        """Fit an error estimator around each model, and return the weights of the held-out rows."""
        names, models = self._validate_estimators()
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        kept = {name: model for name, model in zip(names, models, strict=True) if model != "drop"}
        cv = self._common_cv(X, y, groups)
        self.error_estimators_ = [
            self._error_estimator_of(model, cv).fit(
                X, y, sample_weight=sample_weight, groups=groups
            )
            for model in kept.values()
        ]
        self.estimators_ = [estimator.estimator_ for estimator in self.error_estimators_]
        self.named_estimators_ = Bunch(**dict(zip(kept, self.estimators_, strict=True)))
        parts = [estimator.held_out_ for estimator in self.error_estimators_]
        check_same_rows([part.rows for part in parts])
        self.held_out_ = HeldOutErrors(
            parts[0].rows,
            np.column_stack([part.prediction for part in parts]),
            np.column_stack([part.losses for part in parts]),
            np.column_stack([part.error for part in parts]),
        )
        if is_classifier(self):
            self.classes_ = common_classes(self.estimators_)
        return check_sample_weight(sample_weight, X, dtype=np.float64)[self.held_out_.rows]

    def _common_cv(self, X: Any, y: Any, groups: Any) -> Any:
        """Splits for all models: a splitter is called once, as it may be random."""
        if is_classifier(self):
            check_class_labels(y)
        models = [model for _, model in self.estimators if model != "drop"]
        inner = [
            model.estimator if isinstance(model, ErrorEstimator) else model for model in models
        ]
        splitter = resolve_cv(
            self.cv,
            np.asarray(y),
            stratified=is_classifier(self),
            random_state=self.random_state,
            refits=not all(isinstance(model, FrozenEstimator) for model in inner),
            groups=groups,
        )
        return list(splitter.split(X, y, groups))

    def _error_estimator_of(self, model: Any, cv: Any) -> Any:
        """Unfitted error estimator of one model; one that is an error estimator keeps its settings.

        Errors are compared row by row: its loss is that of the ensemble, and as many folds are the same folds.
        """
        settings = self._error_estimator_settings()
        kind = IndividualErrorClassifier if is_classifier(self) else IndividualErrorRegressor
        if isinstance(model, kind):
            as_many = isinstance(model.cv, Integral) and model.cv == self.cv
            return clone_with_seed(model, self.random_state).set_params(
                loss=settings.get("loss"), cv=cv if as_many else model.cv
            )
        return kind(
            model,
            self.learner,
            cv=cv,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **settings,
        )

    def _estimate_errors(self, X: Any) -> Floats:
        """Estimated errors, one column per model; lower is better."""
        return np.column_stack([estimator.predict_error(X) for estimator in self.error_estimators_])
