"""Is the promise of `AbstainingClassifier(max_risk=...)` kept? Simulated against the generators' true risk.

Run `python research/promises.py`; `--draws 100` for a quick look.
"""

import argparse
import sys
import warnings
from math import ceil, log2

import numpy as np
from scipy.special import expit
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from surefoot.abstention import AbstainingClassifier
from surefoot.indicators import Confidence

MAX_RISK, CONFIDENCE = 0.05, 0.95

# Probability of an error by the rank of the score, 0 for the most trusted row and 1 for the least.
SHAPES = {
    "score says nothing, risk 0.0501": lambda rank: np.full_like(rank, 0.0501),
    "score says nothing, risk 0.055": lambda rank: np.full_like(rank, 0.055),
    "score says nothing, risk 0.025": lambda rank: np.full_like(rank, 0.025),
    "score the wrong way round": lambda rank: 0.2 * (1 - rank),
    "nearly flat across the limit": lambda rank: np.where(rank < 0.4, 0.045, 0.06),
    "smooth": lambda rank: 0.3 * rank**2,
    "jump": lambda rank: np.where(rank < 0.7, 0.005, 0.4),
    "hump": lambda rank: np.where((rank > 0.2) & (rank < 0.3), 0.25, 0.03),
    "twenty distinct scores": lambda rank: 0.3 * (np.floor(20 * rank) / 20) ** 2,
}


class KnownRisk(ClassifierMixin, BaseEstimator):
    """Predicts 0 for every row; its estimated error is the row's rank."""

    def __init__(self, levels=None):
        self.levels = levels

    def fit(self, X, y):
        """Nothing to learn."""
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        """Always 0."""
        return np.zeros(len(X), dtype=int)

    def predict_error(self, X):
        """The rank, or the level that it falls in."""
        rank = X[:, 0]
        return rank if self.levels is None else np.floor(self.levels * rank) / self.levels


def true_risk(shape):
    """Mean error of the share of rows that are trusted most, as a function of that share."""
    grid = (np.arange(200_000) + 0.5) / 200_000
    means = np.cumsum(shape(grid)) / np.arange(1, len(grid) + 1)
    return lambda share: means[max(round(share * len(grid)), 1) - 1]


def search_in_halves(scores, wrong):
    """Share answered by Geifman and El-Yaniv's SGR."""
    n, n_wrong = len(scores), np.cumsum(wrong[np.argsort(-scores)])
    steps, low, high, best = ceil(log2(n)), 0, n - 1, 0
    for _ in range(steps):
        middle = (low + high + 1) // 2
        k = n - middle
        if (
            beta.ppf(1 - (1 - CONFIDENCE) / steps, n_wrong[k - 1] + 1, k - n_wrong[k - 1])
            < MAX_RISK
        ):
            high, best = middle, max(best, k)
        else:
            low = middle
    return best / n


def pointwise(scores, wrong):
    """Share answered if the bound of every threshold is believed, as if it were the only one."""
    k = np.arange(1, len(scores) + 1)
    n_wrong = np.cumsum(wrong[np.argsort(-scores)])
    bounds = beta.ppf(CONFIDENCE, n_wrong + 1, np.maximum(k - n_wrong, 1e-9))
    return k[bounds <= MAX_RISK].max(initial=0) / len(k)


def fit_quietly(model, X, y):
    """Fit; that it abstains everywhere is a result here, not a surprise."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No threshold is known")
        return model.fit(X, y)


def simulate_shape(shape, levels, n_rows, n_draws):
    """Promises kept, and shares answered, over draws of the held-out rows of a known model."""
    rng = np.random.default_rng(0)
    frozen = FrozenEstimator(KnownRisk(levels).fit(None, None))
    risk, kept, answered, halves, naive = true_risk(shape), [], [], [], []
    for _ in range(n_draws):
        X = rng.random((n_rows, 1))
        y = (rng.random(n_rows) < shape(X[:, 0])).astype(int)
        model = fit_quietly(AbstainingClassifier(frozen, max_risk=MAX_RISK), X, y)
        share = 0.0
        if model.coverage_:  # all rows of a level are answered together
            share = min(1.0, 1 - model.threshold_ + (1 / levels if levels else 0))
        kept.append(share == 0 or risk(share) <= MAX_RISK)
        answered.append(share)
        halves.append(search_in_halves(-X[:, 0], y))
        reached = np.append(0, np.sort(X[:, 0]))[round(pointwise(-X[:, 0], y) * n_rows)]
        naive.append(reached == 0 or risk(reached) <= MAX_RISK)
    return [np.mean(found) for found in (kept, naive, answered, halves)]


def simulate_fitted(n_rows, n_draws):
    """The same with a model that is fitted in every draw; its risk from the generator's probabilities."""
    rng = np.random.default_rng(0)

    def draw(size):
        X = rng.normal(size=(size, 3))
        probability = expit(5 * X[:, 0] + 2 * np.sin(2 * X[:, 1]))
        return X, probability, (rng.random(size) < probability).astype(int)

    X_all, probability, _ = draw(100_000)
    kept, answered = [], []
    for _ in range(n_draws):
        X, _, y = draw(n_rows)
        model = AbstainingClassifier(
            LogisticRegression(), Confidence(), max_risk=MAX_RISK, held_out=0.5, random_state=0
        )
        accepted = fit_quietly(model, X, y).predict_accepted(X_all)
        error = np.where(model.predict(X_all) == 1, 1 - probability, probability)
        kept.append(not accepted.any() or error[accepted].mean() <= MAX_RISK)
        answered.append(accepted.mean())
    return np.mean(kept), np.mean(answered)


def main():
    """Print the table, and fail if a promise is kept in fewer than 94 % of the draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    print(f"max_risk {MAX_RISK}, confidence {CONFIDENCE}, {draws} draws")
    print(f"{'':34}{'rows':>6}{'kept':>8}{'answered':>10}{'SGR':>8}{'pointwise kept':>16}")
    least = 1.0
    for name, shape in SHAPES.items():
        levels = 20 if "distinct" in name else None
        for n_rows in (200, 1000, 4000):
            kept, naive, answered, halves = simulate_shape(shape, levels, n_rows, draws)
            least = min(least, kept)
            others = "" if levels else f"{halves:8.3f}{naive:16.3f}"  # they have no rule for ties
            print(f"{name:34}{n_rows:6}{kept:8.3f}{answered:10.3f}{others}", flush=True)
    for n_rows in (1000, 4000):
        kept, answered = simulate_fitted(n_rows, draws)
        least = min(least, kept)
        print(f"{'fitted in every draw':34}{n_rows:6}{kept:8.3f}{answered:10.3f}", flush=True)
    print(f"least share of promises kept: {least:.3f} (asked: 0.94)")
    sys.exit(int(least < 0.94))


if __name__ == "__main__":
    main()
