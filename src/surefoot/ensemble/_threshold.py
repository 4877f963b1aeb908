"""Threshold of a topic's score, learned from out-of-fold scores."""

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
    """Threshold with the lowest error, or the best F1, if rows with a higher score are called positive.

    Candidates lie half way between two consecutive scores, and beyond the first and the last. Of equally good
    candidates the one nearest to 0 is taken, because 0 is the threshold of the scores themselves.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Out-of-fold scores of rows; higher speaks for the topic.
    truth : array-like of shape (n_rows,)
        1 for the rows that have the topic, 0 for the others.
    objective : {"error", "f1"}, default="error"
        What is optimised.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.
    least_f1 : float, default=0.0
        If even the best F1 is below this, the threshold is the highest score, so that the topic is not
        assigned (Yang 2001 calls it SCutFBR.1).

    Returns
    -------
    float
        The threshold.

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
    # Weights of the positive and negative rows above each candidate: none, the first, the first two, …
    true = np.concatenate([[0.0], np.cumsum(hit)])
    false = np.concatenate([[0.0], np.cumsum(weight[order] - hit)])
    missed = hit.sum() - true
    if objective == "error":
        value = -(false + missed)
    else:
        denominator = 2 * true + false + missed
        f1 = np.zeros_like(denominator)
        value = np.divide(2 * true, denominator, out=f1, where=denominator > 0)
        if value.max() < least_f1:
            return float(ranked[0])
    candidates = np.concatenate([[ranked[0] + 1], (ranked[1:] + ranked[:-1]) / 2, [ranked[-1] - 1]])
    distinct = np.concatenate([[True], ranked[1:] < ranked[:-1], [True]])
    best = distinct & (value >= value[distinct].max() - 1e-9)
    # 0 itself, if it lies between the same two scores as a best candidate.
    upper = np.concatenate([[np.inf], ranked])[best]
    lower = np.concatenate([ranked, [-np.inf]])[best]
    if ((lower <= 0) & (upper > 0)).any():
        return 0.0
    return float(candidates[best][np.abs(candidates[best]).argmin()])
