"""Base of ensembles whose models each have an estimator of their errors."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch

from surefoot._crossfit import check_same_rows, check_training_rows, common_classes
from surefoot._models import clone_with_seed
from surefoot._sklearn_private import HeterogeneousEnsemble, check_sample_weight
from surefoot._splits import resolve_cv
from surefoot._typing import Floats, Ints
from surefoot._validation import check_class_labels
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._regressor import IndividualErrorRegressor


class HeldOutErrors(NamedTuple):
    """Out-of-fold predictions, true errors (`losses`) and estimated errors of the models, one column per model.

    Neither the models nor the error estimators saw the row; `rows` are positions in the training table.
    """

    rows: Ints
    prediction: NDArray[Any]
    losses: Floats
    error: Floats


class JudgedEnsemble(HeterogeneousEnsemble):
    """Base of ensembles that use the estimated error of each of their models on each row.

    `_fit_error_estimators` wraps each model in an estimator of its errors, all on the same folds, and
    `_estimate_errors` returns their estimates. A subclass may override their parameters
    (`_error_estimator_settings`).
    """

    estimators: Any
    error_estimator: Any
    cv: Any
    random_state: Any
    n_jobs: int | None
    error_estimators_: list[Any]
    estimators_: list[Any]
    named_estimators_: Bunch
    held_out_: HeldOutErrors

    def _error_estimator_settings(self) -> dict[str, Any]:
        """Further parameters of the error estimators."""
        return {}

    def _error_estimator_of(self, model: Any, cv: Any) -> Any:
        """Unfitted error estimator of one model; one that is an error estimator keeps its settings.

        Errors are compared row by row: its loss is that of the ensemble, and as many folds are the same folds.
        """
        kind = IndividualErrorClassifier if is_classifier(self) else IndividualErrorRegressor
        if isinstance(model, kind):
            as_many = isinstance(model.cv, Integral) and model.cv == self.cv
            return clone_with_seed(model, self.random_state).set_params(
                loss=self._error_estimator_settings().get("loss"), cv=cv if as_many else model.cv
            )
        return kind(
            model,
            self.error_estimator,
            cv=cv,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **self._error_estimator_settings(),
        )

    def _common_cv(self, X: Any, y: Any, groups: Any) -> Any:
        """Splits for all models: a splitter is called once, as it may be random."""
        judges = (IndividualErrorClassifier, IndividualErrorRegressor)
        if is_classifier(self):
            check_class_labels(y)
        models = [
            model.estimator if isinstance(model, judges) else model
            for _, model in self.estimators
            if model != "drop"
        ]
        splitter = resolve_cv(
            self.cv,
            np.asarray(y),
            stratified=is_classifier(self),
            random_state=self.random_state,
            refits=not all(isinstance(model, FrozenEstimator) for model in models),
            groups=groups,
        )
        return list(splitter.split(X, y, groups))

    def _fit_error_estimators(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Floats:
        """Fit an error estimator around each model, and return the weights of the held-out rows."""
        names, models = self._validate_estimators()
        check_training_rows(self, X, y, sample_weight)
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
        self.held_out_ = stack_held_out(
            [estimator.held_out_ for estimator in self.error_estimators_]
        )
        if is_classifier(self):
            self.classes_ = common_classes(self.estimators_)
        return check_sample_weight(sample_weight, X, dtype=np.float64)[self.held_out_.rows]

    def _estimate_errors(self, X: Any) -> Floats:
        """Estimated errors, one column per model; lower is better."""
        return np.column_stack([estimator.predict_error(X) for estimator in self.error_estimators_])


def stack_held_out(parts: list[Any]) -> HeldOutErrors:
    """Out-of-fold results of all models side by side; raises if their held-out rows differ."""
    rows = parts[0].rows
    check_same_rows([part.rows for part in parts])
    return HeldOutErrors(
        rows,
        *(
            np.column_stack([getattr(part, name) for part in parts])
            for name in ("prediction", "losses", "error")
        ),
    )
