"""Neighbour lists of a whole data set, searched once, kept on disk and read by every fold."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from surefoot._search import drop_own, restrict_lists
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import DTWNeighbors

Lists = tuple[Floats, Ints]


@dataclass(frozen=True)
class StoredLists:
    """Series, and the nearest others of each, nearest first."""

    series: Floats
    distances: Floats
    indices: Ints


def stored_lists(series: Floats, file: Path, *, length: int, n_jobs: int | None) -> StoredLists:
    """Read the lists from `file`, or search them and write it; it is bound to these series."""
    digest = hashlib.sha256(series.tobytes()).hexdigest()
    length = min(length, len(series) - 1)
    if file.exists():
        with np.load(file) as stored:
            if str(stored["digest"]) == digest and stored["indices"].shape[1] >= length:
                return StoredLists(series, stored["distances"], stored["indices"])
    distances, indices = DTWNeighbors(length, n_jobs=n_jobs).fit(series).kneighbors()
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, digest=digest, distances=distances, indices=indices)
    return StoredLists(series, distances, indices)


class StoredNeighbors(BaseEstimator):
    """The interface of DTWNeighbors over stored lists; X is a column of row numbers.

    A list that is too short once the rows outside the training part are removed is searched again
    among the training series.
    """

    def __init__(self, lists: StoredLists) -> None:
        self.lists = lists

    def __sklearn_clone__(self) -> "StoredNeighbors":
        return StoredNeighbors(self.lists)  # the lists are large and never change

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the numbers of the training rows."""
        self._rows = np.asarray(X)[:, 0]
        self.n_samples_fit_ = len(self._rows)
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int = 5) -> Lists:
        """Distances and positions of the nearest training rows, nearest first, self excluded."""
        queries = self._rows if X is None else np.asarray(X)[:, 0]
        allowed = np.zeros(len(self.lists.series), dtype=bool)
        allowed[self._rows] = True
        position = np.cumsum(allowed) - 1
        distances, indices, short = restrict_lists(
            self.lists.distances[queries], self.lists.indices[queries], allowed, n_neighbors
        )
        if distances.shape[1] < n_neighbors:  # every list is too short
            short = np.arange(len(queries))
            distances = np.empty((len(queries), n_neighbors))
            indices = np.empty((len(queries), n_neighbors), dtype=np.int64)
        if len(short):
            distances[short], indices[short] = self._search_again(queries[short], n_neighbors)
        return distances, position[indices]

    def _search_again(self, queries: Ints, n_neighbors: int) -> Lists:
        search = DTWNeighbors(n_neighbors).fit(self.lists.series[self._rows])
        known = np.isin(queries, self._rows).any()
        length = min(n_neighbors + int(known), len(self._rows))
        distances, positions = search.kneighbors(self.lists.series[queries], n_neighbors=length)
        indices = self._rows[positions]
        if known:
            distances, indices = drop_own(distances, indices, queries)
        return distances, indices
