"""The score from which on a topic is assigned, learned from scores of rows that were held out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def learn_threshold(
    scores: Floats, truth: Ints, objective: str, sample_weight: Any = None
) -> float:
    """Threshold above which calling rows positive gives the least error, or the best F1.

    Candidates lie half way between two neighbouring scores, and beyond them all. Among equally good
    ones it is the nearest to 0, where the scores themselves draw the line.
    """
    weight = np.ones(len(scores)) if sample_weight is None else np.asarray(sample_weight)
    order = np.argsort(-scores, kind="stable")
    ranked, hit = scores[order], (truth[order] == 1) * weight[order]
    # What there is above each candidate: none, the first, the first two, …
    true = np.concatenate([[0.0], np.cumsum(hit)])
    false = np.concatenate([[0.0], np.cumsum(weight[order] - hit)])
    missed = hit.sum() - true
    if objective == "error":
        value = -(false + missed)
    else:
        told = 2 * true + false + missed
        value = np.divide(2 * true, told, out=np.zeros_like(told), where=told > 0)
    candidates = np.concatenate([[ranked[0] + 1], (ranked[1:] + ranked[:-1]) / 2, [ranked[-1] - 1]])
    distinct = np.concatenate([[True], ranked[1:] < ranked[:-1], [True]])
    best = distinct & (value >= value[distinct].max() - 1e-9)
    # 0 itself, if it lies where a best candidate does: the border is then the scores' own.
    upper = np.concatenate([[np.inf], ranked])[best]
    lower = np.concatenate([ranked, [-np.inf]])[best]
    if ((lower <= 0) & (upper > 0)).any():
        return 0.0
    return float(candidates[best][np.abs(candidates[best]).argmin()])
