"""First rows to ask about, while no model has been fitted."""

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from surefoot._tables import count_rows, take_rows
from surefoot._typing import Floats, Ints
from surefoot.active_learning._coordinates import Coordinates, copies_last

# Most rows that the start is chosen from: a random part of a larger pool shows every class that is not very rare.
MOST_CANDIDATES = 4000

# Neighbours by which a group is told from an outlier: fewer rows than that, alone, count as outliers.
N_NEIGHBORS = 5


def start(X_pool: Any, n_wanted: int, X: Any, random: Any) -> Ints:
    """Choose rows that are far from each other and from the labelled rows, but no outliers.

    Rows far from all others come from other groups, so a rare class is soon among them. Outliers are far from
    everything too, and the answer for an outlier says nothing about other rows: so what counts is how much farther
    a row is from the chosen rows than from its own neighbours. Texts without columns have no distances:
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
    different = order[:n_different]
    radius = radii(rows, coordinates.metric)[different]
    known = None if X is None or count_rows(X) == 0 else coordinates(X)
    chosen = coordinates.farthest_first(
        take_rows(rows, different), n_wanted, lambda nearest: nearest - radius, known
    )
    return candidates[different[chosen]]


def radii(rows: Any, metric: Any) -> Floats:
    """Distance of each row to its fifth nearest; of a small table to the farthest."""
    n_neighbors = min(N_NEIGHBORS + 1, rows.shape[0])
    search = NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(rows)
    return np.asarray(search.kneighbors(rows)[0][:, -1])
