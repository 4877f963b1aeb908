"""Thresholds and bounds: by hand, against sums of binomial terms and enumeration, and against a known truth."""

from itertools import product
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest, ttest_1samp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

from surefoot.abstention import AbstainingClassifier, Promise, threshold_for_risk
from surefoot.abstention._risk_control import (
    GroupedRows,
    bets,
    fallback_test,
    group_test,
    starting_points,
)

LEVEL = 0.05


def lower_tail(n_wrong, n_rows, risk):
    """Chance of at most so many errors, term by term."""
    return sum(comb(n_rows, i) * risk**i * (1 - risk) ** (n_rows - i) for i in range(n_wrong + 1))


def bounds(estimates, losses, coverages, confidence=0.95, groups=None):
    held_out = SimpleNamespace(error=estimates, losses=losses, groups=groups)
    return Promise.bounds(held_out, coverages, confidence)


def test_the_bound_is_where_so_few_errors_become_improbable():
    for n_wrong, n_rows in [(0, 59), (3, 100), (40, 50)]:
        [bound] = bounds(np.zeros(n_rows), np.arange(n_rows) < n_wrong, [1])
        assert_allclose(lower_tail(n_wrong, n_rows, bound), 0.05, rtol=1e-6)
    assert bounds(np.zeros(5), np.ones(5), [1]) == 1


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
        assert lower_tail(int(found.lost), found.n_answered, 0.2) <= 0.1 + 1e-9


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
@pytest.mark.parametrize("n_rows", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_promise_is_kept(error_at, n_rows):
    # 5 % may break it; with 400 draws more than 8.2 % would be three standard errors above.
    assert share_of_broken_promises(error_at, n_rows, 0.05) <= 0.082


@pytest.mark.parametrize("n_rows", [49, 50, 200])
def test_a_mean_error_is_tested_like_a_students_t(n_rows):
    errors = np.random.default_rng(0).uniform(size=n_rows)
    for risk in errors.mean() + np.linspace(0, 0.2, 41):
        found = threshold_for_risk(np.zeros(n_rows), errors, risk)
        is_kept = ttest_1samp(errors, risk, alternative="less").pvalue <= LEVEL
        assert found.n_answered == (n_rows if is_kept and n_rows >= 50 else 0)  # 49 are too few


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


def p_values_of(scores, losses, groups, max_risk, bound=1.0):
    scores, losses = np.asarray(scores, dtype=float), np.asarray(losses, dtype=float)
    return group_test(GroupedRows.of(scores, groups), losses, max_risk, LEVEL, bound)


def p_value_by_hand(answered, losses, groups, max_risk, bound):
    """Inverse of the mean of the products, or 1: a loop over bets, groups and rows."""
    labels = sorted(set(groups))
    most_rows = max(groups.count(label) for label in labels)
    products = []
    for bet in bets(len(labels), max_risk / bound, LEVEL):
        payoff = 1.0
        for label in labels:
            gains = [
                max_risk - loss
                for yes, loss, group in zip(answered, losses, groups, strict=True)
                if yes and group == label
            ]
            payoff *= 1 + bet * sum(gains) / (most_rows * (bound - max_risk))
        products.append(payoff)
    return min(1.0, 1 / np.mean(products))


ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.floats(0, 1), st.sampled_from("abcde")), min_size=1, max_size=40
)


@given(ROWS, st.floats(0.01, 0.9), st.booleans())
def test_every_threshold_as_by_hand(rows, max_risk, is_share):
    scores, sizes, groups = zip(*rows, strict=True)
    losses = np.array([float(size > 0.5) for size in sizes] if is_share else sizes) * 3
    found = p_values_of(scores, losses, groups, 3 * max_risk, bound=3.0)
    for p_value, least in zip(found, sorted(set(scores), reverse=True), strict=True):
        answered = [score >= least for score in scores]
        expected = p_value_by_hand(answered, losses.tolist(), groups, 3 * max_risk, 3.0)
        assert_allclose(p_value, expected, rtol=1e-9)


@given(ROWS)
def test_neither_order_nor_unit_matters(rows):
    scores, losses, groups = map(np.array, zip(*rows, strict=True))
    plain = p_values_of(scores, losses, groups, 0.3)
    back = slice(None, None, -1)
    assert_allclose(p_values_of(scores[back], losses[back], groups[back], 0.3), plain)
    assert_allclose(p_values_of(scores, losses * 1e4, groups, 0.3e4, bound=1e4), plain)


@given(ROWS, st.floats(0.01, 0.9), st.floats(0.001, 0.09))
def test_a_looser_limit_is_never_harder_to_reject(rows, max_risk, more):
    scores, losses, groups = zip(*rows, strict=True)
    strict, loose = (
        p_values_of(scores, losses, groups, risk) for risk in (max_risk, max_risk + more)
    )
    assert (loose <= strict * (1 + 1e-9)).all()


def test_so_many_groups_without_an_error_say_as_much_as_rows():
    groups = np.repeat(np.arange(30), 7)
    [p_value] = p_values_of(np.zeros(210), np.zeros(210), groups, 0.1)
    assert_allclose(p_value, 0.9**30, rtol=30 * 0.1 * (1 - bets(30, 0.1, LEVEL)[0]) * 1.2)
    # Ten groups are no evidence at all, where Student's test of the old kind saw certainty.
    [p_value] = p_values_of(np.zeros(70), np.zeros(70), groups[:70], 0.1)
    assert_allclose(p_value, 0.9**10, rtol=2e-3)


@pytest.mark.parametrize(
    ("max_risk", "sizes"),
    [(0.05, (3,) * 10), (0.3, (1, 1, 2, 2, 2, 5, 5, 5, 9, 9)), (0.5, (3,) * 10)],
)
def test_small_p_values_are_as_rare_as_they_say(max_risk, sizes):
    # Every outcome of ten groups that are wrong as a whole with a probability of just the limit.
    groups = np.repeat(np.arange(10), sizes)
    rows = GroupedRows.of(np.zeros(len(groups)), groups)
    p_values, chances = [], []
    for wrong in product([0.0, 1.0], repeat=10):
        [p_value] = group_test(rows, np.array(wrong)[groups], max_risk, LEVEL, 1.0)
        p_values.append(p_value)
        chances.append(max_risk ** sum(wrong) * (1 - max_risk) ** (10 - sum(wrong)))
    order = np.argsort(p_values)
    reached = np.array(p_values)[order]
    below = np.cumsum(np.array(chances)[order])
    last = np.append(np.diff(reached) > 0, True)
    assert (below[last] <= reached[last] + 1e-9).all()


def test_the_least_bet_is_the_last_that_can_win():
    # 20 groups at a limit of 0.1 cannot show any share but 0: one bet only.
    highest = bets(20, 0.1, LEVEL)[0]
    assert 0.99 < highest < 1
    assert_allclose(bets(20, 0.1, LEVEL), highest)
    least = bets(2000, 0.1, LEVEL)[-1] / highest
    assert_allclose(2000 * least**2 * 0.1 / 0.9 / 2, np.log(1 / LEVEL))


class Known(ClassifierMixin, BaseEstimator):
    """Predicts False for every row, and that its error is the only column."""

    classes_ = np.array([False, True])

    def predict(self, X):
        return np.zeros(len(X), dtype=bool)

    def predict_error(self, X):
        return np.asarray(X)[:, 0]


def abstaining(estimates, wrong, coverage, groups=None):
    """Classifier that answers a share of these rows."""
    model = AbstainingClassifier(FrozenEstimator(Known()), coverage=coverage)
    return model.fit(np.asarray(estimates)[:, None], np.asarray(wrong, dtype=bool), groups=groups)


@pytest.mark.parametrize(
    ("coverage", "threshold", "n_answered"),
    [(0.2, 0.9, 1), (0.3, 0.7, 2), (0.4, 0.7, 2), (0.6, 0.5, 4), (1.0, -np.inf, 5)],
)
def test_a_share_of_the_rows_is_answered(coverage, threshold, n_answered):
    found = abstaining([0.1, 0.5, 0.5, 0.3, 0.9], np.zeros(5), coverage)
    assert_allclose([found.threshold_, found.coverage_], [threshold, n_answered / 5])


def test_the_bound_is_the_risk_where_the_test_reaches_its_level():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 6)
    estimates, wrong = rng.random(300), rng.random(300) < 0.1
    found = abstaining(estimates, wrong, 0.6, groups)
    answered = np.argsort(np.argsort(estimates)) < 180
    by_hand = p_value_by_hand(
        answered.tolist(), wrong.astype(float).tolist(), groups.tolist(), found.risk_bound_, 1.0
    )
    assert_allclose(by_hand, LEVEL, rtol=1e-5)
    assert found.risk_ < abstaining(estimates, wrong, 0.6).risk_bound_ < found.risk_bound_
    assert abstaining(estimates, np.ones(300), 0.6, groups).risk_bound_ == 1


def draw_groups(rng, n_groups, sizes, loss_at, *, shared, one_rank=False):
    """Ranks, losses of 0 and 1, and groups whose rows share their luck with the given probability."""
    groups = np.repeat(np.arange(n_groups), np.resize(sizes, n_groups))
    ranks = rng.random(n_groups)[groups] if one_rank else rng.random(len(groups))
    own, common = rng.random(len(groups)), rng.random(n_groups)[groups]
    luck = np.where(rng.random(len(groups)) < shared, common, own)
    return ranks, luck < loss_at(ranks), groups


FLAT = lambda rank: np.full_like(rank, 0.301)  # noqa: E731
CASES = {  # sizes of the groups, expected loss by rank, how rows of a group are alike, and the limit
    "whole groups just above the limit": ([4], FLAT, {"shared": 1}, 0.3),
    "few wrong groups": ([4], lambda rank: np.full_like(rank, 0.051), {"shared": 1}, 0.05),
    "one rank a group": ([4], FLAT, {"shared": 1, "one_rank": True}, 0.3),
    "unequal sizes": ([1, 2, 3, 10], FLAT, {"shared": 1}, 0.3),
    "rows half alike, informative": ([4], lambda rank: 0.9 * rank**2, {"shared": 0.5}, 0.3),
    "the wrong way round": ([4], lambda rank: 0.61 * (1 - rank), {"shared": 1}, 0.3),
}


@pytest.mark.parametrize(
    "n_groups",
    [pytest.param(10, marks=pytest.mark.slow), 30, pytest.param(100, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("case", CASES)
def test_the_promise_by_groups_is_kept(case, n_groups):
    sizes, loss_at, alike, max_risk = CASES[case]
    rng = np.random.default_rng(0)
    ranks = (np.arange(10_000) + 0.5) / 10_000
    true_risk = np.cumsum(loss_at(ranks)) / np.arange(1, 10_001)
    n_draws, broken = 200, 0
    for _ in range(n_draws):
        rank, wrong, groups = draw_groups(rng, n_groups, sizes, loss_at, **alike)
        found = threshold_for_risk(-rank, wrong, max_risk, groups=groups)
        reached = min(1.0, -found.score)
        broken += found.n_answered > 0 and true_risk[int(reached * 9_999)] > max_risk
    assert broken <= n_draws * 0.05 + 3 * np.sqrt(n_draws * 0.05 * 0.95)


def test_a_hundred_groups_answer_where_there_is_little_to_fear():
    rng = np.random.default_rng(0)
    rank, wrong, groups = draw_groups(
        rng, 100, [4], lambda rank: np.where(rank < 0.6, 0.02, 0.8), shared=0.5
    )
    found = threshold_for_risk(-rank, wrong, 0.3, groups=groups)
    assert 0.6 < found.n_answered / len(rank) < 1


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=30, max_size=60))
def test_groups_of_one_row_are_rows(rows):
    scores, digits = np.array(rows).T
    wrong = digits > 4 + scores
    alone = threshold_for_risk(scores, wrong, 0.2, 0.9)
    assert threshold_for_risk(scores, wrong, 0.2, 0.9, groups=np.arange(len(rows))) == alone


def test_a_single_group_promises_nothing():
    found = threshold_for_risk(np.arange(500), np.zeros(500), 0.2, groups=np.zeros(500))
    assert found == (np.inf, 0, 0)


def test_testing_starts_where_groups_without_an_error_would_be_evidence():
    # 40 groups at 0.1: 0.9^40 is evidence at 0.05, 0.9^20 is none at 0.025. So testing starts at all rows, with the
    # whole level, and there one wrong group is too many: P(at most 1 of 40) is 0.08.
    groups = np.repeat(np.arange(40), 5)
    scores = -groups.astype(float)
    assert threshold_for_risk(scores, np.zeros(200), 0.1, groups=groups).n_answered == 200
    assert threshold_for_risk(scores, groups == 39, 0.1, groups=groups).n_answered == 0
    # 80 groups start at the half, and stay right until the last.
    groups = np.repeat(np.arange(80), 5)
    found = threshold_for_risk(-groups.astype(float), groups >= 60, 0.1, groups=groups)
    assert 300 <= found.n_answered < 320


def test_sizes_of_errors_are_bounded_by_the_largest_seen():
    # Every error is 0.2, and the bound 2 · 0.3: each of the groups pays at least 1 + 0.999 · 0.1 / 0.3.
    groups = np.repeat(np.arange(40), 3)
    for n_groups, n_answered in ((10, 0), (12, 36)):
        first = slice(0, 3 * n_groups)
        found = threshold_for_risk(
            np.zeros(120)[first], np.full(120, 0.2)[first], 0.3, groups=groups[first]
        )
        assert found.n_answered == n_answered


@pytest.fixture
def rows():
    """400 rows whose probability of a mistake is their estimated error."""
    draw = np.random.default_rng(0)
    estimates = draw.uniform(0, 0.5, size=400)
    return estimates, draw.uniform(size=400) < estimates


def test_mistakes_are_bounded_as_scipy_bounds_them(rows):
    estimates, wrong = rows
    ranked = wrong[np.argsort(estimates)]
    expected = [
        binomtest(int(ranked[:n].sum()), n, alternative="less").proportion_ci(0.9).high
        for n in (4, 100, 400)
    ]
    assert_allclose(bounds(estimates, wrong, [0.01, 0.25, 1], 0.9), expected)


def test_sizes_are_bounded_as_by_students_test(rows):
    sizes = np.abs(np.random.default_rng(1).normal(size=400)) * rows[0]
    ranked = sizes[np.argsort(rows[0])]
    expected = [
        ttest_1samp(ranked[:n], 0, alternative="less").confidence_interval(0.95).high
        for n in (50, 400)
    ]
    assert_allclose(bounds(rows[0], sizes, [0.125, 1]), expected)
    assert bounds(rows[0], sizes, [49 / 400])[0] == np.inf


def test_a_promise_is_not_above_its_bound_by_more_than_a_step(rows):
    estimates, wrong = rows
    groups = np.arange(400) // 4
    for grouped, step in ((None, 1e-9), (groups, 100 ** (1 / 59) - 1)):
        promise = Promise.from_losses(estimates, wrong, 0.25, groups=grouped)
        assert promise.kept
        [bound] = bounds(estimates, wrong, [promise.coverage], groups=grouped)
        assert bound <= 0.25 * (1 + step)


def test_part_of_a_run_of_equal_estimates_has_the_higher_bound_of_its_ends():
    estimates, wrong = np.repeat([0.1, 0.2, 0.3], 20), np.repeat([1, 0, 0], 20)
    none, first, second, third = bounds(estimates, wrong, [0.1, 1 / 3, 2 / 3, 1])
    assert none == first == 1
    within = bounds(estimates, wrong, [0.5, 0.9])
    assert_array_equal(within, [first, second])
    assert third < second


def test_groups_that_are_wrong_as_a_whole_are_bounded_in_nearly_every_draw():
    """A fifth of 60 groups of five rows are wrong: the bound is below 0.2 in at most 1 of 20 draws."""
    draw, groups = np.random.default_rng(2), np.repeat(np.arange(60), 5)
    estimates = np.zeros(300)
    found = [
        bounds(estimates, (draw.uniform(size=60) < 0.2)[groups], [1], groups=groups)[0]
        for _ in range(40)
    ]
    assert np.mean(np.array(found) < 0.2) <= 0.12  # 5 % and two standard errors
    assert np.median(found) < 0.45


@pytest.mark.parametrize("coverage", [0, 1.1, np.nan])
def test_a_coverage_is_above_0_and_at_most_1(rows, coverage):
    with pytest.raises(ValueError, match="coverages must be above 0"):
        bounds(*rows, [coverage])
