"""Logistic regression with a ridge towards prior weights, by Newton's method."""

import numpy as np
from scipy.special import expit

from surefoot._typing import Floats

MOST_STEPS = 50

# Penalty of a weight of another sign than expected.
AGAINST_SIGN = 10.0


def with_ones(rows: Floats) -> Floats:
    """Rows with a column of ones before the others."""
    return np.column_stack([np.ones(len(rows)), rows])


def fit_logistic(
    rows: Floats,
    target: Floats,
    weight: Floats,
    penalty: Floats,
    prior: Floats,
    start: Floats,
    signs: Floats | None = None,
) -> Floats:
    """Weights that minimise Σ w·logloss + ½ Σ penalty·(weights − prior)², by Newton's method with halved steps.

    `signs` holds what sign each weight is expected to have, 0 for either: a weight of the other sign is penalised by
    `AGAINST_SIGN` more, towards 0. That is about as much as ten errors tell, so that more of them can prevail.
    """
    expected = np.zeros(len(prior)) if signs is None else signs

    def loss(at: Floats) -> float:
        log_odds = rows @ at
        ridge = 0.5 * penalty @ (at - prior) ** 2 + 0.5 * against(at) @ at**2
        return float(weight @ (np.logaddexp(0, log_odds) - target * log_odds) + ridge)

    def against(at: Floats) -> Floats:
        return np.where(expected * at < 0, AGAINST_SIGN, 0.0)

    weights, now = start, loss(start)
    for _ in range(MOST_STEPS):
        probability = expit(rows @ weights)
        gradient = rows.T @ (weight * (probability - target)) + penalty * (weights - prior)
        gradient += against(weights) * weights
        curvature = curvature_of_logistic(rows, weight, penalty + against(weights), weights)
        step = np.linalg.solve(curvature, gradient)
        for _ in range(20):
            trial = loss(weights - step)
            if trial <= now * (1 + 1e-12):
                break
            step /= 2
        weights, now = weights - step, trial
        if np.abs(step).max() < 1e-4:
            break
    return weights


def curvature_of_logistic(rows: Floats, weight: Floats, penalty: Floats, weights: Floats) -> Floats:
    """Second derivatives, at some weights, of what `fit_logistic` minimises."""
    probability = expit(rows @ weights)
    curvature = weight * probability * (1 - probability)
    return np.asarray((rows.T * curvature) @ rows + np.diag(penalty))
