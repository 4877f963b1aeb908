"""Exact search for the nearest rows, dense and sparse."""

from abc import ABC, abstractmethod
from contextlib import nullcontext
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from surefoot._kernels import nearest_rows
from surefoot._parallel import in_threads, row_batches
from surefoot._sklearn_private import n_search_threads, thread_controller
from surefoot._typing import Floats, Ints
from surefoot._validation import Metric

# Share of non-zero cells above which scikit-learn's dense products are faster than the inverted index
# (measured by benchmarks/bench_text.py).
FULL = 0.25

# Rounding error of a squared distance of zero, relative to the squared lengths.
ZERO_SQUARE = 1e-13

# Most queries that one thread takes at a time.
MOST_QUERIES = 2048

# Queries that one thread takes at least, and at most, of a search by scikit-learn: starting a thread costs as much as
# searching a few rows, and above 1,024 rows scikit-learn orders equal distances in another way.
FEW_QUERIES, MOST_IN_ORDER = 64, 1024


class NeighborSearch(ABC):
    """Base of searches among rows. One of your own has a method `fit(rows)`; rows are given as the model takes them.

    Attributes
    ----------
    n_stability : int
        Neighbours that stability is measured towards, if the model asks for a search at each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn.linear_model import LinearRegression
    >>> from surefoot.indicators import NeighborDistance
    >>> from surefoot.neighborhoods import NeighborSearch
    >>> class LargestGap(NeighborSearch, BaseEstimator):
    ...     def fit(self, rows):
    ...         self.rows = rows
    ...         return self
    ...     def kneighbors(self, X, n_neighbors):
    ...         gaps = np.abs(X[:, None] - self.rows).max(axis=2)
    ...         near = gaps.argsort(axis=1, kind="stable")[:, :n_neighbors]
    ...         return np.take_along_axis(gaps, near, axis=1), near
    >>> X, y = [[0, 0], [1, 4], [3, 3]], [0, 1, 2]
    >>> near = NeighborDistance(LinearRegression(), n_neighbors=1, metric=LargestGap()).fit(X, y)
    >>> float(np.exp(near.transform([[2, 2]])[0, 0]).round(2))
    1.0
    """

    rows: Any
    n_stability = 10

    @abstractmethod
    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Floats, Ints]:
        """Distances and indices of the nearest rows, nearest first."""

    def among(self, rows: Any) -> "NeighborSearch":
        """Search of this kind among other rows."""
        search: NeighborSearch = clone(self).fit(rows)
        return search

    def part(self, positions: Ints) -> "NeighborSearch":
        """Search among some of the rows."""
        return self.among(self.rows[positions])

    def prepare_parts(self, n_neighbors: int, n_rows: int) -> None:
        """Prepare for searches of these very rows among parts of about `n_rows` of them; by default, do nothing."""
        return

    def aligned(self, rows: Any, reference: Any, near: Ints, distances: Floats) -> Floats | None:
        """Points that each row is moved towards, (n_rows, n_near, n_columns), where these are not the neighbours.

        None if they are: `reference` has the rows that `near` are positions of, at these distances.
        """
        return None


class NeighborVoter(ABC):
    """Mixin of models that let the nearest training rows vote: an index then searches once, for the model and itself.

    Attributes
    ----------
    metric : str
        "euclidean" or "cosine", by which neighbours are searched, unless the model offers a search of its own
        (`neighbor_search()`).
    list_length : int
        Number of neighbours that the outputs are made of.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.neighborhoods import KernelKNeighborsClassifier, NeighborVoter
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> model = KernelKNeighborsClassifier(n_neighbors=3, gamma=1.0).fit(X, y)
    >>> isinstance(model, NeighborVoter)
    True
    >>> lists = model.search_.kneighbors(np.array([[0.5]]), 3)
    >>> model.output_of_lists("decision_function", *lists).round(3), model.decision_function([[0.5]]).round(3)
    (array([-1.556]), array([-1.556]))
    """

    metric: Any
    list_length: Any

    @abstractmethod
    def shared_search(self, rows: Any, metric: Any) -> Any:
        """Search of the model, if it is one among these rows by this metric and enough for its votes; else None."""

    @abstractmethod
    def output_of_lists(self, method: str, distances: Floats, indices: Ints) -> Any:
        """Output of a method from neighbours that are known, nearest first; None if the model must be asked."""

    def output_in_cells(self, rows: Any, near: Ints, n_samples: int) -> Any:
        """Output at samples in the cells of rows, by the votes of their neighbours; None if it must be asked."""
        return None


class FittedSearch(NeighborSearch):
    """Base of searches by a metric, fitted when they are made."""

    metric: Metric
    n_neighbors: int
    n_jobs: int | None

    def among(self, rows: Any) -> NeighborSearch:
        """Search of this kind among other rows."""
        n_neighbors = min(self.n_neighbors, rows.shape[0])
        return neighbor_search(rows, self.metric, n_neighbors, self.n_jobs)


def neighbor_search(
    rows: Any, metric: Metric, n_neighbors: int, n_jobs: int | None = None
) -> NeighborSearch:
    """Exact search for the nearest of `rows`.

    Sparse rows under the cosine or Euclidean distance are searched by an inverted index, or, with many
    non-zero cells, as dense blocks; all others by scikit-learn, or by the search that the user or the model gave.
    """
    if isinstance(metric, NeighborSearch):
        return metric.among(rows)
    n_cells = rows.shape[0] * rows.shape[1]
    if not issparse(rows) or metric not in ("cosine", "euclidean"):
        return RowSearch(rows, metric, n_neighbors, n_jobs)
    fits = 8 * n_cells <= get_config()["working_memory"] * 2**20
    if rows.nnz >= FULL * n_cells and fits:
        return RowSearch(rows, metric, n_neighbors, n_jobs, dense=True)
    return SparseNeighbors(rows, metric, n_neighbors, n_jobs)


class RowSearch(FittedSearch):
    """Search by scikit-learn, or by a search that the user gave as metric.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_rows, n_columns)
        Rows to search in.
    metric : str, callable or unfitted neighbour search
        See `Metric`.
    n_neighbors, n_jobs : int
        Neighbours that `kneighbors` returns by default, and threads.
    dense : bool, default=False
        Whether sparse rows are searched as dense copies.
    """

    def __init__(
        self, rows: Any, metric: Metric, n_neighbors: int, n_jobs: int | None, dense: bool = False
    ) -> None:
        self.rows, self.metric, self.n_neighbors = rows, metric, n_neighbors
        self.n_jobs, self.dense = n_jobs, dense
        self.is_given = hasattr(metric, "kneighbors")
        search = clone(metric) if self.is_given else NearestNeighbors(metric=metric)
        self.search = search.fit(rows.toarray() if dense else rows)

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Floats, Ints]:
        """Distances and indices of the nearest rows, nearest first; those of a row do not depend on other rows."""
        n_neighbors = self.n_neighbors if n_neighbors is None else n_neighbors
        if self.is_given:
            return self.search.kneighbors(X, n_neighbors)
        distances = np.empty((X.shape[0], n_neighbors))
        indices = np.empty(distances.shape, dtype=np.int64)
        limit = thread_controller().limit

        def search(batch: slice) -> None:
            rows = X[batch].toarray() if self.dense and issparse(X) else X[batch]
            # OpenMP's threads wait for each other by spinning: with a busy core, one row would take 100 ms.
            with limit(limits=1, user_api="openmp"):
                distances[batch], indices[batch] = self.search.kneighbors(rows, n_neighbors)

        size = X.shape[0] // (2 * n_search_threads())
        size = min(max(size, FEW_QUERIES), MOST_IN_ORDER)
        batches = list(row_batches(X.shape[0], 8 * X.shape[1], size))
        # BLAS has one number of threads for the whole process, so it is not set in several threads.
        uses_blas = len(batches) > 1 or self.metric == "cosine"
        with limit(limits=1, user_api="blas") if uses_blas else nullcontext():
            in_threads(search, batches)
        if (
            self.metric == "euclidean"
        ):  # equal rows: what rounding leaves hangs on the processor and the batch
            squares = row_norms(X, squared=True)[:, None]
            distances[distances**2 < 2 * ZERO_SQUARE * squares] = 0.0
        return distances, indices


class SparseNeighbors(FittedSearch):
    """Exact search among CSR rows under the cosine or the Euclidean distance.

    For each column an inverted index lists the rows that have a value in it; a query adds up its dot
    products with all rows, of which the largest are selected (x·n − |n|²/2 is largest where the
    Euclidean distance is least).

    Parameters
    ----------
    rows : CSR of shape (n_rows, n_columns)
        Rows to search in.
    metric : {"cosine", "euclidean"}
        Under "cosine" a zero row is at distance 1 from all rows.
    n_neighbors : int
        Neighbours that `kneighbors` returns by default.
    n_jobs : int, default=None
        Threads over batches of queries.
    """

    def __init__(self, rows: Any, metric: str, n_neighbors: int, n_jobs: int | None = None) -> None:
        self.metric, self.unit = metric, metric == "cosine"
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.rows = unit_rows(rows) if self.unit else canonical(rows)
        by_column = self.rows.tocsc()
        self._index = (by_column.indptr.astype(np.int64), by_column.indices, by_column.data)
        self._squares = row_norms(self.rows, squared=True)
        self._offsets = np.zeros(rows.shape[0]) if self.unit else -0.5 * self._squares

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Floats, Ints]:
        """Distances and indices of the nearest rows, nearest first, equal distances by index."""
        n_neighbors = self.n_neighbors if n_neighbors is None else n_neighbors
        X = csr_array(X)
        X = unit_rows(X) if self.unit else canonical(X)
        if X.shape[0] <= MOST_QUERIES:
            return self._nearest(X, n_neighbors)
        parts = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(self._nearest)(X[batch], n_neighbors)
            for batch in row_batches(X.shape[0], 16 * n_neighbors, MOST_QUERIES)
        )
        distances, indices = zip(*parts, strict=True)
        return np.concatenate(distances), np.concatenate(indices)

    def _nearest(self, X: Any, n_neighbors: int) -> tuple[Floats, Ints]:
        """Distances and indices of the nearest rows for one batch of queries."""
        queries = csr_parts(X)[:3]
        keys, indices = nearest_rows(queries, self._index, self._offsets, n_neighbors)
        if self.unit:
            return np.clip(1.0 - keys, 0.0, 2.0), indices
        query_squares = row_norms(X, squared=True)[:, None]
        squares = query_squares - 2.0 * keys
        squares[squares < ZERO_SQUARE * (query_squares + self._squares[indices])] = 0.0
        return np.sqrt(squares), indices


def csr_parts(rows: Any) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats]:
    """Row starts, columns and values of CSR rows, as the kernels take them, and the squared lengths."""
    narrow = np.int32 if rows.shape[1] <= np.iinfo(np.int32).max else np.int64
    columns = rows.indices.astype(narrow, copy=False)
    return rows.indptr.astype(np.int64), columns, rows.data, row_norms(rows, squared=True)


def canonical(rows: Any) -> Any:
    """CSR rows in canonical format: each column at most once in a row."""
    if rows.has_canonical_format:
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    return rows


def unit_rows(rows: Any) -> Any:
    """CSR rows scaled to length one; not copied if they have length one already."""
    rows = canonical(rows)
    squares = row_norms(rows, squared=True)
    done = (np.abs(squares - 1.0) <= 8 * np.finfo(float).eps) | (squares == 0.0)
    return rows if done.all() else normalize(rows)
