"""Bias and variance of a model at each test point, over training sets (Geman 1992; Domingos 2000; Friedman 1997)."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, check_random_state, check_scalar

from surefoot._models import check_model, clone_model, predict_labels
from surefoot._tables import count_rows, take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option


@dataclass(frozen=True)
class BiasVarianceResult:
    """Bias, variance and noise of a model at each test point; see :func:`bias_variance`."""

    loss: str
    main_prediction: NDArray[Any]
    error: Floats
    bias2: Floats
    variance: Floats
    noise: Floats
    net_variance: Floats
    net_noise: Floats

    @property
    def unbiased_variance(self) -> Floats:
        """Increase of the error by variance; 0 where variance reduces it."""
        return np.maximum(self.net_variance, 0.0)

    @property
    def biased_variance(self) -> Floats:
        """Reduction of the error by variance; 0 where variance increases it."""
        return np.maximum(-self.net_variance, 0.0)

    @property
    def mean_error(self) -> float:
        """Mean error of the test points."""
        return float(self.error.mean())

    @property
    def mean_bias2(self) -> float:
        """Mean squared bias of the test points; for 0-1 loss the share of biased ones."""
        return float(self.bias2.mean())

    @property
    def mean_variance(self) -> float:
        """Mean variance of the test points."""
        return float(self.variance.mean())

    @property
    def mean_noise(self) -> float:
        """Mean noise of the test points."""
        return float(self.noise.mean())


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any = None,
    *,
    truth: Any = None,
    noise: Any = None,
    loss: str = "squared",
    n_resamples: int = 100,
    sampler: Any = "bootstrap",
    max_samples: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVarianceResult:
    """Split the error of each test point into bias, variance and noise; lower is better for each.

    Parameters
    ----------
    estimator : estimator
        The model; a clone is fitted on every training set.
    X, y : training rows and targets
        Rows that the sampler draws from; both may be None if it is a function.
    X_test : array-like, CSR or frame of shape (n_test, n_columns)
        Rows whose error is split.
    y_test : array-like of shape (n_test,), default=None
        Their observed targets. The noise cannot be separated then: it counts as 0 and is part of `bias2`.
    truth : array-like or callable, default=None
        Best possible predictions, in place of `y_test`, or a function of `X_test` that returns
        them: for squared loss the regression function; for 0-1 loss the Bayes decision, or the class
        probabilities of shape (n_test, n_classes), in the order of the sorted classes of `y`.
    noise : float or array-like of shape (n_test,), default=None
        Only with `truth`: variance of the target around it; for 0-1 loss with two classes the
        probability of the other class. None means 0.
    loss : {"squared", "zero_one"}, default="squared"
        Loss whose expected value is split.
    n_resamples : int, default=100
        Number of training sets.
    sampler : {"bootstrap", "subsample"} or callable, default="bootstrap"
        Source of the training sets: rows drawn with replacement, or without, or a function of a
        RandomState that returns new rows and targets, as the theory assumes.
    max_samples : int or float, default=None
        Rows in a training set, as a number or a share; None means all for "bootstrap" and half for
        "subsample".
    random_state : int, RandomState or None, default=None
        Seed of the training sets.
    n_jobs : int, default=None
        Number of parallel fits.

    Returns
    -------
    result : object
        Has these arrays, with one value per test point; `mean_error`, `mean_bias2`, `mean_variance` and `mean_noise`
        are means over the test points.

        - `main_prediction`: the mean over training sets for squared loss, the most frequent class for 0-1 loss.
        - `error`: expected loss over training sets, and over the noise where the truth was given.
        - `bias2`: loss of the main prediction: squared, or 0 or 1.
        - `variance`: expected loss of a prediction against the main one.
        - `noise`: expected loss of the best possible prediction; 0 unless the truth was given.
        - `net_variance`, `net_noise`: contributions of variance and noise to the error, which is
          `bias2 + net_variance + net_noise`; below 0 where they reduce it.
        - `unbiased_variance`, `biased_variance`: increase of the error by variance, and reduction.

        For squared loss the net terms are the variance and the noise themselves. For 0-1 loss they are those of
        Domingos (2000): variance increases the error where the main prediction is right and reduces it where that is
        wrong; with more than two classes only as far as it leads to the right class.

    References
    ----------
    Domingos, "A unified bias-variance decomposition", ICML 2000.
    Duda, Hart and Stork, "Pattern Classification", 2001, section 9.3.

    Examples
    --------
    A line fitted on noisy points of a parabola has a bias, which is largest at the end:

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from surefoot.resampling import bias_variance
    >>> def draw(random):
    ...     X = random.uniform(0, 1, size=(20, 1))
    ...     return X, X[:, 0] ** 2 + random.normal(0, 0.1, size=20)
    >>> result = bias_variance(LinearRegression(), None, None, [[0.5], [1.0]], truth=[0.25, 1.0],
    ...                        noise=0.01, sampler=draw, n_resamples=500, random_state=0)
    >>> np.column_stack([result.bias2, result.variance, result.noise, result.error]).round(4)
    array([[0.0064, 0.0009, 0.01  , 0.0173],
           [0.0285, 0.0041, 0.01  , 0.0426]])
    """
    check_option(loss, "loss", ("squared", "zero_one"))
    target = _Target(X_test, y_test, truth, noise, loss, y)
    outputs = refit_outputs(
        predict_labels,
        X_test,
        estimator,
        X,
        y,
        sampler=sampler,
        max_samples=max_samples,
        n_resamples=n_resamples,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return _squared(outputs, target) if loss == "squared" else _zero_one(outputs, target)


class _Target:
    """Truth that predictions are compared with: values, or class probabilities, and the noise."""

    def __init__(self, X_test: Any, y_test: Any, truth: Any, noise: Any, loss: str, y: Any) -> None:
        if (y_test is None) == (truth is None):
            raise ValueError(
                "Either y_test or truth may be given: the error is against one of them."
            )
        if y_test is not None and noise is not None:
            raise ValueError(
                "noise needs truth: with y_test alone it cannot be separated from bias."
            )
        values = y_test if truth is None else truth(X_test) if callable(truth) else truth
        self.values: NDArray[Any] = np.asarray(values)
        self.n_test = count_rows(X_test)
        if self.n_test == 0:
            raise ValueError("X_test has no rows: there is no error to split.")
        if len(self.values) != self.n_test or self.values.ndim > (1 if loss == "squared" else 2):
            name = "y_test" if truth is None else "truth"
            raise ValueError(
                f"{name} has shape {self.values.shape} for {self.n_test} rows of X_test: it must have "
                "one value for each."
            )
        self.noise = np.broadcast_to(
            np.asarray(0.0 if noise is None else noise, dtype=np.float64), self.n_test
        )
        if not (self.noise >= 0).all():
            raise ValueError("noise must be 0 or more, and a number.")
        self.y = y

    def class_probabilities(self, classes: list[Any]) -> tuple[list[Any], Floats]:
        """Sorted classes, and the probability of each at each test point."""
        if self.values.ndim == 2:
            return self._given_probabilities(classes)
        known = sorted({*classes, *_labels(self.values), *_labels(self.y)})
        is_best = self.values[:, None] == np.array(known)
        if self.noise.any() and len(known) > 2:
            raise ValueError(
                f"noise of {len(known)} classes is not enough to tell which class comes instead: truth "
                "may be the probabilities of all classes."
            )
        if (self.noise > 0.5).any():
            raise ValueError(
                "noise above 0.5 makes the other class the best: truth must be the best."
            )
        other = self.noise[:, None] / max(1, len(known) - 1)
        return known, np.where(is_best, 1 - self.noise[:, None], other)

    def _given_probabilities(self, classes: list[Any]) -> tuple[list[Any], Floats]:
        """Sorted classes of y, and the checked probabilities that `truth` holds."""
        known = _labels(self.y)
        if len(known) != self.values.shape[1]:
            raise ValueError(
                f"truth has {self.values.shape[1]} columns for {len(known)} classes of y: it must have "
                "one for each, in sorted order."
            )
        if unknown := sorted(set(classes) - set(known)):
            raise ValueError(f"The model predicts class {unknown[0]!r}, which is not in y.")
        probabilities = self.values.astype(np.float64)
        if not (np.allclose(probabilities.sum(axis=1), 1) and (probabilities >= 0).all()):
            raise ValueError("truth must hold probabilities that add up to 1 in each row.")
        if self.noise.any():
            raise ValueError(
                "noise follows from truth where that holds probabilities: leave it out."
            )
        return known, probabilities


def _labels(y: Any) -> list[Any]:
    return [] if y is None else list(np.unique(np.asarray(y)).tolist())


def _squared(outputs: Iterator[NDArray[Any]], target: _Target) -> BiasVarianceResult:
    """Decomposition of the squared loss."""
    truth = target.values.astype(np.float64)
    moments, total = RunningMoments(), np.zeros(target.n_test)
    for output in outputs:
        prediction = output.astype(np.float64)
        if prediction.shape != truth.shape:
            raise ValueError(
                f"estimator predicts shape {prediction.shape} where truth has {truth.shape}."
            )
        moments.add(prediction)
        total += (prediction - truth) ** 2
    noise, variance = np.array(target.noise), moments.variance
    return BiasVarianceResult(
        loss="squared",
        main_prediction=moments.mean,
        error=total / moments.n + noise,
        bias2=(moments.mean - truth) ** 2,
        variance=variance,
        noise=noise,
        net_variance=variance,
        net_noise=noise,
    )


def _zero_one(outputs: Iterator[NDArray[Any]], target: _Target) -> BiasVarianceResult:
    """Decomposition of the 0-1 loss (Domingos 2000, theorems 2 and 3)."""
    votes: Counter[Any] = Counter()
    for output in outputs:
        for label in np.unique(output).tolist():
            votes[label] = votes[label] + (output == label)
    classes, truth = target.class_probabilities(list(votes))
    counts = np.column_stack([np.zeros(target.n_test) + votes[label] for label in classes])
    share = counts / counts.sum(axis=1, keepdims=True)
    rows = np.arange(target.n_test)
    main, best = share.argmax(axis=1), truth.argmax(axis=1)
    hits, rest = share[rows, best], share * truth
    rest[rows, best] = 0.0
    biased = main != best
    variance, noise = 1 - share[rows, main], 1 - truth[rows, best]
    return BiasVarianceResult(
        loss="zero_one",
        main_prediction=np.array(classes)[main],
        error=1 - (share * truth).sum(axis=1),
        bias2=biased.astype(np.float64),
        variance=variance,
        noise=noise,
        # Where the main prediction is wrong, variance reduces the error as often as it gives the best class.
        net_variance=np.where(biased, -hits, variance),
        # Noise makes some right predictions wrong, and some wrong ones right.
        net_noise=hits * noise - rest.sum(axis=1),
    )


@dataclass(frozen=True)
class BoundaryBiasResult:
    """Agreement of a two-class model with the Bayes decision at each test point; see :func:`boundary_bias`."""

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
    result : object
        Has these arrays, with one value per test point:

        - `mean`, `variance`: E[g] and Var[g], of the estimated probability of the second class over training sets.
        - `boundary_bias`: sgn[F − ½](E[g] − ½), positive where the mean is on the right side; higher is better.
        - `disagreement`: probability of disagreeing with the Bayes decision, if g is Gaussian: the *upper* tail of
          the boundary bias divided by the standard deviation. Lower is better.
        - `observed_disagreement`: share of training sets whose model disagreed. Lower is better.
        - `error`: predicted probability of a wrong label: min[F, 1 − F] where the decision agrees,
          max[F, 1 − F] where it does not. Lower is better.

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
    F = _check_true_probabilities(truth, X_test)
    outputs = refit_outputs(
        _second_class,
        X_test,
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
    for g in outputs:
        moments.add(g)
        above += (1 + _side_of_half(g)) / 2
    above /= n_resamples
    side = _side_of_half(F)
    bias = side * (moments.mean - 0.5)
    deviation = np.sqrt(moments.variance)
    certain = deviation == 0
    with np.errstate(over="ignore"):
        tail = norm.sf(bias / np.where(certain, 1.0, deviation))
    disagreement = np.where(certain, (1 - np.sign(bias)) / 2, tail)
    best, worst = np.minimum(F, 1 - F), np.maximum(F, 1 - F)
    return BoundaryBiasResult(
        mean=moments.mean,
        variance=moments.variance,
        boundary_bias=bias,
        disagreement=disagreement,
        observed_disagreement=0.5 - side * (above - 0.5),
        error=best + disagreement * (worst - best),
    )


def _side_of_half(probabilities: Floats) -> Floats:
    """1 above one half, −1 below, and 0 at it; a computed half may be off in the last digits."""
    return np.where(np.abs(probabilities - 0.5) < 1e-12, 0.0, np.sign(probabilities - 0.5))


def _check_true_probabilities(truth: Any, X_test: Any) -> Floats:
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


def refit_outputs(
    output: Callable[[Any, Any], NDArray[Any]],
    X_test: Any,
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sampler: Any,
    max_samples: Any,
    n_resamples: int,
    random_state: Any,
    n_jobs: int | None,
) -> Iterator[NDArray[Any]]:
    """Yield `output(model, X_test)` for clones of a model, each fitted on another training set.

    The parameters are those of `bias_variance`; a `FrozenEstimator` is replaced by the model inside.
    """
    check_scalar(n_resamples, "n_resamples", Integral, min_val=1)
    check_model(estimator)
    if isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    if callable(sampler):
        draw, X, y = sampler, None, None
    else:
        draw = _row_sampler(X, y, sampler, max_samples)
    random = check_random_state(random_state)
    # Several training sets per task, so that X and X_test are not sent to a process for each of them.
    size = max(1, n_resamples // (4 * effective_n_jobs(n_jobs)))
    sizes = (min(size, n_resamples - at) for at in range(0, n_resamples, size))
    tasks = (
        delayed(_fit_and_predict)(estimator, X, y, [draw(random) for _ in range(n)], output, X_test)
        for n in sizes
    )
    for part in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        yield from part


def _fit_and_predict(
    estimator: Any, X: Any, y: Any, sets: list[Any], output: Any, X_test: Any
) -> list[NDArray[Any]]:
    """Outputs of models, one for each set: of row positions in X and y, or, if X is None, of rows and targets."""
    tables = sets if X is None else ((take_rows(X, rows), take_rows(y, rows)) for rows in sets)
    return [output(clone_model(estimator).fit(*table), X_test) for table in tables]


def _row_sampler(X: Any, y: Any, sampler: str, max_samples: Any) -> Callable[[Any], Ints]:
    """Function of a RandomState that draws the positions of a training set's rows."""
    check_option(sampler, "sampler", ("bootstrap", "subsample"), "a function of a RandomState")
    if X is None or y is None:
        raise ValueError(f"sampler={sampler!r} draws from X and y, and one of them is None.")
    check_consistent_length(X, y)
    n_rows = len(np.asarray(y))
    if n_rows == 0:
        raise ValueError("X and y have no rows: there is nothing to resample.")
    if sampler == "bootstrap":
        size = resample_size(max_samples, n_rows, default=n_rows)
        return lambda random: random.randint(0, n_rows, size)
    size = resample_size(max_samples, n_rows, default=max(1, n_rows // 2))
    return lambda random: random.permutation(n_rows)[:size]


def resample_size(max_samples: Any, n_rows: int, *, default: int) -> int:
    """Number of rows in a training set, from a number, a share, or None for the default."""
    if max_samples is None:
        return default
    is_count = isinstance(max_samples, Integral) and not isinstance(max_samples, bool)
    if is_count and 1 <= max_samples <= n_rows:
        return int(max_samples)
    is_share = isinstance(max_samples, Real) and not isinstance(max_samples, Integral)
    if is_share and 0 < max_samples <= 1:
        return max(1, round(max_samples * n_rows))
    raise ValueError(
        f"max_samples={max_samples!r} is not possible: it may be a number of rows from 1 to {n_rows}, "
        "or a share above 0.0 and at most 1.0."
    )


class RunningMoments:
    """Mean and variance of arrays that are added one at a time (Welford 1962)."""

    def __init__(self) -> None:
        self.n = 0
        self.mean: Any = 0.0
        self.squares: Any = 0.0

    def add(self, values: Floats) -> None:
        """Add one more array."""
        self.n += 1
        before = values - self.mean
        self.mean = self.mean + before / self.n
        self.squares = self.squares + before * (values - self.mean)

    @property
    def variance(self) -> Floats:
        """Mean squared distance from the mean."""
        return np.asarray(self.squares / self.n)
