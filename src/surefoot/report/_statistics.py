"""Confidence intervals of shares, means, gains and other statistics of held-out rows, by groups."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from surefoot._typing import Floats, Ints, Mask
from surefoot.error_estimation import HeldOut

Mean = dict[str, float | None]

# All rows, where some may be named.
EVERY = slice(None)

# Fewest units, such as groups of rows, on either side of a difference: fewer do not show how much units differ.
LEAST_UNITS = 5

# Parts of the rows by an estimate, and the fewest rows of a part.
N_PARTS, LEAST_IN_A_PART = 10, 20

# A smaller gain is no difference; one that is smaller even at best is not worth a change.
LEAST_GAIN = 0.02
WORTH_A_CHANGE = 0.1


def finite(value: float) -> float | None:
    """Number that JSON can write; None for NaN and infinite values."""
    return float(value) if np.isfinite(value) else None


def wilson_interval(n_hits: Any, n_rows: Any, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Ends of Wilson's interval of the share n_hits / n_rows; always between 0 and 1."""
    hits, rows = np.asarray(n_hits, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    z = norm.ppf((1 + confidence) / 2)
    middle = (hits + z**2 / 2) / (rows + z**2)
    reach = z / (rows + z**2) * np.sqrt(hits * (rows - hits) / rows + z**2 / 4)
    # Exactly 0 and 1 where none or all are hits, whatever rounding makes of it.
    low, high = np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
    return np.where(hits == 0, 0.0, low), np.where(hits == rows, 1.0, high)


def share_interval(
    hits: Any, units: Any, confidence: float, weights: Floats | None = None
) -> tuple[float, float]:
    """Ends of Wilson's interval of the share of hits; rows of one unit, such as a group, count as far as they differ.

    The number of rows is divided by the design effect: the variance of the share by units, and of weights, over that
    of as many independent rows. Where all rows or none are hits, each unit counts once.
    """
    values = np.asarray(hits, dtype=np.float64)
    scale = np.ones(len(values)) if weights is None else weights / weights.mean()
    share, n_counted = float((scale * values).mean()), float(len(values))
    variance, n_units = _variance_of_sum(scale * (values - share), units)
    if n_units < len(values) or weights is not None:
        n_counted = share * (1 - share) * len(values) ** 2 / variance if variance else n_units
        n_counted = min(max(n_counted, 1.0), float(len(values)))
    low, high = wilson_interval(share * n_counted, n_counted, confidence)
    return float(low), float(high)


def mean_interval(values: Floats, units: Any, confidence: float) -> tuple[float, float]:
    """Ends of Student's interval of a mean; rows were sampled in units, such as groups."""
    mean = float(values.mean())
    variance, n_units = _variance_of_sum(values - mean, units)
    spread = np.sqrt(variance) / len(values)
    reach = float(student.ppf((1 + confidence) / 2, max(n_units - 1, 1)) * spread)
    return mean - reach, mean + reach


def _variance_of_sum(values: Floats, units: Any) -> tuple[float, int]:
    """Variance of the sum of values with mean 0 whose rows were sampled in units, and the number of units."""
    sums = np.bincount(np.unique(units, return_inverse=True)[1], values)
    return len(sums) / max(len(sums) - 1, 1) * float(sums @ sums), len(sums)


class Constant(NamedTuple):
    """Constant prediction with the lowest mean loss, its name in sentences, and its loss on each held-out row."""

    prediction: Any
    name: str
    losses: Floats


class Sample:
    """Held-out rows as a sample of units, single rows or groups, with the confidence of all intervals about them.

    A mean is a dict of its `value` and of the ends of its interval, `low` and `high`. There is none without rows, and
    no interval of one unit.
    """

    def __init__(self, held_out: HeldOut, confidence: float) -> None:
        self.held_out, self.confidence = held_out, confidence
        units = held_out.rows if held_out.groups is None else held_out.groups
        self.units: Ints = np.unique(units, return_inverse=True)[1]

    @cached_property
    def constant(self) -> Constant:
        """What is best to predict always."""
        task, truth = self.held_out.task, self.held_out.truth
        prediction, name = task.best_constant(truth)
        return Constant(prediction, name, task.losses(truth, prediction))

    def mean(self, values: Any, rows: Any = EVERY, *, least: float = -np.inf) -> Mean:
        """Mean of values in some rows, with Student's interval, whose lower end is at least `least`."""
        values, units = np.asarray(values)[rows], self.units[rows]
        if len(np.unique(units)) < 2:
            return {
                "value": float(values.mean()) if len(values) else None,
                "low": None,
                "high": None,
            }
        low, high = mean_interval(values, units, self.confidence)
        return {"value": float(values.mean()), "low": max(least, low), "high": high}

    def share(self, hits: Any, rows: Any = EVERY) -> Mean:
        """Share of hits among some rows, with Wilson's interval."""
        hits = np.asarray(hits)[rows]
        if len(hits) == 0:
            return dict.fromkeys(("value", "low", "high"))
        low, high = share_interval(hits, self.units[rows], self.confidence)
        return {"value": float(hits.mean()), "low": low, "high": high}

    def loss(self, rows: Any = EVERY) -> Mean:
        """Mean loss of some rows: a share of mistakes, or a mean of costs or sizes."""
        if self.held_out.unit.is_share:
            return self.share(self.held_out.losses, rows)
        return self.mean(self.held_out.losses, rows, least=0.0)

    def tenths(self, estimated: Floats, observe: Callable[[Ints], Mean]) -> dict[str, list[Any]]:
        """Mean estimate, and what was observed with its interval, in parts of the rows by their estimate."""
        parts = tenths_by(estimated)
        means = [observe(part) for part in parts]
        return {
            "predicted": [float(estimated[part].mean()) for part in parts],
            "observed": [mean["value"] for mean in means],
            "low": [mean["low"] for mean in means],
            "high": [mean["high"] for mean in means],
            "n_rows": [len(part) for part in parts],
        }


def tenths_by(values: Floats) -> list[Ints]:
    """Rows in up to ten parts of about equal size, from the lowest values up; equal values stay together."""
    n_parts = int(np.clip(len(values) // LEAST_IN_A_PART, 1, N_PARTS))
    limits = np.quantile(values, np.arange(1, n_parts) / n_parts)
    places = np.searchsorted(limits, values, side="left")
    return [np.flatnonzero(places == place) for place in np.unique(places)]


def difference_interval(
    losses: Floats, inside: Mask, units: Ints, confidence: float, *, is_share: bool
) -> tuple[float | None, float | None]:
    """Ends of the interval of the mean loss inside minus that outside, by Student's t over units; None for few units.

    For shares one wrong and one right row are added on each side, so that the interval is not too narrow where
    hardly a row is wrong (Agresti and Caffo 2000).
    """
    n_least = min(len(np.unique(units[side])) for side in (inside, ~inside))
    if n_least < LEAST_UNITS:
        return None, None
    if is_share:
        units = np.append(units, units.max() + np.arange(1, 5))
        losses = np.append(losses, [0.0, 1.0, 0.0, 1.0])
        inside = np.append(inside, [True, True, False, False])
    mean, other = float(losses[inside].mean()), float(losses[~inside].mean())
    signed = np.where(inside, (losses - mean) / inside.sum(), (other - losses) / (~inside).sum())
    spread = np.sqrt(_variance_of_sum(signed, units)[0])
    reach = float(student.ppf((1 + confidence) / 2, n_least - 1)) * spread
    return mean - other - reach, mean - other + reach


def jackknife_interval(
    sums: Floats,
    statistic: Callable[[Floats], Floats],
    confidence: float,
    scale: Callable[[Floats], Floats],
) -> dict[str, float | None]:
    """Interval, as `low` and `high`, of a statistic of sums over rows, by leaving out one unit at a time.

    Parameters
    ----------
    sums : ndarray of shape (n_units, n_sums)
        Sums over the rows of each unit, such as each row or each group.
    statistic : callable
        Statistic of the sums over all units, for arrays of shape (..., n_sums); its interval is Student's.
    confidence : float
        Confidence of the interval.
    scale : callable
        Maps both ends to the scale on which they are shown.

    Returns
    -------
    ends : dict
        None if there is one unit only, or if the statistic is not finite without one of them, or an end is not.
    """
    n_units, total = len(sums), sums.sum(axis=0)
    with np.errstate(all="ignore"):
        left_out, estimate = statistic(total - sums), statistic(total)
        spread = np.sqrt((n_units - 1) / n_units * ((left_out - left_out.mean()) ** 2).sum())
        reach = student.ppf((1 + confidence) / 2, n_units - 1) * spread
        ends = np.sort(scale(np.array([estimate - reach, estimate + reach])))
    if n_units < 2 or not np.isfinite([*left_out, *ends]).all():
        return {"low": None, "high": None}
    return {"low": float(ends[0]), "high": float(ends[1])}


class Gain(NamedTuple):
    """Share of a mean loss that a change takes away, at most 1, and its interval; higher is better.

    The interval is one for the share that as many new rows will show.
    """

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Verdict "helps", "would not help" or "cannot tell": the one rule of the report."""
        if self.low > 0 and self.value >= LEAST_GAIN:
            return "helps"
        return "would not help" if self.high < WORTH_A_CHANGE else "cannot tell"


def relative_gain(
    before: Floats,
    after: Floats,
    *,
    units: NDArray[Any],
    fits: NDArray[Any],
    confidence: float,
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
    confidence : float
        Confidence of the interval.
    counts : bool, default=False
        Whether losses are 0 or 1. Then two units are added, one gained and one lost, so that the interval is not
        too narrow if few rows changed (Bonett and Price 2012).
    """
    mean = float(before.mean())
    value = float((before - after).mean()) / mean
    influence = (before - after - value * before) / mean
    of_fits, freedom = _variance_between_fits(influence, fits)
    if counts:
        units = np.append(units, units.max() + np.arange(1, 3))
        influence = np.append(influence, [1 / mean, -1 / mean])
    variance, n_units = _variance_of_sum(influence, units)
    of_rows = variance / len(before) ** 2
    total = of_rows + of_fits
    together = total**2 / (of_rows**2 / (n_units - 1) + of_fits**2 / freedom) if total else 1.0
    # Satterthwaite 1946, for the sum of both parts.
    reach = float(student.ppf((1 + confidence) / 2, together)) * (2 * total) ** 0.5
    return Gain(value, value - reach, min(1.0, value + reach))


def _variance_between_fits(influence: Floats, fits: NDArray[Any]) -> tuple[float, int]:
    """Variance of the mean that comes from fits, beyond that of their rows, and its degrees of freedom."""
    parts = [influence[fits == fit] for fit in np.unique(fits)]
    freedom = max(1, len(parts) - 1)
    if len(parts) < 2 or min(map(len, parts)) < 2:
        return 0.0, freedom
    between = float(np.var([part.mean() for part in parts], ddof=1))
    within = float(np.mean([part.var(ddof=1) / len(part) for part in parts]))
    return max(0.0, between - within) / len(parts), freedom
