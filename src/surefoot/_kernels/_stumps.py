"""The best split of weighted classes over presorted columns: one pass a column, whatever the weights."""

import numpy as np
from numpy.typing import NDArray

from surefoot._kernels._compile import entry
from surefoot._typing import Floats, Ints, Mask

Order = NDArray[np.uint32]

# Share of the weight that a side must hold to count: less is what rounding leaves of nothing.
LEAST_SHARE = 1e-14
# Squared correlation with the class that a split must have: less is rounding.
LEAST_GAIN = 1e-24
# A split replaces the best so far if it is better by more than rounding, else ties would hang on it.
CLEARLY = 1 + 1e-11


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
    best_column, best_place, best = -1, -1, LEAST_GAIN
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
