"""Neighbour search for rows and series: metrics, number of neighbours, exact search, neighbour lists."""

from surefoot._homes import settle
from surefoot._search._lists import NeighborLists, complete_lists, drop_own, row_keys
from surefoot._search._rows import (
    Metric,
    NeighborSearch,
    RowSearch,
    SparseNeighbors,
    canonical,
    canonical_metric,
    check_neighbor_metric,
    csr_parts,
    log_n_neighbors,
    neighbor_search,
    resolve_n_neighbors,
    unit_rows,
)
from surefoot._search._series import (
    UNBOUNDED,
    SeriesBatch,
    check_path_exists,
    check_same_channels,
    check_series,
    window_radius,
)

__all__ = [
    "UNBOUNDED",
    "Metric",
    "NeighborLists",
    "NeighborSearch",
    "RowSearch",
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
    "log_n_neighbors",
    "neighbor_search",
    "resolve_n_neighbors",
    "row_keys",
    "unit_rows",
    "window_radius",
]

settle(__name__)
