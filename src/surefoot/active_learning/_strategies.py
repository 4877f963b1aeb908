"""How doubtful each row of a pool is: what an oracle could be asked next."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.frozen import FrozenEstimator

from surefoot._models import clone_with_seed
from surefoot._refits import bootstrap_models
from surefoot._tables import count_rows, take_rows
from surefoot._typing import Floats
from surefoot._validation import check_option
from surefoot.error_estimation import IndividualErrorClassifier
from surefoot.indicators import Confidence, Indicator, LocalSensitivity, VoteDisagreement

Doubt = Callable[["Situation"], Floats]

# Members of the committee that is formed where the model has none of its own.
COMMITTEE = 10

# Where the lead is the same all over the cell, it is as sure as it is large.
TINY_SPREAD = 1e-9


class Situation:
    """A fitted model, the rows it was fitted to, and a pool of rows to ask about.

    Parameters
    ----------
    estimator : fitted classifier
        The model; its labels are still few.
    X_pool : table
        Rows to choose from.
    X, y : table and labels, or None
        What the model was fitted to, for strategies that look at it.
    random : RandomState
        For strategies that draw.
    n_jobs : int or None
        Parallel fits.
    """

    def __init__(
        self, estimator: Any, X_pool: Any, X: Any, y: Any, random: Any, n_jobs: int | None
    ) -> None:
        self.estimator, self.X_pool, self.random, self.n_jobs = estimator, X_pool, random, n_jobs
        self.X, self.y = X, None if y is None else np.asarray(y)

    @property
    def model(self) -> Any:
        """The model itself, without a FrozenEstimator around it."""
        frozen = isinstance(self.estimator, FrozenEstimator)
        return self.estimator.estimator if frozen else self.estimator

    def judged(self, indicator: Indicator) -> Indicator:
        """An indicator of the model as it is, with neighbours among its labelled rows."""
        rows = self.X_pool if self.X is None else self.X
        chosen = clone_with_seed(indicator, self.random)
        chosen.set_params(estimator=FrozenEstimator(self.model))
        return chosen.fit(rows, self.y)

    def labelled(self, strategy: str) -> tuple[Any, NDArray[Any]]:
        """The labelled rows, or one sentence that they were not given."""
        if self.X is None or self.y is None:
            raise ValueError(
                f"strategy={strategy!r} looks at the rows that are labelled: X and y must be given."
            )
        return self.X, self.y


def at_random(situation: Situation) -> Floats:
    """As doubtful as chance has it."""
    return np.asarray(situation.random.uniform(size=count_rows(situation.X_pool)))


def low_confidence(situation: Situation) -> Floats:
    """The closer the first two classes, the more doubtful."""
    sure = situation.judged(Confidence())
    return -sure.transform(situation.X_pool)[:, 0]


def divided_votes(situation: Situation) -> Floats:
    """Disagreement of the ensemble's members, or of refits to bootstraps of the labelled rows."""
    predictor = situation.judged(Confidence()).index_.predictor  # the last step of a pipeline
    if hasattr(predictor, "estimators_"):
        votes = situation.judged(VoteDisagreement())
        return votes.transform(situation.X_pool)[:, 1]
    X, y = situation.labelled("votes")
    models = bootstrap_models(
        situation.model,
        X,
        y,
        n_resamples=COMMITTEE,
        random=situation.random,
        n_jobs=situation.n_jobs,
    )
    return divergence(np.stack([_opinion(model, situation.X_pool) for model in models]))


def divergence(opinions: Floats) -> Floats:
    """Entropy of the mean opinion less the mean entropy; opinions have shape (members, n, classes)."""
    mean = opinions.mean(axis=0)
    return np.asarray(entr(mean).sum(axis=1) - entr(opinions).sum(axis=2).mean(axis=0))


def _opinion(model: Any, X: Any) -> Floats:
    """Class probabilities of a member; of one without, 1 for the class that it predicts."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return (np.asarray(model.predict(X))[:, None] == model.classes_).astype(np.float64)


def unstable(situation: Situation) -> Floats:
    """The smaller the lead is beside its spread within the row's cell, the more doubtful.

    A row that is simply borderline has a small lead, but also a small spread; where the lead itself
    is uncertain a label teaches more (Bennett 2007, section 5).
    """
    situation.labelled("sensitivity")
    spread = situation.judged(LocalSensitivity()).transform(situation.X_pool)[:, 1]
    return low_confidence(situation) / (spread + TINY_SPREAD)


def likely_wrong(situation: Situation) -> Floats:
    """The higher the estimated probability of an error, the more doubtful.

    The error is learned on rows that were held out. A class with one label so far cannot be held out and learned from,
    so it waits; where fewer than two classes are left, low confidence has to do.
    """
    X, y = situation.labelled("error")
    labels, counts = np.unique(y, return_counts=True)
    known = np.flatnonzero(np.isin(y, labels[counts > 1]))
    if (counts > 1).sum() < 2:
        return low_confidence(situation)
    judge = IndividualErrorClassifier(
        situation.model, random_state=situation.random, n_jobs=situation.n_jobs
    )
    judge.fit(take_rows(X, known), y[known])
    return np.asarray(judge.predict_error(situation.X_pool))


STRATEGIES: dict[str, Doubt] = {
    "confidence": low_confidence,
    "votes": divided_votes,
    "error": likely_wrong,
    "sensitivity": unstable,
    "random": at_random,
}


def doubts(strategy: Any, situation: Situation) -> Floats:
    """How doubtful each row of the pool is, by a named strategy or by an indicator; higher first."""
    if isinstance(strategy, Indicator):
        return -situation.judged(strategy).score_samples(situation.X_pool)
    check_strategy(strategy)
    return STRATEGIES[strategy](situation)


def check_strategy(strategy: Any) -> None:
    """Raise one sentence unless this is a strategy."""
    if not isinstance(strategy, Indicator) and not callable(strategy):
        check_option(strategy, "strategy", list(STRATEGIES), "an indicator or a function")
