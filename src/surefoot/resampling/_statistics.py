"""Jackknife and bootstrap: bias, variance and confidence intervals of a statistic, from other choices of the rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from inspect import signature
from numbers import Integral
from types import SimpleNamespace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import DegenerateDataWarning
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import t as student
from sklearn.utils import check_random_state, check_scalar

from surefoot._parallel import row_batches
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option, check_share

Statistic = Callable[..., Any]


class Sample:
    """Aligned arrays and a statistic, which can be computed for any choice of their rows.

    Parameters
    ----------
    data : array-like, or tuple of array-likes with as many rows each
        Rows are along the first axis.
    statistic : callable
        Called with the arrays. A function with a parameter `axis` is called for many choices of rows at
        once, in arrays of shape (n_choices, n_rows, ...), with `axis=1`.
    """

    def __init__(self, data: Any, statistic: Statistic) -> None:
        self.arrays = [np.asarray(part) for part in (data if isinstance(data, tuple) else (data,))]
        if any(array.ndim == 0 for array in self.arrays):
            raise ValueError(
                "data is a single value: it may be an array with one row for each example."
            )
        lengths = [len(array) for array in self.arrays]
        if not any(lengths):
            raise ValueError("data has no rows: there is nothing to resample.")
        if len(set(lengths)) > 1:
            raise ValueError(f"data has arrays of {lengths} rows: aligned ones have as many each.")
        if not callable(statistic):
            raise TypeError(f"statistic={statistic!r} cannot be called: it may be a function.")
        self.statistic = statistic
        self.n_rows = lengths[0]
        self.is_vectorized = takes_axis(statistic)

    def batches(self, n_choices: int) -> Iterator[slice]:
        """Slices of choices of rows that fit the working memory; short ones if each takes a call, for all workers."""
        if self.is_vectorized:
            nbytes_per_row = 8 + sum(array[:1].nbytes for array in self.arrays)
            return row_batches(n_choices, self.n_rows * nbytes_per_row)
        return row_batches(n_choices, self.n_rows * 8, most_rows=64)

    def of_rows(self, choices: Ints) -> Floats:
        """Statistic of each choice of rows; `choices` has shape (n_choices, n_chosen)."""
        if not self.is_vectorized:
            outputs = [self.statistic(*(array[rows] for array in self.arrays)) for rows in choices]
            return np.asarray(outputs, dtype=np.float64)
        output = self.statistic(*(array[choices] for array in self.arrays), axis=1)
        values = np.asarray(output, dtype=np.float64)
        if values.shape[:1] != choices.shape[:1]:
            raise ValueError(
                f"statistic returned shape {values.shape} for {len(choices)} resamples: with a "
                "parameter axis it must give one value, or one array, for each."
            )
        return values

    def estimate_and_replicates(
        self, choices: Iterable[Ints], name: str, n_jobs: int | None
    ) -> tuple[Any, Floats]:
        """Statistic of the data, and of each choice of rows, given in batches; an error unless all are finite."""
        parts = Parallel(n_jobs=n_jobs)(delayed(self.of_rows)(batch) for batch in choices)
        replicates = np.concatenate(parts)
        finite = np.isfinite(replicates).reshape(len(replicates), -1).all(axis=1)
        if not finite.all():
            bad = np.flatnonzero(~finite)
            raise ValueError(
                f"statistic gave NaN or infinity for {len(bad)} of {len(replicates)} {name}s, the first "
                f"{name} {bad[0]}: it must be finite for each."
            )
        return as_number(self.of_rows(np.arange(self.n_rows)[None, :])[0]), replicates


@dataclass(frozen=True)
class Replicated:
    """Statistic, its replicates on other choices of rows, and what they estimate; a lower `standard_error` is better.

    Attributes
    ----------
    estimate : float or ndarray
        The statistic of the data, θ̂.
    replicates : ndarray of shape (n_replicates, ...)
        The statistic of each choice of rows.
    bias : float or ndarray
        Estimated bias of the statistic.
    variance : float or ndarray
        Estimated variance of the statistic over samples.
    """

    estimate: Any
    replicates: Floats
    bias: Any
    variance: Any

    @property
    def corrected(self) -> Any:
        """Estimate minus its bias."""
        return self.estimate - self.bias

    @property
    def standard_error(self) -> Any:
        """Square root of the variance."""
        return as_number(np.sqrt(self.variance))


def takes_axis(statistic: Statistic) -> bool:
    """Whether a function has a parameter `axis`; False if its signature cannot be read."""
    try:
        return "axis" in signature(statistic).parameters
    except ValueError:
        return False


def as_number(value: Any) -> Any:
    """Float from a scalar or an array without dimensions; any other array as it is."""
    return float(value) if np.ndim(value) == 0 else value


class JackknifeResult(Replicated):
    """Jackknife estimates of a statistic's bias and variance; a lower `standard_error` is better."""

    def confidence_interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """Confidence interval around the corrected estimate, by Student's t with n − 1 degrees of freedom.

        Parameters
        ----------
        confidence : float, default=0.95
            Share of such intervals that should contain the true value, above 0 and below 1.

        Returns
        -------
        low, high : float or ndarray
        """
        check_share(confidence, "confidence")
        reach = student.ppf((1 + confidence) / 2, len(self.replicates) - 1) * self.standard_error
        return self.corrected - reach, self.corrected + reach


def jackknife(data: Any, statistic: Statistic, *, n_jobs: int | None = None) -> JackknifeResult:
    """Estimate bias and variance of a statistic by leaving out one row at a time.

    Parameters
    ----------
    data : array-like, or tuple of array-likes with as many rows each
        Rows are along the first axis. Rows of several arrays are left out together.
    statistic : callable
        Called with the arrays without one row. A function with a parameter `axis`, such as `numpy.mean`, is
        called with many of them at once, stacked along the first axis, and `axis=1`.
    n_jobs : int, default=None
        Number of parallel calls of the statistic.

    Returns
    -------
    result : JackknifeResult
        Has `estimate`, the statistic of all rows θ̂; `replicates`, the statistic without each row; `bias`,
        (n − 1)(θ̂(·) − θ̂) with θ̂(·) the mean of the replicates; `corrected`; `variance`, (n − 1)/n times the summed
        squares of the replicates minus θ̂(·); `standard_error`; and `confidence_interval(confidence)`.

    See Also
    --------
    surefoot.resampling.bootstrap : For statistics that are not smooth, such as the median.

    References
    ----------
    Duda, Hart and Stork, "Pattern Classification", 2001, section 9.4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.resampling import jackknife
    >>> result = jackknife([2.0, 4.0, 9.0], np.mean)
    >>> result.estimate, round(result.variance, 3), round(result.standard_error, 3)
    (5.0, 4.333, 2.082)
    """
    sample = Sample(data, statistic)
    n_rows = sample.n_rows
    if n_rows < 2:
        raise ValueError("data has one row only: the jackknife leaves one out and needs two.")
    places, rows = np.arange(n_rows - 1), np.arange(n_rows)
    without_each = (places + (places >= rows[batch, None]) for batch in sample.batches(n_rows))
    estimate, replicates = sample.estimate_and_replicates(without_each, "replicate", n_jobs)
    bias = (n_rows - 1) * (as_number(replicates.mean(axis=0)) - estimate)
    variance = (n_rows - 1) * as_number(replicates.var(axis=0))
    return JackknifeResult(estimate, replicates, bias, variance)


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
        check_option(method, "method", ("bca", "percentile", "basic"))
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
    estimate, replicates = sample.estimate_and_replicates(draws, "resample", n_jobs)
    bias = as_number(replicates.mean(axis=0)) - estimate
    return BootstrapResult(estimate, replicates, bias, as_number(replicates.var(axis=0)), sample)
