"""Learned thresholds against all cuts tried by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from surefoot.ensemble._combination import learn_threshold

SCORES = st.lists(
    st.tuples(st.integers(-3, 3), st.booleans(), st.integers(1, 3)), min_size=2, max_size=12
)


def errors(scores, truth, weight, threshold):
    return (weight * ((scores > threshold) != truth)).sum()


def weighted_f1(scores, truth, weight, threshold):
    return f1_score(truth, scores > threshold, sample_weight=weight, zero_division=0)


def test_by_hand():
    scores, truth = np.array([3.0, 2.0, 1.0, -1.0]), np.array([1, 0, 1, 0])
    # Above 2.5, 0 and -2 are 1, 1 and 2 errors; F1 is 2/3, 4/5 and 2/3.
    assert learn_threshold(scores, truth, "error") == 0.0
    assert learn_threshold(scores, truth, "f1") == 0.0
    # One step to the right, 0 is no longer among the best: half way between -2 and 0 is.
    assert learn_threshold(scores - 3, truth, "f1") == -3.0


def test_among_equals_the_nearest_to_zero():
    scores, truth = np.array([5.0, 4.0, 3.0, 2.0]), np.array([1, 0, 1, 0])
    assert learn_threshold(scores, truth, "error") == 2.5  # as good as 4.5


def test_a_topic_that_is_hardly_found_is_not_assigned():
    scores, truth = np.array([3.0, 2.0, 1.0, -1.0]), np.array([0, 0, 0, 1])
    # At best all are called positive: F1 is 2/5.
    assert learn_threshold(scores, truth, "f1") == -2.0
    assert learn_threshold(scores, truth, "f1", least_f1=0.39) == -2.0
    assert learn_threshold(scores, truth, "f1", least_f1=0.41) == 3.0
    assert learn_threshold(scores, truth, "error", least_f1=0.41) == 4.0


@settings(max_examples=100, deadline=None)
@given(SCORES)
def test_no_cut_is_better(rows):
    scores, truth, weight = map(np.array, zip(*rows, strict=True))
    scores, weight = scores.astype(float), weight.astype(float)
    cuts = np.arange(-4.5, 4.5, 1.0)
    found = learn_threshold(scores, truth.astype(int), "error", sample_weight=weight)
    least = min(errors(scores, truth, weight, cut) for cut in cuts)
    assert errors(scores, truth, weight, found) == least
    found = learn_threshold(scores, truth.astype(int), "f1", sample_weight=weight)
    best = max(weighted_f1(scores, truth, weight, cut) for cut in cuts)
    assert weighted_f1(scores, truth, weight, found) == pytest.approx(best)
