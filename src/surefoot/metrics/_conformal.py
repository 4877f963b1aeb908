"""The quantile behind conformal prediction."""

from math import floor

import numpy as np

from surefoot._typing import Floats


def conformal_quantile(scores: Floats, confidence: float) -> float:
    """Conformal quantile: a new score stays below it with `confidence`; inf if there are too few scores.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,)
        Scores of rows drawn like the new one, such as absolute errors.
    confidence : float
        Probability, over draws of all of them, that the new score is no higher.

    Returns
    -------
    quantile : float
        The ⌈confidence · (n + 1)⌉-th smallest score.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.metrics import conformal_quantile
    >>> conformal_quantile(np.arange(1.0, 20.0), 0.9), conformal_quantile(np.arange(1.0, 6.0), 0.9)
    (18.0, inf)
    """
    rank = floor((1 - confidence) * (len(scores) + 1) + 1e-9)
    return float(np.partition(scores, len(scores) - rank)[-rank]) if rank > 0 else np.inf
