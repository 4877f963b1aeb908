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
    """Estimate the mean absolute or squared error on new rows, from the held-out rows with their weights.

    The estimated sizes are multiplied by a factor, so that their mean is that of the held-out errors. With the weights
    of the new rows it is another one, used as far as more than chance speaks for it: a change of t standard errors
    is multiplied by 1 − 1/t².
    """
    held_out, places = sure.held_out_, sure.input_sample_.places
    power = 2 if metric == "mean_squared_error" else 1
    sizes = np.abs(held_out.truth - held_out.prediction) ** power
    exponent = power / 2 if sure.loss == "squared" else power
    estimated = held_out.error**exponent
    factor = float(sizes.sum() / estimated.sum())
    old, estimated = sizes[places], factor * estimated[places]
    expected = factor * new.error**exponent
    total = float(weight @ estimated)
    change = float(weight @ old) / total - 1
    noise = float(weight**2 @ (old - estimated) ** 2) / total**2
    kept = max(0.0, 1 - noise / change**2) if change else 0.0
    estimate = (1 + kept * change) * float(expected.mean())
    # The spread of an error around its estimated size is in proportion to that size.
    spread = float(weight @ ((old - estimated) / estimated) ** 2 / weight.sum())
    of_new = spread * float((expected**2).mean()) / len(expected)
    variance = noise * float(expected.mean()) ** 2 + of_new
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
