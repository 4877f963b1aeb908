"""Logistic regression shrunk towards the model's own confidence."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_scalar
from sklearn.utils.validation import validate_data

from surefoot._models import smoothed_targets
from surefoot._shrunk import fit_logistic, with_ones
from surefoot._sklearn_private import check_sample_weight
from surefoot._typing import Floats
from surefoot.error_estimation._logistic import LEVEL, ErrorLogisticRegression, two_classes

# Penalties of the other columns, relative to the number of rows, strongest first: the first one leaves only the
# model's own confidence.
PENALTIES = 10.0 ** np.arange(1, -6, -1)

# Penalty of the model's own columns, towards their prior weights: about as strong as one row.
LIGHT = 1.0


class ShrunkLogisticRegression(ErrorLogisticRegression):
    """Probability that a prediction is wrong, from columns that describe it.

    A logistic regression on standardised columns. The first `n_own` columns, the model's own
    confidence, are hardly penalised; the others have a ridge penalty, chosen by cross-validated log loss. With the
    strongest penalty the model's own confidence alone ranks the rows. The prior takes the first own column as
    the log-odds of being right, so that without data the model's confidence is returned. With fewer than two
    wrong or two right rows only the intercept is learned.

    Parameters
    ----------
    n_own : int, default=0
        Number of leading columns that are the model's own confidence, log-odds of the predicted class first.
    directions : array-like of shape (n_columns,), default=None
        Whether a higher value makes a mistake more (1) or less likely (-1), 0 if either may be. Weights of the other
        columns that have another sign are held back, as far as the errors do not clearly speak for it.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Right and wrong: 0 and 1, or the two labels of `y`.
    intercept_, coef_ : float, ndarray of shape (n_columns,)
        Weights of the standardised columns in the log-odds of being wrong.
    penalty_ : float
        The penalty chosen.
    held_out_ : ndarray of shape (n_rows,)
        Out-of-fold probabilities of the training rows, with that penalty.

    Examples
    --------
    >>> import numpy as np
    >>> own, other = np.random.default_rng(0).normal(size=(2, 400))
    >>> wrong = (own + other < 0).astype(int)
    >>> meta = ShrunkLogisticRegression(n_own=1, random_state=0).fit(np.c_[own, other], wrong)
    >>> meta.predict_proba([[2.0, 2.0], [2.0, -3.0]])[:, 1].round(2)
    array([0., 1.])
    """

    def __init__(self, *, n_own: int = 0, directions: Any = None, random_state: Any = None) -> None:
        self.n_own = n_own
        self.directions = directions
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit on columns and 0/1 targets; rows of one group stay in one fold."""
        check_scalar(self.n_own, "n_own", Integral, min_val=0)
        X, y = validate_data(self, X, y, dtype=np.float64)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes_ = two_classes(y)
        y = (y == self.classes_[1]).astype(np.int64)
        # Neither the columns' weights nor their penalty can be learned from a single error.
        learns = min(np.count_nonzero(weight[y == 1]), np.count_nonzero(weight[y == 0])) > 1
        self._scaler = StandardScaler().set_output(transform="default").fit(X, sample_weight=weight)
        rows = with_ones(self._scaler.transform(X))
        self._seen = rows[:, 1:].min(axis=0), rows[:, 1:].max(axis=0)
        self._prior = self._prior_weights(rows.shape[1])
        self._signs = self._expected_signs(X.shape[1])
        self._is_free = np.arange(rows.shape[1]) <= (self.n_own if learns else 0)
        paths = self._held_out_paths(rows, y, weight, self._folds(y, weight, groups))
        losses = weight @ (np.logaddexp(0, paths) - y[:, None] * paths)
        best = int(np.argmin(losses)) if learns else 0
        self.penalty_ = float(PENALTIES[best])
        self.held_out_ = expit(paths[:, best])
        weights = self._path(rows, y, weight)[best]
        self.intercept_, self.coef_ = float(weights[0]), weights[1:]
        return self

    def _log_odds(self, X: Floats) -> Floats:
        return np.asarray(self.intercept_ + self._as_seen(self._scaler.transform(X)) @ self.coef_)

    def _as_seen(self, rows: Floats) -> Floats:
        """Rows clipped to the range of the training rows, so that almost constant columns have no effect.

        The model's own columns are not clipped where it is less confident than the most confident training row:
        low confidence must have its full effect.
        """
        clipped = np.clip(rows, *self._seen)
        if self.n_own:
            unsure = rows[:, 0] < self._seen[1][0]
            clipped[unsure, : self.n_own] = rows[unsure, : self.n_own]
        return clipped

    def _prior_weights(self, n_weights: int) -> Floats:
        """Prior weights of the standardised columns, intercept first."""
        prior = np.zeros(n_weights)
        if self.n_own:
            prior[0], prior[1] = -self._scaler.mean_[0], -self._scaler.scale_[0]
        return prior

    def _expected_signs(self, n_columns: int) -> Floats:
        """Expected sign of each weight, intercept first; 0 for the model's own columns, which have their prior."""
        signs = np.zeros(n_columns + 1)
        if self.directions is not None:
            directions = np.asarray(self.directions, dtype=np.float64)
            if directions.shape != (n_columns,):
                raise ValueError(
                    f"directions has shape {directions.shape}: it may hold -1, 0 or 1 for each of {n_columns} columns."
                )
            signs[1 + self.n_own :] = directions[self.n_own :]
        return signs

    def _held_out_paths(self, rows: Floats, y: Any, weight: Floats, folds: Any) -> Floats:
        """Out-of-fold log-odds of each row, one column per penalty."""
        log_odds = np.empty((len(y), len(PENALTIES)))
        for train, test in folds:
            log_odds[test] = rows[test] @ self._path(rows[train], y[train], weight[train]).T
        return log_odds

    def _path(self, rows: Floats, y: Any, weight: Floats) -> Floats:
        """Weights for each penalty; each fit starts from the previous one."""
        path, weights = [], self._prior
        for strength in PENALTIES:
            penalty = np.where(self._is_free, LIGHT, strength * weight.sum())
            penalty[0] = LEVEL
            target = smoothed_targets(y, weight)
            weights = fit_logistic(rows, target, weight, penalty, self._prior, weights, self._signs)
            path.append(weights)
        return np.array(path)
