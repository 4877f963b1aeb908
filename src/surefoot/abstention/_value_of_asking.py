"""Value of asking a second model, estimated from the output of the first one."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot._splits import learner_folds
from surefoot._typing import Floats

# Penalties of the ridge regression to choose from: from almost no shrinkage to almost no slope.
STRENGTHS = np.logspace(-1, 5, 13)


class DeferralCurve(NamedTuple):
    """Accuracy on held-out rows, higher is better, against the share of rows for which the second model is called.

    The rows with the highest estimated value are deferred first; `values` has the lowest value that is deferred.
    """

    calls: Floats
    accuracy: Floats
    values: Floats


def deferral_curve(
    value: Floats, first_wrong: Floats, second_wrong: Floats, weight: Floats
) -> DeferralCurve:
    """Accuracy if rows are deferred in the order of their value: without any, then at each distinct value."""
    order = np.argsort(-value, kind="stable")
    ranked, weight = value[order], weight[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    total = weight.sum()
    calls = np.cumsum(weight)[ends] / total
    saved = np.cumsum(weight * (first_wrong - second_wrong)[order])[ends] / total
    alone = 1 - (weight * first_wrong[order]).sum() / total
    return DeferralCurve(
        np.append(0.0, calls), np.append(alone, alone + saved), np.append(np.inf, ranked[ends])
    )


def value_within_budget(value: Floats, weight: Floats, budget: float) -> float:
    """Lowest threshold such that the rows above it are at most the share `budget` of all rows."""
    order = np.argsort(-value, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    beyond = value[order][share > budget + 1e-9]
    return float(beyond[0]) if beyond.size else -np.inf


class ValueOfAsking:
    """Regression of the errors saved by asking, on the first model's class and its estimated error.

    A ridge regression of the errors saved (−1, 0 or 1) on held-out rows; its penalty is chosen by
    leave-one-out error.
    """

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes
        self.learner = make_pipeline(StandardScaler(), RidgeCV(STRENGTHS))

    def columns(self, predictions: NDArray[Any], estimated_errors: Floats) -> Floats:
        """Columns of the regression: estimated error, its log-odds, predicted class, and error by class."""
        error = np.clip(estimated_errors, 1e-6, 1 - 1e-6)[:, None]
        chosen = (predictions[:, None] == self.classes).astype(np.float64)
        return np.hstack([error, logit(error), chosen, chosen * error])

    def fit(self, columns: Floats, saved: Floats, weight: Floats) -> Self:
        """Fit the regression to held-out rows."""
        self.learner.fit(columns, saved, ridgecv__sample_weight=weight)
        return self

    def predict(self, columns: Floats) -> Floats:
        """Expected errors saved by asking about each row."""
        return self.learner.predict(columns)

    def cross_predict(
        self, columns: Floats, saved: Floats, weight: Floats, groups: Any = None
    ) -> Floats:
        """Expected errors saved for the rows themselves, out of fold: no learner saw the row or its group."""
        values = np.zeros(len(columns))
        for train, test in learner_folds(len(columns), groups, random_state=0):
            learner = ValueOfAsking(self.classes).fit(columns[train], saved[train], weight[train])
            values[test] = learner.predict(columns[test])
        return values
