"""Several models, each with an estimate of its own error on every row."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.ensemble._base import _BaseHeterogeneousEnsemble
from sklearn.utils import Bunch
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._regressor import IndividualErrorRegressor
from surefoot.neighborhoods import as_table

Floats = NDArray[np.float64]


class HeldOutErrors(NamedTuple):
    """What the models got wrong on training rows that they had not seen, one column a model.

    `errors` are the true losses and `estimated_errors` what was thought of them by error estimators
    that had not seen the row either; `rows` are its positions in the training table.
    """

    rows: NDArray[np.int64]
    predictions: NDArray[Any]
    errors: Floats
    estimated_errors: Floats


class JudgedEnsemble(_BaseHeterogeneousEnsemble):
    """Base of ensembles that ask how wrong each of their models will be on each row.

    `_fit_judges` wraps each model in an estimator of its errors, all on the same folds, and
    `_estimate_errors` asks them all. A subclass may say how they are set (`_judge_settings`).
    """

    estimators: Any
    error_estimator: Any
    cv: Any
    random_state: Any
    n_jobs: int | None
    judges_: list[Any]
    estimators_: list[Any]
    named_estimators_: Bunch
    held_out_: HeldOutErrors

    def _judge_settings(self) -> dict[str, Any]:
        """Further parameters of the judges."""
        return {}

    def _judge(self, model: Any) -> Any:
        """Unfitted estimator of the errors of one model; a model that is one keeps its settings."""
        kind = IndividualErrorClassifier if is_classifier(self) else IndividualErrorRegressor
        if isinstance(model, kind):
            return clone(model)
        return kind(
            model,
            self.error_estimator,
            cv=self.cv,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **self._judge_settings(),
        )

    def _fit_judges(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Floats:
        """Fit all judges; returns the weights of the held-out rows."""
        names, models = self._validate_estimators()
        validate_data(self, X, y, skip_check_array=True)
        kept = {name: model for name, model in zip(names, models, strict=True) if model != "drop"}
        self.judges_ = [
            self._judge(model).fit(X, y, sample_weight=sample_weight, groups=groups)
            for model in kept.values()
        ]
        self.estimators_ = [judge.estimator_ for judge in self.judges_]
        self.named_estimators_ = Bunch(**dict(zip(kept, self.estimators_, strict=True)))
        self.held_out_ = stack_held_out([judge.held_out_ for judge in self.judges_])
        if is_classifier(self):
            self.classes_ = common_classes(self.estimators_)
        return _check_sample_weight(sample_weight, X, dtype=np.float64)[self.held_out_.rows]

    def _estimate_errors(self, X: Any) -> Floats:
        """Estimated error of each row, one column a model."""
        return np.column_stack([judge.predict_error(X) for judge in self.judges_])

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X = as_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X


def stack_held_out(parts: list[Any]) -> HeldOutErrors:
    """Held-out rows of all models side by side; they must be the same rows."""
    rows = parts[0].rows
    if not all(np.array_equal(part.rows, rows) for part in parts):
        raise ValueError(
            "cv held out other rows for one model than for another: give it a random_state."
        )
    return HeldOutErrors(
        rows,
        *(
            np.column_stack([getattr(part, name) for part in parts])
            for name in ("predictions", "errors", "estimated_errors")
        ),
    )


def common_classes(models: list[Any]) -> NDArray[Any]:
    """Classes of models that all know the same ones."""
    classes = models[0].classes_
    for model in models:
        if not np.array_equal(model.classes_, classes):
            raise ValueError(
                f"estimators know different classes, {classes.tolist()} and {model.classes_.tolist()}: "
                "they must know the same."
            )
    return classes
