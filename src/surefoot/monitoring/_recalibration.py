"""Recalibration of estimated errors on weighted held-out rows, as far as these support it."""

from typing import Self

import numpy as np
from scipy.special import expit, logit

from surefoot._shrunk import curvature_of_logistic, fit_logistic
from surefoot._typing import Floats, Ints

# Standard deviation of what the prior expects of a correction of log-odds.
PRIOR_WIDTH = 0.5

LEAST_CHANCE = 1e-6


class Recalibration:
    """Correction of estimated chances of a mistake: a level for all rows, and one for each predicted class.

    It is fitted by logistic regression on the held-out rows with the weights of the new ones. Each number is shrunk
    towards no correction: one of t standard errors is multiplied by 1 − 1/t², or by 0, so that chance changes little.
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def fit(self, chances: Floats, predicted: Ints, wrong: Floats, weight: Floats) -> Self:
        """Fit on out-of-fold chances and on whether the predictions were wrong."""
        log_odds = _log_odds(chances)
        level = shrink(*fit_change(np.ones((len(wrong), 1)), log_odds, wrong, weight))
        by_class, noise = fit_change(
            np.eye(self.n_classes)[predicted], log_odds + level, wrong, weight
        )
        self.change_ = level + shrink(by_class, noise)
        # What the common level leaves open is part of what the levels of the classes leave open.
        self.noise_ = noise
        return self

    def predict(self, chances: Floats, predicted: Ints) -> Floats:
        """Corrected chances of a mistake."""
        return np.asarray(expit(_log_odds(chances) + self.change_[predicted]))

    def draw(
        self, chances: Floats, predicted: Ints, n_draws: int, random: np.random.RandomState
    ) -> Floats:
        """Chances of a mistake with corrections that are as plausible as the fitted one, one row for each."""
        changes = self.change_ + np.sqrt(self.noise_) * random.normal(
            size=(n_draws, self.n_classes)
        )
        return np.asarray(expit(_log_odds(chances) + changes[:, predicted]))


def fit_change(
    rows: Floats, log_odds: Floats, wrong: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """Weights of the columns of `rows` that are added to the log-odds, and the variance of each of them."""
    penalty, none = np.full(rows.shape[1], PRIOR_WIDTH**-2), np.zeros(rows.shape[1])
    change = fit_logistic(rows, wrong, weight, penalty, none, none, log_odds)
    chance = expit(log_odds + rows @ change)
    inverse = np.linalg.inv(curvature_of_logistic(rows, weight, penalty, chance))
    scores = (weight * (wrong - chance))[:, None] * rows
    # Noise of the fit, whatever the variance of the residuals is, and what the prior leaves open.
    return change, np.diag(inverse @ (scores.T @ scores + np.diag(penalty)) @ inverse)


def shrink(change: Floats, variance: Floats) -> Floats:
    """Change multiplied by 1 − variance/change², or by 0."""
    size = np.maximum(change**2, 1e-300)
    return np.asarray(change * np.maximum(0.0, 1 - variance / size))


def _log_odds(chances: Floats) -> Floats:
    return np.asarray(logit(np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)))
