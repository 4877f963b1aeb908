"""Learners that leave a start: against a general optimiser, and where there is nothing to gain."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.model_selection import KFold

from surefoot._shrunk import Step, SteppedLogistic, best_departure, fit_logistic


def folds(n_rows):
    return list(KFold(5, shuffle=True, random_state=0).split(np.zeros(n_rows)))


def scored(n_rows, n_topics=1, seed=0):
    """Three columns: log-odds, the part of the log-odds that these lack, and noise."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_rows, n_topics, 3)) * [1.5, 1.0, 1.0]
    truth = rng.random((n_rows, n_topics)) < expit(columns[:, :, 0] + 2 * columns[:, :, 1])
    return columns, truth.astype(int)


def test_newton_with_an_offset_finds_the_optimum_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    rows, offset = rng.normal(size=(50, 2)), rng.normal(size=50)
    target, weight, penalty = rng.random(50), rng.random(50), np.array([0.5, 2.0])
    prior = np.array([1.0, -1.0])

    def loss(w):
        log_odds = offset + rows @ w
        data = weight @ (np.logaddexp(0, log_odds) - target * log_odds)
        return data + 0.5 * penalty @ (w - prior) ** 2

    found = fit_logistic(rows, target, weight, penalty, prior, prior, offset)
    assert_allclose(found, minimize(loss, prior, tol=1e-12).x, atol=1e-4)


def test_a_departure_must_save_more_than_its_standard_error():
    # The second column saves 2 of 4 rows and loses none: 2 - √2 > 0; the third saves 2 and loses 1: 1 - √3 < 0.
    losses = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1]], dtype=float)
    assert best_departure(losses) == 1
    assert best_departure(losses[:, [0, 2]]) == 0
    # Four copies of one row are one row: it saves 4 - √16 = 0, no more than by chance.
    copies = np.array([[1.0, 0.0]] * 4)
    assert best_departure(copies) == 1
    assert best_departure(copies, units=np.zeros(4)) == 0
    assert best_departure(losses, weight=np.array([0.0, 0, 1, 1])) == 0


def test_scores_that_are_right_stay_as_they_are():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(400, 1, 3)) * 2
    truth = (rng.random((400, 1)) < expit(columns[:, :, 0])).astype(int)
    model = SteppedLogistic(0, [Step([0], False), Step(range(3), False)], slope=1.0)
    model.fit(columns, truth, folds(400))
    assert model.penalties_ == [np.inf, np.inf]
    assert_allclose(model.lines_[0].decision_function(columns[:, 0]), columns[:, 0, 0])
    assert_allclose(model.held_out_, columns[:, :, 0])


def test_what_the_start_lacks_is_learned():
    columns, truth = scored(1500)
    model = SteppedLogistic(0, [Step(range(3), False)], slope=1.0).fit(columns, truth, folds(1500))
    assert model.penalties_[0] < np.inf
    assert_allclose(model.lines_[0].coef, [1, 2, 0], atol=0.35)


def test_a_topic_with_three_rows_keeps_the_weights_of_the_others():
    columns, truth = scored(600, n_topics=4)
    rare = np.flatnonzero(truth[:, 3])[3:]
    columns[rare, 3, 0] -= (
        9.0  # all but three of its rows become negative ones, as their columns show
    )
    truth[rare, 3] = 0
    steps = [Step(range(3), by_topic=False), Step(range(3), by_topic=True)]
    model = SteppedLogistic(0, steps).fit(columns, truth, folds(600))
    shared, topic = (model.lines_[t].coef for t in (0, 3))
    assert topic[1] > 0.4 * shared[1] > 0.4
    alone = SteppedLogistic(0, steps).fit(columns[:, 3:], truth[:, 3:], folds(600)).lines_[0].coef
    assert abs(alone[1] - 2) > abs(topic[1] - 2)  # 2 is the truth


def test_of_many_easy_rows_few_are_needed(monkeypatch):
    columns, truth = scored(4000)
    columns[:, :, 0] -= 4.0
    truth[:, 0] &= np.random.default_rng(0).random(4000) < expit(columns[:, 0, 0] + 4)
    whole = SteppedLogistic(0, [Step(range(3), False)]).fit(columns, truth, folds(4000))
    monkeypatch.setattr("surefoot._shrunk.MOST_ROWS", 1000)
    part = SteppedLogistic(0, [Step(range(3), False)]).fit(columns, truth, folds(4000))
    assert not np.array_equal(whole.held_out_, part.held_out_)
    assert np.corrcoef(whole.held_out_[:, 0], part.held_out_[:, 0])[0, 1] > 0.99
    assert abs(expit(part.held_out_).mean() - truth.mean()) < 0.02


def test_rows_without_columns_are_not_learned_from():
    columns, truth = scored(300, n_topics=2)
    columns[:50, 1] = np.nan
    known = SteppedLogistic(0, [Step(range(3), True)]).fit(columns, truth, folds(300))
    assert_array_equal(np.isnan(known.held_out_[:, 1]), np.arange(300) < 50)
    truth[:50, 1] = 1 - truth[:50, 1]
    again = SteppedLogistic(0, [Step(range(3), True)]).fit(columns, truth, folds(300))
    assert_allclose(known.held_out_, again.held_out_)
