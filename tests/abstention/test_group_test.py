"""The test of groups against a twin that multiplies group by group, against enumeration, and in simulations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.abstention import threshold_for_risk
from surefoot.abstention._group_test import (
    HIGHEST_BET,
    GroupedRows,
    bets,
    group_bound,
    group_test,
)
from surefoot.abstention._risk_bound import upper_bound
from surefoot.abstention._risk_control import Threshold

LEVEL = 0.05


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
    assert_allclose(p_value, 0.9**30, rtol=30 * 0.1 * (1 - HIGHEST_BET) * 1.2)
    # Ten groups are no evidence at all, where Student's test of the old kind saw certainty.
    [p_value] = p_values_of(np.zeros(70), np.zeros(70), groups[:70], 0.1)
    assert_allclose(p_value, 0.9**10, rtol=2e-3)


@pytest.mark.parametrize("max_risk", [0.05, 0.2, 0.3, 0.5])
@pytest.mark.parametrize("sizes", [(3,) * 10, (1, 1, 2, 2, 2, 5, 5, 5, 9, 9)])
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
    assert_allclose(bets(20, 0.1, LEVEL), HIGHEST_BET)
    least = bets(2000, 0.1, LEVEL)[-1] / HIGHEST_BET
    assert_allclose(2000 * least**2 * 0.1 / 0.9 / 2, np.log(1 / LEVEL))


def test_the_bound_is_the_risk_where_the_test_reaches_its_level():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 6)
    scores, wrong = rng.random(300), (rng.random(300) < 0.1).astype(float)
    bound = group_bound(scores, wrong, groups, 0.4, 0.95)
    answered = (scores >= 0.4).tolist()
    by_hand = p_value_by_hand(answered, wrong.tolist(), groups.tolist(), bound, 1.0)
    assert_allclose(by_hand, LEVEL, rtol=1e-5)
    n_answered, n_wrong = sum(answered), int(wrong[scores >= 0.4].sum())
    assert n_wrong / n_answered < upper_bound(n_wrong, n_answered, 0.95) < bound
    assert group_bound(scores, np.ones(300), groups, 0.4, 0.95) == 1


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


@pytest.mark.parametrize("n_groups", [10, 30, 100])
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
    assert found == Threshold(np.inf, 0, 0.0)


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
