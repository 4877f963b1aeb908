"""Thresholds and bounds: by hand, against sums of binomial terms and enumeration, and against a known truth."""

from itertools import product
from math import comb

import numpy as np
import pytest
from held_out_rows import held_out
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

from surefoot.abstention import AbstainingClassifier, Promise, threshold_for_risk

LEVEL = 0.05


def lower_tail(n_wrong, n_rows, risk):
    """Chance of at most so many errors, term by term."""
    return sum(comb(n_rows, i) * risk**i * (1 - risk) ** (n_rows - i) for i in range(n_wrong + 1))


def bounds(estimates, losses, coverages, confidence=0.95, groups=None):
    return Promise.bounds(held_out(estimates, losses, groups), coverages, confidence)


def test_the_bound_is_where_so_few_errors_become_improbable():
    for n_wrong, n_rows in [(0, 59), (3, 100), (40, 50)]:
        [bound] = bounds(np.zeros(n_rows), np.arange(n_rows) < n_wrong, [1])
        assert_allclose(lower_tail(n_wrong, n_rows, bound), 0.05, rtol=1e-6)
    assert bounds(np.zeros(5), np.ones(5), [1]) == 1


def test_the_threshold_by_hand():
    # 150 rows that are right, then errors only. One start at 100 and one at 200, each with 0.025.
    scores, wrong = np.arange(200, 0, -1), np.arange(200) >= 150
    passing = [k for k in range(100, 200) if lower_tail(max(0, k - 150), k, 0.05) <= 0.025]
    assert passing == list(range(100, 153))
    found = threshold_for_risk(scores, wrong, max_risk=0.05)
    assert found == (49.0, 152, 2)


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


@pytest.mark.parametrize("n_rows", [20, 100])
def test_a_capped_mean_error_is_tested_by_betting(n_rows):
    errors = np.random.default_rng(0).exponential(size=n_rows)
    capped = np.minimum(errors, 2.5).tolist()
    rows = list(range(n_rows))
    for risk in np.linspace(0.8, 1.6, 9):
        found = threshold_for_risk(np.zeros(n_rows), errors, risk, cap=2.5)
        is_kept = p_value_by_hand([True] * n_rows, capped, rows, risk, 2.5) <= LEVEL
        assert found.n_answered == (n_rows if is_kept else 0)


@pytest.mark.parametrize("sigma", [1.0, 2.5])
def test_heavy_tails_break_no_promise(sigma):
    # Lognormal losses: the mean of 20,000 fresh ones, capped as the promise says, is above the limit in few draws.
    draw, broken = np.random.default_rng(0), 0
    for _ in range(200):
        sizes = np.exp(draw.normal(0, 0.7, 300))
        promise = Promise.from_losses(sizes, sizes * np.exp(draw.normal(0, sigma, 300)))
        fresh = np.exp(draw.normal(0, 0.7, 20_000))
        fresh = fresh[promise.accepted(fresh)]
        losses = np.minimum(fresh * np.exp(draw.normal(0, sigma, len(fresh))), promise.cap)
        broken += promise.kept and losses.mean() > promise.max_risk
    assert broken <= 200 * LEVEL


def test_a_promised_mean_error_is_kept_as_often_as_promised():
    draw = np.random.default_rng(0)
    broken = 0
    for _ in range(400):
        scores = draw.uniform(size=400)
        errors = (1.2 - scores) * draw.exponential(size=400)  # the true mean above s is 0.7 − s / 2
        found = threshold_for_risk(scores, errors, 0.45, 0.9)
        broken += found.n_answered > 0 and 0.7 - max(found.score, 0) / 2 > 0.45
    assert broken <= 400 * 0.1 + 3 * np.sqrt(400 * 0.09)


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


def p_value_by_hand(answered, losses, groups, max_risk, bound):
    """Inverse of the mean of the products, or 1: a loop over bets, groups and rows."""
    labels = sorted(set(groups))
    most_rows = max(groups.count(label) for label in labels)
    products = []
    share = max_risk / bound
    least = np.sqrt(2 * np.log(1 / LEVEL) * (1 - share) / (share * len(labels)))
    for bet in 0.999 * np.geomspace(1, min(1, least), 5):
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


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(("risk", "sizes"), [(0.3, (1, 2, 2, 5, 9, 9)), (0.5, (3,) * 6)])
def test_a_bound_by_groups_is_too_low_as_seldom_as_promised(risk, sizes, confidence):
    # Every outcome of six groups that are wrong as a whole, each with the same probability.
    groups = np.repeat(np.arange(6), sizes)
    broken = 0.0
    for wrong in product([0.0, 1.0], repeat=6):
        [bound] = bounds(np.zeros(len(groups)), np.array(wrong)[groups], [1], confidence, groups)
        broken += (bound < risk) * risk ** sum(wrong) * (1 - risk) ** (6 - sum(wrong))
    assert broken <= 1 - confidence + 1e-9


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


def test_sizes_are_bounded_where_betting_rejects(rows):
    sizes = np.abs(np.random.default_rng(1).normal(size=400)) * rows[0]
    cap = 0.8  # round, at least twice the mean, and above all but one in fifty
    assert 0.6 < np.quantile(sizes, 0.98) <= cap
    order = np.argsort(rows[0])
    for coverage in (0.125, 1):
        [bound] = bounds(rows[0], sizes, [coverage])
        answered = np.zeros(400, dtype=bool)
        answered[order[: int(400 * coverage)]] = True
        step = (400 * (1 - 1e-9)) ** (1 / 59)  # sixty risks from the cap down to a 400th of it
        p_values = [
            p_value_by_hand(answered, np.minimum(sizes, cap), list(range(400)), risk, cap)
            for risk in (bound, bound / step)
        ]
        assert p_values[0] <= LEVEL < p_values[1]


def test_part_of_a_run_of_equal_estimates_has_the_higher_bound_of_its_ends():
    estimates, wrong = np.repeat([0.1, 0.2, 0.3], 20), np.repeat([1, 0, 0], 20)
    none, first, second, third = bounds(estimates, wrong, [0.1, 1 / 3, 2 / 3, 1])
    assert none == first == 1
    within = bounds(estimates, wrong, [0.5, 0.9])
    assert_array_equal(within, [first, second])
    assert third < second


@pytest.mark.parametrize("coverage", [0, 1.1, np.nan])
def test_a_coverage_is_above_0_and_at_most_1(rows, coverage):
    with pytest.raises(ValueError, match="coverages must be above 0"):
        bounds(*rows, [coverage])


def test_a_cost_that_no_row_had_still_bounds_the_risk():
    # Mistakes cost 1 or 10, and all that were made cost 1: the other rate may still be that of none in 200 rows.
    classes = np.array([0, 1])
    costs = np.array([[0.0, 1.0], [10.0, 0.0]])
    fields = {"classes": classes, "costs": costs}
    estimates, losses = np.linspace(0, 1, 200), np.repeat([0.0, 1.0], [180, 20])
    [bound] = Promise.bounds(held_out(estimates, losses, **fields), [1])
    [of_shares] = bounds(estimates, losses, [1])
    assert of_shares == pytest.approx(0.142, abs=5e-3)  # Clopper and Pearson
    unseen, hoeffding = 10 * (1 - 0.05 ** (1 / 200)), 0.1 + 10 * np.sqrt(np.log(20) / (2 * 200))
    assert max(of_shares, unseen) < bound <= hoeffding


def test_a_single_group_is_one_observation():
    # By Markov's inequality one observation of no loss excludes, with 90 % confidence, no mean loss below 0.9.
    groups = np.zeros(100, dtype=int)
    of_one = bounds(np.linspace(0, 1, 100), np.zeros(100), [0.5, 1], 0.9, groups)
    assert (of_one >= 0.9).all()
    assert (of_one <= 1).all()
    assert_array_equal(bounds(np.linspace(0, 1, 100), np.ones(100), [1], 0.9, groups), 1)
