"""Weights of the held-out rows that make them like the new rows, and how far they can."""

from typing import NamedTuple

import numpy as np

from surefoot._typing import Floats


class Weights(NamedTuple):
    """Weight of each held-out row, summing to the effective rows, and the share of new rows out of their reach."""

    weight: Floats
    effective_rows: float
    share_outside: float


def make_weights(ratio: Floats) -> Weights:
    """Weights from density ratios, truncated at the square root of their number (Ionides 2008).

    The mean of the ratios over the held-out rows is 1 if new rows lie only where held-out rows are; what is missing
    is the share of the new rows that lies elsewhere.
    """
    clipped = np.minimum(ratio, np.sqrt(len(ratio)))
    total = float(clipped.sum())
    if total <= 0:
        return Weights(np.zeros(len(ratio)), 0.0, 1.0)
    effective = total**2 / float((clipped**2).sum())
    share_outside = float(np.clip(1 - clipped.mean(), 0, 1))
    return Weights(clipped * effective / total, effective, share_outside)
