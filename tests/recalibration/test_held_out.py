"""Probabilities from out-of-fold scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from surefoot.recalibration import recalibrated_probabilities


def test_probabilities_do_not_know_the_labels_of_their_own_row():
    draw = np.random.default_rng(0)
    scores, y = draw.normal(size=(300, 1)), draw.integers(2, size=300)
    told = recalibrated_probabilities(scores, y, random_state=0)[:, 1]
    for row in (0, 17, 299):
        changed = y.copy()
        changed[row] = 1 - changed[row]
        again = recalibrated_probabilities(scores, changed, random_state=0)[:, 1]
        assert again[row] == told[row]
        assert (again != told).sum() > 200  # whom the row helps to calibrate


def test_each_of_three_classes_has_its_column():
    draw = np.random.default_rng(0)
    y = draw.choice(["a", "b", "c"], size=600)
    scores = 2.0 * (y[:, None] == ["a", "b", "c"]) + draw.normal(size=(600, 3))
    told = recalibrated_probabilities(scores, y, random_state=0)
    assert_allclose(told.sum(axis=1), 1)
    assert (np.array(["a", "b", "c"])[told.argmax(axis=1)] == y).mean() > 0.75


def test_a_group_is_calibrated_by_the_others():
    scores = np.linspace(-2, 2, 100)[:, None]
    y = (scores[:, 0] > 0).astype(int)
    groups = np.repeat([0, 1], 50)  # each group has one class only: all that the other knows
    told = recalibrated_probabilities(scores, y, groups=groups)[:, 1]
    assert_allclose(told, 1.0 - y)


def test_fair_scores_stay_as_they_are():
    draw = np.random.default_rng(1)
    odds = draw.normal(size=4000)
    y = draw.random(4000) < expit(odds)
    told = recalibrated_probabilities(odds[:, None], y, random_state=0)[:, 1]
    assert np.abs(told - expit(odds)).mean() < 0.02


def test_scores_that_do_not_match_the_classes_are_one_sentence():
    with pytest.raises(ValueError, match="scores has 2 columns, and y 2 classes"):
        recalibrated_probabilities(np.zeros((4, 2)), [0, 1, 0, 1])
