"""Steps from a row towards its neighbours that stay inside the row's Voronoi cell."""

from math import ceil, log2
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from surefoot._kernels import sparse_cell_steps
from surefoot._models import interpolate
from surefoot._parallel import in_threads, row_batches
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import Metric, canonical_metric, check_number
from surefoot.neighborhoods._search import canonical, csr_parts, unit_rows

# Rounding error of |d|² = 0 between two equal unit rows.
ZERO_SQUARE = 1e-30

# Rounding error of a bound 2 d_i·d_j/|d_j|² that is 2: of a copy of n_i, or of rows on a grid.
ROUNDING = 1e-12

# Smallest difference whose square, and the inverse of it, still have full precision.
SMALLEST = 1e-70

# Rows per batch, so few that their products stay in the processor's cache.
ROWS_IN_CACHE = 32


def voronoi_steps(
    X: Any, neighbors: Any, *, metric: Metric = "euclidean", tol: float = 1e-3
) -> Floats:
    """Largest steps from each row towards its neighbours that stay in its Voronoi cell, 0 to ½.

    For a row x and its neighbours n_1 … n_k, step β_i is the largest with x still at least as near
    to x + β_i(n_i − x) as any neighbour is. Given the k nearest training rows, the point is then in
    the Voronoi cell of x among *all* training rows: rows further away than n_i cannot limit the step.

    Parameters
    ----------
    X : array-like or CSR of shape (n_rows, n_columns)
        Rows to step from.
    neighbors : array-like of shape (n_rows, n_neighbors, n_columns)
        The nearest training rows of each row, in any order. As sparse matrices have two dimensions
        only, with a CSR `X` they are CSR of shape (n_rows * n_neighbors, n_columns), row by row.
    metric : str or callable, default="euclidean"
        "euclidean" and "cosine" have a closed form; under "cosine" steps are between the rows
        scaled to length one, and a zero row has steps of 0. Any other metric between rows of
        numbers that scikit-learn knows, or a function of two rows, is solved by bisection.
    tol : float, default=1e-3
        Accuracy of the bisection.

    Returns
    -------
    steps : ndarray of shape (n_rows, n_neighbors)
        The steps. A neighbour at distance zero limits no step and has step ½ itself.

    Notes
    -----
    With d_i = n_i − x, x is the nearest to x + βd_i iff ``β d_i·d_j ≤ |d_j|²/2`` for every j, so
    ``β_i = min |d_j|² / (2 d_i·d_j)`` over the j with ``d_i·d_j > 0``; j = i gives ½. Between unit
    vectors the condition under the cosine is the same. Bennett (2007, section 3) bisects for β_i.

    Examples
    --------
    The second neighbour lies behind the first, which limits the step towards it:

    >>> voronoi_steps([[0.0, 0.0]], [[[1.0, 0.0], [2.0, 0.0]]])
    array([[0.5 , 0.25]])
    """
    X, neighbors = _check_cells(X, neighbors)
    metric = canonical_metric(metric)
    check_number(tol, "tol", min_val=0, include_boundaries="neither")
    flat = neighbors if issparse(neighbors) else neighbors.reshape(-1, X.shape[1])
    near = np.arange(flat.shape[0]).reshape(X.shape[0], -1)
    return steps_towards(X, flat, near, metric, tol)


def voronoi_samples(
    X: Any, neighbors: Any, *, metric: Metric = "euclidean", tol: float = 1e-3
) -> Any:
    """Points on the border of each row's Voronoi cell, one on the way to each neighbour.

    Parameters are those of `voronoi_steps`.

    Returns
    -------
    samples : ndarray of shape (n_rows, n_neighbors, n_columns)
        x + β_i(n_i − x); under "cosine" of the rows scaled to length one. For CSR rows a CSR array
        of shape (n_rows * n_neighbors, n_columns).

    Examples
    --------
    >>> voronoi_samples([[0.0, 0.0]], [[[1.0, 0.0], [2.0, 2.0]]])
    array([[[0.5, 0. ],
            [0.5, 0.5]]])
    """
    steps = voronoi_steps(X, neighbors, metric=metric, tol=tol)
    X, neighbors = _check_cells(X, neighbors)
    if metric == "cosine":
        X, neighbors = _unit_rows(X), _unit_rows(neighbors)
    near = np.arange(steps.size).reshape(steps.shape)
    if issparse(neighbors):
        return interpolate(X, neighbors, near, steps)
    return interpolate(X, neighbors.reshape(-1, X.shape[1]), near, steps).reshape(neighbors.shape)


def steps_towards(X: Any, reference: Any, near: Ints, metric: Metric, tol: float = 1e-3) -> Floats:
    """Steps of `voronoi_steps` for checked rows, whose neighbours are the rows of `reference` at `near` (n, k)."""
    if hasattr(metric, "kneighbors"):  # a search of the user's own, which may have another metric
        metric = getattr(metric, "metric", "euclidean")
    if issparse(reference) and metric in ("euclidean", "cosine"):
        scaled = unit_rows if metric == "cosine" else canonical
        rows, others = csr_parts(scaled(X)), csr_parts(scaled(reference))
        near = np.ascontiguousarray(near)
        return sparse_cell_steps(rows, others, near, X.shape[1], metric == "cosine")
    steps = np.empty(near.shape)

    def fill(batch: slice) -> None:
        if metric == "euclidean":
            steps[batch] = _euclidean_steps(X[batch], reference[near[batch]])
        elif metric == "cosine":
            steps[batch] = _cosine_steps(X[batch], reference[near[batch]])
        else:
            steps[batch] = _bisected_steps(X[batch], reference, near[batch], metric, tol)

    n_bytes = 16 * near.shape[1] * (near.shape[1] + X.shape[1])
    in_threads(fill, row_batches(X.shape[0], n_bytes, ROWS_IN_CACHE))
    return steps


def _euclidean_steps(X: Floats, neighbors: Floats) -> Floats:
    """Steps of dense rows towards their neighbours (n, k, columns)."""
    towards = neighbors - X[:, None, :]
    # Steps do not depend on the scale, but squares of very small or large numbers lose precision.
    size = np.abs(towards).max(axis=(1, 2), keepdims=True, initial=0.0)
    if not (size.min(initial=1.0) > SMALLEST and size.max(initial=1.0) < 1 / SMALLEST):
        towards = np.divide(towards, size, out=towards, where=size > 0)
    gram = towards @ towards.transpose(0, 2, 1)
    return steps_from_products(gram, np.einsum("nkd,nkd->nk", towards, towards))


def _cosine_steps(X: Floats, neighbors: Floats) -> Floats:
    """Steps between dense rows scaled to length one; 0 for a zero row."""
    n_near = neighbors.shape[1]
    X, neighbors = _unit_rows(X), _unit_rows(neighbors)
    near = np.arange(len(X) * n_near).reshape(len(X), n_near)
    flat = neighbors.reshape(-1, X.shape[1])
    steps = steps_from_products(*difference_products(X, flat, near, n_near, unit=True))
    steps[_squared_lengths(X) == 0.0] = 0.0
    return steps


def _bisected_steps(X: Any, reference: Any, near: Ints, metric: Metric, tol: float) -> Floats:
    """Steps by bisection (Bennett 2007, section 3), for all directions of a row at once."""
    steps = np.empty(near.shape)
    for row in range(X.shape[0]):
        x, group = X[[row]], reference[near[row]]
        if issparse(group):
            x, group = x.toarray(), group.toarray()
        steps[row] = _bisect_row(x, group, metric, tol)
    return steps


def unscaled_steps(steps: Floats, lengths: Floats, near_lengths: Floats) -> Floats:
    """Steps between the original rows, from steps between the rows scaled to length one.

    (1 − β)x/|x| + βn/|n| has the direction of (1 − γ)x + γn for γ = β|x| / (β|x| + (1 − β)|n|). On the
    way to a zero row the direction does not change, and neither does the step.
    """
    start, end = steps * lengths[:, None], (1 - steps) * near_lengths
    total = np.where(end > 0, start + end, 1.0)
    return np.where(end > 0, start / total, steps)


def steps_from_products(gram: Floats, squares: Floats) -> Floats:
    """Steps β_i from d_i·d_j (n, k, ≥k) and |d_j|² (n, ≥k); a square of 0 or less limits no step."""
    n_samples = gram.shape[1]
    near = squares[:, :n_samples]
    # 1/β_i is the largest of 2 and all 2 d_i·d_j/|d_j|²; those with d_i·d_j ≤ 0 are below 2 anyway.
    scale = np.divide(2.0, near, out=np.zeros_like(near), where=near > np.finfo(float).tiny * 4)
    bounds = gram[:, :, :n_samples] * scale[:, None, :]
    np.einsum("nii->ni", bounds)[...] = 2.0  # j = i, whatever rounding made of it
    inverse = bounds.max(axis=2, initial=2.0)
    return np.where(inverse <= 2.0 + ROUNDING, 0.5, 1.0 / inverse)


def difference_products(
    X: Any, reference: Any, near: Ints, n_first: int, *, unit: bool = False
) -> tuple[Floats, Floats]:
    """Products d_i·d_j of the differences d_j = n_j − x, for the first `n_first` i and all j, and squares |d_j|².

    `near` (n, k) indexes the rows of `reference`. With `unit` both tables have rows of length one
    or zero, and zero rows get a square of −1: under the cosine they are at distance 1 and limit no step.
    """
    towards = reference[near] - X[:, None, :]
    gram = towards[:, :n_first] @ towards.transpose(0, 2, 1)
    squares = np.einsum("nkd,nkd->nk", towards, towards)
    if unit:
        squares[squares < ZERO_SQUARE] = 0.0
        squares[_squared_lengths(reference)[near] == 0.0] = -1.0
    return gram, squares


def _squared_lengths(rows: Floats) -> Floats:
    return np.einsum("nd,nd->n", rows, rows)


def _bisect_row(x: Floats, near: Floats, metric: Metric, tol: float) -> Floats:
    others = near[cdist(x, near, metric)[0] > 0.0]
    if len(others) == 0:
        return np.full(len(near), 0.5)

    def inside(steps: Floats) -> Mask:
        points = x + steps[:, None] * (near - x)
        nearest = cdist(points, others, metric).min(axis=1)
        return cdist(points, x, metric)[:, 0] <= nearest * (1 + 1e-12)

    low, high = np.zeros(len(near)), np.full(len(near), 0.5)
    low[inside(high)] = 0.5
    for _ in range(ceil(log2(max(0.5 / tol, 1)))):
        middle = (low + high) / 2
        within = inside(middle)
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return low


def _unit_rows(rows: Any) -> Any:
    """Rows scaled to length one, sparse or dense of any number of dimensions; zero rows stay."""
    if issparse(rows):
        return unit_rows(rows)
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    flat = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    return normalize(flat.reshape(-1, rows.shape[-1])).reshape(rows.shape)


def _check_cells(X: Any, neighbors: Any) -> tuple[Any, Any]:
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    neighbors = check_array(
        neighbors,
        accept_sparse="csr",
        dtype=np.float64,
        allow_nd=True,
        ensure_2d=False,
        input_name="neighbors",
    )
    fits = (
        neighbors.shape[0] % X.shape[0] == 0 and neighbors.shape[1] == X.shape[1]
        if issparse(neighbors)
        else neighbors.ndim == 3 and neighbors.shape[::2] == X.shape and not issparse(X)
    )
    if not fits:
        raise ValueError(
            f"neighbors of shape {neighbors.shape} do not fit X of shape {X.shape}: they may be an array of shape "
            "(n_rows, n_neighbors, n_columns) or, sparse, n_neighbors rows for every row of a sparse X."
        )
    return (csr_array(X), csr_array(neighbors)) if issparse(neighbors) else (X, neighbors)
