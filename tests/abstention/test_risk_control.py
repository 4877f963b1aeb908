"""Thresholds against hand-made rows, against sums of binomial terms, and against a generator's true risk."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ttest_1samp

from surefoot.abstention import threshold_for_risk
from surefoot.abstention._risk_bound import upper_bound
from surefoot.abstention._risk_control import (
    every_threshold,
    fallback_test,
    starting_points,
    student_test,
    threshold_for_coverage,
)


def lower_tail(n_wrong, n_rows, risk):
    """Chance of at most so many errors, term by term."""
    return sum(comb(n_rows, i) * risk**i * (1 - risk) ** (n_rows - i) for i in range(n_wrong + 1))


def test_rows_with_equal_scores_are_answered_together():
    found = every_threshold([0.9, 0.5, 0.5, 0.7, 0.1], [0, 1, 0, 0, 1])
    assert_array_equal(found.scores, [0.9, 0.7, 0.5, -np.inf])
    assert_array_equal(found.n_answered, [1, 2, 4, 5])
    assert_array_equal(found.lost, [0, 0, 1, 2])


@pytest.mark.parametrize(
    ("coverage", "threshold", "n_answered"),
    [(0.2, 0.9, 1), (0.3, 0.7, 2), (0.4, 0.7, 2), (0.6, 0.5, 4), (1.0, -np.inf, 5)],
)
def test_a_share_of_the_rows_is_answered(coverage, threshold, n_answered):
    found = threshold_for_coverage([0.9, 0.5, 0.5, 0.7, 0.1], np.zeros(5), coverage)
    assert (found.score, found.n_answered) == (threshold, n_answered)


def test_the_bound_is_where_so_few_errors_become_improbable():
    for n_wrong, n_rows in [(0, 59), (3, 100), (40, 50)]:
        bound = upper_bound(n_wrong, n_rows, 0.95)
        assert_allclose(lower_tail(n_wrong, n_rows, bound), 0.05, rtol=1e-6)
    assert upper_bound(5, 5, 0.95) == 1
    assert_allclose(upper_bound(0, 59, 0.95), 1 - 0.05 ** (1 / 59))


def test_testing_starts_anew_at_halves_that_could_be_evidence():
    # 0.95^k must be at most 0.05 over the number of starts: 100 rows of 200 are enough for two, 50 are not.
    starts, level = starting_points(200, lambda n: 0.95**n, 0.05)
    assert_array_equal(starts, [100, 200])
    assert level == 0.025
    starts, level = starting_points(1001, lambda n: 0.9**n, 0.1)
    assert_array_equal(starts, [63, 126, 251, 501, 1001])
    assert_allclose(level, 0.02)
    starts, level = starting_points(5, lambda n: 0.99**n, 0.05)
    assert_array_equal(starts, [5])
    starts, level = starting_points(1, lambda n: 0.0, 0.05)
    assert_array_equal(starts, [1])


def test_the_fallback_procedure_by_hand():
    gained = np.array([0.0, 0.02, 0.0, 0.0, 0.03])
    # No level before the second; it is handed on; lost at the fourth; the fifth has its own only.
    p_values = np.array([0.0, 0.01, 0.02, 0.021, 0.04])
    assert_array_equal(fallback_test(p_values, gained), [False, True, True, False, False])
    p_values = np.array([0.5, 0.01, 0.02, 0.02, 0.05])
    assert_array_equal(fallback_test(p_values, gained), [False, True, True, True, True])


def test_the_threshold_by_hand():
    # 150 rows that are right, then errors only. One start at 100 and one at 200, each with 0.025.
    scores, wrong = np.arange(200, 0, -1), np.arange(200) >= 150
    passing = [k for k in range(100, 200) if lower_tail(max(0, k - 150), k, 0.05) <= 0.025]
    assert passing == list(range(100, 153))
    found = threshold_for_risk(scores, wrong, max_risk=0.05)
    assert found == (49.0, 152, 2)


def test_all_rows_are_answered_whatever_their_score_if_all_may_be():
    found = threshold_for_risk(np.arange(300), np.zeros(300), max_risk=0.05)
    assert found == (-np.inf, 300, 0)


def test_nothing_is_answered_without_evidence():
    found = threshold_for_risk(np.arange(50), np.zeros(50), max_risk=0.05)
    assert found == (np.inf, 0, 0)
    everything_wrong = threshold_for_risk(np.arange(500), np.ones(500), max_risk=0.5)
    assert everything_wrong == (np.inf, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=80))
def test_a_pointwise_bound_agrees_wherever_rows_are_answered(rows):
    scores, digits = np.array(rows).T
    wrong = digits > 4 + scores
    found = threshold_for_risk(scores, wrong, max_risk=0.2, confidence=0.9)
    assert found.n_answered == (scores >= found.score).sum()
    assert found.lost == wrong[scores >= found.score].sum()
    if found.n_answered:
        assert upper_bound(int(found.lost), found.n_answered, 0.9) <= 0.2 + 1e-9


def share_of_broken_promises(error_at, n_rows, max_risk, n_draws=400, seed=0):
    """How often the true risk of the answered rows is above the limit; `error_at` maps a rank in [0, 1]."""
    rng = np.random.default_rng(seed)
    grid = (np.arange(100_000) + 0.5) / 100_000
    true_risk = np.cumsum(error_at(grid)) / np.arange(1, 100_001)
    broken = 0
    for _ in range(n_draws):
        rank = rng.random(n_rows)
        wrong = rng.random(n_rows) < error_at(rank)
        found = threshold_for_risk(-rank, wrong, max_risk)
        answered = min(1.0, -found.score)  # the share of all rows that this threshold answers
        broken += found.n_answered > 0 and true_risk[int(answered * 99_999)] > max_risk
    return broken / n_draws


@pytest.mark.parametrize(
    "error_at",
    [
        lambda rank: np.full_like(rank, 0.0501),  # uninformative, just above the limit
        lambda rank: np.where(rank < 0.4, 0.045, 0.06),
        lambda rank: np.where(rank < 0.7, 0.005, 0.4),
        lambda rank: 0.3 * rank**2,
        lambda rank: np.where((rank > 0.2) & (rank < 0.3), 0.25, 0.03),
    ],
    ids=["flat", "nearly flat", "jump", "smooth", "hump"],
)
@pytest.mark.parametrize("n_rows", [150, 1000])
def test_the_promise_is_kept(error_at, n_rows):
    # 5 % may break it; with 400 draws more than 8.2 % would be three standard errors above.
    assert share_of_broken_promises(error_at, n_rows, 0.05) <= 0.082


def test_a_mean_error_is_tested_like_a_students_t():
    draw = np.random.default_rng(0)
    scores, errors = np.arange(200.0), draw.uniform(size=200)
    found = student_test(every_threshold(scores, errors), 0.6)
    assert (found[:49] == 1).all()  # too few rows to tell
    for n_answered in (50, 120, 200):
        expected = ttest_1samp(errors[-n_answered:], 0.6, alternative="less").pvalue
        assert_allclose(found[n_answered - 1], expected)


def test_a_promised_mean_error_is_kept_as_often_as_promised():
    draw = np.random.default_rng(0)
    broken = 0
    for _ in range(400):
        scores = draw.uniform(size=400)
        errors = (1.2 - scores) * draw.exponential(size=400)  # the true mean above s is 0.7 − s / 2
        found = threshold_for_risk(scores, errors, 0.45, 0.9)
        broken += found.n_answered > 0 and 0.7 - max(found.score, 0) / 2 > 0.45
    assert broken <= 400 * 0.1 + 3 * np.sqrt(400 * 0.09)


def test_errors_without_spread_are_below_the_limit_or_not():
    scores = np.arange(100.0)
    assert threshold_for_risk(scores, np.full(100, 0.2), 0.3).n_answered == 100
    assert threshold_for_risk(scores, np.full(100, 0.4), 0.3).n_answered == 0


@pytest.mark.parametrize(
    ("scores", "errors", "groups", "sentence"),
    [
        ([], [], None, "There is no held-out row"),
        ([0.1, np.nan, 0.3], [0, 0, 1], None, "The score of 1 of 3 held-out rows is no number"),
        ([0.1, 0.2, 0.3], [0, np.nan, np.inf], None, "The error of 2 of 3 held-out rows"),
        ([0.1, 0.2], [0, 0, 1], None, "inconsistent numbers of samples"),
        ([0.1, 0.2], [0, 0], ["a"], "inconsistent numbers of samples"),
    ],
)
def test_one_sentence_for_rows_that_cannot_be_tested(scores, errors, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        threshold_for_risk(scores, errors, 0.1, groups=groups)
