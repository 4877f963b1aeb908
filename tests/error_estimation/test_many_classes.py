"""Tables with very many classes: fewer kinds of opinions, or one sentence before any work."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier, assess_predictions


class Unfitted(ClassifierMixin, BaseEstimator):
    """A classifier that must not be fitted."""

    def fit(self, X, y):
        raise AssertionError("Work was done.")


def test_too_many_classes_for_the_memory_are_one_sentence_before_any_work():
    X, y = np.zeros((20_000, 2)), np.resize([f"c{i}" for i in range(10_000)], 20_000)
    with pytest.raises(ValueError, match=r"10,000 classes and 20,000 rows"):
        IndividualErrorClassifier(Unfitted()).fit(X, y)
    with pytest.raises(ValueError, match=r"10,000 classes and 20,000 rows"):
        assess_predictions(X, y, np.roll(y, 1))


def test_more_than_100_classes_have_no_trees():
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 5, (101, 4))
    y = np.repeat(np.arange(101), 6)
    X = centers[y] + rng.normal(size=(len(y), 4))
    error_estimator = IndividualErrorClassifier(GaussianNB(), cv=2, random_state=0).fit(X, y)
    assert set(error_estimator.held_out_.opinions) == {"linear", "gaussian", "kernel"}
    assert np.isfinite(error_estimator.judge(X[:3]).error).all()
