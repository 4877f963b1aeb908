"""Rule that leaves a start only where held-out rows show that it pays."""

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats


def best_departure(
    losses: Floats, weight: Floats | None = None, units: NDArray[np.generic] | None = None
) -> int:
    """Number of the column of losses that saves most on the first, minus the standard error of what it saves.

    The first column holds the losses of the start on held-out rows; it is chosen where no other column saves more
    than one standard error. Rows of one unit, such as copies of a row, are counted as one.
    """
    saved = losses[:, :1] - losses
    if weight is not None:
        saved = saved * weight[:, None]
    if units is not None:
        _, codes = np.unique(units, return_inverse=True)
        saved = np.column_stack([np.bincount(codes, column) for column in saved.T])
    return int((saved.sum(axis=0) - np.sqrt((saved**2).sum(axis=0))).argmax())
