"""Choice of batches of rows that are doubtful, typical and different from each other."""

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot.active_learning._coordinates import Coordinates, copies_last, most_doubtful

# A batch of n rows is chosen among the CANDIDATES * n most doubtful rows.
CANDIDATES = 5

# Weight of the least doubtful candidate in its cluster; that of the most doubtful is 1.
LEAST_WEIGHT = 0.5


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
