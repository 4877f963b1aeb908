"""Expected size of a regressor's errors on new rows without labels."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import gamma

from surefoot._typing import Floats


class SizePerformance(NamedTuple):
    """Figure of a regressor with its interval, and its value on held-out rows."""

    estimate: float
    interval: tuple[float, float]
    baseline: float


def size_performance(
    sure: Any, new: Any, weight: Floats, metric: str, confidence: float
) -> SizePerformance:
    """Estimate the mean absolute or squared error on new rows, from the held-out rows with their weights."""
    held_out, places = sure.held_out_, sure.input_sample_.places
    power = 2 if metric == "mean_squared_error" else 1
    sizes = np.abs(held_out.truth - held_out.prediction) ** power
    known = power / 2 if sure.loss == "squared" else power
    old, estimated = sizes[places], held_out.error[places] ** known
    expected = new.error**known
    factor = float(weight @ old) / float(weight @ estimated)
    estimate = factor * float(expected.mean())
    remaining = old - factor * estimated
    spread = float(weight @ (remaining / (factor * estimated)) ** 2 / weight.sum())
    of_old = float(weight**2 @ remaining**2) / float(weight @ estimated) ** 2
    of_new = factor**2 * spread * float((expected**2).mean()) / len(expected)
    variance = of_old * float(expected.mean()) ** 2 + of_new
    return SizePerformance(
        estimate, gamma_interval(estimate, variance, confidence), float(sizes.mean())
    )


def gamma_interval(mean: float, variance: float, confidence: float) -> tuple[float, float]:
    """Interval of a positive number with this mean and variance."""
    if not (mean > 0 and variance > 0):
        return mean, mean
    tail = (1 - confidence) / 2
    low, high = gamma.ppf([tail, 1 - tail], mean**2 / variance, scale=variance / mean)
    return float(low), float(high)
