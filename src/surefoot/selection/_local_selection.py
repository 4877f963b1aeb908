"""Ensembles that use, for each row, the model with the lowest estimated error (Buza et al. 2010, section 4)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from surefoot._error_estimators import RoutingEnsemble
from surefoot._typing import Floats, Ints
from surefoot._validation import check_rows
from surefoot.error_estimation import HeldOut


class Switch(NamedTuple):
    """Model that is best on average, and the estimated advantage above which another model is used instead."""

    best: int
    advantage: float

    def choose(self, estimated_errors: Floats) -> Ints:
        """Number of the model to use for each row."""
        gain = estimated_errors[:, self.best] - estimated_errors.min(axis=1)
        return np.where(gain > self.advantage, estimated_errors.argmin(axis=1), self.best)


def learn_switch(errors: Floats, estimated_errors: Floats, weight: Floats) -> Switch:
    """Learn from held-out rows the estimated advantage from which on another model is used.

    The arrays have one column for each model. Rows are sorted by the estimated advantage: the estimated error of the
    model that is best on average, minus the lowest estimated error in the row. The threshold is set where the
    loss saved so far, minus its standard error, is largest; if that is never above zero, the model that is
    best on average is used for all rows.
    """
    best = int(np.average(errors, axis=0, weights=weight).argmin())
    advantage = estimated_errors[:, best] - estimated_errors.min(axis=1)
    ranked, places = np.unique(-advantage, return_inverse=True)  # equal ones switch together
    chosen = errors[np.arange(len(errors)), estimated_errors.argmin(axis=1)]
    saved = weight * (errors[:, best] - chosen)
    sums, squares = (np.cumsum(np.bincount(places, each)) for each in (saved, saved**2))
    lower_bounds = np.where(ranked < 0, sums - np.sqrt(squares), 0.0)  # without advantage none does
    at = int(lower_bounds.argmax())
    thresholds = np.append(-ranked[1:], 0.0)  # the next advantage, which is not enough
    return Switch(best, float(thresholds[at]) if lower_bounds[at] > 0 else np.inf)


class LocalSelection(RoutingEnsemble):
    """Base of the classifier and the regressor: the model with the lowest estimated error answers a row."""

    def _learn_policy(self, judged: list[HeldOut], weight: Floats) -> None:
        self._switch = learn_switch(self.held_out_.losses, self.held_out_.error, weight)
        self.best_name_ = list(self.named_estimators_)[self._switch.best]
        self.advantage_ = self._switch.advantage

    def _choose(self, X: Any) -> Ints:
        return self._switch.choose(self._estimate_errors(X))

    def predict_selection(self, X: Any) -> NDArray[np.object_]:
        """Name of the chosen model for each row.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to choose for.

        Returns
        -------
        names : ndarray of shape (n_rows,)
            Names as in `estimators`.
        """
        names = np.array(list(self.named_estimators_), dtype=object)
        return names[self._choose(check_rows(self, X))]

    def predict_error(self, X: Any) -> Floats:
        """Estimated error of the chosen model's prediction for each row; lower is better."""
        estimated = self._estimate_errors(check_rows(self, X))
        return np.take_along_axis(estimated, self._switch.choose(estimated)[:, None], axis=1)[:, 0]


class LocalSelectionClassifier(ClassifierMixin, LocalSelection):
    """Classifier that uses, for each row, the model with the lowest estimated error.

    Every model is wrapped in an `IndividualErrorClassifier`, which learns from held-out rows the probability
    that the model is wrong on a row. The model that is best on average is the default. A row goes to another model
    if the estimated error of that model is lower by more than `advantage_`. This threshold is also learned from
    held-out rows: it maximises the errors saved minus their standard error. If that is never above zero,
    the default model is used for all rows.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Names and models, as in scikit-learn's `VotingClassifier`; "drop" leaves one out. A
        model in `FrozenEstimator` is used as it is, and the rows given to `fit` must be new to it. An
        `IndividualErrorClassifier` is used with its own settings, but for the loss.
    learner : classifier, default=None
        Learner of each model's errors; see `IndividualErrorClassifier`.
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
        The models, fitted on all rows.
    named_estimators_ : Bunch
        The models by name.
    error_estimators_ : list of IndividualErrorClassifier
        Error estimator of each model.
    held_out_ : HeldOutErrors
        Predictions, errors and estimated errors of the training rows out of fold, one column for each model.
    best_name_ : str
        Name of the model that is best on average, out of fold.
    advantage_ : float
        How much lower the estimated error of another model must be for it to be chosen; inf if it never is.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

    See Also
    --------
    surefoot.ensemble.TrustWeightedClassifier : Lets all models vote, each weighted by its trust in the row.

    Examples
    --------
    A linear model is right on the left, a nearest neighbour on the right:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from surefoot.selection import LocalSelectionClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 2))
    >>> noisy = rng.random(1000) < 0.3
    >>> left = (X[:, 1] > 0) ^ noisy
    >>> right = np.floor(4 * X[:, 1]) % 2 == 0
    >>> y = np.where(X[:, 0] < 0, left, right)
    >>> models = [("linear", LogisticRegression()), ("nearest", KNeighborsClassifier(1))]
    >>> model = LocalSelectionClassifier(models, random_state=0).fit(X, y)
    >>> model.predict_selection([[-0.6, -0.5], [0.6, 0.8]])
    array(['linear', 'nearest'], dtype=object)
    """


class LocalSelectionRegressor(RegressorMixin, LocalSelection):
    """Regressor that uses, for each row, the model with the lowest estimated error.

    Every model is wrapped in an `IndividualErrorRegressor`, which learns from held-out rows the size
    of the model's error on a row. The model that is best on average is the default. A row goes to another model
    if the estimated error of that model is lower by more than `advantage_`. This threshold is also learned from
    held-out rows: it maximises the loss saved minus its standard error. If that is never above zero,
    the default model is used for all rows.

    Parameters
    ----------
    estimators : list of (str, regressor)
        Names and models, as in scikit-learn's `VotingRegressor`; "drop" leaves one out. A
        model in `FrozenEstimator` is used as it is, and the rows given to `fit` must be new to it. An
        `IndividualErrorRegressor` is used with its own settings, but for the loss.
    learner : regressor, default=None
        Learner of each model's errors; see `IndividualErrorRegressor`.
    loss : {"absolute", "squared"}, default="squared"
        Error to minimise.
    cv : int, splitter or iterable of splits, default=5
        How rows are held out, the same for all models. A number means shuffled folds.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the error estimation.
    n_jobs : int, default=None
        Parallel folds.

    Attributes
    ----------
    estimators_ : list of regressors
        The models, fitted on all rows.
    named_estimators_ : Bunch
        The models by name.
    error_estimators_ : list of IndividualErrorRegressor
        Error estimator of each model.
    held_out_ : HeldOutErrors
        Predictions, errors and estimated errors of the training rows out of fold, one column for each model.
    best_name_ : str
        Name of the model that is best on average, out of fold.
    advantage_ : float
        How much lower the estimated error of another model must be for it to be chosen; inf if it never is.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

    Examples
    --------
    A line fits on the left, the nearest rows on the right:

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from surefoot.selection import LocalSelectionRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 1))
    >>> y = np.where(X[:, 0] < 0, rng.normal(scale=0.5, size=1000), 3 * np.sin(9 * X[:, 0]))
    >>> models = [("line", LinearRegression()), ("nearest", KNeighborsRegressor(1))]
    >>> model = LocalSelectionRegressor(models, random_state=0).fit(X, y)
    >>> model.predict_selection([[-0.5], [0.2]])
    array(['line', 'nearest'], dtype=object)
    """

    def __init__(
        self,
        estimators: Any,
        learner: Any = None,
        *,
        loss: str = "squared",
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimators, learner, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.loss = loss

    def _error_estimator_settings(self) -> dict[str, Any]:
        return {"loss": self.loss}
