"""Distances between rows that may be asked about: in the neighbour space of the model, or of the table itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.dummy import DummyClassifier
from sklearn.metrics import pairwise_distances

from surefoot._models import MixedInput, default_vectorizer, series_model
from surefoot._tables import as_numbers, count_rows, take_rows
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Stands in for a model where there is none yet: the neighbour space is then made from the table as it is.
NO_MODEL = DummyClassifier().fit([[0], [1]], [0, 1])

# Rows of the pool that the columns are scaled by.
MOST_REFERENCE_ROWS = 1000


class Coordinates:
    """Rows in a scaled neighbour space.

    Parameters
    ----------
    estimator : fitted classifier or None
        Rows are compared as its last step sees them; without a model, as they are.
    X_pool : table
        All rows, a part of which decides how columns are scaled and categories are encoded.
    """

    def __init__(self, estimator: Any, X_pool: Any) -> None:
        reference = np.random.RandomState(0).permutation(count_rows(X_pool))[:MOST_REFERENCE_ROWS]
        rows = take_rows(X_pool, reference)
        model, space = (NO_MODEL, own_space(rows)) if estimator is None else (estimator, "scaled")
        # Clusters and gaps are those of points: rows that the model compares under DTW have none.
        metric = "auto" if series_model(model) is None else "euclidean"
        self.index = NeighborhoodIndex(model, rows, n_neighbors=1, space=space, metric=metric)
        self.metric = self.index.metric

    def __call__(self, table: Any) -> Any:
        """Coordinates of the rows of a table."""
        return Neighborhood(self.index, table).rows

    def distances(self, rows: Any, others: Any) -> Floats:
        """Distance of each row to the nearest of some other rows, all given by their coordinates."""
        return np.asarray(pairwise_distances(rows, others, metric=self.metric).min(axis=1))

    def farthest_first(
        self, rows: Any, n_wanted: int, gain: Callable[[Floats], Floats], known: Any = None
    ) -> Ints:
        """Choose rows, again and again the one that gains most by its distance to all rows chosen before.

        `known` has the coordinates of rows that count as chosen; without them the first row is the first choice.
        """
        chosen = [0] if known is None else list[int]()
        nearest = self.distances(rows, take_rows(rows, [0]) if known is None else known)
        while len(chosen) < n_wanted:
            gains = gain(nearest)
            gains[chosen] = -np.inf
            chosen.append(int(gains.argmax()))
            nearest = np.minimum(nearest, self.distances(rows, take_rows(rows, chosen[-1:])))
        return np.array(chosen, dtype=np.int64)


def own_space(table: Any) -> Any:
    """Space of a table without a model.

    A text that stands once is a category like no other: a column of names or notes would set every row apart.
    """
    if as_numbers(table) is not None:
        return "scaled"
    vectorizer = default_vectorizer(MixedInput(None, table))
    return vectorizer.set_params(categories__onehotencoder__min_frequency=2)


def row_keys(rows: Any) -> list[bytes]:
    """Key of each row, the same for equal rows only."""
    if not issparse(rows):
        return [row.tobytes() for row in np.ascontiguousarray(rows + 0.0)]  # -0.0 is 0.0
    rows = csr_array(rows)
    rows.sum_duplicates()  # sorts the columns of each row
    parts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in parts]


def copies_last(rows: Any) -> tuple[Ints, int]:
    """Positions of all rows, copies of earlier rows after all others; and the number of different rows."""
    keys = row_keys(rows)
    first = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
    is_copy = np.ones(len(keys), dtype=bool)
    is_copy[list(first.values())] = False
    return np.argsort(is_copy, kind="stable"), len(first)


def most_doubtful(doubt: Floats) -> Ints:
    """Positions of all rows, the highest doubt first; equal doubts in an order that looks random, always the same.

    Doubts that differ by rounding errors only are equal. A forest has the same doubt about many rows: in their own
    order, those at the top of a sorted pool would always come first.
    """
    order = np.random.RandomState(0).permutation(len(doubt))
    return np.asarray(order[np.argsort(-doubt[order].astype(np.float32), kind="stable")])
