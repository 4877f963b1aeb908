"""A statistic of one or several aligned arrays, computed for many choices of their rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from surefoot._parallel import row_batches
from surefoot._typing import Floats, Ints

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

    def estimate(self) -> Any:
        """Statistic of the data."""
        return as_number(self.of_rows(np.arange(self.n_rows)[None, :])[0])

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
    def mean(self) -> Any:
        """Mean of the replicates."""
        return as_number(self.replicates.mean(axis=0))

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


def check_finite(replicates: Floats, name: str) -> Floats:
    """Replicates, if all are finite; else a ValueError that names the first that is not."""
    finite = np.isfinite(replicates).reshape(len(replicates), -1).all(axis=1)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        raise ValueError(
            f"statistic gave NaN or infinity for {len(bad)} of {len(replicates)} {name}s, the first "
            f"{name} {bad[0]}: it must be finite for each."
        )
    return replicates


def as_number(value: Any) -> Any:
    """Float from a scalar or an array without dimensions; any other array as it is."""
    return float(value) if np.ndim(value) == 0 else value
