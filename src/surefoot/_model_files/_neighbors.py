"""Stored rows and KD-trees: the search reads them at the places that they name themselves."""

from typing import Any

import numpy as np
from sklearn.neighbors import KDTree

from surefoot._model_files._refusal import require

ASTRAY = "the KD-tree in it leads astray"
OTHER_ROWS = "the stored rows in it do not fit each other"


def check_kd_tree(tree: Any) -> None:
    """Refuse a KD-tree that points at rows or nodes that there are not."""
    data, indices, nodes, bounds, *_, metric, weights = tree.__getstate__()
    n_rows, n_columns = data.shape
    n_nodes = tree.__getstate__()[6]
    require(type(metric).__name__ == "EuclideanDistance64" and weights is None, ASTRAY)
    require(n_rows >= 1 and np.array_equal(np.sort(indices), np.arange(n_rows)), ASTRAY)
    require(len(nodes) == n_nodes >= 1 and bounds.shape == (2, n_nodes, n_columns), ASTRAY)
    start, stop = nodes["idx_start"], nodes["idx_end"]
    require(((start >= 0) & (start <= stop) & (stop <= n_rows)).all(), ASTRAY)
    # The children of node i are nodes 2i + 1 and 2i + 2.
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    require((2 * inner + 2 < n_nodes).all(), ASTRAY)


def check_neighbors(model: Any) -> None:
    """Refuse a neighbour search whose rows, tree and labels do not fit each other."""
    own = vars(model)
    if "_fit_X" not in own:
        return
    rows, tree = own["_fit_X"], own.get("_tree")
    is_table = isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "biuf"
    require(is_table and len(rows) == own["n_samples_fit_"], OTHER_ROWS)
    require(rows.shape[1] == own["n_features_in_"], OTHER_ROWS)
    require(own["_fit_method"] in ("brute", "kd_tree"), OTHER_ROWS)
    if tree is not None or own["_fit_method"] == "kd_tree":
        require(isinstance(tree, KDTree) and tree.data.shape == rows.shape, OTHER_ROWS)
    if "_y" in own:
        require(len(own["_y"]) == len(rows), OTHER_ROWS)
        if "classes_" in own:
            check_codes(own["_y"], own["classes_"])


def check_codes(codes: Any, classes: Any) -> None:
    """Refuse labels of neighbours that stand for no class."""
    several = isinstance(classes, list)
    columns = codes.T if several else [codes]
    names = classes if several else [classes]
    require(len(columns) == len(names), OTHER_ROWS)
    for column, known in zip(columns, names, strict=True):
        require(column.dtype.kind in "iu" and column.ndim == 1 and column.size > 0, OTHER_ROWS)
        require(0 <= column.min() <= column.max() < len(known), OTHER_ROWS)


def check_k_means(model: Any) -> None:
    """Refuse clusters that have other columns than the rows."""
    centers = vars(model).get("cluster_centers_")
    if centers is not None:
        is_table = isinstance(centers, np.ndarray) and centers.dtype.kind == "f"
        require(is_table and centers.ndim == 2 and len(centers) > 0, OTHER_ROWS)
        require(centers.shape[1] == model.n_features_in_, OTHER_ROWS)


CHECKS_OF_NEIGHBORS = {
    "sklearn.cluster._kmeans._BaseKMeans": check_k_means,
    "sklearn.neighbors._base.NeighborsBase": check_neighbors,
    "sklearn.neighbors._kd_tree.KDTree": check_kd_tree,
}
