"""A vote of experts, each with its trust in this row (Bennett 2007, introduction)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import ClassifierMixin

from surefoot._crossfit import check_rows
from surefoot._typing import Floats
from surefoot._validation import check_number, check_option
from surefoot.error_estimation import JudgedEnsemble


class TrustWeightedClassifier(ClassifierMixin, JudgedEnsemble):
    """Classifier that lets several models vote, each with its estimated trust in the row at hand.

    Like reviewers who state how sure they are of their verdict: each model votes with its class
    probabilities (with its class, if it has none), and its vote counts by how probably it is right on this row,
    as an `IndividualErrorClassifier` around it estimates; higher weights are more trust.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Names and models, as in scikit-learn's `VotingClassifier`; "drop" leaves one out. A
        model in `FrozenEstimator` is used as it is, and the rows given to `fit` must be new to it. An
        `IndividualErrorClassifier` is used with its own settings, but for the loss.
    indicator : indicator or list of indicators, default=None
        What the trust is learned from, out of fold, so that the models' trusts have one scale; None is
        all that `IndividualErrorClassifier` looks at by default.
    mode : {"weight", "abstain"}, default="weight"
        "weight" weighs a vote by the log-odds of being right, counted from guessing among the classes and never
        below zero: log((1 − e)(c − 1) / e) for an estimated error e and c classes. With "abstain" a
        doubtful model does not vote, and the others vote alike. Where nobody is left to vote, all do, alike.
    max_error : float, default=None
        With "abstain", the estimated error above which a model is doubtful; None is its own mean
        error out of fold: it doubts more than it usually does.
    error_estimator : classifier, default=None
        What learns the errors of every model; see `IndividualErrorClassifier`.
    cv : int, splitter or iterable of splits, default=5
        How rows are held out.
    random_state : int, RandomState or None, default=None
        What the error estimation draws.
    n_jobs : int, default=None
        Parallel folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : list of classifiers
        The models, fitted on all rows.
    named_estimators_ : Bunch
        The same by name.
    error_estimators_ : list of IndividualErrorClassifier
        What estimates the error of each.
    held_out_ : HeldOutErrors
        Predictions, errors and estimated errors of the training rows out of fold, one column a model.
    max_errors_ : ndarray of shape (n_models,)
        Estimated error above which each model is doubtful; set with "abstain".
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, where they are strings.

    See Also
    --------
    surefoot.selection.LocalSelectionClassifier : Uses one model for each row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from surefoot.ensemble import TrustWeightedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> experts = [("bayes", GaussianNB()), ("nearest", KNeighborsClassifier())]
    >>> model = TrustWeightedClassifier(experts).fit(X, y)
    >>> model.local_weights(X[:2]).sum(axis=1)
    array([1., 1.])
    """

    def __init__(
        self,
        estimators: Any,
        indicator: Any = None,
        mode: str = "weight",
        *,
        max_error: float | None = None,
        error_estimator: Any = None,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.indicator = indicator
        self.mode = mode
        self.max_error = max_error
        self.error_estimator = error_estimator
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the models, and learn from held-out rows how wrong each of them is where.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the models take them.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the models and for the estimation of their errors.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        check_option(self.mode, "mode", ["weight", "abstain"])
        if self.max_error is not None:
            check_number(self.max_error, "max_error", min_val=0, max_val=1)
        weight = self._fit_error_estimators(X, y, sample_weight, groups)
        errors = self.held_out_.losses
        self.max_errors_ = (
            np.average(errors, axis=0, weights=weight)
            if self.max_error is None
            else np.full(errors.shape[1], float(self.max_error))
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: the mean of the models', each with its weight for the row.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            One column a class, in the order of `classes_`.
        """
        X = check_rows(self, X)
        weights = self.local_weights(X)
        votes = np.stack(
            [class_votes(model, X, self.classes_) for model in self.estimators_], axis=1
        )
        return np.einsum("rm,rmc->rc", weights, votes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most weight for each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def local_weights(self, X: Any) -> Floats:
        """Weight of each model's vote for each row; higher is more trust, and each row sums to one.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        weights : ndarray of shape (n_rows, n_models)
            One column a model, in the order of `estimators_`.
        """
        estimated = self._estimate_errors(check_rows(self, X))
        if self.mode == "abstain":
            return as_shares((estimated <= self.max_errors_).astype(np.float64))
        # No more certain than n rows can make one: the rule of succession's half row either way.
        least = 1 / (2 * len(self.held_out_.rows) + 2)
        clipped = np.clip(estimated, least, 1 - least)
        return as_shares(np.maximum(0.0, np.log(len(self.classes_) - 1) - logit(clipped)))

    def _error_estimator_settings(self) -> dict[str, Any]:
        return {} if self.indicator is None else {"indicators": self.indicator}


def as_shares(weights: Floats) -> Floats:
    """Weights that sum to one in each row; all alike where none is above zero."""
    weights = np.where(weights.max(axis=1, keepdims=True) > 0, weights, 1.0)
    return weights / weights.sum(axis=1, keepdims=True)


def class_votes(model: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """Class probabilities of a model; 0 and 1 if it has none."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return (np.asarray(model.predict(X))[:, None] == classes).astype(np.float64)
