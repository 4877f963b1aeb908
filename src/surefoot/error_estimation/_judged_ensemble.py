"""Several models, each with an estimate of its own error on every row."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.validation import validate_data

from surefoot._crossfit import check_same_rows, common_classes
from surefoot._sklearn_private import HeterogeneousEnsemble, check_sample_weight
from surefoot._typing import Floats, Ints
from surefoot.error_estimation._classifier import IndividualErrorClassifier
from surefoot.error_estimation._regressor import IndividualErrorRegressor


class HeldOutErrors(NamedTuple):
    """What the models got wrong on training rows that they had not seen, one column a model.

    `errors` are the true losses and `estimated_errors` what was thought of them by error estimators
    that had not seen the row either; `rows` are its positions in the training table.
    """

    rows: Ints
    predictions: NDArray[Any]
    errors: Floats
    estimated_errors: Floats


class JudgedEnsemble(HeterogeneousEnsemble):
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

    def _judge(self, model: Any, cv: Any) -> Any:
        """Unfitted estimator of the errors of one model; a model that is one keeps its settings, but for the loss."""
        kind = IndividualErrorClassifier if is_classifier(self) else IndividualErrorRegressor
        if isinstance(model, kind):
            # Errors are compared, and must have one unit.
            return clone(model).set_params(loss=self._judge_settings().get("loss"))
        return kind(
            model,
            self.error_estimator,
            cv=cv,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **self._judge_settings(),
        )

    def _common_cv(self, X: Any, y: Any, groups: Any) -> Any:
        """How rows are held out, for all models alike: a splitter that draws is asked once."""
        if isinstance(self.cv, Integral):
            return self.cv
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        return list(splitter.split(X, y, groups))

    def _fit_judges(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Floats:
        """Fit all judges; returns the weights of the held-out rows."""
        names, models = self._validate_estimators()
        validate_data(self, X, y, skip_check_array=True)
        kept = {name: model for name, model in zip(names, models, strict=True) if model != "drop"}
        cv = self._common_cv(X, y, groups)
        self.judges_ = [
            self._judge(model, cv).fit(X, y, sample_weight=sample_weight, groups=groups)
            for model in kept.values()
        ]
        self.estimators_ = [judge.estimator_ for judge in self.judges_]
        self.named_estimators_ = Bunch(**dict(zip(kept, self.estimators_, strict=True)))
        self.held_out_ = stack_held_out([judge.held_out_ for judge in self.judges_])
        if is_classifier(self):
            self.classes_ = common_classes(self.estimators_)
        return check_sample_weight(sample_weight, X, dtype=np.float64)[self.held_out_.rows]

    def _estimate_errors(self, X: Any) -> Floats:
        """Estimated error of each row, one column a model."""
        return np.column_stack([judge.predict_error(X) for judge in self.judges_])


def stack_held_out(parts: list[Any]) -> HeldOutErrors:
    """Held-out rows of all models side by side; they must be the same rows."""
    rows = parts[0].rows
    check_same_rows([part.rows for part in parts])
    return HeldOutErrors(
        rows,
        *(
            np.column_stack([getattr(part, name) for part in parts])
            for name in ("predictions", "errors", "estimated_errors")
        ),
    )
