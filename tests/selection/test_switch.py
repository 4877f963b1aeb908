"""When to switch, on errors and estimates made by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from surefoot._crossfit import ask_chosen
from surefoot.selection._switch import Switch, learn_switch


def test_a_row_goes_to_another_model_if_it_is_better_by_enough():
    estimated = np.array([[0.3, 0.2, 0.5], [0.3, 0.05, 0.0], [0.3, 0.4, 0.4]])
    assert_array_equal(Switch(0, 0.15).choose(estimated), [0, 2, 0])
    assert_array_equal(Switch(0, 0.0).choose(estimated), [1, 2, 0])
    assert_array_equal(Switch(0, np.inf).choose(estimated), [0, 0, 0])


def test_the_switch_by_hand():
    # Model 0 errs on rows 0 to 3; model 1 on rows 4 to 9. Advantages of model 1, and what they save:
    # 0.5: 1, 0.4: 1, 0.3: 1, 0.2: 1, 0.1: -1 (row 4); model 0 is estimated to be better elsewhere.
    errors = np.zeros((10, 2))
    errors[:4, 0] = errors[4:, 1] = 1
    estimated = np.full((10, 2), 0.5)
    estimated[:5, 1] = [0.0, 0.1, 0.2, 0.3, 0.4]
    estimated[5:, 1] = 0.9
    found = learn_switch(errors, estimated, np.ones(10))
    # Saved less its standard error: 0, 2 - 2^.5, 3 - 3^.5, 4 - 4^.5 = 2 at most, 3 - 5^.5: so after the fourth.
    assert found.best == 0
    assert found.advantage == 0.5 - 0.4
    assert_array_equal(found.choose(estimated), [1] * 4 + [0] * 6)


def test_one_lucky_row_is_no_evidence():
    errors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    estimated = np.array([[0.5, 0.1], [0.1, 0.5], [0.1, 0.5]])
    assert learn_switch(errors, estimated, np.ones(3)) == (0, np.inf)


def test_rows_of_equal_advantage_switch_together():
    errors = np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 4)
    estimated = np.tile([0.5, 0.1], (8, 1))
    assert learn_switch(errors, estimated, np.ones(8)).advantage == np.inf
    weight = np.array([3.0] * 4 + [1.0] * 4)  # now model 1 is the best on average, and stays so
    assert learn_switch(errors, estimated, weight) == (1, np.inf)


@given(arrays(float, (20, 3), elements=st.floats(0, 1)), st.integers(0, 2**32 - 1))
def test_on_the_rows_it_learned_from_it_is_no_worse_than_the_best(estimated, seed):
    errors = np.random.default_rng(seed).integers(0, 2, size=(20, 3)).astype(float)
    choice = learn_switch(errors, estimated, np.ones(20)).choose(estimated)
    assert errors[np.arange(20), choice].mean() <= errors.mean(axis=0).min() + 1e-12


def test_each_model_is_asked_about_its_rows_only():
    class Echo:
        def __init__(self, name):
            self.name, self.asked = name, []

        def predict(self, X):
            self.asked.append(X[:, 0].tolist())
            return np.array([f"{self.name}{v}" for v in X[:, 0]])

    models = [Echo("a"), Echo("never"), Echo("long")]
    told = ask_chosen(models, np.array([2, 0, 2, 0]), "predict", np.arange(4)[:, None])
    assert_array_equal(told, ["long0", "a1", "long2", "a3"])
    assert [m.asked for m in models] == [[[1, 3]], [], [[0, 2]]]
