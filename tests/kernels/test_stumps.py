"""The kernels find what trying every split finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from surefoot._kernels import (
    many_class_split,
    presort_columns,
    two_class_error_split,
    two_class_gini_split,
)

SEEDS = st.integers(0, 10**6)


def impurity(codes, weights, n_classes, by_error):
    """Weighted error of the majority, or weighted Gini impurity, of one side."""
    total = np.bincount(codes, weights, n_classes)
    if by_error:
        return total.sum() - total.max()
    return total.sum() - (total**2).sum() / total.sum() if total.sum() else 0.0


def impurity_of_split(columns, codes, weights, n_classes, column, value, by_error):
    left = columns[column] <= value
    return sum(impurity(codes[side], weights[side], n_classes, by_error) for side in (left, ~left))


def least_impurity(columns, codes, weights, n_classes, by_error):
    """Over all columns and all values but the largest."""
    return min(
        impurity_of_split(columns, codes, weights, n_classes, c, value, by_error)
        for c in range(len(columns))
        for value in np.unique(columns[c])[:-1]
    )


def data(seed, n_classes, n_rows=25):
    rng = np.random.default_rng(seed)
    columns = np.vstack([rng.normal(size=(2, n_rows)), rng.integers(0, 4, n_rows), np.ones(n_rows)])
    weights = rng.exponential(size=n_rows)
    return columns, rng.integers(0, n_classes, n_rows), weights / weights.sum()


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 4), st.booleans())
def test_the_best_split_is_that_of_trying_them_all(seed, n_classes, by_error):
    columns, codes, weights = data(seed, n_classes)
    order, cuts = presort_columns(columns)
    splits = [many_class_split(order, cuts, codes, weights, n_classes, by_error)]
    if n_classes == 2:
        split = two_class_error_split if by_error else two_class_gini_split
        splits.append(split(order, cuts, np.where(codes == 1, weights, -weights)))
    expected = least_impurity(columns, codes, weights, n_classes, by_error)
    whole = impurity(codes, weights, n_classes, by_error)
    for column, place in splits:
        if column < 0:
            assert expected > whole - 1e-9
            continue
        value = columns[column, order[column, place]]
        got = impurity_of_split(columns, codes, weights, n_classes, column, value, by_error)
        assert_allclose(got, expected, atol=1e-10)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60))
def test_columns_are_sorted(values):
    column = np.array([values])
    order, cuts = presort_columns(column)
    assert_array_equal(np.sort(order[0]), np.arange(len(values)))
    sorted_values = column[0][order[0].astype(int)]
    assert_array_equal(sorted_values, sorted(values))
    assert not cuts[0, -1]
    assert_array_equal(cuts[0, :-1], sorted_values[1:] > sorted_values[:-1])


@pytest.mark.parametrize("split", [two_class_gini_split, two_class_error_split])
def test_nothing_to_split(split):
    order, cuts = presort_columns(np.ones((2, 6)))
    assert split(order, cuts, np.array([1.0, -1, 1, -1, 1, -1])) == (-1, -1)
    order, cuts = presort_columns(np.arange(12.0).reshape(2, 6))
    assert split(order, cuts, np.ones(6)) == (-1, -1)  # one class
    assert split(order, cuts, np.array([0, 0, 1.0, 0, 0, 0])) == (-1, -1)  # all weight on one row
