"""Logistic regressions that leave a start: against general optimisers, and where there is nothing to gain."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from surefoot._logistic import (
    MOST_POOLED_VALUES,
    Step,
    SteppedLogistic,
    best_departure,
    calibrate,
    fit_logistic,
    pool_weights,
    pooled,
    with_ones,
)


def folds(n_rows):
    return list(KFold(5, shuffle=True, random_state=0).split(np.zeros(n_rows)))


def scored(n_rows, n_topics=1, seed=0):
    """Three columns: log-odds, the part of the log-odds that these lack, and noise."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_rows, n_topics, 3)) * [1.5, 1.0, 1.0]
    truth = rng.random((n_rows, n_topics)) < expit(columns[:, :, 0] + 2 * columns[:, :, 1])
    return columns, truth.astype(int)


def problem(n_rows=60, n_weights=3, seed=0):
    """Rows, soft targets, weights and a start of one logistic regression."""
    rng = np.random.default_rng(seed)
    rows, start = rng.normal(size=(n_rows, n_weights)), rng.normal(size=n_weights)
    return rows, rng.random(n_rows), rng.random(n_rows), start


def optimum(rows, targets, weight, penalty, start, *, offset=0.0, signs=0.0, bounds=None):
    """Weights by a general optimiser, from the loss as it is defined; outputs come first in `rows` and `targets`."""

    def loss(at):
        odds = np.stack([np.zeros(len(weight)), *(offset + table @ at for table in rows)])
        first = 1 - np.sum(targets, axis=0)
        data = weight @ (logsumexp(odds, axis=0) - (np.stack([first, *targets]) * odds).sum(axis=0))
        against = 10 * (at**2)[np.sign(at) * signs < 0].sum()
        return data + (at - start) @ penalty @ (at - start) / 2 + against / 2

    method = "Powell" if bounds is None else "L-BFGS-B"
    options = {"ftol": 1e-15, "maxiter": 10_000}
    found = minimize(loss, start, method=method, bounds=bounds, options=options)
    return minimize(loss, found.x, bounds=bounds, tol=1e-14).x


@pytest.mark.parametrize("penalty", [0.7, [0.5, 2.0, 0.1], [[2, 1, 0], [1, 3, 0.5], [0, 0.5, 1]]])
def test_one_or_many_penalties_and_a_matrix_of_them(penalty):
    rows, targets, weight, start = problem()
    offset = np.random.default_rng(1).normal(size=60)
    matrix = np.array(penalty) if np.ndim(penalty) == 2 else np.diag(np.ones(3) * penalty)
    found = fit_logistic(rows, targets, weight, np.array(penalty), start, offset=offset).weights
    expected = optimum([rows], [targets], weight, matrix, start, offset=offset)
    assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_it_is_the_logistic_regression_of_scikit_learn(C):
    rows, _, weight, _ = problem()
    labels = (np.random.default_rng(2).random(60) < expit(rows[:, 0])).astype(int)
    theirs = LogisticRegression(C=C, tol=1e-10).fit(rows, labels, weight)
    penalty = np.array([0.0, *[1 / C] * 3])
    found = fit_logistic(with_ones(rows), labels, weight, penalty, 0.0).weights
    assert_allclose(found, [*theirs.intercept_, *theirs.coef_[0]], atol=1e-5)


def test_three_classes_as_scikit_learn_has_them():
    rows, _, weight, _ = problem()
    labels = np.arange(60) % 3
    theirs = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-12, solver="newton-cg")
    theirs.fit(rows, labels, weight)
    # A block of weights for each class; those of the first are taken away from the others.
    blocks = [np.kron(np.eye(3)[k], rows) for k in range(3)]
    outputs = np.stack(blocks[1:]) - blocks[0]
    targets = labels == np.array([[1], [2]])
    found = fit_logistic(outputs, targets, weight, 2.0, 0.0).weights
    assert_allclose(found.reshape(3, 3), theirs.coef_, atol=1e-5)


def test_weights_of_a_wrong_sign_and_weights_with_a_bound():
    rows, targets, weight, start = problem()
    signs, ridge = np.array([1.0, -1.0, 0.0]), 0.1 * np.eye(3)
    free = fit_logistic(rows, targets, weight, 0.1, 0.0).weights
    held = fit_logistic(rows, targets, weight, 0.1, 0.0, signs=-np.sign(free)).weights
    assert (np.abs(held) < np.abs(free)).all()
    given = [rows], [targets], weight, ridge
    found = fit_logistic(rows, targets, weight, 0.1, start, signs=signs).weights
    assert_allclose(found, optimum(*given, start, signs=signs), atol=1e-5)
    bounded = fit_logistic(rows, targets, weight, 0.1, 0.0, least=0.0).weights
    assert (bounded >= 0).all()
    assert (bounded == 0).any()
    expected = optimum(*given, np.zeros(3), bounds=[(0, None)] * 3)
    assert_allclose(bounded, expected, atol=1e-5)


def test_many_problems_at_once_are_those_problems_one_by_one():
    each = [problem(seed=seed) for seed in range(4)]
    rows, targets, weight, _ = (np.stack(part) for part in zip(*each, strict=True))
    found = fit_logistic(rows[None], targets[None], weight, 0.3, [1.0, 0.0, -1.0])
    alone = [fit_logistic(*one[:3], 0.3, [1.0, 0.0, -1.0]) for one in each]
    assert_allclose(found.weights, [one.weights for one in alone])
    assert_allclose(found.curvature, [one.curvature for one in alone], rtol=1e-5)


def test_the_curvature_is_the_second_derivative_of_the_loss():
    rows, targets, weight, start = problem()
    found = fit_logistic(rows, targets, weight, 0.3, start)
    chance = expit(rows @ found.weights)
    second = (rows.T * (weight * chance * (1 - chance))) @ rows + 0.3 * np.eye(3)
    assert_allclose(found.curvature, second)


def test_a_pool_is_the_one_that_makes_the_labels_most_likely():
    rng = np.random.default_rng(0)
    opinions, codes = np.log(rng.dirichlet([1, 1, 1, 1], (3, 80))), rng.integers(0, 4, 80)
    weight = rng.random(80)
    rows = [opinions[:, :, c].T - opinions[:, :, 0].T for c in (1, 2, 3)]
    targets = [(codes == c).astype(float) for c in (1, 2, 3)]
    expected = optimum(rows, targets, weight, 10 * np.eye(3), np.full(3, 1 / 3))
    assert_allclose(pool_weights(opinions, codes, weight), expected, atol=1e-5)
    chances = np.exp(pooled(opinions, expected))
    assert_allclose(chances, softmax(np.tensordot(expected, opinions, 1), axis=1))


def test_calibration_does_not_depend_on_the_unit_of_the_columns():
    columns = np.random.default_rng(0).normal(size=(80, 2))
    targets, weight = expit(columns @ [1.0, -2.0]), np.ones(80)
    line = calibrate(columns * [1e-6, 1e6] + 3, targets, weight, 1e-8)
    assert_allclose(line.coef * [1e-6, 1e6], [1, -2], atol=1e-4)
    assert_allclose(line.predict_proba(columns * [1e-6, 1e6] + 3)[:, 1], targets, atol=1e-5)


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
    monkeypatch.setattr("surefoot._logistic.MOST_ROWS", 1000)
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


def test_weights_of_many_classes_are_learned_from_some_of_the_rows():
    rng = np.random.default_rng(0)
    n_classes = MOST_POOLED_VALUES // 500
    codes = rng.integers(0, n_classes, 1_000)
    opinions = np.log(rng.dirichlet(np.full(n_classes, 0.5), size=(2, 1_000)) + 1e-12)
    opinions[0, np.arange(1_000), codes] += 5
    expected = pool_weights(opinions[:, ::2], codes[::2])
    assert_allclose(pool_weights(opinions, codes), expected)
