"""When an estimated advantage of one model over another is a real one."""

from typing import NamedTuple

import numpy as np

from surefoot._typing import Floats, Ints


class Switch(NamedTuple):
    """Leave the model that is best on average where another one is estimated to be better by more than this."""

    best: int
    advantage: float

    def choose(self, estimated_errors: Floats) -> Ints:
        """Number of the model to use for each row."""
        gain = estimated_errors[:, self.best] - estimated_errors.min(axis=1)
        return np.where(gain > self.advantage, estimated_errors.argmin(axis=1), self.best)


def learn_switch(errors: Floats, estimated_errors: Floats, weight: Floats) -> Switch:
    """Learn from held-out rows, one column a model, by how much an estimate must be better to be believed.

    Rows are taken in the order of the estimated advantage of the best model there over the model that
    is best on average. The switch is set where the loss saved so far, less its standard error, is largest;
    if that is never above zero, the model that is best on average is used everywhere.
    """
    best = int(np.average(errors, axis=0, weights=weight).argmin())
    advantage = estimated_errors[:, best] - estimated_errors.min(axis=1)
    order = np.argsort(-advantage, kind="stable")
    chosen = errors[np.arange(len(errors)), estimated_errors.argmin(axis=1)]
    saved = (weight * (errors[:, best] - chosen))[order]
    certain = np.cumsum(saved) - np.sqrt(np.cumsum(saved**2))
    ranked = advantage[order]
    enough = np.append(ranked[1:], 0.0)  # what the next row has is not enough any more
    certain[enough == ranked] = -np.inf  # equal advantages switch together
    at = int(certain.argmax())
    return Switch(best, float(enough[at]) if certain[at] > 0 else np.inf)
