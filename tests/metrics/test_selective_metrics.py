from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from surefoot.metrics import (
    augrc_loss,
    aurc_loss,
    error_auroc_score,
    excess_aurc_loss,
    risk_coverage_curve,
)

LOSSES = np.array([0.0, 2.0, 1.0, 0.0, 3.0, 0.5])
TIED = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 3.0])

# Losses with ties among the estimates, which are whole numbers.
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=30)
BINARY = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=2, max_size=40).filter(
    lambda rows: 0 < sum(wrong for wrong, _ in rows) < len(rows)
)


def arrays(rows):
    return np.array(rows, dtype=float).T


def mean_over_orders(area, losses, estimates):
    """Mean of an area of ordered losses, over all orders that the estimates allow."""
    orders = [
        order
        for order in permutations(range(len(losses)))
        if (np.diff(estimates[list(order)]) >= 0).all()
    ]
    return np.mean([area(losses[list(order)]) for order in orders])


def plain_aurc(ordered):
    return np.mean([ordered[:k].mean() for k in range(1, len(ordered) + 1)])


def plain_augrc(ordered):
    """Trapezoids under the share of all rows' loss that the first k rows have, from k = 0."""
    n = len(ordered)
    joint = [ordered[:k].sum() / n for k in range(n + 1)]
    return sum((joint[k] + joint[k + 1]) / 2 / n for k in range(n))


def test_curve_by_hand():
    coverages, risks, thresholds = risk_coverage_curve([1, 0, 4, 1], [0.3, 0.1, 0.9, 0.5])

    # Answered in the order 0, 1, 1, 4.
    np.testing.assert_allclose(coverages, [1 / 4, 2 / 4, 3 / 4, 1])
    np.testing.assert_allclose(risks, [0, 1 / 2, 2 / 3, 6 / 4])
    np.testing.assert_array_equal(thresholds, [0.1, 0.3, 0.5, 0.9])
    tied = risk_coverage_curve(LOSSES, TIED)  # tied rows enter together
    np.testing.assert_allclose(tied, [[3 / 6, 5 / 6, 1], [3 / 3, 6 / 5, 6.5 / 6], [1, 2, 3]])


def test_at_other_coverages_tied_rows_are_answered_in_random_order():
    """The first row is right; of the two tied ones a half is wrong; the last is wrong."""
    losses, estimates, coverages = [0, 1, 0, 1], [0.1, 0.2, 0.2, 0.9], [0.25, 0.5, 0.75, 1]
    same, risks, thresholds = risk_coverage_curve(losses, estimates, coverages=coverages)
    np.testing.assert_array_equal(same, coverages)
    np.testing.assert_allclose(risks, [0, 0.5 / 2, 1 / 3, 2 / 4])
    np.testing.assert_array_equal(thresholds, [0.1, 0.2, 0.2, 0.9])
    by_steps = risk_coverage_curve(losses, estimates)
    np.testing.assert_allclose(
        risk_coverage_curve(losses, estimates, coverages=by_steps[0]), by_steps
    )


@pytest.mark.parametrize("coverage", [0, 1.5])
def test_a_coverage_is_a_share_of_the_rows_and_not_none(coverage):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        risk_coverage_curve([0, 1], [0.1, 0.2], coverages=[coverage])


@pytest.mark.parametrize("estimates", [TIED, np.zeros(6), np.array([3.0, 1.0, 2.0, 0.0, 5.0, 4.0])])
@pytest.mark.parametrize(("metric", "area"), [(aurc_loss, plain_aurc), (augrc_loss, plain_augrc)])
def test_areas_are_the_mean_over_all_orders_of_tied_rows(metric, area, estimates):
    expected = mean_over_orders(area, LOSSES, estimates)

    assert metric(LOSSES, estimates) == pytest.approx(expected, rel=1e-12)


@settings(deadline=None)
@given(BINARY)
def test_augrc_has_its_closed_form_in_error_rate_and_auroc(rows):
    wrong, estimates = arrays(rows)
    accuracy = 1 - wrong.mean()
    auroc = roc_auc_score(wrong, estimates)

    # Traub et al. 2024.
    expected = (1 - auroc) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    assert augrc_loss(wrong, estimates) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(BINARY)
def test_error_auroc_is_that_of_scikit_learn_and_counts_pairs(rows):
    wrong, estimates = arrays(rows)

    gaps = estimates[wrong == 1][:, None] - estimates[wrong == 0]
    score = error_auroc_score(wrong, estimates)
    assert score == roc_auc_score(wrong, estimates)
    assert score == pytest.approx(((gaps > 0) + (gaps == 0) / 2).mean())


@settings(deadline=None)
@given(ROWS)
def test_no_order_is_better_than_that_of_the_losses(rows):
    losses, estimates = arrays(rows)

    assert excess_aurc_loss(losses, losses) == 0.0
    assert excess_aurc_loss(losses, estimates) >= -1e-12
    assert augrc_loss(losses, estimates) >= augrc_loss(losses, losses) - 1e-12


def test_weighted_auroc_counts_weighted_pairs():
    # Pairs: (wrong 0.2, right 0.1) weighs 3 · 1, (wrong 0.2, right 0.3) weighs 3 · 2.
    score = error_auroc_score([0, 1, 0], [0.1, 0.2, 0.3], sample_weight=[1, 3, 2])

    assert score == pytest.approx(3 / 9)


@pytest.mark.parametrize(
    ("errors", "weights", "kind"), [([True, True], None, "wrong"), ([0, 1], [1, 0], "right")]
)
def test_without_two_kinds_there_is_no_auroc(errors, weights, kind):
    with pytest.warns(UndefinedMetricWarning, match=f"All predictions are {kind}"):
        assert np.isnan(error_auroc_score(errors, [0.1, 0.2], sample_weight=weights))
