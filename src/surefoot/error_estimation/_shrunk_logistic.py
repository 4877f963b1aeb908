"""Logistic regression shrunk towards the model's own confidence."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_scalar
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._models import smoothed_targets
from surefoot._shrunk import fit_logistic, with_ones
from surefoot._sklearn_private import check_sample_weight
from surefoot._typing import Floats

# Penalties of the other columns, relative to the number of rows, strongest first: the first one leaves only the
# model's own confidence.
PENALTIES = 10.0 ** np.arange(1, -6, -1)

# Penalty of the model's own columns, towards their prior weights: about as strong as one row.
LIGHT = 1.0

# Penalty of the intercept, towards its prior: almost none, since every row informs it.
LEVEL = 1e-2

FOLDS = 5


class ShrunkLogisticRegression(ClassifierMixin, BaseEstimator):
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

    def __init__(self, *, n_own: int = 0, random_state: Any = None) -> None:
        self.n_own = n_own
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
        self._is_free = np.arange(rows.shape[1]) <= (self.n_own if learns else 0)
        every = np.arange(len(y))
        folds = self._folds(y, groups) if learns else [(every, every)]
        paths = self._held_out_paths(rows, y, weight, folds)
        losses = weight @ (np.logaddexp(0, paths) - y[:, None] * paths)
        best = int(np.argmin(losses)) if learns else 0
        self.penalty_ = float(PENALTIES[best])
        self.held_out_ = expit(paths[:, best])
        weights = self._path(rows, y, weight)[best]
        self.intercept_, self.coef_ = float(weights[0]), weights[1:]
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of being right and of being wrong."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        wrong = expit(self.intercept_ + self._as_seen(self._scaler.transform(X)) @ self.coef_)
        return np.column_stack([1 - wrong, wrong])

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the second of `classes_` if the prediction is more likely wrong than right."""
        wrong = self.predict_proba(X)[:, 1] > 0.5
        return np.asarray(self.classes_[wrong.astype(np.int64)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

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

    def _held_out_paths(self, rows: Floats, y: Any, weight: Floats, folds: Any) -> Floats:
        """Out-of-fold log-odds of each row, one column per penalty."""
        log_odds = np.empty((len(y), len(PENALTIES)))
        for train, test in folds:
            log_odds[test] = rows[test] @ self._path(rows[train], y[train], weight[train]).T
        return log_odds

    def _folds(self, y: Any, groups: Any) -> Any:
        if groups is not None and len(np.unique(groups)) > 1:
            return GroupKFold(min(FOLDS, len(np.unique(groups)))).split(y, groups=groups)
        rarest = min(int(y.sum()), int(len(y) - y.sum()))
        folds = StratifiedKFold(min(FOLDS, rarest), shuffle=True, random_state=self.random_state)
        return folds.split(y, y)

    def _path(self, rows: Floats, y: Any, weight: Floats) -> Floats:
        """Weights for each penalty; each fit starts from the previous one."""
        path, weights = [], self._prior
        for strength in PENALTIES:
            penalty = np.where(self._is_free, LIGHT, strength * weight.sum())
            penalty[0] = LEVEL
            weights = fit_logistic(
                rows, smoothed_targets(y, weight), weight, penalty, self._prior, weights
            )
            path.append(weights)
        return np.array(path)


def two_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Classes 0 and 1, of which one may be missing in y, or the two labels of y; raises for any other y."""
    check_classification_targets(y)
    labels = np.unique(y)
    if np.isin(labels, [0, 1]).all():
        return np.array([0, 1])
    if len(labels) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}."
        )
    if len(labels) < 2:
        raise ValueError(f"y has one class only, {labels[0]!r}: it may hold 0 and 1.")
    return labels
