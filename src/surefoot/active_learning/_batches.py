"""Rows to ask about that are different from each other: the first ones, and batches of doubtful ones."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from surefoot._models import MixedInput, series_model
from surefoot._tables import as_numbers, count_rows, take_rows
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Most rows that the first ones are chosen from: a random part of a larger pool has every class that is not very rare.
MOST_CANDIDATES = 4000

# Neighbours by which a group is told from an outlier: fewer rows than that, alone, count as outliers.
N_NEIGHBORS = 5

# A batch of n rows is chosen among the CANDIDATES * n most doubtful rows.
CANDIDATES = 5

# Weight of the least doubtful candidate in its cluster; that of the most doubtful is 1.
LEAST_WEIGHT = 0.5

# Rows of the pool that the columns are scaled by.
MOST_REFERENCE_ROWS = 1000

# Stands in for a model where there is none yet: the neighbour space is then made from the table as it is.
NO_MODEL = DummyClassifier().fit([[0], [1]], [0, 1])


def first_rows(X_pool: Any, n_wanted: int, X: Any, random: Any) -> Ints:
    """Choose rows that are far from each other and from the labelled rows, but no outliers.

    Rows far from all others come from other groups, so a rare class is soon among them. Outliers are far from
    everything too, and the answer for an outlier says nothing about other rows: so what counts is how much farther
    a row is from the chosen rows than from its own neighbours. Strings without columns have no distances:
    they are drawn at random.
    """
    n_pool = count_rows(X_pool)
    drawn = np.asarray(random.permutation(n_pool), dtype=np.int64)
    if getattr(X_pool, "ndim", 2) == 1 or n_pool <= n_wanted:
        return drawn[:n_wanted]
    candidates = drawn[: max(MOST_CANDIDATES, 2 * n_wanted)]
    coordinates = Coordinates(None, X_pool)
    rows = coordinates(take_rows(X_pool, candidates))
    order, n_different = copies_last(rows)
    if n_different <= n_wanted:
        return candidates[order[:n_wanted]]
    search = NearestNeighbors(
        n_neighbors=min(N_NEIGHBORS + 1, rows.shape[0]), metric=coordinates.metric
    )
    radii = search.fit(rows).kneighbors(rows)[0][:, -1]
    different = order[:n_different]
    labelled = None if X is None or count_rows(X) == 0 else coordinates(X)
    chosen = farthest_first(
        take_rows(rows, different), n_wanted, radii[different], labelled, coordinates.metric
    )
    return candidates[different[chosen]]


def farthest_first(rows: Any, n_wanted: int, radii: Floats, labelled: Any, metric: Any) -> Ints:
    """Choose the row whose distance to all chosen rows exceeds its radius most, again and again.

    Labelled rows count as chosen; without them the first row is the first choice.
    """

    def distances_to(others: Any) -> Floats:
        return np.asarray(pairwise_distances(rows, others, metric=metric).min(axis=1))

    chosen = [0] if labelled is None else list[int]()
    nearest = distances_to(take_rows(rows, [0]) if labelled is None else labelled)
    while len(chosen) < n_wanted:
        gains = nearest - radii
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        nearest = np.minimum(nearest, distances_to(take_rows(rows, chosen[-1:])))
    return np.array(chosen, dtype=np.int64)


def choose_batch(
    doubt: Floats, n_wanted: int, estimator: Any, X_pool: Any, *, diverse: bool
) -> Ints:
    """Positions in the pool of the rows to ask about, the most doubtful first.

    A diverse batch has no two copies of a row as long as the pool has other rows.
    """
    order = most_doubtful(doubt)
    if not diverse or n_wanted == 1 or n_wanted >= len(order):
        return order[:n_wanted]
    coordinates, n_candidates = Coordinates(estimator, X_pool), CANDIDATES * n_wanted
    n_read, n_different = n_candidates, 0
    while n_different < n_candidates:
        rows = coordinates(take_rows(X_pool, order[:n_read]))
        positions, n_different = copies_last(rows)
        if n_read >= len(order):
            break
        n_read *= 4
    if n_different <= n_wanted:
        return order[np.sort(positions[:n_wanted])]
    candidates = positions[: min(n_candidates, n_different)]
    rows = take_rows(rows, candidates)
    if coordinates.metric == "cosine":
        rows = normalize(rows)
    return order[candidates[np.sort(middles_of_clusters(rows, n_wanted))]]


def most_doubtful(doubt: Floats) -> Ints:
    """Positions of all rows, the highest doubt first; equal doubts in an order that looks random, always the same.

    Doubts that differ by rounding errors only are equal. A forest has the same doubt about many rows: in their own
    order, those at the top of a sorted pool would always come first.
    """
    order = np.random.RandomState(0).permutation(len(doubt))
    return np.asarray(order[np.argsort(-doubt[order].astype(np.float32), kind="stable")])


def middles_of_clusters(rows: Any, n_clusters: int) -> Ints:
    """Row nearest to the centre of each cluster of the candidates, which are all different, most doubtful first.

    The rows of a batch are then different, as each is from another cluster, and typical, as each is in the middle of
    other doubtful rows (Zhdanov 2019, "Diverse mini-batch active learning").
    """
    weights = np.linspace(1.0, LEAST_WEIGHT, rows.shape[0])
    clusters = KMeans(n_clusters, n_init=1, random_state=0)
    with warnings.catch_warnings():
        # Rows that differ by rounding errors only make fewer clusters; the rest are then chosen among all rows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters.fit(rows, sample_weight=weights)
    distances, chosen = clusters.transform(rows), list[int]()
    for cluster in range(n_clusters):
        distances[chosen, cluster] = np.inf
        chosen.append(int(distances[:, cluster].argmin()))
    return np.array(chosen, dtype=np.int64)


class Coordinates:
    """Rows in a scaled neighbour space.

    Parameters
    ----------
    estimator : fitted classifier or None
        Rows are compared as its last step gets them; without a model, as they are.
    X_pool : table
        All rows, a part of which decides how columns are scaled and categories are encoded.
    """

    def __init__(self, estimator: Any, X_pool: Any) -> None:
        reference = np.random.RandomState(0).permutation(count_rows(X_pool))[:MOST_REFERENCE_ROWS]
        rows = take_rows(X_pool, reference)
        model, space = (NO_MODEL, own_space(rows)) if estimator is None else (estimator, "scaled")
        # Clusters and distances are those of points: rows that the model compares under DTW have none.
        metric = "auto" if series_model(model) is None else "euclidean"
        self.index = NeighborhoodIndex(model, rows, n_neighbors=1, space=space, metric=metric)
        self.metric = self.index.metric

    def __call__(self, table: Any) -> Any:
        """Coordinates of the rows of a table."""
        return Neighborhood(self.index, table).rows


def own_space(table: Any) -> Any:
    """Space of a table without a model.

    A string that occurs once is a category like no other: a column of names or notes would set every row apart.
    """
    if as_numbers(table) is not None:
        return "scaled"
    vectorizer = MixedInput(None, table).vectorizer()
    return vectorizer.set_params(categories__onehotencoder__min_frequency=2)


def copies_last(rows: Any) -> tuple[Ints, int]:
    """Positions of all rows, copies of earlier rows after all others; and the number of different rows."""
    keys = bytes_of_rows(rows)
    first = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
    is_copy = np.ones(len(keys), dtype=bool)
    is_copy[list(first.values())] = False
    return np.argsort(is_copy, kind="stable"), len(first)


def bytes_of_rows(rows: Any) -> list[bytes]:
    """Bytes of each row, the same for equal rows only."""
    if not issparse(rows):
        return [row.tobytes() for row in np.ascontiguousarray(rows + 0.0)]  # -0.0 is 0.0
    rows = csr_array(rows)
    rows.sum_duplicates()  # sorts the columns of each row
    parts = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in parts]
