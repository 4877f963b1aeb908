"""Directions of columns: a random guesser aside, a column points where mistakes are."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge

from surefoot.indicators import (
    Confidence,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    ResamplingSpread,
    SecondOpinion,
    TrustScore,
    VoteDisagreement,
)

INDICATORS = [
    Confidence(),
    LocalSensitivity(n_neighbors=5),
    NeighborDisagreement(n_neighbors=(3, 10)),
    NeighborError(n_neighbors=10),
    ResamplingSpread(random_state=0),
    SecondOpinion(random_state=0),
    TrustScore(),
    VoteDisagreement(),
]


@pytest.mark.parametrize("indicator", INDICATORS, ids=lambda i: type(i).__name__)
def test_columns_point_to_mistakes(indicator):
    X, y = make_classification(700, 5, flip_y=0.15, class_sep=0.7, random_state=1)
    forest = RandomForestClassifier(30, random_state=0)
    fitted = indicator.set_params(estimator=forest).fit(X[:300], y[:300])
    columns, directions = fitted.transform(X[300:]), fitted.column_directions()
    wrong = forest.fit(X[:300], y[:300]).predict(X[300:]) != y[300:]
    gaps = columns[wrong].mean(axis=0) - columns[~wrong].mean(axis=0)
    known = directions != 0
    assert known.any()
    np.testing.assert_array_equal(np.sign(gaps[known]), directions[known])


def test_nothing_is_known_of_classes_one_by_one_or_of_a_regressor():
    X, y = make_classification(60, 5, random_state=0)
    by_class = Confidence(LogisticRegression(), per_class=True).fit(X, y)
    np.testing.assert_array_equal(by_class.column_directions(), [0])
    regression = NeighborDistance(Ridge()).fit(X, y)
    np.testing.assert_array_equal(regression.column_directions(), [0])
