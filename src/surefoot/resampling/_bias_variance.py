"""Bias, variance and noise of a model at each test point (Geman et al. 1992; Domingos 2000)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._models import predict_labels
from surefoot._refits import Refits, RunningMoments
from surefoot._tables import count_rows
from surefoot._typing import Floats
from surefoot._validation import check_option

LOSSES = ("squared", "zero_one")


@dataclass(frozen=True)
class BiasVarianceResult:
    """Bias, variance and noise of a model at each test point; lower is better for each.

    `error` equals `bias2 + net_variance + net_noise`. For squared loss the net terms are the
    variance and the noise themselves. For 0-1 loss they are those of Domingos (2000): variance increases the
    error where the main prediction is right (`unbiased_variance`) and reduces it where that is wrong
    (`biased_variance`); with more than two classes only as far as it leads to the right class.

    Attributes
    ----------
    loss : str
        "squared" or "zero_one".
    main_prediction : ndarray of shape (n_test,)
        Mean over training sets for squared loss, the most frequent class for 0-1 loss.
    error : ndarray of shape (n_test,)
        Expected loss over training sets, and over the noise where the truth was given.
    bias2 : ndarray of shape (n_test,)
        Loss of the main prediction: squared, or 0 or 1.
    variance : ndarray of shape (n_test,)
        Expected loss of a prediction against the main one.
    noise : ndarray of shape (n_test,)
        Expected loss of the best possible prediction; 0 unless the truth was given.
    net_variance, net_noise : ndarray of shape (n_test,)
        Contributions of variance and noise to the error; below 0 where they reduce it.
    unbiased_variance, biased_variance : ndarray of shape (n_test,)
        For 0-1 loss: increase of the error by variance where there is no bias, and reduction where there is.
    """

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
    result : BiasVarianceResult
        Has `bias2`, `variance`, `noise` and `error`, one value per test point, and their means
        `mean_bias2` and so on.

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
    check_option(loss, "loss", LOSSES)
    target = _Target(X_test, y_test, truth, noise, loss, y)
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
    outputs = refits.outputs(_predict, X_test)
    return _squared(outputs, target) if loss == "squared" else _zero_one(outputs, target)


class _Target:
    """Truth that predictions are compared with: values, or class probabilities, and the noise."""

    def __init__(self, X_test: Any, y_test: Any, truth: Any, noise: Any, loss: str, y: Any) -> None:
        if (y_test is None) == (truth is None):
            raise ValueError(
                "Either y_test or truth may be given: the error is against one of them."
            )
        if y_test is not None and noise is not None:
            raise ValueError("noise goes with truth: of y_test alone it cannot be told from bias.")
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
        labels: list[Any] = np.unique(self.values).tolist()
        known = sorted(set(classes) | set(labels) | set(_labels(self.y)))
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


def _predict(model: Any, X_test: Any) -> NDArray[Any]:
    return predict_labels(model, X_test)


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
    n_sets = 0
    for output in outputs:
        n_sets += 1
        for label in np.unique(output).tolist():
            votes[label] = votes[label] + (output == label)
    classes, truth = target.class_probabilities(list(votes))
    share = np.column_stack([np.zeros(target.n_test) + votes[label] for label in classes]) / n_sets
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
