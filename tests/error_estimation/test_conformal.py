"""Sets and intervals: by brute force, by counting orders, and by simulation of what they promise."""

from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.error_estimation._conformal import cv_plus_intervals, cv_plus_sets

CONFIDENCES = st.sampled_from([0.1, 0.5, 0.75, 0.8, 0.9, 0.95])


def sets_by_definition(new, known, confidence):
    """A class is out where as many held-out rows are less strange as (1 − α)(n + 1) says."""
    n_rows = sum(len(k) for k in known)
    found = np.zeros(new[0].shape, dtype=bool)
    for i, c in np.ndindex(found.shape):
        less = sum(int(s < new[k][i, c]) for k in range(len(new)) for s in known[k])
        found[i, c] = less < confidence * (n_rows + 1) - 1e-9
    return found


def problem(seed, n_folds, *, whole):
    rng = np.random.default_rng(seed)
    draw = (lambda *s: rng.integers(0, 6, s) * 1.0) if whole else (lambda *s: rng.normal(size=s))
    known = [draw(rng.integers(1, 9)) for _ in range(n_folds)]
    return [draw(4, 3) for _ in range(n_folds)], known


@given(st.integers(0, 10_000), st.integers(1, 5), CONFIDENCES, st.booleans())
@settings(max_examples=100, deadline=None)
def test_sets_are_those_of_the_definition(seed, n_folds, confidence, whole):
    new, known = problem(seed, n_folds, whole=whole)
    found = cv_plus_sets(new, known, confidence)
    assert_array_equal(found, sets_by_definition(new, known, confidence))


@pytest.mark.parametrize("n_rows", [1, 3, 9, 10, 19, 50])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_the_coverage_of_a_split_is_exact(n_rows, confidence):
    # Of n + 1 exchangeable rows without ties each is the new one as often as any other.
    everyone = np.arange(n_rows + 1.0)
    held = [
        cv_plus_sets([np.array([[new]])], [np.delete(everyone, i)], confidence)[0, 0]
        for i, new in enumerate(everyone)
    ]
    least = ceil(confidence * (n_rows + 1) - 1e-9) / (n_rows + 1)
    assert np.mean(held) == pytest.approx(least)


def test_too_few_rows_rule_nothing_out():
    assert cv_plus_sets([np.array([[9.0, -9.0]])], [np.zeros(8)], 0.9).all()
    intervals = cv_plus_intervals([(np.zeros(2), np.ones(2))], [np.ones(8)], 0.9)
    assert_array_equal(intervals, [[-np.inf, np.inf]] * 2)


def test_one_fit_is_split_conformal_prediction():
    scores = np.random.default_rng(0).exponential(size=99)
    found = cv_plus_intervals([(np.array([5.0]), np.array([2.0]))], [scores], 0.9)
    reach = 2 * np.sort(scores)[ceil(0.9 * 100) - 1]
    assert_allclose(found, [[5 - reach, 5 + reach]])


@given(st.integers(0, 10_000), st.integers(1, 5), CONFIDENCES)
@settings(max_examples=60, deadline=None)
def test_intervals_are_those_of_the_definition(seed, n_folds, confidence):
    rng = np.random.default_rng(seed)
    known = [rng.exponential(size=rng.integers(1, 9)) for _ in range(n_folds)]
    centers, scales = rng.normal(size=(n_folds, 3)), rng.exponential(size=(n_folds, 3))
    found = cv_plus_intervals(list(zip(centers, scales, strict=True)), known, confidence)
    n_rows = sum(len(k) for k in known)
    for i in range(3):
        ends = [(c[i], s[i] * e) for c, s, k in zip(centers, scales, known, strict=True) for e in k]
        lower, upper = sorted(c - r for c, r in ends), sorted(c + r for c, r in ends)
        last = ceil(confidence * (n_rows + 1) - 1e-9)  # place of the upper end, if there is one
        told = [lower[n_rows - last], upper[last - 1]] if last <= n_rows else [-np.inf, np.inf]
        assert_allclose(found[i], told)


def test_intervals_and_sets_of_a_split_promise_the_same():
    rng = np.random.default_rng(0)
    for n_rows in range(1, 40):
        scores, new = rng.exponential(size=n_rows), rng.exponential(size=50)
        inside = cv_plus_sets([new[:, None]], [scores], 0.8)[:, 0]
        reach = cv_plus_intervals([(np.zeros(50), np.ones(50))], [scores], 0.8)[:, 1]
        assert_array_equal(inside, new <= reach)
