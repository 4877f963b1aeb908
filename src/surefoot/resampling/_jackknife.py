"""The jackknife: what a statistic would have been without each row in turn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student

from surefoot._parallel import row_batches
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
    """What the jackknife says of a statistic; a lower `standard_error` is better.

    Attributes
    ----------
    estimate : float or ndarray
        The statistic of all rows, θ̂.
    replicates : ndarray of shape (n_rows, ...)
        The statistic without each row, θ̂(i).
    """

    @property
    def bias(self) -> Any:
        """(n − 1)(θ̂(·) − θ̂), with θ̂(·) the mean of the replicates."""
        return (len(self.replicates) - 1) * (self.mean - self.estimate)

    @property
    def variance(self) -> Any:
        """(n − 1)/n times the summed squares of θ̂(i) − θ̂(·); for the mean the textbook's s²/n."""
        return (len(self.replicates) - 1) * as_number(self.replicates.var(axis=0))

    def confidence_interval(
        self, confidence: float = 0.95, method: str = "student"
    ) -> tuple[Any, Any]:
        """Interval around the corrected estimate by Student's t with n − 1 degrees of freedom.

        Parameters
        ----------
        confidence : float, default=0.95
            Share of intervals that shall hold the truth, above 0 and below 1.
        method : {"student"}, default="student"
            The others, "bca", "percentile" and "basic", need the replicates of `bootstrap`.

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
        Rows are along the first axis; those of several arrays are left out together.
    statistic : callable
        Called with the arrays, less a row. One with a parameter `axis`, such as `numpy.mean`, is
        called with many of them at once, stacked along the first axis, and `axis=1`.
    n_jobs : int, default=None
        Parallel calls of the statistic.

    Returns
    -------
    result : JackknifeResult
        Has `estimate`, `bias`, `corrected`, `variance`, `standard_error`, `replicates` and
        `confidence_interval()`.

    See Also
    --------
    surefoot.resampling.bootstrap : For statistics that jump, such as the median.

    References
    ----------
    Duda, Hart and Stork, "Pattern Classification", 2001, section 9.4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.resampling import jackknife
    >>> found = jackknife([2.0, 4.0, 9.0], np.mean)
    >>> found.estimate, round(found.variance, 3), round(found.standard_error, 3)
    (5.0, 4.333, 2.082)
    """
    sample = Sample(data, statistic)
    if sample.n_rows < 2:
        raise ValueError("data has one row only: the jackknife leaves one out and needs two.")
    batches = row_batches(sample.n_rows, sample.n_rows * (8 + sample.nbytes_per_row))
    if not sample.is_vectorized:  # as many calls as rows anyway: in parts that keep workers busy
        batches = row_batches(sample.n_rows, sample.n_rows * 8, most_rows=64)
    parts = Parallel(n_jobs=n_jobs)(delayed(_without)(sample, batch) for batch in batches)
    replicates = refuse_nan(np.concatenate(parts), "replicate")
    return JackknifeResult(as_number(sample.estimate()), replicates)


def _without(sample: Sample, batch: slice) -> Floats:
    return sample.of_rows(rows_without(sample.n_rows, np.arange(batch.start, batch.stop)))


def rows_without(n_rows: int, left_out: Ints) -> Ints:
    """All rows but one, in order: a line of n − 1 for each row that is left out."""
    places = np.arange(n_rows - 1)
    return places + (places >= left_out[:, None])
