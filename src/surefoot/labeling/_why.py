"""Why a row is asked about, in words that name no class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats, Mask

# Lead of the first class over the second, in probability, below which two classes are close.
CLOSE = 0.25

# Share of the samples around a row that get another class, from which on the answer changes nearby.
MANY_FLIPS = 0.1


def is_close(probabilities: Floats) -> Mask:
    """Whether the two most probable classes of each row are close."""
    best = np.sort(probabilities, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] < CLOSE)


def why_asked(
    *,
    close: bool,
    flips: float,
    novel: bool,
    neighbor_labels: NDArray[Any],
    error: float | None,
) -> str:
    """Sentence with the reasons for doubt about a row.

    >>> import numpy as np
    >>> why_asked(close=True, flips=0.3, novel=False, neighbor_labels=np.array(["a", "a"]), error=0.4)
    'Two classes are close here, and the answer changes nearby.'
    """
    reasons = []
    if close:
        reasons.append("two classes are close here")
    if flips >= MANY_FLIPS:
        reasons.append("the answer changes nearby")
    if novel:
        reasons.append("no labelled row is like this one")
    if len(np.unique(neighbor_labels)) > 1:
        reasons.append("the nearest labelled rows have different labels")
    if not reasons and error is not None:
        reasons.append(f"the model would be wrong on about {error:.0%} of such rows")
    if not reasons:
        reasons.append("it differs from the other rows that are asked about")
    text = reasons[0] if len(reasons) == 1 else f"{', '.join(reasons[:-1])}, and {reasons[-1]}"
    return f"{text[0].upper()}{text[1:]}."
