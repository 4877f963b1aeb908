"""Query strategies: the doubt about each row of a pool; the most doubtful are asked about first."""

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

# The strategy of everything that asks, unless another is chosen.
DEFAULT_STRATEGY = "margin"

# Members of the committee that is formed where the model has none of its own.
COMMITTEE = 10

# Added to the spread of the lead within a cell, so that a spread of 0 can be divided by.
TINY_SPREAD = 1e-9


class Situation:
    """A fitted model, the rows it was fitted to, and a pool of rows to ask about.

    Parameters
    ----------
    estimator : fitted classifier
        The model, fitted to few labels so far.
    X_pool : table
        Rows to choose from.
    X, y : table and labels, or None
        Rows and labels that the model was fitted to, for strategies that need them.
    random : RandomState
        Source of random numbers, for strategies that draw.
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

    def fit_indicator(self, indicator: Indicator) -> Indicator:
        """Indicator fitted around the model, with neighbours among the labelled rows."""
        rows = self.X_pool if self.X is None else self.X
        chosen = clone_with_seed(indicator, self.random)
        chosen.set_params(estimator=FrozenEstimator(self.model))
        return chosen.fit(rows, self.y)

    def labelled(self, strategy: str) -> tuple[Any, NDArray[Any]]:
        """Labelled rows and their labels; raise an error if they were not given."""
        if self.X is None or self.y is None:
            raise ValueError(
                f"strategy={strategy!r} looks at the rows that are labelled: X and y must be given."
            )
        return self.X, self.y


def at_random(situation: Situation) -> Floats:
    """Random doubts, the baseline."""
    return np.asarray(situation.random.uniform(size=count_rows(situation.X_pool)))


def small_margin(situation: Situation) -> Floats:
    """Doubt that is higher the smaller the lead of the predicted class over the runner-up is.

    The lead is one of probabilities, or of decision values where there are none. Of two classes only its order
    matters, which is that of the log-odds.
    """
    model = situation.model
    if len(model.classes_) > 2 and hasattr(model, "predict_proba"):
        two = np.partition(_probabilities(model, situation.X_pool), -2, axis=1)[:, -2:]
        return np.asarray(two[:, 0] - two[:, 1])
    confidence = situation.fit_indicator(Confidence())
    return -confidence.transform(situation.X_pool)[:, 1]


def low_confidence(situation: Situation) -> Floats:
    """Doubt that is higher the less probable the predicted class is."""
    confidence = situation.fit_indicator(Confidence())
    return -confidence.transform(situation.X_pool)[:, 0]


def divided_votes(situation: Situation) -> Floats:
    """Disagreement of the ensemble's members, or of refits to bootstraps of the labelled rows."""
    confidence = situation.fit_indicator(Confidence())
    predictor = confidence.index_.predictor  # the last step of a pipeline
    if hasattr(predictor, "estimators_"):
        votes = situation.fit_indicator(VoteDisagreement())
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
    return divergence(np.stack([_probabilities(model, situation.X_pool) for model in models]))


def divergence(probabilities: Floats) -> Floats:
    """Entropy of the members' mean probabilities minus the mean of their entropies (Jensen-Shannon).

    `probabilities` has shape (members, n, classes).
    """
    mean = probabilities.mean(axis=0)
    return np.asarray(entr(mean).sum(axis=1) - entr(probabilities).sum(axis=2).mean(axis=0))


def _probabilities(model: Any, X: Any) -> Floats:
    """Class probabilities of a member; 1 for the predicted class if it has none."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return (np.asarray(model.predict(X))[:, None] == model.classes_).astype(np.float64)


def unstable(situation: Situation) -> Floats:
    """Doubt that is higher the smaller the lead of the predicted class is, relative to its spread within the cell.

    A row that is only borderline has a small lead and also a small spread. Where the lead itself
    is uncertain, a label is more useful (Bennett 2007, section 5).
    """
    situation.labelled("sensitivity")
    spread = situation.fit_indicator(LocalSensitivity()).transform(situation.X_pool)[:, 1]
    return low_confidence(situation) / (spread + TINY_SPREAD)


def likely_wrong(situation: Situation) -> Floats:
    """Estimated probability of an error for each row of the pool.

    The error is learned on held-out rows. A class with a single label cannot be held out and learned from,
    so it is left out; if fewer than two classes remain, `low_confidence` is used instead.
    """
    X, y = situation.labelled("error")
    labels, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, labels[counts > 1]))
    if (counts > 1).sum() < 2:
        return low_confidence(situation)
    error_estimator = IndividualErrorClassifier(
        situation.model, random_state=situation.random, n_jobs=situation.n_jobs
    )
    error_estimator.fit(take_rows(X, rows), y[rows])
    return np.asarray(error_estimator.predict_error(situation.X_pool))


STRATEGIES: dict[str, Doubt] = {
    "margin": small_margin,
    "confidence": low_confidence,
    "votes": divided_votes,
    "error": likely_wrong,
    "sensitivity": unstable,
    "random": at_random,
}


def doubts(strategy: Any, situation: Situation) -> Floats:
    """Doubt about each row of the pool, by a named strategy or by an indicator; the highest is asked first."""
    if isinstance(strategy, Indicator):
        return -situation.fit_indicator(strategy).score_samples(situation.X_pool)
    check_strategy(strategy)
    return STRATEGIES[strategy](situation)


def check_strategy(strategy: Any) -> None:
    """Raise an error unless this is a strategy."""
    if not isinstance(strategy, Indicator) and not callable(strategy):
        check_option(strategy, "strategy", list(STRATEGIES), "an indicator or a function")
