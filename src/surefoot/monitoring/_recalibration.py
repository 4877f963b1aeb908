"""Recalibration of estimated errors on weighted held-out rows, as far as these support it."""

from typing import Self

import numpy as np
from scipy.special import expit, logit

from surefoot._typing import Floats, Ints

# Standard deviation of what the prior expects of a correction of log-odds.
PRIOR_WIDTH = 0.5

MOST_STEPS = 50
LEAST_CHANCE = 1e-6


class Recalibration:
    """Correction of estimated chances of a mistake: a level, a slope, and a level for each predicted class.

    It is fitted by logistic regression on the held-out rows with the weights of the new ones. The level, and then the
    others together, are shrunk towards no correction: a change of d numbers with the size t², in units of its
    covariance, is multiplied by 1 − d/t² (the positive part of James and Stein). What chance explains changes nothing.
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def fit(self, chances: Floats, predicted: Ints, wrong: Floats, weight: Floats) -> Self:
        """Fit on out-of-fold chances and on whether the predictions were wrong."""
        log_odds = _log_odds(chances)
        self.center_ = float(np.average(log_odds, weights=weight))
        rows = self._rows(log_odds, predicted)
        level = shrink(*fit_change(rows[:, :1], log_odds, wrong, weight))
        others, noise = fit_change(rows[:, 1:], log_odds + level, wrong, weight)
        self.change_ = np.concatenate([level, shrink(others, noise)])
        # The levels of the classes leave open what the common level leaves open.
        self.covariance_ = np.zeros((rows.shape[1], rows.shape[1]))
        self.covariance_[1:, 1:] = noise
        return self

    def predict(self, chances: Floats, predicted: Ints) -> Floats:
        """Corrected chances of a mistake."""
        return self.predict_with(self.change_[None, :], chances, predicted)[0]

    def draw(self, n_draws: int, random: np.random.RandomState) -> Floats:
        """Changes that are as plausible as the fitted one, one a row."""
        return np.asarray(random.multivariate_normal(self.change_, self.covariance_, n_draws))

    def predict_with(self, changes: Floats, chances: Floats, predicted: Ints) -> Floats:
        """Corrected chances for each of several changes, one row each."""
        log_odds = _log_odds(chances)
        return np.asarray(expit(log_odds + changes @ self._rows(log_odds, predicted).T))

    def _rows(self, log_odds: Floats, predicted: Ints) -> Floats:
        is_class = np.eye(self.n_classes)[predicted]
        return np.column_stack([np.ones(len(log_odds)), log_odds - self.center_, is_class])


def fit_change(
    rows: Floats, log_odds: Floats, wrong: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """Weights of the columns of `rows` that are added to the log-odds, and the covariance of these weights."""
    penalty = np.full(rows.shape[1], PRIOR_WIDTH**-2)
    change = np.zeros(rows.shape[1])
    for _ in range(MOST_STEPS):
        chance = expit(log_odds + rows @ change)
        gradient = rows.T @ (weight * (chance - wrong)) + penalty * change
        hessian = (rows.T * (weight * chance * (1 - chance))) @ rows + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        change = change - step
        if np.abs(step).max() < 1e-6:
            break
    inverse = np.linalg.inv(hessian)
    scores = (weight * (wrong - chance))[:, None] * rows
    # Noise of the fit, whatever the variance of the residuals is, and what the prior leaves open.
    return change, inverse @ (scores.T @ scores + np.diag(penalty)) @ inverse


def shrink(change: Floats, covariance: Floats) -> Floats:
    """Change multiplied by 1 − d/t², or by 0."""
    size = float(change @ np.linalg.solve(covariance, change))
    return change * max(0.0, 1 - len(change) / size) if size > 0 else change


def _log_odds(chances: Floats) -> Floats:
    return np.asarray(logit(np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)))
