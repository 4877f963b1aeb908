"""Methods of the arena: each estimates which predictions of a classifier are wrong.

A method is a function of a `Contest`, which is one fitted model on one table, and returns an `Estimate`. To add one,
write the function, give it a name in `METHODS`, and run `arena.py` again: only what is missing is computed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arena_rivals import RIVALS
from surefoot.error_estimation._error_probability import ShrunkLogisticRegression

LEAST_PROBABILITY = 1e-4
N_NEIGHBORS = 10


@dataclass(frozen=True)
class Contest:
    """One model on one table: all that a method may look at. Classes are numbered from 0.

    Attributes
    ----------
    rows, labels
        Training rows, encoded and scaled as the model sees them, and their true classes.
    test_rows
        Rows whose predictions are judged.
    probabilities, wrong
        Out-of-fold class probabilities of the training rows, and whether those predictions were wrong (1) or not (0).
    test_probabilities, test_prediction
        Class probabilities and predicted classes of the test rows, by the model fitted to all training rows.
    columns, test_columns, n_own, directions
        Columns of surefoot's indicators for the training rows (out of fold) and for the test rows, of which the first
        `n_own` are the model's own confidence; and whether a column rises (1) or falls (-1) with doubt, or either (0).
    prior
        Returns surefoot's prior, learned on tables of other families only.
    rivals
        Class probabilities of the test rows by strong models, and their processor seconds, by name.
    random_state
        Seed of all random draws.
    """

    rows: Any
    labels: Any
    test_rows: Any
    probabilities: Any
    wrong: Any
    test_probabilities: Any
    test_prediction: Any
    columns: Any
    test_columns: Any
    n_own: int
    directions: Any
    prior: Callable[[], Any]
    random_state: int
    rivals: dict[str, tuple[Any, float]] = field(default_factory=dict)

    def of_answer(self, probabilities):
        """Probability of the model's answer for each test row."""
        return probabilities[np.arange(len(probabilities)), self.test_prediction]


class Estimate(NamedTuple):
    """Estimated error of each test row, higher is more likely wrong, and whether it is meant as a probability."""

    error: Any
    is_probability: bool


def own_confidence(contest):
    """One minus the model's largest probability."""
    return Estimate(1 - contest.test_probabilities.max(axis=1), True)


def recalibrated_confidence(contest):
    """One minus the probability of the predicted class after Dirichlet calibration (Kull et al. 2019) out of fold."""
    known, new = (
        np.log(np.clip(probabilities, LEAST_PROBABILITY, None))
        for probabilities in (contest.probabilities, contest.test_probabilities)
    )
    calibrator = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    calibrator.fit(known, contest.labels)
    recalibrated = calibrator.predict_proba(new)
    return Estimate(1 - contest.of_answer(recalibrated), True)


def isotonic_confidence(contest):
    """Isotonic regression of the errors out of fold on the model's own confidence."""
    calibrator = IsotonicRegression(out_of_bounds="clip")
    calibrator.fit(1 - contest.probabilities.max(axis=1), contest.wrong)
    return Estimate(calibrator.predict(1 - contest.test_probabilities.max(axis=1)), True)


def trust_score(contest):
    """Jiang et al. (2018) as their code has it: distances to the second nearest row of each class, no filter."""
    distances = np.column_stack(
        [
            NearestNeighbors(n_neighbors=2)
            .fit(contest.rows[contest.labels == label])
            .kneighbors(contest.test_rows)[0][:, 1]
            for label in range(contest.test_probabilities.shape[1])
        ]
    )
    predicted = contest.test_prediction[:, None] == np.arange(distances.shape[1])
    other = np.where(predicted, np.inf, distances).min(axis=1)
    return Estimate(-other / (distances[predicted] + 1e-12), False)


def label_disagreement(contest):
    """Share of the ten nearest training rows that have another class than the predicted one."""
    nearest = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(contest.rows)
    near = contest.labels[nearest.kneighbors(contest.test_rows, return_distance=False)]
    return Estimate((near != contest.test_prediction[:, None]).mean(axis=1), False)


def forest_disagreement(contest):
    """One minus the probability that a random forest gives to the predicted class."""
    forest = RandomForestClassifier(random_state=contest.random_state + 1)
    votes = forest.fit(contest.rows, contest.labels).predict_proba(contest.test_rows)
    return Estimate(1 - contest.of_answer(votes), True)


def boosted_meta_model(contest):
    """Boosted trees that learn from a row and its out-of-fold probabilities whether the prediction was wrong."""
    if contest.wrong.min() == contest.wrong.max():
        return Estimate(np.full(len(contest.test_rows), contest.wrong.mean()), True)
    learner = HistGradientBoostingClassifier(random_state=contest.random_state)
    learner.fit(np.hstack([contest.rows, contest.probabilities]), contest.wrong)
    new = np.hstack([contest.test_rows, contest.test_probabilities])
    return Estimate(learner.predict_proba(new)[:, 1], True)


def conformal_set_size(contest):
    """Size of the conformal set, averaged over all levels: one, plus the other classes' conformal p-values.

    The predicted class is always in the set; else the least certain rows would have the emptiest sets.
    """
    n_rows = len(contest.labels)
    scores = np.sort(1 - contest.probabilities[np.arange(n_rows), contest.labels])
    at_least = n_rows - np.searchsorted(scores, 1 - contest.test_probabilities, side="left")
    p_values = (at_least + 1) / (n_rows + 1)
    p_values[np.arange(len(p_values)), contest.test_prediction] = 1
    return Estimate(p_values.sum(axis=1), False)


def surefoot_without_prior(contest):
    """Surefoot's error estimator, learned from this table alone."""
    learner = ShrunkLogisticRegression(
        n_own=contest.n_own, directions=contest.directions, random_state=contest.random_state
    )
    fitted = learner.fit(contest.columns, contest.wrong)
    return Estimate(fitted.predict_proba(contest.test_columns)[:, 1], True)


def surefoot(contest):
    """Surefoot's error estimator, which starts from a prior that was learned on tables of other families."""
    error = contest.prior().estimate(contest.columns, contest.wrong, contest.test_columns)
    return Estimate(error, True)


def second_model(rival):
    """Method: one minus the probability that a strong model gives to the predicted class."""

    def method(contest):
        return Estimate(1 - contest.of_answer(contest.rivals[rival][0]), True)

    return method


def averaged(rival):
    """Method: mean log-odds of the predicted class by a strong model and by the model itself."""

    def method(contest):
        pair = (contest.rivals[rival][0], contest.test_probabilities)
        log_odds = [
            logit(np.clip(contest.of_answer(part), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))
            for part in pair
        ]
        return Estimate(expit(-np.mean(log_odds, axis=0)), True)

    return method


METHODS = {
    "own confidence": own_confidence,
    "isotonic confidence": isotonic_confidence,
    "recalibrated confidence": recalibrated_confidence,
    "Trust Score": trust_score,
    "label disagreement": label_disagreement,
    "forest disagreement": forest_disagreement,
    "boosted meta-model": boosted_meta_model,
    "conformal set size": conformal_set_size,
    "surefoot, no prior": surefoot_without_prior,
    "surefoot": surefoot,
}

# Methods that need the probabilities of a rival, by the rival.
OF_RIVAL = {name: name for name in RIVALS} | {f"{name} and own": name for name in RIVALS}
METHODS |= {name: second_model(name) for name in RIVALS}
METHODS |= {f"{name} and own": averaged(name) for name in RIVALS}

# Methods that need out-of-fold predictions of the model, so that five fits of it count to their cost.
CROSS_FITTED = {
    "boosted meta-model",
    "conformal set size",
    "isotonic confidence",
    "recalibrated confidence",
}
# Methods whose cost is that of surefoot's columns.
WITH_COLUMNS = {"surefoot, no prior", "surefoot"}
