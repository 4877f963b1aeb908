"""Confidence intervals of a share and of a mean."""

from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from surefoot._typing import Floats


def wilson_interval(n_hits: Any, n_rows: Any, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Ends of Wilson's interval of the share n_hits / n_rows; always between 0 and 1."""
    hits, rows = np.asarray(n_hits, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    z = norm.ppf((1 + confidence) / 2)
    middle = (hits + z**2 / 2) / (rows + z**2)
    reach = z / (rows + z**2) * np.sqrt(hits * (rows - hits) / rows + z**2 / 4)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


def mean_interval(values: Floats, units: Any, confidence: float) -> tuple[float, float]:
    """Ends of Student's interval of a mean; rows were sampled in units, such as groups, numbered from 0."""
    mean = float(values.mean())
    sums = np.bincount(units, values - mean)
    freedom = max(len(sums) - 1, 1)
    spread = np.sqrt(len(sums) / freedom * float(sums @ sums)) / len(values)
    reach = float(student.ppf((1 + confidence) / 2, freedom)) * spread
    return mean - reach, mean + reach
