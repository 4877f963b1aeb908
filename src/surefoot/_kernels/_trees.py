"""Boosting of symmetric trees, mean and spread of the trees of a forest, and the best split of a tree of depth one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._kernels._compile import entry, kernel
from surefoot._typing import Floats, Ints, Mask

Bins = NDArray[np.uint8]
Order = NDArray[np.uint32]

# Gain that a split must have, relative to the slopes that it is made of: less is rounding.
LEAST_GAIN = 1e-12

# For stumps, which weigh classes by presorted columns.
# Share of the weight that a side must hold to count: less is what rounding leaves of nothing.
LEAST_SHARE = 1e-14
# Squared correlation with the class that a split must have: less is rounding.
LEAST_CORRELATION = 1e-24
# A split replaces the best so far if it is better by more than rounding, else ties would hang on it.
CLEARLY = 1 + 1e-11


class Forest(NamedTuple):
    """Trees as arrays, one after the other in one set of nodes, each with its nodes in the order of a walk.

    Attributes
    ----------
    columns : ndarray of int32
        Column that a node splits by, -1 for a leaf.
    thresholds : ndarray of float32
        A row with at most this value goes to the next node, any other to the node `onward`.
    onward : ndarray of int32
        That node, or for a leaf its place in `values`.
    values : ndarray of shape (n_leaves, n_outputs)
        Values of the leaves.
    roots : ndarray of int32
        First node of each tree.
    """

    columns: NDArray[np.int32]
    thresholds: NDArray[np.float32]
    onward: NDArray[np.int32]
    values: Floats
    roots: NDArray[np.int32]


def store_trees(trees: Sequence[Any]) -> Forest:
    """Trees of scikit-learn, by their `tree_`, as arrays; their thresholds are rounded down to numbers of 32 bits.

    scikit-learn compares rows of 32 bits, and such a number is at most the threshold if it is at most the rounded one.
    """
    counts = [tree.node_count for tree in trees]
    roots = np.cumsum([0, *counts])[:-1]
    columns = np.concatenate([tree.feature for tree in trees])
    exact = np.concatenate([tree.threshold for tree in trees])
    thresholds = exact.astype(np.float32)
    above = thresholds > exact
    thresholds[above] = np.nextafter(thresholds[above], np.float32(-np.inf))
    onward = np.concatenate([tree.children_right for tree in trees]) + np.repeat(roots, counts)
    leaves = columns < 0
    columns[leaves], thresholds[leaves], onward[leaves] = -1, 0, np.arange(leaves.sum())
    # Of shape (n_nodes, 1, n_classes) or (n_nodes, n_numbers, 1).
    values = np.concatenate([tree.value[tree.feature < 0] for tree in trees])
    values = values.reshape(len(values), -1)
    as_ints = (array.astype(np.int32) for array in (columns, onward, roots))
    columns, onward, roots = as_ints
    return Forest(columns, thresholds, onward, values, roots)


@entry
def mean_and_spread(forest: Forest, rows: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Mean and standard deviation over the trees of each row's leaf values, both (n_rows, n_outputs)."""
    n_rows, n_outputs = len(rows), forest.values.shape[1]
    means, squares = np.zeros((n_rows, n_outputs)), np.zeros((n_rows, n_outputs))
    for number, root in enumerate(forest.roots):  # one tree at a time, which stays in the cache
        for row in range(n_rows):
            node = root
            column = forest.columns[node]
            while column >= 0:
                is_low = rows[row, column] <= forest.thresholds[node]
                node = node + 1 if is_low else forest.onward[node]
                column = forest.columns[node]
            leaf = forest.onward[node]
            for i in range(n_outputs):
                away = forest.values[leaf, i] - means[row, i]
                means[row, i] += away / (number + 1)
                squares[row, i] += away * (forest.values[leaf, i] - means[row, i])
    return means, np.sqrt(squares / len(forest.roots))


def mean_and_spread_of_few(forest: Forest, rows: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """What `mean_and_spread` returns, to the bit, by NumPy: for some rows faster than importing numba."""
    nodes = np.repeat(forest.roots[:, None], len(rows), axis=1)
    while True:
        columns = forest.columns[nodes]
        is_inner = columns >= 0
        if not is_inner.any():
            break
        values = rows[np.arange(len(rows)), np.maximum(columns, 0)]
        is_low = values <= forest.thresholds[nodes]
        nodes = np.where(is_inner, np.where(is_low, nodes + 1, forest.onward[nodes]), nodes)
    means, squares = np.zeros((2, len(rows), forest.values.shape[1]))
    for number, leaves in enumerate(forest.onward[nodes]):
        away = forest.values[leaves] - means
        means += away / (number + 1)
        squares += away * (forest.values[leaves] - means)
    return means, np.sqrt(squares / len(forest.roots))


@entry
def sum_of_trees(
    features: NDArray[np.int16],
    thresholds: Floats,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    missing_left: Mask,
    values: Floats,
    roots: NDArray[np.int32],
    rows: Floats,
) -> Floats:
    """Sum over the trees of each row's leaf values; see `sum_over_trees` of the error estimators for the arrays."""
    total = np.zeros(len(rows))
    for root in roots:
        for row in range(len(rows)):
            node = root
            while features[node] >= 0:
                value = rows[row, features[node]]
                goes_left = missing_left[node] if np.isnan(value) else value <= thresholds[node]
                node = left[node] if goes_left else right[node]
            total[row] += values[node]
    return total


@entry
def boost_symmetric_trees(
    bins: Bins,
    targets: Floats,
    weights: Floats,
    start: Floats,
    drawn: Ints,
    considered: Ints,
    n_bins: int,
    rate: float,
    penalty: float,
    squared: bool,
) -> tuple[Ints, Ints, Floats]:
    """Columns and bins of the splits, (n_rounds, depth), and values of the leaves, (n_rounds, 2^depth, n_outputs).

    `bins` has a line for each column; `targets`, (n_rows, n_outputs), are shares of each output: one output is a
    two-class model by its log-odds, several are classes by a softmax. If `squared`, targets are numbers, and the loss
    is half of the squared error. `start` are the outputs before the first round.
    `drawn`, (n_rounds, n_drawn), are the rows that each tree learns from, and `considered`, (n_rounds, depth,
    n_candidates), the columns that each of its levels may split by. A row goes to the upper
    half of the leaves of its node if its bin is above that of the split; -1 as a column is no split: all rows stay in
    the lower half. Each round is a Newton step of `rate`, with `penalty` added to the curvature of each leaf.
    """
    n_rows, n_outputs = targets.shape
    n_rounds, depth, _ = considered.shape
    columns = np.full((n_rounds, depth), -1, np.int64)
    cuts = np.zeros((n_rounds, depth), np.int64)
    leaves = np.zeros((n_rounds, 1 << depth, n_outputs))
    outputs = np.empty((n_rows, n_outputs))
    outputs[:] = start
    slopes = np.empty((n_rows, 2 * n_outputs))
    sums = np.empty((1 << depth, n_bins, 2 * n_outputs))
    for turn in range(n_rounds):
        _write_slopes(outputs, targets, weights, slopes, squared)
        nodes = np.zeros(n_rows, np.int64)
        for level in range(depth):
            column, cut = _best_split(
                bins,
                drawn[turn],
                nodes,
                slopes,
                considered[turn, level],
                sums[: 1 << level],
                penalty,
            )
            columns[turn, level], cuts[turn, level] = column, cut
            for row in range(n_rows):
                above = column >= 0 and bins[column, row] > cut
                nodes[row] = 2 * nodes[row] + above
        _leaf_values(drawn[turn], nodes, slopes, leaves[turn], rate, penalty)
        for row in range(n_rows):
            outputs[row] += leaves[turn, nodes[row]]
    return columns, cuts, leaves


@kernel
def _write_slopes(
    outputs: Floats, targets: Floats, weights: Floats, slopes: Floats, squared: bool
) -> None:
    """Write slope and curvature of the weighted loss by each output, in turns."""
    n_rows, n_outputs = targets.shape
    if squared:
        for row in range(n_rows):
            for i in range(n_outputs):
                slopes[row, 2 * i] = weights[row] * (outputs[row, i] - targets[row, i])
                slopes[row, 2 * i + 1] = weights[row]
        return
    shares = np.empty(n_outputs)
    for row in range(n_rows):
        if n_outputs == 1:
            shares[0] = 1 / (1 + np.exp(-outputs[row, 0]))
        else:
            shares[:] = np.exp(outputs[row] - outputs[row].max())
            shares /= shares.sum()
        for i in range(n_outputs):
            slopes[row, 2 * i] = weights[row] * (shares[i] - targets[row, i])
            slopes[row, 2 * i + 1] = weights[row] * shares[i] * (1 - shares[i])


@kernel
def _best_split(
    bins: Bins,
    drawn: Ints,
    nodes: Ints,
    slopes: Floats,
    considered: Ints,
    sums: Floats,
    penalty: float,
) -> tuple[int, int]:
    """Column and bin that lower the loss most if all nodes are split by them; (-1, 0) if none lowers it."""
    n_nodes, n_bins, n_sums = sums.shape
    totals = _sums_by_node(drawn, nodes, slopes, n_nodes)
    best, best_column, best_cut = LEAST_GAIN * (1 + (totals**2).sum()), -1, 0
    gains = np.empty(n_bins)
    for column in considered:
        sums[:] = 0
        _add_by_bin(bins[column], drawn, nodes, slopes, sums)
        gains[:] = 0
        for node in range(n_nodes):
            for i in range(0, n_sums, 2):
                _add_gains(sums[node], i, totals[node], penalty, gains)
        for cut in range(n_bins - 1):
            if gains[cut] > best * (1 + 1e-9):
                best, best_column, best_cut = gains[cut], column, cut
    return best_column, best_cut


@kernel
def _add_by_bin(
    places: NDArray[np.uint8], drawn: Ints, nodes: Ints, slopes: Floats, sums: Floats
) -> None:
    """Add the slopes and curvatures of each row to those of its node and bin."""
    n_sums = slopes.shape[1]
    if n_sums == 2:
        for row in drawn:
            node, place = nodes[row], places[row]
            sums[node, place, 0] += slopes[row, 0]
            sums[node, place, 1] += slopes[row, 1]
        return
    for row in drawn:
        node, place = nodes[row], places[row]
        for i in range(n_sums):
            sums[node, place, i] += slopes[row, i]


@kernel
def _add_gains(sums: Floats, i: int, totals: Floats, penalty: float, gains: Floats) -> None:
    """Add what each split of a node lowers twice the loss by, for the output whose slopes are at place i."""
    slope, bend = totals[i], totals[i + 1]
    if bend == 0:
        return
    whole = slope * slope / (bend + penalty)
    low_slope, low_bend = 0.0, 0.0
    for cut in range(len(gains) - 1):
        low_slope += sums[cut, i]
        low_bend += sums[cut, i + 1]
        high_slope, high_bend = slope - low_slope, max(bend - low_bend, 0.0)
        low, high = low_bend + penalty, high_bend + penalty
        gains[cut] += (low_slope * low_slope * high + high_slope * high_slope * low) / (
            low * high
        ) - whole


@kernel
def _sums_by_node(drawn: Ints, nodes: Ints, slopes: Floats, n_nodes: int) -> Floats:
    """Sums of the slopes and curvatures of each node."""
    sums = np.zeros((n_nodes, slopes.shape[1]))
    for row in drawn:
        for i in range(slopes.shape[1]):
            sums[nodes[row], i] += slopes[row, i]
    return sums


@kernel
def _leaf_values(
    drawn: Ints, nodes: Ints, slopes: Floats, values: Floats, rate: float, penalty: float
) -> None:
    """Write the Newton step of each leaf."""
    sums = _sums_by_node(drawn, nodes, slopes, len(values))
    for leaf in range(len(values)):
        for i in range(values.shape[1]):
            values[leaf, i] = -rate * sums[leaf, 2 * i] / (sums[leaf, 2 * i + 1] + penalty)


def presort_columns(columns: Floats) -> tuple[Order, Mask]:
    """Rows of each column by ascending value, and whether the value at a place is below the next.

    `columns` has a line for each column.
    """
    order = np.argsort(columns, axis=1)
    ranked = np.take_along_axis(columns, order, axis=1)
    cuts = np.zeros(columns.shape, np.bool_)
    cuts[:, :-1] = ranked[:, :-1] < ranked[:, 1:]
    return order.astype(np.uint32), cuts


@entry
def two_class_gini_split(order: Order, cuts: Mask, signed: Floats) -> tuple[int, int]:
    """Column and place of the split that minimises weighted Gini impurity, (-1, -1) if none does.

    `signed` is each row's weight, negative for the first class. With W and B the sums of |signed|
    and of signed over all rows, L and D over those on the left, the impurity falls with
    D²/L + (B − D)²/(W − L) = B²/W + W·(D − L·B/W)² / (L(W − L)); no division unless it is the best.
    """
    n_columns, n_rows = order.shape
    weight = np.abs(signed).sum()
    share = signed.sum() / weight
    least = LEAST_SHARE * weight
    best_column, best_place, best = -1, -1, LEAST_CORRELATION
    for column in range(n_columns):
        rows, may_cut = order[column], cuts[column]
        left, lead = 0.0, 0.0
        for place in range(n_rows - 1):
            moved = signed[rows[place]]
            left += abs(moved)
            lead += moved
            gap, right = lead - share * left, weight - left
            if gap * gap > best * (left * right) and may_cut[place] and right > least < left:
                best = gap * gap / (left * right) * CLEARLY
                best_column, best_place = column, place
    return best_column, best_place


@entry
def two_class_error_split(order: Order, cuts: Mask, signed: Floats) -> tuple[int, int]:
    """Column and place of the split that minimises the weighted error of the majorities, (-1, -1) if none does.

    `signed` is as in `two_class_gini_split`; the error falls with |D| + |B − D|.
    """
    n_columns, n_rows = order.shape
    balance = signed.sum()
    best_column, best_place = -1, -1
    best = abs(balance) * CLEARLY
    for column in range(n_columns):
        lead = 0.0
        for place in range(n_rows - 1):
            lead += signed[order[column, place]]
            if cuts[column, place]:
                gain = abs(lead) + abs(balance - lead)
                if gain > best:
                    best, best_column, best_place = gain * CLEARLY, column, place
    return best_column, best_place


@entry
def many_class_split(
    order: Order, cuts: Mask, codes: Ints, weights: Floats, n_classes: int, by_error: bool
) -> tuple[int, int]:
    """Column and place of the best split for any number of classes, by weighted Gini impurity or error.

    The sums of squared class weights change by one class at a time, so a place costs the same for
    any number of classes; the majorities are looked for at each place.
    """
    n_columns, n_rows = order.shape
    total = np.bincount(codes, weights, n_classes)
    weight, squares = total.sum(), (total * total).sum()
    least = LEAST_SHARE * weight
    best_column, best_place = -1, -1
    best = (total.max() if by_error else squares / weight) * CLEARLY
    for column in range(n_columns):
        left, right = np.zeros(n_classes), total.copy()
        left_weight, left_squares, right_squares = 0.0, 0.0, squares
        for place in range(n_rows - 1):
            row = order[column, place]
            moved, code = weights[row], codes[row]
            left_squares += moved * (2 * left[code] + moved)
            right_squares -= moved * (2 * right[code] - moved)
            left[code] += moved
            right[code] -= moved
            left_weight += moved
            if cuts[column, place]:
                right_weight = weight - left_weight
                if left_weight > least and right_weight > least:
                    if by_error:
                        gain = left.max() + right.max()
                    else:
                        gain = left_squares / left_weight + right_squares / right_weight
                    if gain > best:
                        best, best_column, best_place = gain * CLEARLY, column, place
    return best_column, best_place
