"""Test of a lapse rate: mistakes that no doubt explains, as wrong labels are."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import chi2

from surefoot._typing import Floats

# Shares of lapses that are compared, and the largest of them that raises no alarm.
SHARES = np.array([0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2])
USUAL = 3

# A truthful lead in log-odds has slope 1: less than half of it is not explained by hard rows.
LEAST_SLOPE = 0.5

# Likelihood ratio by which the estimated errors may speak against a share that the lead suggests (95 % of chi-squared).
MOST_AGAINST = 3.84


def lapse_p_value(doubt: Floats, lead: Floats, mistakes: Floats) -> float:
    """P-value of the hypothesis that at most 1 % of the rows are mistakes which no doubt explains; lower is surer.

    If rows are merely hard, mistakes become as rare as can be where the doubt is least. Wrong labels leave a share r
    that no doubt explains: P(mistake) = r + (1 − r) · expit(a + b · doubt). The test is by the estimated error
    (`doubt`, log-odds of a mistake) or by the model's own `lead`, whichever is clearer, at half the level each; half
    of what the lead suggests must be possible by the estimated error.
    """
    if not 0 < mistakes.sum() < len(mistakes):
        return 1.0
    scaled = (doubt - doubt.mean()) / (doubt.std() or 1.0)
    by_doubt = surprises(scaled, mistakes)
    by_lead = surprises(-lead, mistakes, least_slope=LEAST_SLOPE)
    half = max(SHARES[USUAL + 1], SHARES[by_lead.argmin()] / 2)
    against = by_doubt[half <= SHARES].min() - by_doubt.min()
    statistics = [_statistic(by_doubt), _statistic(by_lead)]
    if statistics[0] == 0 and against > MOST_AGAINST:
        return 1.0
    return float(chi2.sf(max(statistics), 1)) if max(statistics) > 0 else 1.0


def _statistic(values: Floats) -> float:
    """Likelihood ratio of the best share to the largest usual one; 0 if the best is usual."""
    best = int(values.argmin())
    return float(values[USUAL] - values[best]) if best > USUAL else 0.0


def surprises(doubt: Floats, mistakes: Floats, *, least_slope: float | None = None) -> Floats:
    """Twice the least negative log-likelihood of the mistakes, for each share of lapses in `SHARES`."""
    slope = least_slope or 0.0
    rate = float(np.clip(mistakes.mean(), 0.01, 0.99))
    start, values = np.array([logit(rate) - slope * doubt.mean(), slope]), []
    for share in SHARES:
        fitted = minimize(
            _surprise,
            start,
            args=(share, doubt, mistakes),
            jac=True,
            method="L-BFGS-B",
            bounds=[(None, None), (least_slope, None)],
        )
        start = fitted.x
        values.append(2 * float(fitted.fun))
    return np.array(values)


def _surprise(
    weights: Floats, share: float, doubt: Floats, mistakes: Floats
) -> tuple[float, Floats]:
    """Minus the log-likelihood of the mistakes, and its gradient."""
    hard = expit(weights[0] + weights[1] * doubt)
    chance = np.clip(share + (1 - share) * hard, 1e-9, 1 - 1e-9)
    slope = -(mistakes / chance - (1 - mistakes) / (1 - chance)) * (1 - share) * hard * (1 - hard)
    surprise = -(mistakes * np.log(chance) + (1 - mistakes) * np.log1p(-chance)).sum()
    return float(surprise), np.array([slope.sum(), slope @ doubt])
