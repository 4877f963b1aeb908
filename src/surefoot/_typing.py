"""Names for the array types that many modules speak of."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Positions of the rows to learn from, and of those that are held out.
Split = tuple[Ints, Ints]

__all__ = ["Floats", "Ints", "Mask", "Split"]
