"""Compiled loops: contiguous arrays in, arrays out; no validation and no randomness."""

from surefoot._kernels._cells import cell_votes, points_between, sparse_neighbor_dots

__all__ = ["cell_votes", "points_between", "sparse_neighbor_dots"]
