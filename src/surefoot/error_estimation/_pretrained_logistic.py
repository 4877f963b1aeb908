"""Logistic regression that starts from a prior: its weights are those of other tables until the rows differ."""

from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.utils.validation import validate_data

from surefoot._models import smoothed_targets
from surefoot._shrunk import fit_logistic, with_ones
from surefoot._sklearn_private import check_sample_weight
from surefoot._typing import Floats
from surefoot.error_estimation._logistic import LEVEL, ErrorLogisticRegression, two_classes
from surefoot.error_estimation._prior import ErrorPrior, NormalScores


class PretrainedLogisticRegression(ErrorLogisticRegression):
    """Probability that a prediction is wrong, from columns that describe it, starting from a prior.

    Columns are taken as normal scores of their ranks. Before the rows are seen, their weights are normal, with the
    prior's mean and covariance; fitted, they are the most probable ones given the rows too. Few errors hardly move
    them, many move them freely.

    Parameters
    ----------
    prior : ErrorPrior
        Where to start from.
    random_state : int, RandomState or None, default=None
        Seed of the folds of `held_out_`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Right and wrong: 0 and 1.
    intercept_, coef_ : float, ndarray of shape (n_columns + 1,)
        Weights of the columns' scores in the log-odds of being wrong, and of the one that is made from them.
    held_out_ : ndarray of shape (n_rows,)
        Out-of-fold probabilities of the training rows.
    """

    def __init__(self, prior: ErrorPrior, *, random_state: Any = None) -> None:
        self.prior = prior
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit on columns and 0/1 targets; rows of one group stay in one fold."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes_ = two_classes(y)
        y = (y == self.classes_[1]).astype(np.int64)
        self._scores = NormalScores(X, self.prior.columns, weight)
        root = np.linalg.cholesky(self.prior.covariance)
        rows = with_ones(self._scores(X) @ root)
        start = np.concatenate([[_level(y, weight)], np.linalg.solve(root, self.prior.mean)])
        turned = _posterior(rows, y, weight, start)
        self.intercept_, self.coef_ = float(turned[0]), root @ turned[1:]
        self.held_out_ = np.empty(len(y))
        for train, test in self._folds(y, weight, groups):
            fitted = _posterior(rows[train], y[train], weight[train], start)
            self.held_out_[test] = expit(rows[test] @ fitted)
        return self

    def _log_odds(self, X: Floats) -> Floats:
        return np.asarray(self.intercept_ + self._scores(X) @ self.coef_)


def _level(y: Any, weight: Floats) -> float:
    """Log-odds of an error before the columns are seen: of the share of errors, by the rule of succession."""
    return float(logit((weight @ y + 1) / (weight.sum() + 2)))


def _posterior(rows: Floats, y: Any, weight: Floats, start: Floats) -> Floats:
    """Most probable intercept and weights, the weights in directions in which the prior has unit variance."""
    penalty = np.ones(len(start))
    penalty[0] = LEVEL
    return fit_logistic(rows, smoothed_targets(y, weight), weight, penalty, start, start)
