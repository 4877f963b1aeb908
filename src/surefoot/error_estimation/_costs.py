"""Expected cost of a prediction, by a cost matrix."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils import check_array

from surefoot._typing import Floats, Ints


def expected_cost(costs: Floats, scores: Floats, predicted: Ints, wrong: Floats) -> Floats:
    """Expected cost of each prediction that is wrong with the probability `wrong`.

    The probability of a mistake is divided among the other classes in proportion to the model's scores.
    """
    probabilities = (
        softmax(scores, axis=1)
        if scores.shape[1] > 1
        else np.hstack([expit(-scores), expit(scores)])
    )
    rows = np.arange(len(probabilities))
    others = probabilities + 1e-12
    others[rows, predicted] = 0.0
    others /= others.sum(axis=1, keepdims=True)
    if_wrong = (others * costs[:, predicted].T).sum(axis=1)
    return wrong * if_wrong + (1 - wrong) * costs[predicted, predicted]


def cost_factor(costs: Floats, estimated: Floats, weight: Floats | None) -> float:
    """Factor by which estimated costs are multiplied, so that their mean is the true one."""
    weight = np.ones(len(costs)) if weight is None else weight
    total = float(weight @ estimated)
    true_total = float(weight @ costs)
    return true_total / total if total > 0 and true_total > 0 else 1.0


def check_costs(loss: Any, n_classes: int) -> Floats:
    """Cost matrix as floats; raises if it has the wrong shape or an entry below 0."""
    costs = check_array(loss, dtype=np.float64, input_name="loss")
    if costs.shape != (n_classes, n_classes) or (costs < 0).any():
        raise ValueError(
            f"loss must be {n_classes} × {n_classes} costs of zero or more, truth by prediction; "
            f"it has shape {costs.shape} and a least entry of {costs.min():g}."
        )
    return np.asarray(costs)
