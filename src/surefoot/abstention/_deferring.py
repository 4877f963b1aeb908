"""Classifier that calls a cheap model first, and an expensive one where that saves most errors."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import ClassifierMixin
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import available_if

from surefoot._crossfit import CrossFitter, units_of
from surefoot._error_estimators import ErrorEstimatorEnsemble, all_have_probabilities
from surefoot._models import ask_chosen
from surefoot._splits import learner_folds
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import (
    check_number,
    check_rows,
    check_same_rows,
    check_training_rows,
    common_classes,
)

DEFAULT_BUDGET = 0.2

# Penalties of the ridge regression to choose from: from almost no shrinkage to almost no slope.
STRENGTHS = np.logspace(-1, 5, 13)


class DeferralCurve(NamedTuple):
    """Accuracy on held-out rows, higher is better, against the share of rows for which the second model is called.

    The rows with the highest estimated value are deferred first; `values` has the lowest value that is deferred.
    """

    calls: Floats
    accuracy: Floats
    values: Floats

    def value_within(self, budget: float) -> float:
        """Lowest threshold such that the rows above it are at most the share `budget`; equal values stay together."""
        beyond = self.values[self.calls > budget + 1e-9]
        return float(beyond[0]) if beyond.size else -np.inf


class DeferringClassifier(ClassifierMixin, ErrorEstimatorEnsemble):
    """Classifier that asks a cheap model first, and defers to an expensive one where that saves most errors.

    The value of a call is the error that it is expected to save: the error of the cheap model minus the error of
    the expensive one. It must be known before the call. So it is estimated from the output of the cheap model
    alone, its class and its estimated error (`IndividualErrorClassifier`), and learned on held-out rows that
    neither model was fitted to. The expensive model is called for the deferred rows only.

    Parameters
    ----------
    estimators : list of two (str, classifier)
        Names and models, the cheap one first. A model in `FrozenEstimator` is used as it is, and the rows
        given to `fit` must be new to it. In `fit` the expensive model is called once for each held-out row. A cheap
        `IndividualErrorClassifier` is used with its own settings.
    budget : float, default=None
        Share of rows for which the expensive model may be called. The threshold on the value is the one that defers
        this share of the held-out rows, so the share of new rows may be a little higher or lower. None is 0.2, or no
        limit if `costs` are given.
    costs : tuple of (float, float), default=None
        Price of a call, and price of an error: rows are deferred where a call saves more than it costs. With a
        `budget`, a row must meet both conditions.
    learner : classifier, default=None
        Learner of the cheap model's errors; see `IndividualErrorClassifier`.
    cv : int, splitter or iterable of splits, default=5
        How rows are held out, the same for all models. A number means shuffled folds.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the error estimation.
    n_jobs : int, default=None
        Parallel folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : list of classifiers
        Both models, fitted on all rows.
    named_estimators_ : Bunch
        The models by name.
    error_estimator_ : IndividualErrorClassifier
        Estimator of the cheap model's error.
    least_value_ : float
        A row is deferred if a call is estimated to save more errors than this; at least 0.
    deferral_curve_ : DeferralCurve
        Out-of-fold `accuracy` against `calls`, the share of rows deferred, and the threshold in `values` for each.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

    See Also
    --------
    AbstainingClassifier : Leaves a row unanswered instead.
    surefoot.selection.LocalSelectionClassifier : Chooses between models that cost the same.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefoot.abstention import DeferringClassifier
    >>> from surefoot.datasets import make_friedman_problem
    >>> X, y = make_friedman_problem(3, n_samples=1000, random_state=0)
    >>> X_new, y_new = make_friedman_problem(3, n_samples=1000, random_state=1)
    >>> models = [("cheap", DecisionTreeClassifier(max_depth=5, random_state=0)), ("expensive", SVC())]
    >>> model = DeferringClassifier(models, budget=0.3, random_state=0).fit(X, y)
    >>> cheap, expensive = (fitted.score(X_new, y_new) for fitted in model.estimators_)
    >>> bool(model.score(X_new, y_new) - cheap > 0.4 * (expensive - cheap))
    True
    """

    def __init__(
        self,
        estimators: Any,
        *,
        budget: float | None = None,
        costs: tuple[float, float] | None = None,
        learner: Any = None,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimators, learner, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.budget = budget
        self.costs = costs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit both models, and learn on held-out rows for which rows a call of the expensive one saves errors.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the models take them.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the models, and for the value of a call.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        (cheap_name, cheap), (expensive_name, expensive) = self._check_parameters()
        X, y, sample_weight = check_training_rows(self, X, y, sample_weight)
        cv = self._common_cv(X, y, groups)
        self.error_estimator_ = self._error_estimator_of(cheap, cv).fit(
            X, y, sample_weight=sample_weight, groups=groups
        )
        model, rows, predictions = CrossFitter(
            [], expensive, cv=cv, random_state=self.random_state, n_jobs=self.n_jobs
        ).predict(X, y, groups=groups, sample_weight=sample_weight)
        self._learn_value(y, rows, predictions, groups, sample_weight)
        self.estimators_ = [self.error_estimator_.estimator_, model]
        self.named_estimators_ = Bunch(
            **dict(zip([cheap_name, expensive_name], self.estimators_, strict=True))
        )
        self.classes_ = common_classes(self.estimators_)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: by the expensive model where it is called, else by the cheap one."""
        return self._ask("predict", check_rows(self, X))

    @available_if(all_have_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: by the expensive model where it is called, else by the cheap one."""
        return self._ask("predict_proba", check_rows(self, X))

    def predict_value(self, X: Any) -> Floats:
        """Estimated errors saved by calling the expensive model for each row, at most 1; higher is better."""
        X, cheap = check_rows(self, X), self.error_estimator_
        columns = value_columns(cheap.predict(X), cheap.predict_error(X), cheap.classes_)
        return self._value.predict(columns)

    def predict_defer(self, X: Any) -> Mask:
        """Mask of the rows for which the expensive model is called.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        defer : ndarray of bool of shape (n_rows,)
            True where the value of a call is above `least_value_`.
        """
        return self.predict_value(X) > self.least_value_

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        return ask_chosen(self.estimators_, self.predict_defer(X).astype(np.int64), method, X)

    def _learn_value(
        self,
        y: NDArray[Any],
        rows: Ints,
        predictions: NDArray[Any],
        groups: Any,
        sample_weight: Floats | None,
    ) -> None:
        """Learn the value of a call from the predictions of both models for held-out rows."""
        held_out, y = self.error_estimator_.held_out_, y[rows]
        check_same_rows([held_out.rows, rows])
        weight = np.ones(len(y)) if sample_weight is None else sample_weight[rows]
        first_wrong = (held_out.prediction != y).astype(np.float64)
        second_wrong = (predictions != y).astype(np.float64)
        saved = first_wrong - second_wrong
        columns = value_columns(held_out.prediction, held_out.error, self.error_estimator_.classes_)
        value = np.zeros(len(columns))  # out of fold: no learner saw the row or its group
        units = units_of(rows, None if groups is None else np.asarray(groups))
        for train, test in learner_folds(len(columns), units, random_state=0):
            learner = fit_value(columns[train], saved[train], weight[train])
            value[test] = learner.predict(columns[test])
        self.deferral_curve_ = deferral_curve(value, first_wrong, second_wrong, weight)
        # The threshold is set with the deployed learner: the values of the folds' learners differ in scale.
        self._value = fit_value(columns, saved, weight)
        price = 0.0 if self.costs is None else self.costs[0] / self.costs[1]  # measured in errors
        default = DEFAULT_BUDGET if self.costs is None else 1.0
        budget = default if self.budget is None else self.budget
        deployed = deferral_curve(self._value.predict(columns), first_wrong, second_wrong, weight)
        self.least_value_ = max(price, deployed.value_within(budget))

    def _check_parameters(self) -> list[tuple[str, Any]]:
        names, models = self._validate_estimators()
        if len(models) != 2 or "drop" in names or any(isinstance(m, str) for m in models):
            raise ValueError(
                f"estimators names {len(models)} models: it may name two, the cheap one first."
            )
        if self.budget is not None:
            check_number(self.budget, "budget", min_val=0, max_val=1)
        if self.costs is not None:
            prices = np.asarray(self.costs, dtype=np.float64)
            if prices.shape != (2,) or not (prices[0] >= 0 < prices[1]):
                raise ValueError(
                    f"costs={self.costs!r} are no prices: they may be the price of a call, from 0 up, and "
                    "that of an error, above 0."
                )
        return list(zip(names, models, strict=True))


def deferral_curve(
    value: Floats, first_wrong: Floats, second_wrong: Floats, weight: Floats
) -> DeferralCurve:
    """Accuracy if rows are deferred in the order of their value: without any, then at each distinct value."""
    ranked, places = np.unique(-value, return_inverse=True)
    total = weight.sum()
    calls = np.cumsum(np.bincount(places, weight)) / total
    saved = np.cumsum(np.bincount(places, weight * (first_wrong - second_wrong))) / total
    alone = 1 - weight @ first_wrong / total
    return DeferralCurve(
        np.append(0.0, calls), np.append(alone, alone + saved), np.append(np.inf, -ranked)
    )


def value_columns(
    predictions: NDArray[Any], estimated_errors: Floats, classes: NDArray[Any]
) -> Floats:
    """Columns for the value of a call: estimated error, its log-odds, predicted class, and error by class."""
    error = np.clip(estimated_errors, 1e-6, 1 - 1e-6)[:, None]
    chosen = (predictions[:, None] == classes).astype(np.float64)
    return np.hstack([error, logit(error), chosen, chosen * error])


def fit_value(columns: Floats, saved: Floats, weight: Floats) -> Any:
    """Ridge regression of the errors saved by a call (−1, 0 or 1); its penalty is chosen by leave-one-out error."""
    learner = make_pipeline(StandardScaler(), RidgeCV(STRENGTHS))
    return learner.fit(columns, saved, ridgecv__sample_weight=weight)
