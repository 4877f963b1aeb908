"""Gain of a change of the model as a share of its error, with an interval."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from surefoot._typing import Floats
from surefoot._words import percent

# Confidence of the intervals of gains.
CONFIDENCE = 0.9

# A smaller gain is no difference; one that is smaller even at best is not worth a change.
LEAST_GAIN = 0.02
WORTH_A_CHANGE = 0.1


class NotMeasurableError(Exception):
    """Error for a gain that cannot be measured; its message is a sentence that says why."""


class Gain(NamedTuple):
    """Share of a mean loss that a change takes away, at most 1, and its 90 % interval; higher is better.

    The interval is one for the share that as many new rows will show.
    """

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Verdict "helps", "would not help" or "cannot tell"."""
        if self.low > 0 and self.value >= LEAST_GAIN:
            return "helps"
        return "would not help" if self.high < WORTH_A_CHANGE else "cannot tell"

    def words(self, less: str, more: str) -> str:
        """Size and interval in words, such as "12 % fewer mistakes (3 % to 20 %)"; turned round if it is a loss."""
        if self.value >= 0:
            return f"{percent(self.value)} {less} ({percent(self.low)} to {percent(self.high)})"
        return f"{percent(-self.value)} {more} ({percent(-self.high)} to {percent(-self.low)})"


def relative_gain(
    before: Floats,
    after: Floats,
    *,
    units: NDArray[Any],
    fits: NDArray[Any],
    counts: bool = False,
) -> Gain:
    """Share of the mean loss `before` that is gone `after`, with an interval for as many new rows and new fits.

    Whoever measures the gain again, on new rows, sees the noise of both measurements: its variance is twice that of
    one. The variance of the ratio is that of its linearisation (delta method). Rows of one unit are not independent of
    each other; what the losses of one fit have in common is a part of the variance of its own, measured between fits.

    Parameters
    ----------
    before, after : ndarrays of shape (n_losses,)
        Losses of the same rows; those of `before` are not all 0.
    units : ndarray of shape (n_losses,)
        Row, or group of rows, of each loss.
    fits : ndarray of shape (n_losses,)
        Number of the fit that each loss comes from.
    counts : bool, default=False
        Whether losses are 0 or 1. Then two units are added, one gained and one lost, so that the interval is not
        too narrow if few rows changed (Bonett and Price 2012).
    """
    mean = float(before.mean())
    value = float((before - after).mean()) / mean
    influence = (before - after - value * before) / mean
    sums = np.bincount(np.unique(units, return_inverse=True)[1], influence)
    if counts:
        sums = np.append(sums, [1 / mean, -1 / mean])
    n_units = len(sums)
    of_rows = n_units / (n_units - 1) * float(sums @ sums) / len(before) ** 2
    of_fits, freedom = _between_fits(influence, fits)
    total = of_rows + of_fits
    together = total**2 / (of_rows**2 / (n_units - 1) + of_fits**2 / freedom) if total else 1.0
    # Satterthwaite 1946, for the sum of both parts.
    reach = float(student.ppf((1 + CONFIDENCE) / 2, together)) * (2 * total) ** 0.5
    return Gain(value, value - reach, min(1.0, value + reach))


def _between_fits(influence: Floats, fits: NDArray[Any]) -> tuple[float, int]:
    """Variance of the mean that comes from fits, beyond that of their rows, and its degrees of freedom."""
    parts = [influence[fits == fit] for fit in np.unique(fits)]
    freedom = max(1, len(parts) - 1)
    if len(parts) < 2 or min(map(len, parts)) < 2:
        return 0.0, freedom
    between = float(np.var([part.mean() for part in parts], ddof=1))
    within = float(np.mean([part.var(ddof=1) / len(part) for part in parts]))
    return max(0.0, between - within) / len(parts), freedom
