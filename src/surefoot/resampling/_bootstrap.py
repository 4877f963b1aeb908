"""Bootstrap: a statistic on rows drawn with replacement."""

from dataclasses import dataclass
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.utils import check_random_state, check_scalar

from surefoot._typing import Floats
from surefoot._validation import check_option, check_share
from surefoot.resampling._jackknife import jackknife
from surefoot.resampling._statistic import (
    Replicated,
    Sample,
    Statistic,
    as_number,
    refuse_nan,
)

METHODS = ("bca", "percentile", "basic")


@dataclass(frozen=True)
class BootstrapResult(Replicated):
    """Bootstrap estimates of a statistic's bias and variance; a lower `standard_error` is better.

    Attributes
    ----------
    estimate : float or ndarray
        The statistic of the data, θ̂.
    replicates : ndarray of shape (n_resamples, ...)
        The statistic of each resample, θ̂*(t).
    """

    _data: Any
    _statistic: Statistic

    @property
    def bias(self) -> Any:
        """Estimated bias, θ̂*(·) − θ̂: mean of the replicates minus the estimate."""
        return self.mean - self.estimate

    @property
    def variance(self) -> Any:
        """Variance of the replicates, divided by their number and not by one less."""
        return as_number(self.replicates.var(axis=0))

    def confidence_interval(self, confidence: float = 0.95, method: str = "bca") -> tuple[Any, Any]:
        """Confidence interval of the statistic, computed from the replicates by scipy.

        Parameters
        ----------
        confidence : float, default=0.95
            Share of such intervals that should contain the true value, above 0 and below 1.
        method : {"bca", "percentile", "basic"}, default="bca"
            "bca" corrects for bias and skewness, which needs one jackknife of the statistic.

        Returns
        -------
        low, high : float or ndarray
        """
        check_share(confidence, "confidence")
        check_option(method, "method", METHODS)
        shape = self.replicates.shape[1:]
        left_out = None
        if method == "bca":
            left_out = jackknife(self._data, self._statistic).replicates.reshape(-1, self._size())
        ends = [
            _interval(
                replicates,
                estimate,
                None if left_out is None else left_out[:, c],
                confidence,
                method,
            )
            for c, (replicates, estimate) in enumerate(
                zip(
                    self.replicates.reshape(len(self.replicates), -1).T,
                    np.ravel(self.estimate),
                    strict=True,
                )
            )
        ]
        low, high = np.array(ends).T
        return as_number(low.reshape(shape)), as_number(high.reshape(shape))

    def _size(self) -> int:
        return int(np.prod(self.replicates.shape[1:], dtype=int))


def bootstrap(
    data: Any,
    statistic: Statistic,
    *,
    n_resamples: int = 1000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BootstrapResult:
    """Estimate bias, variance and confidence intervals of a statistic from resamples of the rows.

    Parameters
    ----------
    data : array-like, or tuple of array-likes with as many rows each
        Rows are along the first axis. Rows of several arrays are drawn together.
    statistic : callable
        Called with the resampled arrays. A function with a parameter `axis`, such as `numpy.mean`, is
        called with many resamples at once, stacked along the first axis, and `axis=1`.
    n_resamples : int, default=1000
        Number of resamples. Each has as many rows as the data, drawn with replacement.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    n_jobs : int, default=None
        Number of parallel calls of the statistic.

    Returns
    -------
    result : BootstrapResult
        Has `estimate`, `bias`, `corrected`, `variance`, `standard_error`, `replicates` and
        `confidence_interval(confidence, method)`.

    Notes
    -----
    The estimated bias θ̂*(·) − θ̂ does not go to 0 as resamples are added; it only becomes more exact.

    References
    ----------
    Duda, Hart and Stork, "Pattern Classification", 2001, section 9.4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.resampling import bootstrap
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=50)
    >>> result = bootstrap((x, x + rng.normal(size=50)), lambda a, b: np.corrcoef(a, b)[0, 1],
    ...                    random_state=0)
    >>> low, high = result.confidence_interval(0.9)
    >>> print(f"{result.estimate:.2f}, 90 % interval {low:.2f} to {high:.2f}")
    0.62, 90 % interval 0.48 to 0.73
    """
    check_scalar(n_resamples, "n_resamples", Integral, min_val=1)
    sample = Sample(data, statistic)
    random = check_random_state(random_state)
    sizes = (batch.stop - batch.start for batch in sample.batches(n_resamples))
    draws = (random.randint(sample.n_rows, size=(size, sample.n_rows)) for size in sizes)
    parts = Parallel(n_jobs=n_jobs)(delayed(sample.of_rows)(chosen) for chosen in draws)
    replicates = refuse_nan(np.concatenate(parts), "resample")
    return BootstrapResult(as_number(sample.estimate()), replicates, data, statistic)


def _interval(
    replicates: Floats, estimate: float, left_out: Floats | None, confidence: float, method: str
) -> tuple[float, float]:
    """Ends of scipy's confidence interval, from replicates that are computed already."""
    if (replicates == replicates[0]).all():
        # All replicates are equal, and scipy's BCa would divide by 0.
        return (float(replicates[0]), float(replicates[0]))
    if left_out is not None and np.ptp(left_out) == 0:
        raise ValueError(
            "method='bca' needs rows that change the statistic when left out, and none does: "
            "method may be 'percentile' or 'basic'."
        )
    n_rows = 2 if left_out is None else len(left_out)

    def known_statistic(rows: Floats, axis: int = -1) -> Floats:
        """Statistic of all rows, or of all but one, whose number is the one missing in the sum."""
        if left_out is None or rows.shape[axis] == n_rows:
            return np.full(rows.sum(axis=axis).shape, estimate)
        missing = n_rows * (n_rows - 1) // 2 - rows.sum(axis=axis)
        return left_out[missing.astype(np.int64)]

    interval = scipy_bootstrap(
        (np.arange(n_rows),),
        known_statistic,
        n_resamples=0,
        vectorized=True,
        confidence_level=confidence,
        method="BCa" if method == "bca" else method,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=replicates),
    ).confidence_interval
    return (float(interval.low), float(interval.high))
