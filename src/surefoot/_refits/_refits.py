"""Outputs of a model that is refitted many times, each time on other training rows."""

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, check_random_state, check_scalar

from surefoot._models import clone_model
from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option

Output = Callable[[Any, Any], NDArray[Any]]

SAMPLERS = ("bootstrap", "subsample")


class Refits:
    """Refits of a model on resampled or freshly drawn training sets.

    Parameters
    ----------
    estimator : estimator
        Cloned for each training set; a `FrozenEstimator` is replaced by the model inside.
    X, y : training rows and targets
        Rows that "bootstrap" and "subsample" draw from; None if the sampler is a function.
    sampler : {"bootstrap", "subsample"} or callable
        Rows drawn with replacement, or without, or a function of a RandomState that returns new rows and targets.
    max_samples : int, float or None
        Rows in a training set, as a number or a share; None means all for "bootstrap", half for "subsample".
    n_resamples : int
        Number of training sets.
    random_state : int, RandomState or None
        Seed of the training sets.
    n_jobs : int or None
        Number of parallel fits.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sampler: Any,
        max_samples: Any = None,
        n_resamples: int,
        random_state: Any,
        n_jobs: int | None,
    ) -> None:
        check_scalar(n_resamples, "n_resamples", Integral, min_val=1)
        if not hasattr(estimator, "fit") or isinstance(estimator, type):
            raise TypeError(
                f"estimator={estimator!r} is no model: it may be a scikit-learn estimator."
            )
        frozen = isinstance(estimator, FrozenEstimator)
        self.estimator = estimator.estimator if frozen else estimator
        self.X, self.y, self.sampler = X, y, sampler
        self.n_resamples, self.n_jobs = n_resamples, n_jobs
        self.random = check_random_state(random_state)
        if callable(sampler):
            return
        check_option(sampler, "sampler", SAMPLERS, "a function of a RandomState")
        if X is None or y is None:
            raise ValueError(f"sampler={sampler!r} draws from X and y, and one of them is None.")
        check_consistent_length(X, y)
        self.n_rows = len(np.asarray(y))
        if self.n_rows == 0:
            raise ValueError("X and y have no rows: there is nothing to resample.")
        self.size = resample_size(max_samples, self.n_rows, replace=sampler == "bootstrap")

    def outputs(self, output: Output, X_test: Any) -> Iterator[NDArray[Any]]:
        """Values of `output(model, X_test)` for the model of each training set, in order."""
        # Several training sets per task, so that X and X_test are not sent to a process for each of them.
        size = max(1, self.n_resamples // (4 * effective_n_jobs(self.n_jobs)))
        starts = range(0, self.n_resamples, size)
        parts = (self._task(min(size, self.n_resamples - at), output, X_test) for at in starts)
        for part in Parallel(n_jobs=self.n_jobs, return_as="generator")(parts):
            yield from part

    def _task(self, n_sets: int, output: Output, X_test: Any) -> Any:
        """Delayed call that fits the next `n_sets` training sets; they are drawn here, in order."""
        if callable(self.sampler):
            sets = [self.sampler(self.random) for _ in range(n_sets)]
            return delayed(_fit_and_predict)(self.estimator, None, None, sets, output, X_test)
        chosen = [self._draw() for _ in range(n_sets)]
        return delayed(_fit_and_predict)(self.estimator, self.X, self.y, chosen, output, X_test)

    def _draw(self) -> Ints:
        if self.sampler == "bootstrap":
            return np.asarray(self.random.randint(0, self.n_rows, self.size))
        return np.asarray(self.random.permutation(self.n_rows)[: self.size])


def _fit_and_predict(
    estimator: Any, X: Any, y: Any, sets: list[Any], output: Output, X_test: Any
) -> list[NDArray[Any]]:
    """Outputs of models, one for each set: of row positions in X and y, or, if X is None, of rows and targets."""
    return [
        output(
            clone_model(estimator).fit(*(chosen if X is None else _rows(X, y, chosen))),
            X_test,
        )
        for chosen in sets
    ]


def _rows(X: Any, y: Any, rows: Ints) -> tuple[Any, Any]:
    return take_rows(X, rows), take_rows(y, rows)


def resample_size(max_samples: Any, n_rows: int, *, replace: bool) -> int:
    """Number of rows in a training set, from a number, a share, or None for the default."""
    if max_samples is None:
        return n_rows if replace else max(1, n_rows // 2)
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


def bootstrap_models(
    estimator: Any, X: Any, y: NDArray[Any], *, n_resamples: int, random: Any, n_jobs: int | None
) -> list[Any]:
    """Clones fitted on bootstrap samples of the rows; for a classifier the samples are stratified.

    Each class keeps its number of rows, so that no sample lacks a class.
    """
    parts = [np.arange(len(y))]
    if is_classifier(estimator):
        parts = [np.flatnonzero(y == label) for label in np.unique(y)]
    draws = [
        np.concatenate([part[random.randint(len(part), size=len(part))] for part in parts])
        for _ in range(n_resamples)
    ]
    models: list[Any] = Parallel(n_jobs=n_jobs)(
        delayed(_fitted)(estimator, X, y, rows) for rows in draws
    )
    return models


def _fitted(estimator: Any, X: Any, y: NDArray[Any], rows: Ints) -> Any:
    return clone_model(estimator).fit(*_rows(X, y, rows))
