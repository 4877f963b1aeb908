"""Gain of a change of the model, with an interval, as figures and as text."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from surefoot._typing import Floats, Ints


class NotMeasurableError(Exception):
    """Error for a gain that cannot be measured; its message is a sentence that says why."""


class Gain(NamedTuple):
    """Decrease of a mean loss, and its 95 % interval; higher is better."""

    value: float
    low: float
    high: float

    def verdict(self, relevant: float) -> str:
        """Verdict "helps", "would not help" (the gain is below `relevant`, or that is 0) or "cannot tell"."""
        if self.low > 0:
            return "helps"
        return "would not help" if self.high < relevant or relevant == 0 else "cannot tell"

    def words(self, digits: int | None = None) -> tuple[str, str]:
        """Texts of the absolute gain and of its interval, with signs such that the value is positive."""
        sign = 1 if self.value >= 0 else -1
        low, high = sorted((sign * self.low, sign * self.high))
        if digits is None:  # three figures of the largest
            largest = max(abs(self.value), abs(low), abs(high))
            digits = max(0, 2 - int(np.floor(np.log10(largest)))) if largest > 0 else 0
        size, low_end, high_end = (_number(x, digits) for x in (abs(self.value), low, high))
        return size, f"({low_end} to {high_end})"


def paired_gain(
    before: Floats,
    after: Floats,
    units: NDArray[Any] | None = None,
    *,
    counts: bool = False,
    shared: bool = False,
) -> Gain:
    """Mean loss before minus mean loss after, with a 95 % interval that accounts for new rows and new fits.

    Parameters
    ----------
    before, after : ndarray of shape (n_rows,) or (n_draws, n_rows)
        Losses of the same rows, by models fitted on one or several draws of the learning rows.
    units : ndarray of shape (n_rows,), default=None
        Groups whose rows are not independent of each other; None treats each row as independent.
    counts : bool, default=False
        Whether losses are 0 or 1. Then two rows are added, one gained and one lost, so that the interval is not
        too narrow if few rows changed (Bonett and Price 2012).
    shared : bool, default=False
        Whether all draws are compared with one and the same fit on twice the rows, whose variance is half as large.
    """
    draws = np.atleast_2d(before - after)
    n_draws, n_rows = draws.shape
    codes = np.arange(n_rows) if units is None else np.unique(units, return_inverse=True)[1]
    rows = draws.mean(axis=0)
    if counts:
        rows = np.append(rows, [1.0, -1.0])
        codes = np.append(codes, codes.max() + np.array([1, 2]))
    sums = np.bincount(codes, rows - rows.mean())
    n_units = len(sums)
    of_rows = n_units / (n_units - 1) * float(sums @ sums) / len(rows) ** 2
    of_draws = 0.0
    if n_draws > 1:
        of_draws = float(draws.mean(axis=1).var(ddof=1)) * (1 / n_draws + shared / 2)
    half = _half_width(np.array([of_rows, of_draws]), np.array([n_units - 1, max(1, n_draws - 1)]))
    return Gain(float(draws.mean()), float(rows.mean() - half), float(rows.mean() + half))


def _half_width(variances: Floats, freedom: Ints) -> float:
    """Half width of a 95 % interval, from independent parts of the variance (Satterthwaite 1946)."""
    total = float(variances.sum())
    if total == 0:
        return 0.0
    together = total**2 / float((variances**2 / freedom).sum())
    return float(student.ppf(0.975, together) * np.sqrt(total))


def _number(value: float, digits: int) -> str:
    rounded = round(value, digits) + 0.0  # no minus before a zero
    return f"{rounded:,.{digits}f}".replace("-", "−")


def describe(
    gain: Gain, relevant: float, unit: str, sentence: str, *, why_not: str, n_rows: int
) -> dict[str, Any]:
    """Improvement as a dict of the report; its sentence also says why there is no gain, or none that is certain."""
    verdict = gain.verdict(relevant)
    if verdict == "cannot tell":
        sentence += f" {n_rows:,} test rows are too few to tell."
    elif gain.high < relevant or verdict == "would not help":
        sentence += f" {why_not}"
    return {
        "verdict": verdict,
        "gain": gain.value,
        "low": gain.low,
        "high": gain.high,
        "unit": unit,
        "sentence": sentence,
    }
