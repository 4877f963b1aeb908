"""What a prediction is expected to cost, by a cost matrix."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils import check_array

from surefoot._typing import Floats, Ints


def expected_cost(costs: Floats, scores: Floats, predicted: Ints, wrong: Floats) -> Floats:
    """Expected cost of each prediction if it is wrong with the given probability.

    If it is wrong, the other classes are as likely, relative to each other, as the model has them.
    """
    told = (
        softmax(scores, axis=1)
        if scores.shape[1] > 1
        else np.hstack([expit(-scores), expit(scores)])
    )
    rows = np.arange(len(told))
    others = told + 1e-12
    others[rows, predicted] = 0.0
    others /= others.sum(axis=1, keepdims=True)
    if_wrong = (others * costs[:, predicted].T).sum(axis=1)
    return wrong * if_wrong + (1 - wrong) * costs[predicted, predicted]


def cost_factor(costs: Floats, estimated: Floats, weight: Floats | None) -> float:
    """What estimated costs are multiplied with to be right on average."""
    weight = np.ones(len(costs)) if weight is None else weight
    total = float(weight @ estimated)
    paid = float(weight @ costs)
    return paid / total if total > 0 and paid > 0 else 1.0


def check_costs(loss: Any, n_classes: int) -> Floats:
    """Cost matrix as floats, or one sentence on what is wrong with it."""
    costs = check_array(loss, dtype=np.float64, input_name="loss")
    if costs.shape != (n_classes, n_classes) or (costs < 0).any():
        raise ValueError(
            f"loss must be {n_classes} × {n_classes} costs of zero or more, truth by prediction; "
            f"it has shape {costs.shape} and a least entry of {costs.min():g}."
        )
    return np.asarray(costs)
