"""Bootstrap: a statistic on rows drawn with replacement."""

from dataclasses import dataclass, field
from numbers import Integral
from types import SimpleNamespace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import DegenerateDataWarning
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.utils import check_random_state, check_scalar

from surefoot._typing import Floats, Ints
from surefoot._validation import check_option, check_share
from surefoot.resampling._statistic import (
    Replicated,
    Sample,
    Statistic,
    as_number,
    check_finite,
)

METHODS = ("bca", "percentile", "basic")


@dataclass(frozen=True)
class BootstrapResult(Replicated):
    """Bootstrap estimates of a statistic's bias and variance; a lower `standard_error` is better."""

    _sample: Sample = field(repr=False)

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
        constant = np.ptp(self.replicates, axis=0) == 0  # BCa divides by 0 there
        if constant.all():
            return as_number(self.replicates[0]), as_number(self.replicates[0])
        with catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            simplefilter("ignore", DegenerateDataWarning)
            interval = scipy_bootstrap(
                (np.arange(self._sample.n_rows),),
                self._of_rows,
                n_resamples=0,
                batch=next(self._sample.batches(self._sample.n_rows)).stop,
                vectorized=True,
                confidence_level=confidence,
                method=method,
                bootstrap_result=SimpleNamespace(
                    bootstrap_distribution=np.moveaxis(self.replicates, 0, -1)
                ),
            ).confidence_interval
        low, high = (np.where(constant, self.replicates[0], end) for end in interval)
        if np.isnan(low + high).any():
            raise ValueError(
                "method='bca' needs rows that change the statistic when left out, to a finite value, "
                "and replicates on both sides of the estimate: method may be 'percentile' or 'basic'."
            )
        return as_number(low), as_number(high)

    def _of_rows(self, choices: Ints, axis: int) -> Floats:
        """Statistic of all rows, or of each choice of them along the last axis, as scipy has it."""
        if choices.ndim == 1:
            return np.asarray(self.estimate)
        return np.moveaxis(self._sample.of_rows(choices), 0, axis)


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
        Has `estimate`, the statistic of the data θ̂; `replicates`, the statistic of each resample; `bias`, θ̂*(·) − θ̂
        with θ̂*(·) the mean of the replicates; `corrected`; `variance` of the replicates, divided by their number and
        not by one less; `standard_error`; and `confidence_interval(confidence, method)`.

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
    replicates = check_finite(np.concatenate(parts), "resample")
    estimate = sample.estimate()
    bias = as_number(replicates.mean(axis=0)) - estimate
    return BootstrapResult(estimate, replicates, bias, as_number(replicates.var(axis=0)), sample)
