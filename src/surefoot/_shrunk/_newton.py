"""Logistic regression with a ridge towards prior weights, by Newton's method."""

import numpy as np
from scipy.special import expit

from surefoot._typing import Floats

MOST_STEPS = 50


def with_ones(rows: Floats) -> Floats:
    """Rows with a column of ones before the others."""
    return np.column_stack([np.ones(len(rows)), rows])


def fit_logistic(
    rows: Floats, target: Floats, weight: Floats, penalty: Floats, prior: Floats, start: Floats
) -> Floats:
    """Weights that minimise Σ w·logloss + ½ Σ penalty·(weights − prior)², by Newton's method with halved steps."""

    def loss(at: Floats) -> float:
        log_odds = rows @ at
        ridge = 0.5 * penalty @ (at - prior) ** 2
        return float(weight @ (np.logaddexp(0, log_odds) - target * log_odds) + ridge)

    weights, now = start, loss(start)
    for _ in range(MOST_STEPS):
        probability = expit(rows @ weights)
        gradient = rows.T @ (weight * (probability - target)) + penalty * (weights - prior)
        curvature = weight * probability * (1 - probability)
        hessian = (rows.T * curvature) @ rows + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        for _ in range(20):
            trial = loss(weights - step)
            if trial <= now * (1 + 1e-12):
                break
            step /= 2
        weights, now = weights - step, trial
        if np.abs(step).max() < 1e-4:
            break
    return weights
