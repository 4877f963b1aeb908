"""Vote of several models, each weighted by its trust in the row (Bennett 2007, introduction)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import ClassifierMixin

from surefoot._error_estimators import ErrorEstimatorEnsemble
from surefoot._logistic import best_departure
from surefoot._models import class_votes
from surefoot._typing import Floats
from surefoot._validation import check_number, check_option, check_rows
from surefoot.error_estimation import HeldOut

# Shares of the vote that are tried, from the best model alone to the vote alone.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


class TrustWeightedClassifier(ClassifierMixin, ErrorEstimatorEnsemble):
    """Classifier that lets several models vote, each weighted by its estimated trust in the row.

    Each model votes with its class probabilities, or with its class if it has none. The weight of its vote grows with
    its probability of being right on this row, which an `IndividualErrorClassifier` around it estimates;
    a higher weight is more trust. The start is the model that is best on average: the others vote only as far as that
    saves errors on held-out rows, by more than their standard error (`vote_share_`).

    Parameters
    ----------
    estimators : list of (str, classifier)
        Names and models, as in scikit-learn's `VotingClassifier`; "drop" leaves one out. A
        model in `FrozenEstimator` is used as it is, and the rows given to `fit` must be new to it. An
        `IndividualErrorClassifier` is used with its own settings, but for the loss.
    indicator : indicator or list of indicators, default=None
        Indicators from which trust is learned, out of fold, so that all models' trusts have one scale; None is
        the default of `IndividualErrorClassifier`.
    mode : {"weight", "abstain"}, default="weight"
        With "weight" the weight of a vote is the log-odds of being right compared with random guessing, never
        below zero: log((1 − e)(c − 1) / e) for an estimated error e and c classes. With "abstain" a
        doubtful model does not vote, and the others have equal weights. If no model is left, all have equal weights.
    max_error : float, default=None
        With "abstain", the estimated error above which a model is doubtful; None is its own mean
        error out of fold.
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
    vote_share_ : float
        Share of the weighted vote of all models; the rest of every row's weight is that of the best model. 0 if the
        vote saves no errors on held-out rows, or too few to be sure.
    max_errors_ : ndarray of shape (n_models,)
        Estimated error above which each model is doubtful; set with "abstain".
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Column names, if they are all strings.

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
        learner: Any = None,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimators, learner, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.indicator = indicator
        self.mode = mode
        self.max_error = max_error

    def _kept_models(self) -> dict[str, Any]:
        check_option(self.mode, "mode", ["weight", "abstain"])
        if self.max_error is not None:
            check_number(self.max_error, "max_error", min_val=0, max_val=1)
        return super()._kept_models()

    def _learn_policy(self, judged: list[HeldOut], weight: Floats) -> None:
        mean_errors = np.average(self.held_out_.losses, axis=0, weights=weight)
        self.max_errors_ = (
            mean_errors
            if self.max_error is None
            else np.full(len(mean_errors), float(self.max_error))
        )
        self._best = int(mean_errors.argmin())
        self.best_name_ = list(self.named_estimators_)[self._best]
        votes = np.stack([held_out_votes(each, self.classes_) for each in judged], axis=1)
        trust = self._trust_shares(self.held_out_.error)
        losses = []  # by share of the vote
        for share in SHARES:
            probabilities = np.einsum("rm,rmc->rc", self._mixed(trust, share), votes)
            predicted = self.classes_[probabilities.argmax(axis=1)]
            losses.append((predicted != judged[0].truth).astype(np.float64))
        # The best model alone is its own prediction, which need not be its most probable class.
        losses[0] = self.held_out_.losses[:, self._best]
        units = self.held_out_.rows if judged[0].groups is None else judged[0].groups
        self.vote_share_ = SHARES[best_departure(np.column_stack(losses), weight, units)]

    def _mixed(self, trust: Floats, share: float) -> Floats:
        """Weights of the vote mixed with those of the best model alone."""
        alone = np.arange(trust.shape[1]) == self._best
        return (1 - share) * alone + share * trust

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: the mean over the models, weighted for each row.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to classify.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            One column for each class, in the order of `classes_`.
        """
        X = check_rows(self, X)
        weights = self.local_weights(X)
        votes = np.stack([class_votes(model, X) for model in self.estimators_], axis=1)
        return np.einsum("rm,rmc->rc", weights, votes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the highest weighted probability for each row; with `vote_share_` 0, that of the best model."""
        X = check_rows(self, X)
        if self.vote_share_ == 0:  # its own prediction need not be its most probable class
            return np.asarray(self.estimators_[self._best].predict(X))
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

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
        trust = self._trust_shares(self._estimate_errors(check_rows(self, X)))
        return self._mixed(trust, self.vote_share_)

    def _trust_shares(self, estimated: Floats) -> Floats:
        """Shares of the models' votes by their estimated errors."""
        if self.mode == "abstain":
            return as_shares((estimated <= self.max_errors_).astype(np.float64))
        # Clip estimates to what n rows can show: half a row from 0 and from 1.
        least = 1 / (2 * len(self.held_out_.rows) + 2)
        clipped = np.clip(estimated, least, 1 - least)
        return as_shares(np.maximum(0.0, np.log(len(self.classes_) - 1) - logit(clipped)))

    def _error_estimator_settings(self) -> dict[str, Any]:
        return {} if self.indicator is None else {"indicators": self.indicator}


def as_shares(weights: Floats) -> Floats:
    """Weights scaled to sum to one in each row; equal weights where none is above zero."""
    weights = np.where(weights.max(axis=1, keepdims=True) > 0, weights, 1.0)
    return weights / weights.sum(axis=1, keepdims=True)


def held_out_votes(held_out: Any, classes: NDArray[Any]) -> Floats:
    """Class probabilities of held-out rows; 1 for the predicted class if the model has none."""
    if held_out.probabilities is not None:
        return np.asarray(held_out.probabilities)
    return (np.asarray(held_out.prediction)[:, None] == classes).astype(np.float64)
