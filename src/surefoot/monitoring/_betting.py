"""Interval for a mean by betting against each candidate (Waudby-Smith and Ramdas 2023), valid after every draw."""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._typing import Floats

# Largest share of the capital that one draw can lose: with all of it, one surprise would end the game.
MOST_AT_STAKE = 0.9

# Draws that the variance expected beforehand counts as.
PRIOR_DRAWS = 10

# Confidence that the bets are best for. They are the same for any other, so that a higher one never gives less.
AIM = 0.9

# Halvings until the end of an interval is known to nine digits, and steps in which the ends before it are searched.
HALVINGS = 30
STEPS = 512


@dataclass(frozen=True)
class Plan:
    """Everything about the bets that is fixed before the first draw is seen.

    Attributes
    ----------
    n_draws : int
        Number of draws after which the interval shall be narrow.
    least, most : float
        Bounds that no draw can leave, whatever the truth is: at most 0, and at least 1.
    mean, variance : float
        Mean and variance that the draws are expected to have. Wrong ones make the interval wider, never invalid.
    confidence : float
        Probability that the interval contains the mean, after every draw at once.
    """

    n_draws: int
    least: float
    most: float
    mean: float
    variance: float
    confidence: float = AIM

    @property
    def goal(self) -> float:
        """Logarithm of the capital at which a candidate is rejected, each side with half of the error."""
        return float(np.log(2 / (1 - self.confidence)))

    def mirrored(self) -> "Plan":
        """Plan for one minus each draw."""
        return replace(self, least=1 - self.most, most=1 - self.least, mean=1 - self.mean)


def lower_end(draws: Floats, plan: Plan) -> float:
    """Largest candidate for the mean of numbers in [0, 1] that the draws reject as too low; 0 if they reject none.

    The capital against a candidate falls as the candidate grows, so that the rejected ones are an interval from 0.
    It is looked at after every draw (Ville's inequality): a candidate that was rejected once stays rejected.
    """
    bets = _bets(draws, plan)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if len(draws) and _log_capital(draws, bets, plan, middle).max() >= plan.goal:
            low = middle
        else:
            high = middle
    return low


def lower_ends(draws: Floats, plan: Plan) -> Floats:
    """Lower end after each draw; none is above that of `lower_end`, which the last one is."""
    last = lower_end(draws, plan)
    candidates = np.linspace(0.0, last, STEPS + 1)[1:]
    capital = _log_capital(draws, _bets(draws, plan), plan, candidates[:, None])
    rejected = np.maximum.accumulate(capital >= plan.goal, axis=1)
    ends: Floats = np.concatenate([[0.0], candidates])[np.count_nonzero(rejected, axis=0)]
    if len(ends):
        ends[-1] = last
    return ends


def upper_end(draws: Floats, plan: Plan) -> float:
    """Smallest candidate for the mean that the draws reject as too high; 1 if they reject none."""
    return 1 - lower_end(1 - draws, plan.mirrored())


def upper_ends(draws: Floats, plan: Plan) -> Floats:
    """Upper end after each draw."""
    return 1 - lower_ends(1 - draws, plan.mirrored())


def _bets(draws: Floats, plan: Plan) -> Floats:
    """Bet on each draw, from the draws before it: best for `n_draws` draws of their variance (predictable plug-in)."""
    n_before = np.arange(1, len(draws) + 1)
    means = (PRIOR_DRAWS * plan.mean + np.cumsum(draws)) / (PRIOR_DRAWS + n_before)
    squares = PRIOR_DRAWS * plan.variance + np.cumsum((draws - means) ** 2)
    variances = np.concatenate([[plan.variance], squares / (PRIOR_DRAWS + n_before)])[: len(draws)]
    return np.sqrt(2 * float(np.log(2 / (1 - AIM))) / (plan.n_draws * np.maximum(variances, 1e-12)))


def _log_capital(draws: Floats, bets: Floats, plan: Plan, candidates: float | Floats) -> Floats:
    """Logarithm of the capital after each draw of whoever bets that the mean is above the candidate."""
    most = MOST_AT_STAKE / (candidates - plan.least)
    return np.log1p(np.minimum(bets, most) * (draws - candidates)).cumsum(axis=-1)
