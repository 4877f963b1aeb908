"""Jackknife: a statistic on all rows but one, for each row."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student

from surefoot._typing import Floats, Ints
from surefoot._validation import check_share
from surefoot.resampling._statistic import (
    Replicated,
    Sample,
    Statistic,
    as_number,
    check_finite,
)


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
    tasks = (delayed(_without_each)(sample, batch) for batch in sample.batches(n_rows))
    replicates = check_finite(np.concatenate(Parallel(n_jobs=n_jobs)(tasks)), "replicate")
    estimate = sample.estimate()
    bias = (n_rows - 1) * (as_number(replicates.mean(axis=0)) - estimate)
    variance = (n_rows - 1) * as_number(replicates.var(axis=0))
    return JackknifeResult(estimate, replicates, bias, variance)


def _without_each(sample: Sample, batch: slice) -> Floats:
    """Statistic without each of the rows of a batch."""
    places = np.arange(sample.n_rows - 1)
    left_out: Ints = np.arange(batch.start, batch.stop)
    return sample.of_rows(places + (places >= left_out[:, None]))
