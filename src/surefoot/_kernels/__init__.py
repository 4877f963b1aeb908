"""Compiled loops: contiguous arrays in, arrays out; no validation and no randomness."""

from surefoot._kernels._cells import cell_votes, points_between, sparse_neighbor_dots
from surefoot._kernels._stumps import (
    many_class_split,
    presort_columns,
    side_weights,
    two_class_error_split,
    two_class_gini_split,
)

__all__ = [
    "cell_votes",
    "many_class_split",
    "points_between",
    "presort_columns",
    "side_weights",
    "sparse_neighbor_dots",
    "two_class_error_split",
    "two_class_gini_split",
]
