"""Boosting of symmetric trees: every node of a level has the same split, so that a leaf is a row of bits."""

import numpy as np
from numpy.typing import NDArray

from surefoot._kernels._compile import entry, kernel
from surefoot._typing import Floats, Ints

Bins = NDArray[np.uint8]

# Gain that a split must have, relative to the slopes that it is made of: less is rounding.
LEAST_GAIN = 1e-12


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
