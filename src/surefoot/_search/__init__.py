"""Neighbour search for rows and series: metrics, number of neighbours, exact search, neighbour lists."""

from surefoot._search._known_lists import KnownLists, knowing, known_part, row_keys
from surefoot._search._lists import complete_lists, drop_own, restrict_lists
from surefoot._search._metric import Metric, canonical_metric, check_neighbor_metric
from surefoot._search._n_neighbors import log_n_neighbors, resolve_n_neighbors
from surefoot._search._series import (
    UNBOUNDED,
    SeriesBatch,
    check_path_exists,
    check_same_channels,
    check_series,
    window_radius,
)
from surefoot._search._sparse_search import (
    SparseNeighbors,
    canonical,
    csr_parts,
    neighbor_search,
    unit_rows,
)

__all__ = [
    "UNBOUNDED",
    "KnownLists",
    "Metric",
    "SeriesBatch",
    "SparseNeighbors",
    "canonical",
    "canonical_metric",
    "check_neighbor_metric",
    "check_path_exists",
    "check_same_channels",
    "check_series",
    "complete_lists",
    "csr_parts",
    "drop_own",
    "knowing",
    "known_part",
    "log_n_neighbors",
    "neighbor_search",
    "resolve_n_neighbors",
    "restrict_lists",
    "row_keys",
    "unit_rows",
    "window_radius",
]
