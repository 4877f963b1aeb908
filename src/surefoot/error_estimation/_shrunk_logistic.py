"""Logistic regression that starts from the model's own confidence and leaves it only for a gain."""

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
from surefoot._sklearn_private import check_sample_weight
from surefoot._typing import Floats

# Penalties, in rows' worth of evidence a row, strongest first: the first leaves own confidence alone.
PENALTIES = 10.0 ** np.arange(1, -6, -1)

# What pulls the model's own columns to their prior: a row's worth of evidence.
LIGHT = 1.0

# And the level of all probabilities, which every row speaks of: hardly anything.
LEVEL = 1e-2

FOLDS = 5
MOST_STEPS = 50


class ShrunkLogisticRegression(ClassifierMixin, BaseEstimator):
    """Probability that a prediction is wrong, from columns that speak of it.

    A logistic regression on standardised columns in which the first `n_own` columns, the model's own
    confidence, are hardly penalised, and the others by a ridge. Its strength has the least
    cross-validated log loss; the strongest leaves the ranking to the model's own confidence. The first own
    column is taken as the log-odds of being right: before any evidence the model is believed. With fewer
    than two rows of either kind there is none, and only the level of the probabilities is learned.

    Parameters
    ----------
    n_own : int, default=0
        Leading columns of own confidence, log-odds of the predicted class first.
    random_state : int, RandomState or None, default=None
        Draws the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Right and wrong: 0 and 1, or the two labels of `y`.
    intercept_, coef_ : float, ndarray of shape (n_columns,)
        Weights of the standardised columns in the log-odds of being wrong.
    penalty_ : float
        The strength chosen.
    held_out_ : ndarray of shape (n_rows,)
        Probabilities of the training rows by fits without them, at that strength.

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
        """Whether each prediction is more likely wrong than right, as 0 or 1."""
        wrong = self.predict_proba(X)[:, 1] > 0.5
        return np.asarray(self.classes_[wrong.astype(np.int64)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _as_seen(self, rows: Floats) -> Floats:
        """Take columns no further than they were seen: one that was constant up to rounding says nothing.

        But a model may well be less sure of a row than it was of any, and that is to be seen.
        """
        known = np.clip(rows, *self._seen)
        if self.n_own:
            unsure = rows[:, 0] < self._seen[1][0]
            known[unsure, : self.n_own] = rows[unsure, : self.n_own]
        return known

    def _prior_weights(self, n_weights: int) -> Floats:
        """The weights before any evidence, on the standardised columns."""
        prior = np.zeros(n_weights)
        if self.n_own:
            prior[0], prior[1] = -self._scaler.mean_[0], -self._scaler.scale_[0]
        return prior

    def _held_out_paths(self, rows: Floats, y: Any, weight: Floats, folds: Any) -> Floats:
        """Log-odds of each row, for each penalty, by a fit without its fold."""
        found = np.empty((len(y), len(PENALTIES)))
        for train, test in folds:
            found[test] = rows[test] @ self._path(rows[train], y[train], weight[train]).T
        return found

    def _folds(self, y: Any, groups: Any) -> Any:
        if groups is not None and len(np.unique(groups)) > 1:
            return GroupKFold(min(FOLDS, len(np.unique(groups)))).split(y, groups=groups)
        rarest = min(int(y.sum()), int(len(y) - y.sum()))
        folds = StratifiedKFold(min(FOLDS, rarest), shuffle=True, random_state=self.random_state)
        return folds.split(y, y)

    def _path(self, rows: Floats, y: Any, weight: Floats) -> Floats:
        """Weights for each penalty, each fit starting from the one before."""
        found, weights = [], self._prior
        for strength in PENALTIES:
            pull = np.where(self._is_free, LIGHT, strength * weight.sum())
            pull[0] = LEVEL
            weights = fit_logistic(
                rows, smoothed_targets(y, weight), weight, pull, self._prior, weights
            )
            found.append(weights)
        return np.array(found)


def two_classes(y: NDArray[Any]) -> NDArray[Any]:
    """0 and 1, of which one may be missing, or the two labels of y; one sentence for anything else."""
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


def with_ones(rows: Floats) -> Floats:
    """Put a column of ones before the others."""
    return np.column_stack([np.ones(len(rows)), rows])


def fit_logistic(
    rows: Floats, target: Floats, weight: Floats, pull: Floats, prior: Floats, start: Floats
) -> Floats:
    """Minimise Σ w·logloss + ½ Σ pull·(weights − prior)² by Newton's method with halved steps."""

    def loss(at: Floats) -> float:
        odds = rows @ at
        ridge = 0.5 * pull @ (at - prior) ** 2
        return float(weight @ (np.logaddexp(0, odds) - target * odds) + ridge)

    weights, now = start, loss(start)
    for _ in range(MOST_STEPS):
        chance = expit(rows @ weights)
        slope = rows.T @ (weight * (chance - target)) + pull * (weights - prior)
        bend = (rows.T * (weight * chance * (1 - chance))) @ rows + np.diag(pull)
        step = np.linalg.solve(bend, slope)
        for _ in range(20):
            trial = loss(weights - step)
            if trial <= now * (1 + 1e-12):
                break
            step /= 2
        weights, now = weights - step, trial
        if np.abs(step).max() < 1e-4:
            break
    return weights
