"""The rule compares models of n and 2 n labels."""

import numpy as np
import pytest

from surefoot.active_learning._learner import StoppingRule


def changed(n_changed, n_rows=100):
    """Predictions of which the first `n_changed` differ from those of `changed(0)`."""
    return np.array(["b"] * n_changed + ["a"] * (n_rows - n_changed))


def test_the_batch_size_does_not_matter():
    """The share that the last doubling changed, whether there were two fits or twenty in between."""
    often, seldom = StoppingRule(), StoppingRule()
    for n_labels in range(10, 41):
        often.look(changed(40 - n_labels), n_labels)
    for n_labels in (10, 20, 40):
        seldom.look(changed(40 - n_labels), n_labels)
    assert often.reason == seldom.reason


def test_labels_that_are_taken_back_are_forgotten():
    rule = StoppingRule()
    for n_labels, n_changed in ((10, 0), (15, 0), (20, 50), (29, 90), (19, 0)):
        rule.look(changed(n_changed), n_labels)
    assert rule.reason.startswith("Go on: ")
    rule.look(changed(0), 20)
    assert rule.should_stop


def test_labelled_rows_are_left_out():
    """Fifty rows changed, because they were labelled: no other did."""
    rule = StoppingRule()
    rule.look(changed(0), 10)
    labelled = np.arange(100) < 50
    rule.look(changed(50), 20, labelled=labelled)
    assert rule.should_stop
    assert "changed 0.0% of 50 predictions" in rule.reason
    rule.look(changed(50), 20, labelled=~labelled)
    assert not rule.should_stop


@pytest.mark.parametrize(("n_rows", "stops"), [(12, False), (13, True)])
def test_few_rows_prove_nothing(n_rows, stops):
    """1 / (n + 2) of an unchanged n rows counts as changed: 6.7 % of 13 rows, 7.1 % of 12."""
    rule = StoppingRule()
    rule.look(["a"] * n_rows, 10)
    rule.look(["a"] * n_rows, 20)
    assert rule.should_stop is stops
    assert stops or rule.reason.endswith("but so few rows prove nothing.")


def test_a_pool_that_is_all_labelled_is_a_reason_to_stop():
    rule = StoppingRule()
    rule.look(["a", "b"], 2)
    rule.look(["a", "b"], 4, labelled=[True, True])
    assert rule.should_stop
    assert rule.reason == "Stop: all rows that were watched are labelled."


def test_a_doubling_that_changed_seven_percent_is_too_much():
    for n_changed, stops in (
        (6, True),
        (7, False),
    ):  # (6 + 1) / 102 is 6.9 %, (7 + 1) / 102 is 7.8 %
        rule = StoppingRule()
        rule.look(changed(0), 10)
        rule.look(changed(n_changed), 20)
        assert rule.should_stop is stops
        assert rule.changed == pytest.approx((n_changed + 1) / 102)
