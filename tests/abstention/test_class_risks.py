"""Risks of single classes, and costs: by hand, against the plain promise, and against a generator's true risk."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from surefoot.abstention import (
    AbstainingClassifier,
    make_promise,
    promise_for,
    threshold_for_risk,
)
from surefoot.error_estimation import IndividualErrorClassifier


def two_classes(n_rows=1000, n_rare=200):
    """Ranks as estimates; the class "no" is always right, "yes" is wrong where the estimate is above a half."""
    estimates = (np.arange(n_rows) + 0.5) / n_rows
    labels = np.where(np.arange(n_rows) % (n_rows // n_rare) == 0, "yes", "no")
    return estimates, (labels == "yes") & (estimates > 0.5), labels


def test_a_class_is_tested_on_its_own_rows():
    estimates, wrong, labels = two_classes()
    promise = make_promise(estimates, wrong, {"yes": 0.1}, labels=labels)
    rare = labels == "yes"
    alone = threshold_for_risk(-estimates[rare], wrong[rare], 0.1)
    assert promise.accepted(estimates[rare]).sum() == alone.n_answered > 0
    # Between the last row of the class that is answered and the next one, rows of other classes are answered, too.
    next_rare = estimates[rare][alone.n_answered]
    assert promise.limit == estimates[estimates < next_rare].max() > -alone.score
    assert (promise.max_risk, promise.class_risks) == (None, {"yes": 0.1})


def test_the_confidence_is_divided_among_the_limits():
    estimates, wrong, labels = two_classes()
    both = make_promise(estimates, wrong, {"yes": 0.1, None: 0.05}, labels=labels)
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
        make_promise(estimates[part], wrong[part], 0.5).kept
        for part in (labels == "a", labels == "b")
    ]
    assert alone == [True, True]
    assert make_promise(estimates, wrong, {"a": 0.5, "b": 0.5}, labels=labels).kept
    wrong[:200] = 1
    assert not make_promise(estimates, wrong, {"a": 0.5, "b": 0.5}, labels=labels).kept


def test_a_class_without_rows_promises_nothing():
    estimates, wrong, labels = two_classes()
    assert not make_promise(estimates, wrong, {"perhaps": 0.5}, labels=labels).kept


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
        make_promise([0.1], [0], max_risk, labels=labels)


def test_equal_costs_are_the_binomial_test_in_another_unit():
    estimates, wrong, _ = two_classes()
    costs = make_promise(estimates, 5.0 * wrong, 0.25, loss_values=[0, 5])
    shares = make_promise(estimates, wrong, 0.05)
    assert costs.limit == shares.limit
    assert 0 < costs.coverage < 1


def test_no_risk_is_above_the_largest_cost():
    estimates, wrong, _ = two_classes()
    assert make_promise(estimates, 5.0 * wrong, 5, loss_values=[0, 1, 5]).coverage == 1
    assert make_promise([0.5], [5.0], 5, loss_values=[0, 1, 5]).coverage == 1


def test_a_few_rows_promise_nothing_about_a_cost_that_none_of_them_had():
    """Student's test would take 60 rows without a mistake for certain; the largest cost may be rare."""
    estimates = np.linspace(0, 1, 60)
    assert make_promise(estimates, np.zeros(60), 0.3, loss_values=[0, 1, 20]).coverage == 0
    assert make_promise(estimates, np.zeros(60), 0.3, loss_values=[0, 1]).coverage == 1


def test_held_out_rows_know_their_class_and_costs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=400) > 1, "yes", "no")
    loss = [[0, 1], [4, 0]]
    sure = IndividualErrorClassifier(LogisticRegression(), loss=loss, random_state=0).fit(X, y)
    held_out = sure.held_out_
    assert held_out.truth.tolist() == y[held_out.rows].tolist()
    wrong = held_out.prediction != held_out.truth
    by_hand = np.where(held_out.truth == "yes", 4, 1) * wrong
    np.testing.assert_array_equal(held_out.losses, by_hand)
    promise = promise_for(held_out, {"yes": 2, "no": 0.2})
    rare = held_out.truth == "yes"
    of_rare = threshold_for_risk(-held_out.error[rare], wrong[rare], 0.5, 0.975)
    assert promise.accepted(held_out.error[rare]).sum() == of_rare.n_answered > 0
    with pytest.raises(
        ValueError, match=r"the risk of 'maybe', and the classes are 'no' and 'yes'"
    ):
        promise_for(held_out, {"maybe": 0.1})


def test_reasons_are_in_the_unit_of_the_costs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200) > 0
    plain, priced = (
        IndividualErrorClassifier(LogisticRegression(), loss=loss, random_state=0).fit(X, y)
        for loss in (None, [[0, 3], [3, 0]])
    )
    np.testing.assert_allclose(priced.held_out_.wrong, plain.held_out_.error)
    scale = priced.held_out_.error / plain.held_out_.error
    np.testing.assert_allclose(scale, scale[0])
    np.testing.assert_allclose(priced.explain_error(), scale[0] * plain.explain_error())
    np.testing.assert_allclose(priced.explain_error(X[:5]), scale[0] * plain.explain_error(X[:5]))


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
SHAPES = {
    "flat": lambda rank: np.full_like(rank, 0.301),
    "jump": lambda rank: np.where(rank < 0.6, 0.02, 0.8),
    "wrong way round": lambda rank: 0.61 * (1 - rank),
}


@pytest.mark.parametrize("n_in_group", [1, 8])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_promise_by_class_is_kept(shape, n_in_group):
    """The rare class has its own true risk at each threshold; all limits hold at once in 95 % of the draws."""
    rng = np.random.default_rng(0)
    true_risk = np.cumsum(SHAPES[shape](GRID)) / np.arange(1, len(GRID) + 1)
    groups = np.repeat(np.arange(60), n_in_group) if n_in_group > 1 else None
    n_draws, broken = 80, 0
    for _ in range(n_draws):
        rank = rng.random(480)
        rare = rng.random(480) < 0.3
        luck = rng.random(480 // n_in_group).repeat(n_in_group)
        wrong = luck < np.where(rare, SHAPES[shape](rank), 0.301)
        promise = make_promise(rank, wrong, {True: 0.3, False: 0.3}, labels=rare, groups=groups)
        reached = 1.0 if promise.coverage == 1 else max(promise.limit, 0.0)
        broken += promise.kept  # the other class is always above its limit
        only = make_promise(rank, wrong, {True: 0.3}, labels=rare, groups=groups)
        reached = 1.0 if only.coverage == 1 else max(only.limit, 0.0)
        broken += only.kept and true_risk[int(reached * (len(GRID) - 1))] > 0.3
    assert broken <= 2 * n_draws * 0.05 + 3 * np.sqrt(2 * n_draws * 0.05 * 0.95)
