"""Boosted symmetric trees take the steps that trying every split takes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.ensemble import ExtraTreesClassifier

from surefoot._kernels import (
    boost_symmetric_trees,
    mean_and_spread,
    mean_and_spread_of_few,
    points_between,
    store_trees,
)
from surefoot._models import interpolate

PENALTY, RATE = 0.7, 0.3


def slopes_and_curvatures(outputs, targets, weights, squared=False):
    """Derivatives of the log loss, or of half of the squared error, by each output."""
    if squared:
        return weights[:, None] * (outputs - targets), np.broadcast_to(
            weights[:, None], outputs.shape
        )
    shares = expit(outputs) if outputs.shape[1] == 1 else softmax(outputs, axis=1)
    return weights[:, None] * (shares - targets), weights[:, None] * shares * (1 - shares)


def gain_of(leaf, slopes, bends):
    """Sum over leaves and outputs of G² / (H + penalty)."""
    gain = 0.0
    for code in np.unique(leaf):
        mine = leaf == code
        gain += (slopes[mine].sum(axis=0) ** 2 / (bends[mine].sum(axis=0) + PENALTY)).sum()
    return gain


def plain_levels(bins, targets, weights, outputs, rows, considered, n_bins, squared):
    """Outputs after one tree, whose splits are found by trying all of them."""
    slopes, bends = slopes_and_curvatures(outputs, targets, weights, squared)
    leaf = np.zeros(len(targets), dtype=int)
    for columns in considered:
        tried = [
            (gain_of(2 * leaf[rows] + (bins[c][rows] > cut), slopes[rows], bends[rows]), -c, -cut)
            for c in columns
            for cut in range(n_bins - 1)
        ]
        _, column, cut = max(tried)
        leaf = 2 * leaf + (bins[-column] > -cut)
    after = outputs.copy()
    for code in np.unique(leaf):
        mine = rows[leaf[rows] == code]
        step = -RATE * slopes[mine].sum(axis=0) / (bends[mine].sum(axis=0) + PENALTY)
        after[leaf == code] += step
    return after


def outputs_of(bins, start, columns, cuts, leaves):
    """Outputs of fitted trees, node by node."""
    outputs = np.tile(start, (bins.shape[1], 1))
    for splits, places, values in zip(columns, cuts, leaves, strict=True):
        leaf = np.zeros(bins.shape[1], dtype=int)
        for column, place in zip(splits, places, strict=True):
            leaf = 2 * leaf + ((bins[column] > place) if column >= 0 else 0)
        outputs += values[leaf]
    return outputs


@pytest.mark.parametrize(("n_classes", "squared"), [(2, False), (3, False), (2, True)])
def test_two_rounds_of_two_levels_on_drawn_rows(n_classes, squared):
    random = np.random.default_rng(n_classes)
    bins = random.integers(0, 6, (3, 40)).astype(np.uint8)
    codes = random.integers(0, n_classes, 40)
    targets = np.eye(n_classes)[codes][:, (1 if n_classes == 2 else 0) :]
    if squared:
        targets = random.normal(size=targets.shape)
    weights, start = random.uniform(0.5, 2, 40), np.zeros(targets.shape[1])
    drawn = np.array([np.arange(0, 40, 2), np.arange(1, 40, 2)])
    considered = np.array([[[0, 1, 2], [0, 2, 2]], [[1, 1, 2], [0, 1, 2]]])
    columns, cuts, leaves = boost_symmetric_trees(
        bins, targets, weights, start, drawn, considered, 6, RATE, PENALTY, squared
    )
    assert set(columns[0, 1:]) <= {0, 2}
    assert set(columns[1, :1]) <= {1, 2}
    found = outputs_of(bins, start, columns, cuts, leaves)
    expected = np.tile(start, (40, 1))
    for turn in range(2):
        expected = plain_levels(
            bins, targets, weights, expected, drawn[turn], considered[turn], 6, squared
        )
    assert_allclose(found, expected)


def test_columns_that_tell_nothing_split_nothing():
    bins, targets = np.zeros((2, 8), dtype=np.uint8), np.tile([[0.0], [1.0]], (4, 1))
    drawn, considered = np.arange(8)[None], np.array([[[0, 1]]])
    columns, _, leaves = boost_symmetric_trees(
        bins, targets, np.ones(8), np.zeros(1), drawn, considered, 4, RATE, PENALTY, False
    )
    assert_array_equal(columns, [[-1]])
    assert_allclose(leaves, 0, atol=1e-15)


def test_a_few_rows_walk_through_trees_by_numpy_to_the_bit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 3, 300)
    forest = store_trees([t.tree_ for t in ExtraTreesClassifier(20, random_state=0).fit(X, y)])
    rows = np.concatenate([rng.normal(size=(50, 5)), [[np.nan] * 5, [np.inf] * 5]])
    rows = rows.astype(np.float32)
    expected = mean_and_spread(forest, rows)
    assert_array_equal(mean_and_spread_of_few(forest, rows), expected)


def test_points_between_a_few_rows_are_those_of_the_loop_to_the_bit(monkeypatch):
    rng = np.random.default_rng(0)
    X, reference, steps = rng.normal(size=(30, 4)), rng.normal(size=(90, 4)), rng.random((30, 7))
    near = rng.integers(0, 90, (30, 7))
    expected = points_between(X, reference, near, steps)
    monkeypatch.setattr("surefoot._models._inputs.is_worth_compiling", lambda n_rows: False)
    assert_array_equal(interpolate(X, reference, near, steps), expected)
