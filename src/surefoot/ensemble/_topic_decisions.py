"""Accuracy and F1 of decisions by scores, one for each row and topic."""

import numpy as np

from surefoot._typing import Floats, Ints


def micro_average(scores: Floats, targets: Ints, *, one_topic_each: bool, use_f1: bool) -> float:
    """Micro-averaged accuracy, or F1, of the decisions by `scores`; higher is better.

    A topic is assigned where its score is above 0; with `one_topic_each`, the one with the highest.
    """
    truth, assigned = targets == 1, scores > 0
    if one_topic_each:
        assigned = scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
    if use_f1:
        return float(2 * (truth & assigned).sum() / (truth.sum() + assigned.sum()))
    return float((truth == assigned).mean())
