"""Promises by hand, at their edges, of classes and costs, and against a generator's true risk."""

from dataclasses import replace

import numpy as np
import pytest
from held_out_rows import held_out
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from surefoot.abstention import AbstainingClassifier, Promise, threshold_for_risk
from surefoot.error_estimation import IndividualErrorClassifier


def offer(estimates, losses, groups=None):
    """Promises offered for these rows."""
    return Promise.offer(held_out(estimates, losses, groups))


def half_of_the_last(n_rows=1000, share=0.2):
    """Estimates 0, 1, 2, …; the last rows are wrong by turns."""
    ranks = np.arange(n_rows)
    return ranks / n_rows, ((ranks >= (1 - share) * n_rows) & (ranks % 2 == 0)).astype(float)


def test_a_promise_is_the_threshold_of_its_risk():
    estimates, wrong = half_of_the_last()
    promise = Promise.from_losses(estimates, wrong, 0.05, 0.9)
    threshold = threshold_for_risk(-estimates, wrong, 0.05, 0.9)
    assert 0 < threshold.n_answered < 1000
    assert promise == Promise(0.05, 0.9, -threshold.score, threshold.n_answered / 1000, 1000)
    assert promise.kept
    assert promise.accepted(estimates).sum() == threshold.n_answered


def test_groups_are_passed_on():
    estimates, wrong = half_of_the_last()
    groups = np.arange(1000) // 10
    promise = Promise.from_losses(estimates, wrong, 0.05, groups=groups)
    threshold = threshold_for_risk(-estimates, wrong, 0.05, groups=groups)
    assert promise.coverage == threshold.n_answered / 1000
    chosen = Promise.from_losses(estimates, wrong, groups=groups)
    assert chosen != Promise.from_losses(estimates, wrong)
    assert promise in offer(estimates, wrong, groups=groups)


def test_no_row_with_a_larger_estimate_than_every_held_out_row_is_answered():
    promise = Promise.from_losses(np.linspace(0, 0.2, 400), np.zeros(400), 0.05)
    assert (promise.threshold, promise.coverage) == (0.2, 1)
    assert_array_equal(promise.accepted([0.1, 0.2, 0.9, np.nan]), [True, True, False, False])


def test_copies_count_once_and_novel_rows_not_at_all():
    # 60 rows without a mistake promise 0.05; the same 30 rows twice, or with 30 that are novel, do not.
    def kept(**fields):
        rows = held_out(np.arange(60) / 100, np.zeros(60), classes=np.arange(2), **fields)
        return Promise.from_held_out(rows, 0.05).kept

    odd = np.arange(60) % 2 == 1
    assert kept()
    assert not kept(distinct=odd, groups=np.arange(60) // 2)
    assert not kept(novel=odd)


def test_novel_rows_and_training_rows_are_never_accepted():
    rows = held_out(np.full(4, 0.1), np.zeros(4), novel=np.array([False, True, False, False]))
    rows = replace(
        rows, known=np.array([False, False, True, False]), error=np.r_[0.1, 0.1, 0.1, 0.3]
    )
    assert_array_equal(
        Promise(0.1, 0.95, 0.2, 1, 4).apply(rows).accepted, [True, False, False, False]
    )


def test_a_model_that_has_seen_the_rows_promises_nothing():
    rows = held_out(np.zeros(400), np.zeros(400), classes=np.arange(2), seen=True)
    promise = Promise.from_held_out(rows)
    assert not promise.kept
    assert "has probably learned from them" in promise.reason


def test_where_nothing_can_be_promised_nothing_is_answered():
    promise = Promise.from_losses(np.linspace(0, 0.2, 20), np.zeros(20), 0.05)
    assert promise == Promise(0.05, 0.95, -np.inf, 0.0, 20)
    assert not promise.kept
    assert not promise.accepted([-1.0, 0.0, 0.1]).any()


def test_the_risk_that_is_chosen_is_nearest_to_half_or_the_last_before_one_fails():
    estimates, wrong = half_of_the_last()  # 0.1 of all are wrong, and 0.05 is easily kept
    promise = Promise.from_losses(estimates, wrong)
    assert promise == Promise.from_losses(estimates, wrong, 0.05)
    assert promise.kept
    # One of 400 is wrong: P(at most 1 of 400) is 0.0028 at 0.02 and 0.09 at 0.01; half of the mean is out of reach.
    wrong = np.zeros(400)
    wrong[200] = 1
    promise = Promise.from_losses(np.zeros(400), wrong)
    assert (promise.max_risk, promise.coverage) == (0.02, 1)


@pytest.mark.parametrize(
    ("n_rows", "risk"), [(6, 0.4), (30, 0.1), (59, 0.05), (58, 0.075), (3000, 0.001)]
)
def test_a_model_without_an_error_gets_the_least_risk_that_so_many_rows_promise(n_rows, risk):
    # (1 − risk)^n is at most 0.05, and for the next one it is not.
    promise = Promise.from_losses(np.zeros(n_rows), np.zeros(n_rows))
    assert (promise.max_risk, promise.coverage) == (risk, 1)


def test_a_single_row_and_a_model_that_is_always_wrong_promise_nothing():
    assert Promise.from_losses([0.3], [0]) == Promise(0.5, 0.95, -np.inf, 0.0, 1)
    assert not Promise.from_losses(np.arange(300) / 300, np.ones(300)).kept
    assert not Promise.from_losses([0.3], [2.5]).kept


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-6, 1e6))
def test_round_risks_reach_from_an_eighth_of_the_mean_to_twice_the_mean(mean):
    """They have two digits, and each is at most a third above the one before it."""
    losses, third = np.array([0.5, 1.5]) * mean, 4 / 3 + 1e-9
    offered = [promise.max_risk for promise in offer(np.zeros(2), losses)]
    assert mean / 8 <= offered[0] <= third * mean / 8
    assert (np.divide([*offered[1:], mean], offered) <= third).all()
    highest = Promise.from_losses(np.zeros(2), losses)  # tested first, and too much for two rows
    assert not highest.kept
    assert mean / third <= highest.max_risk <= mean
    chosen = Promise.from_losses(np.arange(400.0), np.repeat(losses, 200))
    assert chosen.kept
    assert 0.8 * mean / third <= chosen.max_risk <= highest.max_risk
    for risk in (*offered, highest.max_risk, chosen.max_risk):
        assert len(f"{risk:.6e}".split("e")[0].rstrip("0")) <= 3


def test_what_is_offered_by_hand():
    estimates, wrong = half_of_the_last()  # a mean of 0.1
    offered = offer(estimates, wrong)
    # From an eighth on below 0.1; at 0.1 not every row can be promised, at 0.15 it can.
    assert [promise.max_risk for promise in offered] == [0.02, 0.03, 0.05, 0.075, 0.15]
    assert [promise.coverage == 1 for promise in offered] == [False] * 4 + [True]
    assert offered == [
        Promise.from_losses(estimates, wrong, promise.max_risk) for promise in offered
    ]


@pytest.mark.parametrize("rule", [Promise.from_losses, offer])
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
        Promise.from_losses([0.1], [0], 0)
    with pytest.raises(ValueError, match="confidence == 1, must be < 1"):
        Promise.from_losses([0.1], [0], 0.1, 1)
    with pytest.raises(ValueError, match="max_risk == 5, must be < 1"):
        Promise.from_losses([0.1, 0.2], [False, True], 5)


SHAPES = {
    "flat": lambda rank: np.full_like(rank, 0.101),
    "jump": lambda rank: np.where(rank < 0.7, 0.02, 0.4),
    "smooth": lambda rank: 0.3 * rank**2,
    "the wrong way round": lambda rank: 0.2 * (1 - rank),
}


@pytest.mark.parametrize("n_in_group", [1, pytest.param(8, marks=pytest.mark.slow)])
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
        promise = Promise.from_losses(rank, luck < SHAPES[shape](rank), groups=groups)
        reached = 1.0 if promise.coverage == 1 else max(promise.threshold, 0.0)
        broken += promise.kept and true_risk[int(reached * 9_999)] > promise.max_risk
    assert broken <= n_draws * 0.05 + 3 * np.sqrt(n_draws * 0.05 * 0.95)


def two_classes(n_rows=1000, n_rare=200):
    """Ranks as estimates; the class "no" is always right, "yes" is wrong where the estimate is above a half."""
    estimates = (np.arange(n_rows) + 0.5) / n_rows
    labels = np.where(np.arange(n_rows) % (n_rows // n_rare) == 0, "yes", "no")
    return estimates, (labels == "yes") & (estimates > 0.5), labels


def test_a_class_is_tested_on_its_own_rows():
    estimates, wrong, labels = two_classes()
    promise = Promise.from_losses(estimates, wrong, {"yes": 0.1}, labels=labels)
    rare = labels == "yes"
    alone = threshold_for_risk(-estimates[rare], wrong[rare], 0.1)
    assert promise.accepted(estimates[rare]).sum() == alone.n_answered > 0
    # Between the last row of the class that is answered and the next one, rows of other classes are answered, too.
    next_rare = estimates[rare][alone.n_answered]
    assert promise.threshold == estimates[estimates < next_rare].max() > -alone.score
    assert (promise.max_risk, promise.class_risks) == (None, {"yes": 0.1})


def test_the_confidence_is_divided_among_the_limits():
    estimates, wrong, labels = two_classes()
    both = Promise.from_losses(estimates, wrong, {"yes": 0.1, None: 0.05}, labels=labels)
    rare = labels == "yes"
    of_rare = threshold_for_risk(-estimates[rare], wrong[rare], 0.1, 0.975)
    of_all = threshold_for_risk(-estimates, wrong, 0.05, 0.975)
    assert of_rare.n_answered < of_all.n_answered  # the class is the stricter limit here
    assert both.accepted(estimates[rare]).sum() == of_rare.n_answered
    assert (both.max_risk, both.class_risks) == (0.05, {"yes": 0.1})


def test_a_threshold_must_keep_every_limit_and_not_only_the_last_one_tested():
    """Each class has thresholds that keep its limit, but no threshold keeps both."""
    estimates = np.arange(400) / 400
    labels = np.repeat(["a", "b"], 200)  # b comes after a, and is wrong at first
    wrong = np.r_[np.zeros(200), np.ones(30), np.zeros(170)]
    wrong[:60] = 1  # a is wrong at first, too
    alone = [
        Promise.from_losses(estimates[part], wrong[part], 0.5).kept
        for part in (labels == "a", labels == "b")
    ]
    assert alone == [True, True]
    assert Promise.from_losses(estimates, wrong, {"a": 0.5, "b": 0.5}, labels=labels).kept
    wrong[:200] = 1
    assert not Promise.from_losses(estimates, wrong, {"a": 0.5, "b": 0.5}, labels=labels).kept


def test_a_class_without_rows_promises_nothing():
    estimates, wrong, labels = two_classes()
    assert not Promise.from_losses(estimates, wrong, {"perhaps": 0.5}, labels=labels).kept


@pytest.mark.parametrize(
    ("max_risk", "labels", "sentence"),
    [
        ({"yes": 0.1}, None, "labels must hold the class of each row"),
        ({}, ["yes"], "max_risk is empty"),
        ({"yes": 0}, ["yes"], r"max_risk\['yes'\] == 0, must be > 0"),
        ({None: -1}, ["yes"], "max_risk == -1, must be > 0"),
    ],
)
def test_one_sentence_for_limits_that_cannot_be_used(max_risk, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        Promise.from_losses([0.1], [0], max_risk, labels=labels)


def test_a_few_rows_promise_nothing_about_a_cost_that_none_of_them_had():
    """Student's test would take 60 rows without a mistake for certain; the largest cost may be rare."""
    estimates = np.linspace(0, 1, 60)
    assert Promise.from_losses(estimates, np.zeros(60), 0.3, loss_values=[0, 1, 20]).coverage == 0
    assert Promise.from_losses(estimates, np.zeros(60), 0.3, loss_values=[0, 1]).coverage == 1


def test_held_out_rows_know_their_class_and_costs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=400) > 1, "yes", "no")
    loss = [[0, 1], [4, 0]]
    model = IndividualErrorClassifier(LogisticRegression(), loss=loss, random_state=0)
    held_out = model.fit(X, y).held_out_
    assert held_out.truth.tolist() == y[held_out.rows].tolist()
    wrong = held_out.prediction != held_out.truth
    by_hand = np.where(held_out.truth == "yes", 4, 1) * wrong
    np.testing.assert_array_equal(held_out.losses, by_hand)
    promise = Promise.from_held_out(held_out, {"yes": 2, "no": 0.2})
    rare = held_out.truth == "yes"
    of_rare = threshold_for_risk(-held_out.error[rare], wrong[rare], 0.5, 0.975)
    assert promise.accepted(held_out.error[rare]).sum() == of_rare.n_answered > 0
    with pytest.raises(
        ValueError, match=r"the risk of 'maybe', and the classes are 'no' and 'yes'"
    ):
        Promise.from_held_out(held_out, {"maybe": 0.1})


def test_an_abstaining_classifier_limits_the_risk_of_a_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=1500) > 0.5, "yes", "no")
    model = AbstainingClassifier(
        LogisticRegression(), max_risk={"yes": 0.2, None: 0.1}, random_state=0
    ).fit(X, y)
    accepted, wrong = model.predict_accepted(X), model.predict(X) != y
    assert 0 < model.coverage_ < 1
    assert wrong[accepted & (y == "yes")].mean() < 0.2 < wrong[y == "yes"].mean()
    assert model.risk_bound_ == {"yes": 0.2, None: 0.1}


def test_too_few_rows_of_a_class_are_named():
    X, y = np.arange(200)[:, None], np.where(np.arange(200) % 20 == 0, "yes", "no")
    model = AbstainingClassifier(DummyClassifier(), max_risk={"yes": 0.1}, random_state=0)
    with pytest.warns(UserWarning, match=r"'yes' has 3 held-out rows, which can promise 0.63 at"):
        model.fit(X, y)
    with pytest.raises(
        ValueError, match=r"the risk of 'maybe', and the classes are 'no' and 'yes'"
    ):
        AbstainingClassifier(DummyClassifier(), max_risk={"maybe": 0.1}).fit(X, y)
    with pytest.raises(ValueError, match=r"max_risk\['yes'\] == 1.5, must be < 1"):
        AbstainingClassifier(DummyClassifier(), max_risk={"yes": 1.5}).fit(X, y)


GRID = (np.arange(4000) + 0.5) / 4000
CLASS_SHAPES = {
    "flat": lambda rank: np.full_like(rank, 0.301),
    "jump": lambda rank: np.where(rank < 0.6, 0.02, 0.8),
    "wrong way round": lambda rank: 0.61 * (1 - rank),
}


@pytest.mark.slow
@pytest.mark.parametrize("n_in_group", [1, 8])
@pytest.mark.parametrize("shape", CLASS_SHAPES)
def test_a_promise_by_class_is_kept(shape, n_in_group):
    """The rare class has its own true risk at each threshold; all limits hold at once in 95 % of the draws."""
    rng = np.random.default_rng(0)
    true_risk = np.cumsum(CLASS_SHAPES[shape](GRID)) / np.arange(1, len(GRID) + 1)
    groups = np.repeat(np.arange(60), n_in_group) if n_in_group > 1 else None
    n_draws, broken = 80, 0
    for _ in range(n_draws):
        rank = rng.random(480)
        rare = rng.random(480) < 0.3
        luck = rng.random(480 // n_in_group).repeat(n_in_group)
        wrong = luck < np.where(rare, CLASS_SHAPES[shape](rank), 0.301)
        promise = Promise.from_losses(
            rank, wrong, {True: 0.3, False: 0.3}, labels=rare, groups=groups
        )
        broken += promise.kept  # the other class is always above its limit
        only = Promise.from_losses(rank, wrong, {True: 0.3}, labels=rare, groups=groups)
        reached = 1.0 if only.coverage == 1 else max(only.threshold, 0.0)
        broken += only.kept and true_risk[int(reached * (len(GRID) - 1))] > 0.3
    assert broken <= 2 * n_draws * 0.05 + 3 * np.sqrt(2 * n_draws * 0.05 * 0.95)


def test_sizes_that_are_all_0_or_1_have_no_bound_of_1():
    # Ratings that are off by one: of losses up to 3, a bet against a mean of 1.5 grows by at most a third a row.
    few, many = (
        Promise.from_held_out(held_out(np.linspace(0, 1, n), np.ones(n), classes=None), 1.5)
        for n in (8, 2000)
    )
    assert (1 + 0.5 / 1.5) ** 8 < 1 / 0.05
    assert not few.kept
    assert many.kept
    assert many.cap >= 3
    right = Promise.from_held_out(held_out(np.linspace(0, 1, 200), np.zeros(200), classes=None))
    assert right.kept
