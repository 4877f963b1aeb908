"""Error estimators as other packages use them: type and check of a fitted one, and ensembles with one per model."""

from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefoot._models import ask_chosen, clone_with_seed
from surefoot._sklearn_private import HeterogeneousEnsemble, check_sample_weight
from surefoot._splits import resolve_cv
from surefoot._typing import Floats, Ints
from surefoot._validation import (
    check_class_labels,
    check_rows,
    check_same_rows,
    check_training_rows,
    common_classes,
)
from surefoot.error_estimation import (
    HeldOut,
    IndividualErrorClassifier,
    IndividualErrorRegressor,
)

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


class ErrorEstimatorEnsemble(HeterogeneousEnsemble):
    """Base of ensembles with a policy, learned on held-out rows, that decides how each row is answered.

    `fit` wraps each model in an estimator of its errors, all on the same folds. A subclass learns its policy from their
    held-out judgements (`_learn_policy`), and applies it to their estimates for new rows (`_estimate_errors`). It may
    check its own parameters (`_kept_models`), and those of the error estimators (`_error_estimator_settings`).
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the models, and learn from held-out rows on which rows each of them is wrong.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the models take them.
        y : array-like of shape (n_rows,)
            Targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the models, for the estimation of their errors and for what is learned from held-out rows.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        models = self._kept_models()
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        cv, data = self._common_cv(X, y, groups), {"sample_weight": sample_weight, "groups": groups}
        judged = self._judge([*models.values()], cv, X, y, **data)
        self.named_estimators_ = Bunch(**dict(zip(models, self.estimators_, strict=True)))
        if is_classifier(self):
            self.classes_ = common_classes(self.estimators_)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self._learn_policy(judged, weight[self.held_out_.rows])
        return self

    def _kept_models(self) -> dict[str, Any]:
        """Models by name, without dropped ones."""
        names, models = self._validate_estimators()
        return {name: model for name, model in zip(names, models, strict=True) if model != "drop"}

    def _error_estimator_settings(self) -> dict[str, Any]:
        """Further parameters of the error estimators."""
        return {}

    def _judge(self, models: list[Any], cv: Any, X: Any, y: Any, **data: Any) -> list[HeldOut]:
        """Fit an error estimator around each model, and return their held-out judgements of the same rows."""
        fitted = [self._error_estimator_of(model, cv).fit(X, y, **data) for model in models]
        judged: list[HeldOut] = [each.held_out_ for each in fitted]
        check_same_rows([each.rows for each in judged])
        self.error_estimators_ = fitted
        self.estimators_ = [each.estimator_ for each in fitted]
        self.held_out_ = HeldOutErrors(
            judged[0].rows,
            *(
                np.column_stack([getattr(each, name) for each in judged])
                for name in HeldOutErrors._fields[1:]
            ),
        )
        return judged

    def _learn_policy(self, judged: list[HeldOut], weight: Floats) -> None:
        """Learn from the held-out judgements of the models how each row is answered."""
        raise NotImplementedError

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


def all_have_probabilities(ensemble: Any) -> bool:
    """True if every model of an ensemble has `predict_proba`."""
    models = [model for _, model in ensemble.estimators if model != "drop"]
    return all(hasattr(model, "predict_proba") for model in models)


class RoutingEnsemble(ErrorEstimatorEnsemble):
    """Base of ensembles whose policy chooses one model for each row; a model that is chosen for no row is not asked."""

    def _choose(self, X: Any) -> Ints:
        """Position of the model that answers each row."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Prediction of the chosen model for each row."""
        return self._ask("predict", X)

    @available_if(all_have_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the chosen model for each row."""
        return self._ask("predict_proba", X)

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        X = check_rows(self, X)
        # An error estimator may correct its model's predictions, so it is asked in place of the model.
        models = [*self.error_estimators_, *self.estimators_[len(self.error_estimators_) :]]
        return ask_chosen(models, self._choose(X), method, X)
