"""Choice of batches of rows that are doubtful and different from each other."""

from typing import Any

import numpy as np

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot.active_learning._coordinates import Coordinates, copies_last

# A batch of n rows is chosen among the CANDIDATES * n most doubtful rows.
CANDIDATES = 5

# Weight of the last candidate, that of the first being 1: what its distance to the others is multiplied by.
LEAST_WEIGHT = 0.5


def most_doubtful(doubt: Floats) -> Ints:
    """Positions of all rows, the highest doubt first; equal doubts in an order that looks random, always the same.

    A forest has the same doubt about many rows. In their own order, those at the top of a sorted pool would always
    come first.
    """
    order = np.random.RandomState(0).permutation(len(doubt))
    return np.asarray(order[np.argsort(-doubt[order], kind="stable")])


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
    candidates = positions[: min(n_candidates, max(n_different, n_wanted))]
    weights = np.linspace(1.0, LEAST_WEIGHT, len(candidates))
    chosen = coordinates.farthest_first(
        take_rows(rows, candidates), n_wanted, lambda nearest: nearest * weights
    )
    return order[candidates[chosen]]
