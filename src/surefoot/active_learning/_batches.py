"""Choice of batches of rows that are doubtful and different from each other."""

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import pairwise_distances

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# A batch of n rows is chosen among the CANDIDATES * n most doubtful rows.
CANDIDATES = 5


def most_doubtful(doubt: Floats, n_wanted: int) -> Ints:
    """Positions of the rows with the highest doubt, highest first; equal ones in their order."""
    return np.argsort(-doubt, kind="stable")[:n_wanted]


def spread_out(order: Ints, n_wanted: int, rows: Any, metric: str) -> Ints:
    """Choose candidates that are doubtful and far from each other.

    `order` has the candidates, most doubtful first, and `rows` their coordinates. The first one is taken. Then,
    again and again, the one with the largest distance to the nearest chosen row, where the distance is multiplied
    by a factor from 1 for the most doubtful candidate down to 0.5 for the last.
    """
    factors = np.linspace(1.0, 0.5, len(order))
    chosen = [0]
    nearest = np.full(len(order), np.inf)
    while len(chosen) < n_wanted:
        last = take_rows(rows, [chosen[-1]])
        nearest = np.minimum(nearest, pairwise_distances(rows, last, metric=metric)[:, 0])
        gain = nearest * factors
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
    return order[chosen]


def choose_batch(
    doubt: Floats, n_wanted: int, estimator: Any, X_pool: Any, *, diverse: bool
) -> Ints:
    """Positions in the pool of the rows to ask about, the most doubtful first."""
    n_candidates = CANDIDATES * n_wanted if diverse and n_wanted > 1 else n_wanted
    order = most_doubtful(doubt, n_candidates)
    if len(order) <= n_wanted:
        return order
    model = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    candidates = take_rows(X_pool, order)
    index = NeighborhoodIndex(model, candidates, n_neighbors=1)
    metric = index.metric if isinstance(index.metric, str) else "euclidean"
    return spread_out(order, n_wanted, Neighborhood(index, candidates).rows, metric)
