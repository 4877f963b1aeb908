"""The rounds of boosting: what a learner adds to the score, and how the weights move on.

Discrete and its bound are Freund and Schapire's (1997; Duda, Hart and Stork 2001, algorithm 9.1), with
Zhu et al.'s SAMME (2009) beyond two classes; Real and Gentle are Friedman, Hastie and Tibshirani's
(2000), Modest is Vezhnevets and Vezhnevets' (2005).
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.special import logit

from surefoot._typing import Floats, Ints
from surefoot.ensemble._weak_learners import LearnerFactory, WeakLearner

VARIANTS = ("discrete", "real", "gentle", "modest")

# A pure leaf's log-odds are infinite; this lets it be sure, but not outvote all rounds to come.
LEAST_SHARE = 1e-5

# Draws that miss a class are repeated so many times.
MOST_DRAWS = 20


class Round(Protocol):
    """A learner and what it adds to the score: shape (n,), for SAMME (n, n_classes)."""

    @property
    def learner(self) -> WeakLearner:
        """The learner."""

    def __call__(self, X: Any) -> Floats:
        """What each row's score gains."""


@dataclass(frozen=True)
class DiscreteRound:
    """±α for the predicted class, or beyond two classes α in its column."""

    learner: WeakLearner
    weight: float
    n_classes: int

    def __call__(self, X: Any) -> Floats:
        """What each row's score gains."""
        codes = self.learner.codes(X)
        if self.n_classes == 2:
            return np.where(codes == 1, self.weight, -self.weight)
        return np.where(codes[:, None] == np.arange(self.n_classes), self.weight, 0.0)


@dataclass(frozen=True)
class RealRound:
    """Half the log-odds of the positive class."""

    learner: WeakLearner

    def __call__(self, X: Any) -> Floats:
        """What each row's score gains."""
        share = np.clip(self.learner.positive_share(X), LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray(logit(share) / 2)


@dataclass(frozen=True)
class GentleRound:
    """P(+|x) − P(−|x), the weighted least-squares fit of ±1."""

    learner: WeakLearner

    def __call__(self, X: Any) -> Floats:
        """What each row's score gains."""
        return 2 * self.learner.positive_share(X) - 1


@dataclass(frozen=True)
class ModestRound:
    """P⁺(1 − P̄⁺) − P⁻(1 − P̄⁻) for each region; 0 in one that no training row fell in."""

    learner: WeakLearner
    regions: Ints
    values: Floats

    def __call__(self, X: Any) -> Floats:
        """What each row's score gains."""
        found = self.learner.regions(X)
        places = np.minimum(np.searchsorted(self.regions, found), len(self.regions) - 1)
        return np.where(self.regions[places] == found, self.values[places], 0.0)


def modest_round(learner: WeakLearner, X: Any, codes: Ints, weights: Floats) -> ModestRound:
    """Joint probabilities of class and region under the weights D and the inverted ones, ∝ 1 − D."""
    regions, places = np.unique(learner.regions(X), return_inverse=True)
    inverted = 1 - weights
    inverted = inverted / inverted.sum() if inverted.sum() > 0 else weights
    cells = places + len(regions) * codes

    def joint(chances: Floats) -> Floats:
        found = np.bincount(cells, chances, 2 * len(regions)).astype(np.float64)
        return found.reshape(2, -1)

    negative, positive = joint(weights) * (1 - joint(inverted))
    return ModestRound(learner, regions, positive - negative)


@dataclass
class Boosted:
    """The rounds of one booster, their weighted errors, and why it stopped early, if it did."""

    rounds: list[Round] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    stop_reason: str | None = None

    def keep(self, round_: Round, error: float) -> None:
        """Add a round."""
        self.rounds.append(round_)
        self.errors.append(error)


def boost(
    factory: LearnerFactory,
    codes: Ints,
    weights: Floats,
    *,
    variant: str,
    n_classes: int,
    n_rounds: int,
    resample: bool,
    random: Any,
) -> Boosted:
    """Boost on weights that add up to 1; codes are 0 and 1, for SAMME also beyond."""
    done = Boosted()
    for number in range(1, n_rounds + 1):
        learner = _fit(factory, codes, weights, random, resample=resample)
        if learner is None:
            done.stop_reason = f"round {number}: the rows drawn by weight are of one class only"
            if number == 1:
                raise ValueError(f"Boosting cannot begin, {done.stop_reason}.")
            break
        if variant == "discrete":
            factors = _discrete(done, learner, factory.X, codes, weights, n_classes)
        else:
            factors = _additive(done, variant, learner, factory.X, codes, weights)
        if factors is None:
            break
        weights = weights * factors
        weights /= weights.sum()
    return done


def _fit(
    factory: LearnerFactory, codes: Ints, weights: Floats, random: Any, *, resample: bool
) -> WeakLearner | None:
    if not resample:
        return factory.fit(codes, weights, random)
    for _ in range(MOST_DRAWS):
        drawn = random.choice(len(codes), size=len(codes), p=weights)
        if np.ptp(codes[drawn]) > 0:
            return factory.fit_drawn(codes, drawn, random)
    return None


def _discrete(
    done: Boosted, learner: WeakLearner, X: Any, codes: Ints, weights: Floats, n_classes: int
) -> Floats | None:
    """Keep the round and return the factors of the weights; None if boosting ends here."""
    wrong = (learner.codes(X) != codes).astype(np.float64)
    error = float(weights @ wrong)
    chance, number = 1 - 1 / n_classes, len(done.rounds) + 1
    if error == 0:
        # Its α is infinite: one that outvotes all others says the same.
        before = sum(round_.weight for round_ in done.rounds if isinstance(round_, DiscreteRound))
        done.keep(DiscreteRound(learner, 1 + before, n_classes), 0.0)
        done.stop_reason = f"round {number}: its learner makes no error and is the last"
        return None
    if error >= chance - 1e-12:
        if number == 1:
            _refuse_worse(error, chance)
            done.keep(DiscreteRound(learner, 1.0, n_classes), error)
        done.stop_reason = (
            f"round {number}: its learner's weighted error {error:.3g} is no better than chance"
        )
        return None
    alpha = float(np.log((1 - error) / error * (n_classes - 1)) / 2)
    done.keep(DiscreteRound(learner, alpha, n_classes), error)
    up, down = np.exp(alpha), np.exp(-alpha)
    return np.asarray(down + (up - down) * wrong)


def _refuse_worse(error: float, chance: float) -> None:
    if error > chance + 1e-9:
        raise ValueError(
            f"The first learner's weighted error is {error:.3g}, worse than chance: boosting needs an "
            "estimator that learns something."
        )


def _additive(
    done: Boosted, variant: str, learner: WeakLearner, X: Any, codes: Ints, weights: Floats
) -> Floats | None:
    """The same for Real, Gentle and Modest, whose rounds carry their own weight."""
    round_: Round
    if variant == "real":
        round_ = RealRound(learner)
    elif variant == "gentle":
        round_ = GentleRound(learner)
    else:
        round_ = modest_round(learner, X, codes, weights)
    gain = round_(X)
    error = float(weights[(gain > 0) != (codes == 1)].sum())
    number = len(done.rounds) + 1
    useless = not gain.any() if variant == "modest" else error >= 0.5 - 1e-12
    if useless and number > 1:
        done.stop_reason = f"round {number}: its learner tells the classes no better than chance"
        return None
    if useless:
        _refuse_worse(error, 0.5)
    done.keep(round_, error)
    if error == 0 or useless:
        what = "is no better than chance" if useless else "makes no error and is the last"
        done.stop_reason = f"round {number}: its learner {what}"
        return None
    return np.exp(np.where(codes == 1, -gain, gain))
