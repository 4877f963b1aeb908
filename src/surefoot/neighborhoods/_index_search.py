"""Search of a neighbourhood index: its metric, and whether the model votes by the neighbours that it finds."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from surefoot._kernels import aligned_neighbors
from surefoot._models import MixedInput, ModelInput, series_model, series_window
from surefoot._search import UNBOUNDED, Metric, canonical_metric, check_neighbor_metric
from surefoot._search import neighbor_search as search_of_rows
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods._dtw import DTWNeighbors
from surefoot.neighborhoods._kernel_knn import KernelKNeighborsClassifier
from surefoot.neighborhoods._space import NeighborSpace


def resolve_series(
    model: Any, model_input: ModelInput, space: Any, metric: Metric, window: Any
) -> tuple[bool, Any]:
    """Whether rows are compared as series under DTW, and within which window.

    They are where `metric` is "dtw", or where it is "auto" and the model itself compares its input so.
    """
    check_neighbor_metric(metric, window)
    takes_series = not isinstance(model_input, MixedInput) and not issparse(model_input.rows)
    if isinstance(metric, str) and metric == "dtw":
        if not takes_series:
            raise ValueError(
                "metric='dtw' needs series: each row may be a series of numbers without gaps."
            )
        return True, window
    is_own = isinstance(metric, str) and metric == "auto" and isinstance(space, str)
    inner = series_model(model)
    if not (is_own and takes_series and inner is not None):
        return False, None
    return True, series_window(inner)


def resolve_metric(metric: Metric, model: Any, space: NeighborSpace) -> Metric:
    """Metric between rows that are no series; "auto" is that of a kernel model, else "cosine" for sparse rows."""
    if metric != "auto":
        return canonical_metric(metric)
    if isinstance(model, KernelKNeighborsClassifier) and space.is_model_input:
        return model.metric
    return "cosine" if issparse(space.rows) else "euclidean"


def neighbor_search(rows: Any, metric: Metric, window: Any, n_neighbors: int, n_jobs: Any) -> Any:
    """Exact search for the nearest of `rows`, with the method `kneighbors(X, n_neighbors=None)`."""
    if isinstance(metric, str) and metric == "dtw":
        return DTWNeighbors(n_neighbors, window=window, n_jobs=n_jobs).fit(rows)
    return search_of_rows(rows, metric, n_neighbors, n_jobs)


def own_series_search(model: Any, rows: Floats, window: Any) -> DTWNeighbors | None:
    """Search by which a fitted model lets these rows vote, if it votes by neighbour lists; else None."""
    search = getattr(model, "neighbors_", None)
    if not isinstance(search, DTWNeighbors) or not hasattr(model, "proba_of_lists"):
        return None
    fits = 0 < model.list_length <= len(rows) and search.window == window
    return search if fits and search.is_fitted_on(rows) else None


def align(
    rows: Floats, reference: Floats, near: Ints, distances: Floats, search: DTWNeighbors
) -> Floats:
    """Neighbours of each row in the row's time, (n * k, length), by the best path within the window of the search."""
    radius = UNBOUNDED if search.radius_ is None else search.radius_
    rows, reference = np.ascontiguousarray(rows), np.ascontiguousarray(reference)
    near, distances = np.ascontiguousarray(near), np.ascontiguousarray(distances)
    return aligned_neighbors(rows, reference, near, distances, radius)
