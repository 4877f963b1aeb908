"""Classifier that calls a cheap model first, and an expensive one where that saves most errors."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import ClassifierMixin
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot._crossfit import cross_predict, units_of
from surefoot._error_estimators import RoutingEnsemble
from surefoot._splits import learner_folds
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import check_number, check_rows, check_same_rows
from surefoot.error_estimation import HeldOut, IndividualErrorClassifier

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


class DeferringClassifier(ClassifierMixin, RoutingEnsemble):
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
    error_estimators_ : list of one IndividualErrorClassifier
        Estimator of the cheap model's error, also as `error_estimator_`.
    held_out_ : HeldOutErrors
        Predictions and errors of both models out of fold, and the estimated error of the cheap one.
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

    @property
    def error_estimator_(self) -> IndividualErrorClassifier:
        """Estimator of the cheap model's error."""
        return self.error_estimators_[0]

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

    def _choose(self, X: Any) -> Ints:
        return self.predict_defer(X).astype(np.int64)

    def _judge(self, models: list[Any], cv: Any, X: Any, y: Any, **data: Any) -> list[HeldOut]:
        """Judge the cheap model alone: of the expensive one, only predictions of held-out rows are needed."""
        [cheap] = super()._judge(models[:1], cv, X, y, **data)
        model, rows, predicted = cross_predict(
            models[1], X, y, cv=cv, random_state=self.random_state, n_jobs=self.n_jobs, **data
        )
        check_same_rows([cheap.rows, rows])
        self.estimators_.append(model)
        wrong = predicted != cheap.truth
        self.held_out_ = self.held_out_._replace(
            prediction=np.column_stack([cheap.prediction, predicted]),
            losses=np.column_stack([cheap.prediction != cheap.truth, wrong]).astype(np.float64),
        )
        return [cheap]

    def _learn_policy(self, judged: list[HeldOut], weight: Floats) -> None:
        """Learn the value of a call from the predictions of both models for held-out rows."""
        [cheap], losses = judged, self.held_out_.losses
        saved = losses[:, 0] - losses[:, 1]
        columns = value_columns(cheap.prediction, cheap.error, self.classes_)
        value = np.zeros(len(columns))  # out of fold: no learner saw the row or its group
        units = units_of(cheap.rows, None) if cheap.groups is None else cheap.groups
        for train, test in learner_folds(len(columns), units, random_state=0):
            learner = fit_value(columns[train], saved[train], weight[train])
            value[test] = learner.predict(columns[test])
        self.deferral_curve_ = deferral_curve(value, losses, weight)
        # The threshold is set with the deployed learner: the values of the folds' learners differ in scale.
        self._value = fit_value(columns, saved, weight)
        price = 0.0 if self.costs is None else self.costs[0] / self.costs[1]  # measured in errors
        default = DEFAULT_BUDGET if self.costs is None else 1.0
        budget = default if self.budget is None else self.budget
        deployed = deferral_curve(self._value.predict(columns), losses, weight)
        self.least_value_ = max(price, deployed.value_within(budget))

    def _kept_models(self) -> dict[str, Any]:
        models = super()._kept_models()
        if len(models) != 2 or len(self.estimators) != 2:
            raise ValueError(
                f"estimators names {len(self.estimators)} models: it may name two, the cheap one first."
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
        return models


def deferral_curve(value: Floats, losses: Floats, weight: Floats) -> DeferralCurve:
    """Accuracy if rows are deferred in the order of their value: without any, then at each distinct value.

    `losses` are 1 where a model is wrong: of the cheap one, and of the expensive one.
    """
    ranked, places = np.unique(-value, return_inverse=True)
    total = weight.sum()
    calls = np.cumsum(np.bincount(places, weight)) / total
    saved = np.cumsum(np.bincount(places, weight * (losses[:, 0] - losses[:, 1]))) / total
    alone = 1 - weight @ losses[:, 0] / total
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
