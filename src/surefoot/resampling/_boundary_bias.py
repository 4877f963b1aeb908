"""Boundary bias: probability that a classifier disagrees with the Bayes decision at a point (Friedman 1997)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import is_regressor

from surefoot._refits import Refits, RunningMoments
from surefoot._tables import count_rows
from surefoot._typing import Floats


@dataclass(frozen=True)
class BoundaryBiasResult:
    """Agreement of a two-class model with the Bayes decision at each test point.

    Attributes
    ----------
    mean : ndarray of shape (n_test,)
        E[g], the mean over training sets of the estimated probability of the second class.
    variance : ndarray of shape (n_test,)
        Var[g].
    boundary_bias : ndarray of shape (n_test,)
        sgn[F − ½](E[g] − ½): positive where the mean is on the right side; higher is better.
    disagreement : ndarray of shape (n_test,)
        Probability of disagreeing with the Bayes decision, if g is Gaussian: the *upper* tail of the
        boundary bias divided by the standard deviation. Lower is better.
    observed_disagreement : ndarray of shape (n_test,)
        Share of training sets whose model disagreed. Lower is better.
    error : ndarray of shape (n_test,)
        Predicted probability of a wrong label: min[F, 1 − F] where the decision agrees, max[F, 1 − F]
        where it does not. Lower is better.
    """

    mean: Floats
    variance: Floats
    boundary_bias: Floats
    disagreement: Floats
    observed_disagreement: Floats
    error: Floats


def boundary_bias(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    *,
    truth: Any,
    n_resamples: int = 100,
    sampler: Any = "bootstrap",
    max_samples: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BoundaryBiasResult:
    """Estimate how often a two-class model disagrees with the Bayes decision at each test point.

    With F the probability of the second class and g the model's estimate of it, a model disagrees
    when g and F are on different sides of ½. For Gaussian g the probability of that is
    the upper tail Φ[sgn[F − ½](E[g] − ½) / √Var[g]]: less variance helps only where the boundary
    bias is positive.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or regressor
        Model that estimates g: by its probability of the second class, or, for a regressor on 0 and 1, by its
        prediction.
    X, y : training rows and targets
        Rows that the sampler draws from; both may be None if it is a function.
    X_test : array-like, CSR or frame of shape (n_test, n_columns)
        Test points.
    truth : array-like of shape (n_test,) or callable
        F, the true probability of the second class, or a function of `X_test` that returns it.
    n_resamples : int, default=100
        Number of training sets.
    sampler : {"bootstrap", "subsample"} or callable, default="bootstrap"
        Source of the training sets, as for `bias_variance`.
    max_samples : int or float, default=None
        Rows in a training set, as a number or a share; None means all for "bootstrap" and half for
        "subsample".
    random_state : int, RandomState or None, default=None
        Seed of the training sets.
    n_jobs : int, default=None
        Number of parallel fits.

    Returns
    -------
    result : BoundaryBiasResult
        Has `boundary_bias`, `variance`, `disagreement` and `error`, one value per test point.

    Notes
    -----
    Where F is ½ both decisions are equally good: the boundary bias is 0, the disagreement ½. If g has no variance,
    the disagreement is 0 or 1, and ½ for a model that predicts ½.

    References
    ----------
    Friedman, "On bias, variance, 0/1-loss, and the curse of dimensionality", 1997.
    Duda, Hart and Stork, "Pattern Classification", 2001, section 9.3.2.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.resampling import boundary_bias
    >>> def draw(random):
    ...     y = random.permutation([0, 1] * 10)
    ...     return random.normal(2.0 * y)[:, None], y
    >>> result = boundary_bias(GaussianNB(), None, None, [[0.0], [0.9]], truth=[0.12, 0.45],
    ...                        sampler=draw, random_state=0)
    >>> result.disagreement.round(2)
    array([0.  , 0.42])
    """
    F = _check_truth(truth, X_test)
    refits = Refits(
        estimator,
        X,
        y,
        sampler=sampler,
        max_samples=max_samples,
        n_resamples=n_resamples,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    moments, above = RunningMoments(), np.zeros(len(F))
    for g in refits.outputs(_second_class, X_test):
        moments.add(g)
        above += np.where(g == 0.5, 0.5, g > 0.5)
    above /= n_resamples
    observed = np.where(F == 0.5, 0.5, np.where(F > 0.5, 1 - above, above))
    return boundary_terms(moments.mean, moments.variance, F, observed)


def boundary_terms(
    mean: Floats, variance: Floats, F: Floats, observed: Floats
) -> BoundaryBiasResult:
    """Result for given E[g], Var[g] and F, and the observed share of disagreement."""
    bias = np.sign(F - 0.5) * (mean - 0.5)
    deviation = np.sqrt(variance)
    certain = deviation == 0
    with np.errstate(over="ignore"):
        tail = norm.sf(bias / np.where(certain, 1.0, deviation))
    disagreement = np.where(certain, (1 - np.sign(bias)) / 2, tail)
    best, worst = np.minimum(F, 1 - F), np.maximum(F, 1 - F)
    return BoundaryBiasResult(
        mean=mean,
        variance=variance,
        boundary_bias=bias,
        disagreement=disagreement,
        observed_disagreement=observed,
        error=best + disagreement * (worst - best),
    )


def _check_truth(truth: Any, X_test: Any) -> Floats:
    """True probabilities F of the second class, one for each test point."""
    values = truth(X_test) if callable(truth) else truth
    F, n_test = np.asarray(values, dtype=np.float64), count_rows(X_test)
    if n_test == 0:
        raise ValueError("X_test has no rows: there is no decision to assess.")
    if F.shape != (n_test,) or not ((F >= 0) & (F <= 1)).all():
        raise ValueError(
            f"truth has shape {F.shape} for {n_test} rows of X_test: it must have one probability for each."
        )
    return F


def _second_class(model: Any, X_test: Any) -> Floats:
    """Estimated probability of the second class at each test point."""
    if is_regressor(model):
        return np.asarray(model.predict(X_test), dtype=np.float64)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba: estimator may be a classifier that has, or a "
            "regressor on 0 and 1."
        )
    if len(model.classes_) != 2:
        raise ValueError(
            f"A training set has {len(model.classes_)} classes: boundary bias is defined for two."
        )
    return np.asarray(model.predict_proba(X_test)[:, 1], dtype=np.float64)
