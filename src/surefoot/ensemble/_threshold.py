"""The score from which on a topic is assigned, learned from scores of rows that were held out."""

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from surefoot._validation import check_binary, check_option, check_vector, check_weights


def learn_threshold(
    scores: Any,
    truth: Any,
    objective: str = "error",
    *,
    sample_weight: Any = None,
    least_f1: float = 0.0,
) -> float:
    """Threshold above which calling rows positive gives the least error, or the best F1.

    Candidates lie half way between two neighbouring scores, and beyond them all. Among equally good
    ones it is the nearest to 0, where the scores themselves draw the line.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Scores of rows that their model had not seen; higher speaks for the topic.
    truth : array-like of shape (n_rows,)
        1 for the rows that have the topic, 0 for the others.
    objective : {"error", "f1"}, default="error"
        What is to be best.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.
    least_f1 : float, default=0.0
        Where even the best F1 is below this, the threshold is the highest score: a topic that is found no
        better than that had rather not be assigned (Yang 2001 calls it SCutFBR.1).

    Returns
    -------
    float

    Examples
    --------
    >>> learn_threshold([2.0, 1.0, 0.5, -1.0], [1, 0, 0, 0])
    1.5
    """
    check_option(objective, "objective", ["error", "f1"])
    scores, truth = check_vector(scores, "scores"), check_binary(truth, "truth")
    check_consistent_length(scores, truth)
    weight = check_weights(sample_weight, scores)
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
        if value.max() < least_f1:
            return float(ranked[0])
    candidates = np.concatenate([[ranked[0] + 1], (ranked[1:] + ranked[:-1]) / 2, [ranked[-1] - 1]])
    distinct = np.concatenate([[True], ranked[1:] < ranked[:-1], [True]])
    best = distinct & (value >= value[distinct].max() - 1e-9)
    # 0 itself, if it lies where a best candidate does: the border is then the scores' own.
    upper = np.concatenate([[np.inf], ranked])[best]
    lower = np.concatenate([ranked, [-np.inf]])[best]
    if ((lower <= 0) & (upper > 0)).any():
        return 0.0
    return float(candidates[best][np.abs(candidates[best]).argmin()])
