"""The model's own confidence, by its own formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import entropy
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from surefoot import Confidence


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    probabilities = GaussianNB().fit(X, y).predict_proba(X)
    odds, margin, disorder, most = Confidence(GaussianNB()).fit(X, y).transform(X).T
    assert_allclose(disorder, [entropy(row) for row in probabilities], atol=1e-12)
    assert_allclose(most, probabilities.max(axis=1))
    clipped = np.clip(probabilities, 1 / 302, 1 - 1 / 302)
    ranked = np.sort(np.log(clipped / (1 - clipped)), axis=1)
    assert_allclose(margin, ranked[:, -1] - ranked[:, -2])
    assert_allclose(odds, ranked[:, -1])


def test_a_model_without_probabilities():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    value = LinearSVC(random_state=0).fit(X, y).decision_function(X)
    confidence = Confidence(LinearSVC(random_state=0)).fit(X, y)
    assert_allclose(confidence.transform(X)[:, 3], expit(np.abs(value)))
    assert_allclose(confidence.score_samples(X), np.abs(value))


def test_names_and_the_signed_column():
    X, y = load_iris(return_X_y=True)
    assert_array_equal(
        Confidence(GaussianNB()).fit(X, y).get_feature_names_out(),
        ["log_odds", "margin", "entropy", "max_probability"],
    )
    X, y = X[y > 0], np.array(["", "no", "yes"])[y[y > 0]]
    signed = Confidence(LinearSVC(random_state=0), per_class=True).fit(X, y)
    assert_array_equal(signed.get_feature_names_out(), ["log_odds_yes"])
    assert_array_equal(
        signed.transform(X)[:, 0] > 0, LinearSVC(random_state=0).fit(X, y).predict(X) == "yes"
    )


def test_regressors_are_refused():
    with pytest.raises(ValueError, match="Confidence needs a classifier"):
        Confidence(LinearRegression()).fit([[0.0], [1.0]], [0.0, 1.0]).transform([[0.5]])
