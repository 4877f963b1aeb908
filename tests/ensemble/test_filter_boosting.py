"""Three sets, as the procedure says, and words where one runs empty."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from surefoot.ensemble import FilterBoostingClassifier


def moons(n_rows=600, seed=0):
    return make_moons(n_rows, noise=0.25, random_state=seed)


def test_the_sets_are_about_equal_and_the_second_is_half_wrong():
    X, y = moons(1500)
    model = FilterBoostingClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert max(model.set_sizes_) <= 2 * min(model.set_sizes_)
    assert model.notes_ == []


def test_it_says_what_the_first_two_agree_on_else_what_the_third_says():
    X, y = moons()
    model = FilterBoostingClassifier(GaussianNB(), random_state=0).fit(X, y)
    one, two, three = (component.predict(X) for component in model.estimators_)
    assert (one != two).any()
    assert_array_equal(
        model.predict(X), [a if a == b else c for a, b, c in zip(one, two, three, strict=True)]
    )


def leaves(component):
    parts = getattr(component, "estimators_", None)
    return sum(map(leaves, parts)) if isinstance(component, FilterBoostingClassifier) else 1


def test_depth_i_has_three_to_the_i_components():
    X, y = moons(2000)
    for depth in (1, 2):
        model = FilterBoostingClassifier(depth=depth, random_state=0).fit(X, y)
        assert leaves(model) == 3**depth


def test_an_easy_problem_runs_out_of_wrong_rows_and_says_so():
    X = np.arange(100.0)[:, None]
    model = FilterBoostingClassifier(n_first=90, random_state=0).fit(X, X[:, 0] > 49.5)
    assert model.notes_[0].startswith("D3 is empty: C1 and C2 agree")
    assert any(note.startswith("D2 is empty") or "class" in note for note in model.notes_)
    assert model.score(X, X[:, 0] > 49.5) > 0.95


def test_a_set_of_one_class_has_a_component_that_always_answers_it():
    X, y = np.arange(8.0)[:, None], np.array(["a"] * 7 + ["b"])
    model = FilterBoostingClassifier(LogisticRegression(), n_first=2, random_state=0).fit(X, y)
    assert any("'a' only, which its component always answers" in note for note in model.notes_)


@pytest.mark.parametrize(
    ("options", "y", "error", "sentence"),
    [
        ({}, [1, 1, 1], ValueError, "one class only"),
        ({"depth": 0}, [0, 1, 1], ValueError, "depth == 0"),
        ({"n_first": 3}, [0, 1, 1], ValueError, "n_first == 3, must be <= 2"),
        ({"estimator": Ridge()}, [0, 1, 1], TypeError, "is no classifier"),
    ],
)
def test_what_cannot_be_done_gets_one_sentence(options, y, error, sentence):
    with pytest.raises(error, match=sentence):
        FilterBoostingClassifier(**options).fit([[0.0], [1.0], [2.0]], y)
