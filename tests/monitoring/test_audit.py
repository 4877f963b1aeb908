"""An audit: draws with the odds that it states, and an interval that holds whatever the estimate is worth."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import Confidence, NeighborDistance
from surefoot.monitoring import audit


class Known(IndividualErrorClassifier):
    """Error estimator that predicts 0 for every row, and estimates the errors that it is given."""

    def __init__(self, errors=0.1, costs=None):
        super().__init__(LogisticRegression())
        self.errors = errors
        self.costs = costs

    def fit(self, X=None, y=None):
        self.classes_ = np.arange(2)
        self.held_out_ = SimpleNamespace(costs=self.costs, losses=np.array([0.0, 1.0]))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def predict_error(self, X):
        return np.broadcast_to(self.errors, len(X)).astype(float)


def draw(errors, n_labels, random_state=0, **settings):
    errors = np.asarray(errors, dtype=float)
    sure = Known(errors, **settings).fit()
    return audit(sure, np.zeros((len(errors), 1)), n_labels, random_state=random_state)


def covers(result, truth):
    low, high = result.interval
    return low - 1e-12 <= truth <= high + 1e-12


def test_rows_are_drawn_with_a_floor_plus_the_estimated_error():
    drawn = draw([0.0, 0.0, 0.0, 0.4], 20_000)
    # Odds 3/4 for a row without doubt, 3/4 + 1/4 · 0.4/0.1 = 7/4 for the other; their sum is 4.
    shares = np.bincount(drawn.rows, minlength=4) / 20_000
    assert shares == pytest.approx([3 / 16, 3 / 16, 3 / 16, 7 / 16], abs=0.015)
    expected = np.where(drawn.rows == 3, 4 / 7, 4 / 3)
    assert drawn.weights == pytest.approx(expected)


def test_the_estimate_is_the_mean_of_weighted_losses_with_the_estimate_taken_off():
    errors = np.array([0.1, 0.1, 0.2, 0.6])
    truth = np.array([0, 1, 0, 1])
    drawn = draw(errors, 400)
    by_hand = [
        0.25 + (truth[row] - errors[row]) / (0.75 + 0.25 * errors[row] / 0.25) for row in drawn.rows
    ]
    result = drawn.result(truth[drawn.rows])
    assert result.estimate == pytest.approx(np.clip(np.mean(by_hand), *result.interval))
    # Every row was labelled, so that nothing is left open: two of four are wrong.
    assert result.interval == pytest.approx((0.5, 0.5))


def test_even_draws_without_errors_end_where_the_bets_are_won():
    # All estimates 0: draws are 0 or 1, and every bet is the largest one, 0.9 / (1 − m) against m. After n right rows
    # the capital is (1 + 0.9 m / (1 − m))^n, which is 20 at the upper end.
    n = 100
    upper = draw(np.zeros(10**6), n).result([0] * n).interval[1]
    assert (1 + 0.9 * upper / (1 - upper)) ** n == pytest.approx(20, rel=1e-4)


def test_costs_are_in_their_unit():
    costs = np.array([[0.0, 1.0], [8.0, 0.0]])
    drawn = draw(np.full(3000, 2.0), 200, costs=costs)
    truth = (np.arange(3000) % 4 == 0).astype(int)  # a fourth of the rows cost 8
    result = drawn.result(truth[drawn.rows])
    low, high = result.interval
    assert 0 < low < 2 < high < 8
    assert drawn.result([1] * 200).interval[1] == 8


def test_a_prefix_is_what_the_sequence_was_then():
    errors = np.random.default_rng(2).beta(0.5, 2, 400)
    drawn = draw(errors, 120)
    y = (errors > 0.4).astype(int)[drawn.rows]
    result = drawn.result(y)
    whole = result.sequence
    assert whole[-1] == pytest.approx(result.interval)
    assert (np.diff(whole[:, 1]) <= 1e-12).all()
    nothing = drawn.result([])
    assert (nothing.interval, math.isnan(nothing.estimate)) == ((0.0, 1.0), True)
    for n_answers in (10, 50, 119):
        low, high = drawn.result(y[:n_answers]).interval
        steps = 2e-3  # earlier ends are looked for in steps, and never promise more
        assert low - steps <= whole[n_answers - 1, 0] <= low + 1e-9
        assert high - 1e-9 <= whole[n_answers - 1, 1] <= high + steps


def test_a_row_without_an_answer_counts_as_the_worst_case():
    drawn = draw(np.full(10**5, 0.2), 100)
    assert len(set(drawn.rows)) == 100
    y = (drawn.rows % 5 == 0).astype(float)
    missing = np.where(np.arange(100) % 10 == 0, np.nan, y)
    right, wrong = (
        drawn.result(np.where(np.isnan(missing), value, missing)).interval for value in (0, 1)
    )
    # Only what the labelled rows themselves say, 90 of 100,000, may differ.
    assert drawn.result(missing).interval == pytest.approx((right[0], wrong[1]), abs=1e-4)
    assert right[0] < drawn.result(y).interval[0]
    assert wrong[1] > drawn.result(y).interval[1]


def test_gaps_of_every_kind_are_no_answers():
    drawn = draw(np.full(50, 0.1), 4)
    for gaps in (
        [None] * 4,
        [np.nan] * 4,
        pd.array([pd.NA] * 4, dtype="Int64"),
        pd.Series([None] * 4),
    ):
        assert drawn.result(gaps).n_answered == 0


def test_one_answer_serves_all_draws_of_a_row():
    drawn = draw(np.full(3, 0.1), 30)
    first = [row not in drawn.rows[:place] for place, row in enumerate(drawn.rows)]
    truth = np.array([0, 1, 0])[drawn.rows]
    once = [label if is_first else None for label, is_first in zip(truth, first, strict=True)]
    assert drawn.result(once).interval == drawn.result(truth).interval
    assert drawn.result(once).n_answered == 30


@given(
    seed=st.integers(0, 2**32 - 1),
    mean=st.floats(0.01, 0.9),
    wrong=st.floats(0, 1),
    n_labels=st.integers(1, 60),
)
@settings(max_examples=60, deadline=None)
def test_intervals_hold_the_estimate_and_grow_with_confidence(seed, mean, wrong, n_labels):
    random = np.random.default_rng(seed)
    errors = random.beta(mean, 1 - mean, 80)
    truth = (random.random(80) < wrong).astype(int)
    drawn = draw(errors, n_labels, seed)
    results = [drawn.result(truth[drawn.rows], confidence) for confidence in (0.8, 0.9, 0.99)]
    for result in results:
        assert 0 <= result.interval[0] <= result.estimate <= result.interval[1] <= 1
    lows, highs = zip(*(result.interval for result in results), strict=True)
    assert lows[0] >= lows[1] >= lows[2]
    assert highs[0] <= highs[1] <= highs[2]
    if not truth[drawn.rows].any():
        assert set(lows) == {0.0}
    if truth[drawn.rows].all():
        assert set(highs) == {1.0}


@pytest.mark.parametrize(
    "estimate", ["calibrated", "useless", "adversarial", "nothing", "everything"]
)
def test_ninety_percent_intervals_hold_in_ninety_percent(estimate):
    random = np.random.default_rng(3)
    chances = random.beta(0.3, 2.7, 1000)
    truth = (random.random(1000) < chances).astype(int)
    errors = {
        "calibrated": chances,
        "useless": random.permutation(chances),
        "adversarial": np.where(truth == 1, 0.001, 0.3),
        "nothing": np.zeros(1000),
        "everything": np.ones(1000),
    }[estimate]
    sure = Known(errors).fit()
    held = []
    for number in range(200):
        drawn = audit(sure, np.zeros((1000, 1)), 60, random_state=number)
        held.append(covers(drawn.result(truth[drawn.rows]), truth.mean()))
    # At a true coverage of 90 %, fewer than 166 of 200 come in less than 1 case in 1,000.
    assert sum(held) >= 166


def test_a_broken_promise_is_told_with_its_rate_of_false_alarms():
    drawn = draw(np.full(400, 0.2), 100)
    result = drawn.result((np.arange(400) % 2)[drawn.rows], confidence=0.9)
    assert result.false_alarm_rate == pytest.approx(0.05)
    assert result.is_broken(0.05)
    assert not result.is_broken(0.5)
    assert result.is_kept(0.9)
    assert not result.is_kept(0.5)


def test_a_fitted_classifier_is_audited():
    random = np.random.default_rng(5)
    X = pd.DataFrame(random.normal(size=(400, 2)), columns=["a", "b"])
    y = np.where(X["a"] + random.normal(size=400) > 0, "yes", "no")
    sure = IndividualErrorClassifier(LogisticRegression(), indicators=Confidence(), random_state=0)
    sure.fit(X[:200], y[:200])
    drawn = audit(sure, X[200:], 150, random_state=0)
    result = drawn.result(y[200:][drawn.rows])
    assert covers(result, np.mean(sure.predict(X[200:]) != y[200:]))
    assert (drawn.predictions == sure.predict(X[200:])[drawn.rows]).all()


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_a_regressor_is_audited_by_its_share_of_large_errors(loss):
    random = np.random.default_rng(6)
    X = random.normal(size=(500, 2))
    y = X[:, 0] + random.normal(size=500) * (0.2 + np.abs(X[:, 1]))
    sure = IndividualErrorRegressor(
        LinearRegression(), indicators=NeighborDistance(), loss=loss, random_state=0
    ).fit(X[:200], y[:200])
    drawn = audit(sure, X[200:], 200, tolerance=1.0, random_state=0)
    beyond = np.mean(np.abs(sure.predict(X[200:]) - y[200:]) > 1.0)
    assert covers(drawn.result(y[200:][drawn.rows]), beyond)
    own = audit(sure, X[200:], 5, random_state=0).loss
    sizes = np.sqrt(sure.held_out_.losses) if loss == "squared" else sure.held_out_.losses
    assert own.when_fitted == pytest.approx(np.mean(sizes > own.tolerance))
    assert 0.05 < own.when_fitted <= 0.1
    with pytest.raises(ValueError, match="no numbers"):
        drawn.result(["a", "b", "c"])
    with pytest.raises(ValueError, match="tolerance == -1"):
        audit(sure, X, 3, tolerance=-1)


def test_one_sentence_for_each_bad_call():
    sure = Known().fit()
    drawn = audit(sure, np.zeros((9, 1)), 5, random_state=0)
    for call, sentence in [
        (lambda: audit(sure, np.zeros((0, 1)), 5), "X_new has no rows"),
        (lambda: audit(sure, np.zeros((9, 1)), 0), "n_labels == 0, must be >= 1"),
        (lambda: audit(sure, np.zeros((9, 1)), 5, tolerance=1.0), "a classifier has none"),
        (lambda: drawn.result([0] * 6), "y has 6 targets, but 5 rows were drawn"),
        (lambda: drawn.result([0, 1, 2, 0, 1]), "y has 2, but the model knows only 0 and 1"),
        (lambda: drawn.result([[0]] * 5), "one target for each row"),
        (lambda: drawn.result([0] * 5, confidence=1.0), "confidence == 1.0"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            call()
    with pytest.raises(TypeError, match="n_labels must be an instance of int"):
        audit(sure, np.zeros((9, 1)), 2.5)
    with pytest.raises(TypeError, match="wrap the model in IndividualErrorClassifier"):
        audit(LogisticRegression(), np.zeros((9, 1)), 5)


def test_two_answers_to_one_row_are_refused():
    drawn = draw(np.full(2, 0.1), 20)
    with pytest.raises(ValueError, match="two different targets for row"):
        drawn.result(np.arange(20) % 2 if drawn.rows[0] == drawn.rows[2] else [0, 1] * 10)
