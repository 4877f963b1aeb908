"""Promises by hand, at their edges, and the automatic rule against a generator's true risk."""

import json
from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from surefoot.abstention import (
    Promise,
    make_promise,
    offer_promises,
    threshold_for_risk,
)
from surefoot.abstention._promise import choose_promise, round_risks


def half_of_the_last(n_rows=1000, share=0.2):
    """Estimates 0, 1, 2, …; the last rows are wrong by turns."""
    ranks = np.arange(n_rows)
    return ranks / n_rows, ((ranks >= (1 - share) * n_rows) & (ranks % 2 == 0)).astype(float)


def test_a_promise_is_the_threshold_of_its_risk():
    estimates, wrong = half_of_the_last()
    promise = make_promise(estimates, wrong, 0.05, 0.9)
    threshold = threshold_for_risk(-estimates, wrong, 0.05, 0.9)
    assert 0 < threshold.n_answered < 1000
    assert promise == Promise(0.05, 0.9, -threshold.score, threshold.n_answered / 1000, 1000)
    assert promise.kept
    assert promise.accepted(estimates).sum() == threshold.n_answered


def test_groups_are_passed_on():
    estimates, wrong = half_of_the_last()
    groups = np.arange(1000) // 10
    promise = make_promise(estimates, wrong, 0.05, groups=groups)
    threshold = threshold_for_risk(-estimates, wrong, 0.05, groups=groups)
    assert promise.coverage == threshold.n_answered / 1000
    assert choose_promise(estimates, wrong, groups=groups) != choose_promise(estimates, wrong)
    offered = offer_promises(estimates, wrong, groups=groups, also=[0.05])
    assert promise in offered


def test_where_every_row_is_answered_so_is_one_with_a_larger_estimate():
    promise = make_promise(np.linspace(0, 0.2, 400), np.zeros(400), 0.05)
    assert (promise.limit, promise.coverage) == (0.2, 1)
    assert_array_equal(promise.accepted([0.1, 0.2, 0.9, np.nan]), [True, True, True, False])
    # One row less answered, and the limit is a limit.
    partly = Promise(0.05, 0.95, 0.2, 0.99, 400)
    assert_array_equal(partly.accepted([0.1, 0.2, 0.9, np.nan]), [True, True, False, False])


def test_where_nothing_can_be_promised_nothing_is_answered():
    promise = make_promise(np.linspace(0, 0.2, 20), np.zeros(20), 0.05)
    assert promise == Promise(0.05, 0.95, -np.inf, 0.0, 20)
    assert not promise.kept
    assert not promise.accepted([-1.0, 0.0, 0.1]).any()


def test_a_promise_is_plain_data_and_stays_as_it_is():
    promise = make_promise(np.linspace(0, 0.2, 400), np.zeros(400), 0.05)
    assert Promise(**json.loads(json.dumps(asdict(promise)))) == promise
    with pytest.raises(FrozenInstanceError):
        promise.limit = 1.0


def test_the_risk_that_is_chosen_is_the_round_one_nearest_to_half():
    estimates, wrong = half_of_the_last()  # 0.1 of all are wrong, and 0.05 is easily kept
    promise = choose_promise(estimates, wrong)
    assert promise == make_promise(estimates, wrong, 0.05)
    assert promise.kept


def test_testing_stops_at_the_first_risk_that_fails():
    # One of 400 is wrong: P(at most 1 of 400) is 0.0028 at 0.02 and 0.09 at 0.01; half of the mean is out of reach.
    wrong = np.zeros(400)
    wrong[200] = 1
    promise = choose_promise(np.zeros(400), wrong)
    assert (promise.max_risk, promise.coverage) == (0.02, 1)


@pytest.mark.parametrize(
    ("n_rows", "risk"), [(6, 0.4), (30, 0.1), (59, 0.05), (58, 0.075), (3000, 0.001)]
)
def test_a_model_without_an_error_gets_the_least_risk_that_so_many_rows_promise(n_rows, risk):
    # (1 − risk)^n is at most 0.05, and for the next one it is not.
    promise = choose_promise(np.zeros(n_rows), np.zeros(n_rows))
    assert (promise.max_risk, promise.coverage) == (risk, 1)


def test_a_single_row_and_a_model_that_is_always_wrong_promise_nothing():
    assert choose_promise([0.3], [0]) == Promise(0.5, 0.95, -np.inf, 0.0, 1)
    assert not choose_promise(np.arange(300) / 300, np.ones(300)).kept
    assert not choose_promise([0.3], [2.5]).kept


def test_sizes_of_errors_have_round_risks_of_any_unit():
    rng = np.random.default_rng(0)
    estimates = rng.uniform(0, 1, size=2000)
    losses = estimates * rng.exponential(size=2000)  # a mean of 0.5, the goal is 0.4
    assert choose_promise(estimates, losses).max_risk == 0.4
    thousands = choose_promise(estimates, 1000 * losses)
    assert thousands.max_risk == 400
    assert thousands.coverage == choose_promise(estimates, losses).coverage


@given(st.floats(1e-6, 1e6))
def test_round_risks_reach_from_an_eighth_of_the_mean_to_twice_the_mean(mean):
    risks = round_risks(np.array([0.5 * mean, 1.5 * mean]))
    assert risks == sorted(set(risks))
    assert risks[0] <= mean / 8
    assert risks[-2] < 2 * mean <= risks[-1]
    assert all(len(f"{risk:.6e}".split("e")[0].rstrip("0")) <= 3 for risk in risks)  # two digits


def test_what_is_offered_by_hand():
    estimates, wrong = half_of_the_last()  # a mean of 0.1
    offered = offer_promises(estimates, wrong)
    # From an eighth on below 0.1; at 0.1 not every row can be promised, at 0.15 it can.
    assert [promise.max_risk for promise in offered] == [0.02, 0.03, 0.05, 0.075, 0.15]
    assert [promise.coverage == 1 for promise in offered] == [False] * 4 + [True]
    assert offered == [make_promise(estimates, wrong, promise.max_risk) for promise in offered]


def test_the_chosen_risk_is_among_those_offered():
    estimates, wrong = half_of_the_last(100)
    chosen = choose_promise(estimates, wrong)
    offered = offer_promises(estimates, wrong, also=[chosen.max_risk])
    assert offered.count(chosen) == 1
    assert [promise.max_risk for promise in offered] == sorted({p.max_risk for p in offered})


def test_a_model_without_an_error_is_offered_one_promise_for_every_row():
    [offered] = offer_promises(np.zeros(100), np.zeros(100))
    assert (offered.max_risk, offered.coverage) == (0.03, 1)  # 0.97^100 is 0.048
    assert offer_promises([0.1], [0]) == []


@pytest.mark.parametrize("rule", [choose_promise, offer_promises])
@pytest.mark.parametrize(
    ("estimates", "losses", "sentence"),
    [
        ([], [], "There is no held-out row"),
        ([0.1, np.nan], [0, 1], "The estimated error of 1 of 2 held-out rows is no finite number"),
        ([np.inf, np.inf], [0, 1], "The estimated error of 2 of 2 held-out rows"),
        ([0.1, 0.2], [0, np.nan], "The error of 1 of 2 held-out rows is no number"),
        ([0.1, 0.2], [0, -1.5], "A loss is -1.5: losses must not be negative"),
    ],
)
def test_one_sentence_for_rows_that_cannot_be_used(rule, estimates, losses, sentence):
    with pytest.raises(ValueError, match=sentence):
        rule(estimates, losses)


def test_one_sentence_for_a_risk_or_confidence_that_is_none():
    with pytest.raises(ValueError, match="max_risk == 0, must be > 0"):
        make_promise([0.1], [0], 0)
    with pytest.raises(ValueError, match="confidence == 1, must be < 1"):
        make_promise([0.1], [0], 0.1, 1)


SHAPES = {
    "flat": lambda rank: np.full_like(rank, 0.101),
    "jump": lambda rank: np.where(rank < 0.7, 0.02, 0.4),
    "smooth": lambda rank: 0.3 * rank**2,
    "the wrong way round": lambda rank: 0.2 * (1 - rank),
}


@pytest.mark.parametrize("n_in_group", [1, 8])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_promise_of_a_chosen_risk_is_kept(shape, n_in_group):
    rng = np.random.default_rng(0)
    grid = (np.arange(10_000) + 0.5) / 10_000
    true_risk = np.cumsum(SHAPES[shape](grid)) / np.arange(1, 10_001)
    groups = np.repeat(np.arange(60), n_in_group) if n_in_group > 1 else None
    n_draws, broken = 150, 0
    for _ in range(n_draws):
        rank = rng.random(480)
        # Rows of one group share their luck: it is wrong as a whole where estimates are alike.
        luck = rng.random(480 // n_in_group).repeat(n_in_group)
        promise = choose_promise(rank, luck < SHAPES[shape](rank), groups=groups)
        reached = 1.0 if promise.coverage == 1 else max(promise.limit, 0.0)
        broken += promise.kept and true_risk[int(reached * 9_999)] > promise.max_risk
    assert broken <= n_draws * 0.05 + 3 * np.sqrt(n_draws * 0.05 * 0.95)
