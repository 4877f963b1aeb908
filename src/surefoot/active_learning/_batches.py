"""Batches that are diverse as well as doubtful."""

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import pairwise_distances

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# The batch is chosen among so many times as many of the most doubtful rows.
CANDIDATES = 5


def most_doubtful(doubt: Floats, n_wanted: int) -> Ints:
    """Rows with the highest doubt, highest first; earlier ones first among equals."""
    return np.argsort(-doubt, kind="stable")[:n_wanted]


def spread_out(order: Ints, n_wanted: int, rows: Any, metric: str) -> Ints:
    """Choose rows that are far from those chosen before, and doubtful.

    `order` has the candidates, most doubtful first, and `rows` their coordinates. The first is taken;
    then always the one whose distance to the nearest chosen one, less the lower it ranks (down to
    half), is largest.
    """
    worth = np.linspace(1.0, 0.5, len(order))
    chosen = [0]
    nearest = np.full(len(order), np.inf)
    while len(chosen) < n_wanted:
        last = take_rows(rows, [chosen[-1]])
        nearest = np.minimum(nearest, pairwise_distances(rows, last, metric=metric)[:, 0])
        gain = nearest * worth
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
