"""Exact nearest time series under dynamic time warping; lower bounds spare most of the computation."""

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import partial
from math import ceil
from numbers import Integral
from typing import Any, Literal, Self, overload

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar, gen_batches
from sklearn.utils.validation import check_is_fitted

from surefoot._kernels import Stored, aligned_neighbors, search, store_series
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import NeighborSearch
from surefoot.time_series._series import (
    UNBOUNDED,
    NeighborLists,
    SeriesBatch,
    check_path_exists,
    check_same_channels,
    check_series,
    row_keys,
    window_radius,
)

# Series in a batch of queries. A compiled call cannot be interrupted, so a batch must not be large. With many
# batches all threads end together; with too many, starting them takes long.
LARGEST_BATCH = 64
SMALLEST_BATCH = 8
SHARES_PER_THREAD = 16

# Length of neighbour lists, as a multiple of what a part of the rows needs on the mean: few lists are then too short.
SPARE = 1.4


class DTWNeighbors(NeighborSearch, BaseEstimator):
    """Nearest training series of each series by DTW distance; nearest first, lower is nearer.

    The distance is the square root of the least sum of squared gaps over all warping paths,
    dependent over channels. The search is exact, ties go to the lower index, and needs memory
    linear in the data: lower bounds rule most series out, and the recurrence is stopped as soon
    as it must exceed the k-th best distance so far.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours that :meth:`kneighbors` returns by default.
    window : int, float or None, default=None
        Sakoe-Chiba radius: how many steps (int) two matched points may lie apart; a float is that
        fraction of the longest training series, rounded down; None sets no limit.
    n_jobs : int, default=None
        Number of threads over the queries. None means 1 unless in a :obj:`joblib.parallel_config` context.

    Attributes
    ----------
    radius_ : int or None
        Sakoe-Chiba radius in steps; None without a window.
    n_samples_fit_ : int
        Number of training series.
    n_features_in_ : int
        Length of the training series, where they came as a 2-D array.

    Examples
    --------
    >>> from surefoot.time_series import DTWNeighbors
    >>> X = [[0, 0, 1, 0], [0, 1, 0, 0], [2, 2, 2, 2]]
    >>> neighbors = DTWNeighbors(n_neighbors=1).fit(X)
    >>> distance, index = neighbors.kneighbors([[1, 2, 2, 2]])
    >>> distance, index
    (array([[1.]]), array([[2]]))
    >>> neighbors.kneighbors(return_distance=False)  # the training series, self excluded
    array([[1],
           [0],
           [0]])
    """

    # A model of series searches again at each sample, which is slow.
    n_stability = 3

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        window: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.window = window
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check and store the training series, with their envelopes.

        Parameters
        ----------
        X : array of shape (cases, time) or (cases, channels, time), or list of series
            Training series; a list holds series of unequal lengths, 1-D or (channels, time).
        y : None
            Ignored.

        Returns
        -------
        self : DTWNeighbors
        """
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        self._batch = check_series(X, self)
        self.n_samples_fit_ = len(self._batch)
        self.radius_ = window_radius(self.window, int(self._batch.lengths.max()))
        check_path_exists(self.radius_, self._batch.lengths, self._batch.lengths)
        self._stored = self._with_envelopes(self._batch)
        self._lists: NeighborLists | None = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        """State to save, without lists that only save time while a table is cross-fitted."""
        state = super().__getstate__()
        return {**state, "_lists": None} if "_lists" in state else state

    def aligned(self, rows: Any, reference: Any, near: Ints, distances: Floats) -> Floats:
        """Neighbours, warped to each series."""
        series, others = np.ascontiguousarray(rows), np.ascontiguousarray(reference)
        lists = np.ascontiguousarray(near), np.ascontiguousarray(distances)
        warped = aligned_neighbors(series, others, *lists, self._steps())
        return warped.reshape(*near.shape, -1)

    def part(self, positions: Ints) -> "DTWNeighbors":
        """Search among some of the series, which are not copied; it reads known lists where these reach."""
        part, stored = copy(self), self._stored
        part.__dict__.pop("feature_names_in_", None)  # of the table that the series came in
        part.__dict__.update(
            n_samples_fit_=len(positions),
            _batch=self._batch.part(positions),
            _stored=stored._replace(
                starts=stored.starts[positions], lengths=stored.lengths[positions]
            ),
            _lists=None if self._lists is None else self._lists.part(positions),
        )
        return part

    def prepare_parts(self, n_neighbors: int, n_rows: int) -> None:
        """Search the nearest series of all series once, for searches of these among parts of about `n_rows`."""
        if self._lists is not None or not hasattr(self, "n_features_in_"):
            return
        batch, n_points = self._batch, int(self._batch.lengths[0])
        places = batch.starts[:, None] + np.arange(n_points)
        rows = batch.values[places]
        if batch.n_channels > 1 or len(set(row_keys(rows))) < len(rows):
            return
        length = min(len(rows), ceil(SPARE * n_neighbors * len(rows) / n_rows) + 1)
        everything = self.part(np.arange(len(rows)))
        self._lists = NeighborLists(rows, *everything.kneighbors(rows, length))

    def is_fitted_on(self, X: Any) -> bool:
        """Whether the training series are these, in this order; X is a 2-D array."""
        others = check_series(X)
        return bool(
            np.array_equal(self._batch.lengths, others.lengths)
            and np.array_equal(self._batch.values, others.values)
        )

    def _steps(self) -> int:
        return UNBOUNDED if self.radius_ is None else self.radius_

    def _with_envelopes(self, batch: SeriesBatch) -> Stored:
        return store_series(
            batch.values, batch.starts, batch.lengths, batch.n_channels, self._steps()
        )

    @overload
    def kneighbors(
        self, X: Any = ..., n_neighbors: int | None = ..., return_distance: Literal[True] = ...
    ) -> tuple[Floats, Ints]: ...

    @overload
    def kneighbors(
        self, X: Any = ..., n_neighbors: int | None = ..., *, return_distance: Literal[False]
    ) -> Ints: ...

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Ints | tuple[Floats, Ints]:
        """Find the nearest training series; nearest first, equal distances by index.

        Parameters
        ----------
        X : array or list of series, default=None
            Query series, in any form that `fit` takes. None means each of the training series,
            which is then not its own neighbour.
        n_neighbors : int, default=None
            Neighbours per query; None means the constructor's.
        return_distance : bool, default=True
            Whether to return the distances before the indices.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            DTW distances, only if `return_distance`.
        indices : ndarray of shape (n_queries, n_neighbors)
            Positions in the training series.
        """
        check_is_fitted(self)
        wanted = self._check_n_neighbors(n_neighbors, exclude_self=X is None)
        queries = self._batch if X is None else self._check_queries(X)
        own = np.arange(len(queries)) if X is None else np.full(len(queries), -1)
        known = None if self._lists is None else self._lists.nearest(X, wanted)
        if known is None:
            distances, indices = self._search(queries, own, wanted)
        else:  # the lists may be too short for some
            distances, indices, short = known
            if len(short):
                again = self._search(queries.part(short), own[short], wanted)
                distances[short], indices[short] = again
        return (distances, indices) if return_distance else indices

    def _check_n_neighbors(self, n_neighbors: int | None, *, exclude_self: bool) -> int:
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        check_scalar(wanted, "n_neighbors", Integral, min_val=1)
        available = self.n_samples_fit_ - exclude_self
        if wanted > available:
            others = "other training series" if exclude_self else "training series"
            raise ValueError(
                f"n_neighbors={wanted} is more than there are {others}: it may be at most "
                f"{available}, with n_samples_fit = {self.n_samples_fit_}."
            )
        return int(wanted)

    def _check_queries(self, X: Any) -> SeriesBatch:
        reset = not hasattr(self, "n_features_in_")
        queries = check_series(X, None if reset else self, reset=False)
        check_same_channels(queries, self._batch.n_channels)
        check_path_exists(self.radius_, queries.lengths, self._batch.lengths)
        return queries

    def _search(self, queries: SeriesBatch, own: Ints, wanted: int) -> tuple[Floats, Ints]:
        """Distances and indices of the nearest series; `own` is the position of a query itself, or −1."""
        distances = np.empty((len(queries), wanted))
        indices = np.empty((len(queries), wanted), dtype=np.int64)
        n_threads = effective_n_jobs(self.n_jobs)
        shares = SHARES_PER_THREAD * n_threads
        size = min(LARGEST_BATCH, max(SMALLEST_BATCH, len(queries) // shares))
        # Threads on shared arrays, whatever the joblib backend: joblib's own threads take 12 ms to return,
        # which is as long as many searches.
        threads = ThreadPoolExecutor(n_threads)
        work = partial(self._search_batch, self._with_envelopes(queries), own, distances, indices)
        try:
            for _ in threads.map(work, gen_batches(len(queries), size)):
                pass  # an error in a thread is raised here
        finally:
            threads.shutdown(cancel_futures=True)  # an interrupt waits for one batch, not for all
        return np.sqrt(distances, out=distances), indices

    def _search_batch(
        self, queries: Stored, own: Ints, costs: Floats, indices: Ints, rows: slice
    ) -> None:
        """Fill the squared distances and the indices of one batch of queries."""
        batch = queries._replace(starts=queries.starts[rows], lengths=queries.lengths[rows])
        search(batch, own[rows], self._stored, self._steps(), costs[rows], indices[rows])
