"""Compiled loops: contiguous arrays in, arrays out; no validation and no randomness."""

from surefoot._kernels._cells import cell_votes, points_between
from surefoot._kernels._compile import is_worth_compiling
from surefoot._kernels._dtw import Stored, aligned_neighbors, search, store_series
from surefoot._kernels._text import nearest_rows, sparse_cell_steps, sparse_cell_votes
from surefoot._kernels._trees import (
    Forest,
    boost_symmetric_trees,
    many_class_split,
    mean_and_spread,
    mean_and_spread_of_few,
    presort_columns,
    store_trees,
    sum_of_trees,
    two_class_error_split,
    two_class_gini_split,
)
from surefoot._typing import settle

__all__ = [
    "Forest",
    "Stored",
    "aligned_neighbors",
    "boost_symmetric_trees",
    "cell_votes",
    "is_worth_compiling",
    "many_class_split",
    "mean_and_spread",
    "mean_and_spread_of_few",
    "nearest_rows",
    "points_between",
    "presort_columns",
    "search",
    "sparse_cell_steps",
    "sparse_cell_votes",
    "store_series",
    "store_trees",
    "sum_of_trees",
    "two_class_error_split",
    "two_class_gini_split",
]

settle(__name__)
