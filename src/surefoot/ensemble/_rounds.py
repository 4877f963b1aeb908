"""Rounds of boosting: the term that a learner adds to the score, and the new weights of the rows.

Discrete and its bound are by Freund and Schapire (1997; Duda, Hart and Stork 2001, algorithm 9.1), with
SAMME by Zhu et al. (2009) for more than two classes; Real and Gentle are by Friedman, Hastie and Tibshirani
(2000), Modest is by Vezhnevets and Vezhnevets (2005).
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.special import logit

from surefoot._typing import Floats, Ints
from surefoot.ensemble._weak_learners import LearnerFactory, WeakLearner

VARIANTS = ("discrete", "real", "gentle", "modest")

# The log-odds of a pure leaf are infinite; this limit keeps it from outvoting all later rounds.
LEAST_SHARE = 1e-5

# Most draws of training rows until two classes are among them.
MOST_DRAWS = 20


class Round(Protocol):
    """A fitted learner; called with rows, it returns what it adds to their scores."""

    @property
    def learner(self) -> WeakLearner:
        """Fitted learner of the round."""

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the rows' scores, of shape (n,), for SAMME (n, n_classes)."""


@dataclass(frozen=True)
class DiscreteRound:
    """Round of Discrete AdaBoost: adds ±α, or with more than two classes α in the predicted class's column."""

    learner: WeakLearner
    weight: float
    n_classes: int

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the rows' scores, of shape (n,), for SAMME (n, n_classes)."""
        codes = self.learner.codes(X)
        if self.n_classes == 2:
            return np.where(codes == 1, self.weight, -self.weight)
        return np.where(codes[:, None] == np.arange(self.n_classes), self.weight, 0.0)


@dataclass(frozen=True)
class RealRound:
    """Round of Real AdaBoost: adds half the log-odds of the positive class."""

    learner: WeakLearner

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the rows' scores, of shape (n,), for SAMME (n, n_classes)."""
        share = np.clip(self.learner.positive_share(X), LEAST_SHARE, 1 - LEAST_SHARE)
        return np.asarray(logit(share) / 2)


@dataclass(frozen=True)
class GentleRound:
    """Round of Gentle AdaBoost: adds P(+|x) − P(−|x), the weighted least-squares fit of ±1."""

    learner: WeakLearner

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the rows' scores, of shape (n,), for SAMME (n, n_classes)."""
        return 2 * self.learner.positive_share(X) - 1


@dataclass(frozen=True)
class ModestRound:
    """Round of Modest AdaBoost: adds P⁺(1 − P̄⁺) − P⁻(1 − P̄⁻) of the region; 0 in one without training rows."""

    learner: WeakLearner
    regions: Ints
    values: Floats

    def __call__(self, X: Any) -> Floats:
        """Terms to add to the rows' scores, of shape (n,), for SAMME (n, n_classes)."""
        regions = self.learner.regions(X)
        places = np.minimum(np.searchsorted(self.regions, regions), len(self.regions) - 1)
        return np.where(self.regions[places] == regions, self.values[places], 0.0)


def modest_round(learner: WeakLearner, X: Any, codes: Ints, weights: Floats) -> ModestRound:
    """Round from joint probabilities of class and region, under the weights D and under inverted ones ∝ 1 − D."""
    regions, places = np.unique(learner.regions(X), return_inverse=True)
    inverted = 1 - weights
    inverted = inverted / inverted.sum() if inverted.sum() > 0 else weights
    cells = places + len(regions) * codes

    def joint(row_weights: Floats) -> Floats:
        sums = np.bincount(cells, row_weights, 2 * len(regions)).astype(np.float64)
        return sums.reshape(2, -1)

    negative, positive = joint(weights) * (1 - joint(inverted))
    return ModestRound(learner, regions, positive - negative)


@dataclass
class Boosted:
    """Rounds of one booster, their weighted errors, and the reason if it stopped early."""

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
    """Fit the rounds, starting from weights that sum to 1; `codes` are 0 and 1, for SAMME also higher."""
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
    """Add a round of Discrete AdaBoost; factors for the weights, or None if boosting ends here."""
    wrong = (learner.codes(X) != codes).astype(np.float64)
    error = float(weights @ wrong)
    chance, number = 1 - 1 / n_classes, len(done.rounds) + 1
    if error == 0:
        # Its α would be infinite; any weight that outvotes all earlier rounds predicts alike.
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
    """Add a round of Real, Gentle or Modest AdaBoost; factors for the weights, or None if boosting ends here."""
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
        done.stop_reason = f"round {number}: its learner is no better than chance"
        return None
    if useless:
        _refuse_worse(error, 0.5)
    done.keep(round_, error)
    if error == 0 or useless:
        what = "is no better than chance" if useless else "makes no error and is the last"
        done.stop_reason = f"round {number}: its learner {what}"
        return None
    return np.exp(np.where(codes == 1, -gain, gain))
