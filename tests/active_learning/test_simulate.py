"""The oracle's curves start together, and count labels."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from surefoot.active_learning import SimulationResult, simulate


def rows(n_rows=160):
    return make_classification(n_rows, 4, n_redundant=0, class_sep=1.5, random_state=0)


def test_all_strategies_start_alike_and_end_with_all_labels():
    X, y = rows()
    found = simulate(
        GaussianNB(), X, y, ["random", "confidence"], n_labels=80, batch_size=15, n_repeats=3,
        random_state=0,
    )  # fmt: skip
    assert_array_equal(found.n_labels, [10, 25, 40, 55, 70, 80])
    random, confidence = found.accuracy["random"], found.accuracy["confidence"]
    assert random.shape == (3, 6)
    assert_allclose(random[:, 0], confidence[:, 0])
    assert_allclose(random[:, -1], found.full_accuracy)  # the pool has 80 rows


def test_the_first_and_the_full_accuracy_by_hand():
    X, y = rows()
    found = simulate(GaussianNB(), X, y, "random", n_labels=10, n_repeats=1, random_state=5)
    seed = np.random.RandomState(5).randint(np.iinfo(np.int32).max, size=1)[0]
    pool, test = train_test_split(np.arange(160), test_size=0.5, random_state=seed)
    first = GaussianNB().fit(X[pool[:10]], y[pool[:10]]).score(X[test], y[test])
    assert found.accuracy["random"][0, 0] == first
    assert found.full_accuracy[0] == GaussianNB().fit(X[pool], y[pool]).score(X[test], y[test])


def test_labels_needed_by_hand():
    found = SimulationResult(
        n_labels=np.array([10, 20, 30]),
        accuracy={
            "a": np.array([[0.5, 0.9, 0.9], [0.5, 0.7, 0.9]]),
            "b": np.array([[0.5, 0.6, 0.7], [0.5, 0.6, 0.7]]),
        },
        full_accuracy=np.array([0.9, 0.7]),
    )
    # 0.76 of 0.95 · 0.8 lies 0.26 / 0.3 of the way from 0.5 to 0.8.
    assert found.labels_needed() == {"a": pytest.approx(10 + 10 * 0.26 / 0.3), "b": np.inf}
    assert found.labels_needed(0.75)["b"] == pytest.approx(20.0)
    assert found.labels_needed(0.5) == {"a": 10.0, "b": 10.0}


class Answers(GaussianNB):
    """Model that keeps the labels of each fit."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        Answers.seen.append((np.array(X), np.array(y)))
        return super().fit(X, y)


def test_a_share_of_the_answers_is_wrong_and_each_other_class_is_as_likely():
    X = np.arange(3000.0)[:, None]
    y = np.arange(3000) % 3
    Answers.seen.clear()
    simulate(Answers(), X, y, "random", n_labels=10, n_repeats=1, wrong=0.3, random_state=0)
    rows, answers = Answers.seen[-1]  # the whole pool
    shift = (answers - y[rows[:, 0].astype(int)]) % 3
    assert len(shift) == 1500
    # 1,050, 225 and 225 of 1,500, with standard deviations of 18 and 14.
    assert_allclose(np.bincount(shift), [1050, 225, 225], atol=4.5 * 18)


def test_the_stop_is_that_of_the_rule():
    """Two groups far apart: the first model is right everywhere, so the first doubling changes nothing."""
    y = np.tile([0, 1], 100)
    X = 100.0 * y[:, None] + np.random.default_rng(0).normal(size=(200, 1))
    options = {"n_initial": 10, "n_labels": 40, "batch_size": 5, "n_repeats": 2, "random_state": 0}
    result = simulate(GaussianNB(), X, y, "random", **options)
    assert_array_equal(result.labels_at_stop()["random"], [20, 20])
    assert_array_equal(result.labels_at_stop(1)["random"], [10, 10])
    assert_array_equal(result.labels_at_stop(0)["random"], [np.inf, np.inf])


def test_a_start_of_one_class_gets_one_of_another():
    X = np.random.default_rng(0).normal(size=(60, 2))
    Answers.seen.clear()
    simulate(
        Answers(), X, np.arange(60) < 3, "random", n_initial=2, n_labels=4, n_repeats=4,
        test_size=10, random_state=0,
    )  # fmt: skip
    assert {len(set(answers)) for _, answers in Answers.seen} == {2}


@pytest.mark.parametrize(
    ("changed", "error", "sentence"),
    [
        ({"strategies": []}, ValueError, "strategies is empty"),
        ({"strategies": ["random", "random"]}, ValueError, "two of the same name"),
        ({"n_labels": 5}, ValueError, "n_labels == 5, must be >= 10"),
        ({"y": np.zeros(60)}, ValueError, "y has one class only"),
        ({"wrong": 1.5}, ValueError, "wrong == 1.5"),
        ({"estimator": Ridge()}, TypeError, "is no classifier"),
    ],
)
def test_what_cannot_be_simulated_gets_one_sentence(changed, error, sentence):
    X, y = rows(60)
    with pytest.raises(error, match=sentence):
        simulate(**{"estimator": GaussianNB(), "X": X, "y": y, **changed})
