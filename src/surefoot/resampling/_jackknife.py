"""Jackknife: a statistic on all rows but one, for each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student

from surefoot._typing import Floats, Ints
from surefoot._validation import check_option, check_share
from surefoot.resampling._statistic import (
    Replicated,
    Sample,
    Statistic,
    as_number,
    refuse_nan,
)


@dataclass(frozen=True)
class JackknifeResult(Replicated):
    """Jackknife estimates of a statistic's bias and variance; a lower `standard_error` is better.

    Attributes
    ----------
    estimate : float or ndarray
        The statistic of all rows, θ̂.
    replicates : ndarray of shape (n_rows, ...)
        The statistic without each row, θ̂(i).
    """

    @property
    def bias(self) -> Any:
        """Estimated bias, (n − 1)(θ̂(·) − θ̂), with θ̂(·) the mean of the replicates."""
        return (len(self.replicates) - 1) * (self.mean - self.estimate)

    @property
    def variance(self) -> Any:
        """Estimated variance, (n − 1)/n times the summed squares of θ̂(i) − θ̂(·); for the mean it is s²/n."""
        return (len(self.replicates) - 1) * as_number(self.replicates.var(axis=0))

    def confidence_interval(
        self, confidence: float = 0.95, method: str = "student"
    ) -> tuple[Any, Any]:
        """Confidence interval around the corrected estimate, by Student's t with n − 1 degrees of freedom.

        Parameters
        ----------
        confidence : float, default=0.95
            Share of such intervals that should contain the true value, above 0 and below 1.
        method : {"student"}, default="student"
            The other methods, "bca", "percentile" and "basic", need the replicates of `bootstrap`.

        Returns
        -------
        low, high : float or ndarray
        """
        check_share(confidence, "confidence")
        if method in ("bca", "percentile", "basic"):
            raise ValueError(
                f"method={method!r} needs the replicates of bootstrap: here it may be 'student'."
            )
        check_option(method, "method", ["student"])
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
        Has `estimate`, `bias`, `corrected`, `variance`, `standard_error`, `replicates` and
        `confidence_interval()`.

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
    if sample.n_rows < 2:
        raise ValueError("data has one row only: the jackknife leaves one out and needs two.")
    tasks = (delayed(_without)(sample, batch) for batch in sample.batches(sample.n_rows))
    parts = Parallel(n_jobs=n_jobs)(tasks)
    replicates = refuse_nan(np.concatenate(parts), "replicate")
    return JackknifeResult(as_number(sample.estimate()), replicates)


def _without(sample: Sample, batch: slice) -> Floats:
    """Statistic without each of the rows of a batch."""
    return sample.of_rows(rows_without(sample.n_rows, np.arange(batch.start, batch.stop)))


def rows_without(n_rows: int, left_out: Ints) -> Ints:
    """Positions of all rows but one, shape (n_left_out, n_rows − 1)."""
    places = np.arange(n_rows - 1)
    return places + (places >= left_out[:, None])
