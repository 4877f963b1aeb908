"""Rule that chooses a model for each row, and how its threshold is learned."""

from typing import NamedTuple

import numpy as np

from surefoot._typing import Floats, Ints


class Switch(NamedTuple):
    """Model that is best on average, and the estimated advantage above which another model is used instead."""

    best: int
    advantage: float

    def choose(self, estimated_errors: Floats) -> Ints:
        """Number of the model to use for each row."""
        gain = estimated_errors[:, self.best] - estimated_errors.min(axis=1)
        return np.where(gain > self.advantage, estimated_errors.argmin(axis=1), self.best)


def learn_switch(errors: Floats, estimated_errors: Floats, weight: Floats) -> Switch:
    """Learn from held-out rows the estimated advantage from which on another model is used.

    The arrays have one column for each model. Rows are sorted by the estimated advantage: the estimated error of the
    model that is best on average, minus the lowest estimated error in the row. The threshold is set where the
    loss saved so far, minus its standard error, is largest; if that is never above zero, the model that is
    best on average is used for all rows.
    """
    best = int(np.average(errors, axis=0, weights=weight).argmin())
    advantage = estimated_errors[:, best] - estimated_errors.min(axis=1)
    order = np.argsort(-advantage, kind="stable")
    chosen = errors[np.arange(len(errors)), estimated_errors.argmin(axis=1)]
    saved = (weight * (errors[:, best] - chosen))[order]
    lower_bounds = np.cumsum(saved) - np.sqrt(np.cumsum(saved**2))
    ranked = advantage[order]
    thresholds = np.append(ranked[1:], 0.0)  # the next row's advantage, which is not enough
    lower_bounds[thresholds == ranked] = -np.inf  # rows of equal advantage switch together
    at = int(lower_bounds.argmax())
    return Switch(best, float(thresholds[at]) if lower_bounds[at] > 0 else np.inf)
