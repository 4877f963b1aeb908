"""Base of indicators that use only a row's nearest training rows."""

from abc import ABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._search import check_neighbor_metric, resolve_n_neighbors
from surefoot._typing import Floats
from surefoot.indicators._indicator import Indicator

# Smallest distance that weights are computed from, as a share of the row's mean distance.
NEAREST = 1e-3


class NeighborIndicator(Indicator, ABC):
    """Base of indicators with columns for one or several numbers of neighbours."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int | str | Sequence[int | str] = 10,
        space: Any = "auto",
        metric: Any = "auto",
        window: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.space = space
        self.metric = metric
        self.window = window
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""
        if not self.given_counts():
            raise ValueError("n_neighbors is empty: it may be a number, 'log', or several of them.")
        self.needed_neighbors(2)
        check_neighbor_metric(self.metric, self.window)

    def given_counts(self) -> list[Any]:
        """Values of the parameter `n_neighbors`, as a list: ints or "log"."""
        is_single = isinstance(self.n_neighbors, str) or not np.iterable(self.n_neighbors)
        return [self.n_neighbors] if is_single else list(self.n_neighbors)  # type: ignore[arg-type]

    def counts(self, n_rows: int) -> list[int]:
        """Numbers of neighbours for `n_rows` training rows."""
        return [resolve_n_neighbors(count, n_rows) for count in self.given_counts()]

    def needed_neighbors(self, n_rows: int) -> int:
        """Neighbours needed among `n_rows` training rows."""
        return max(self.counts(n_rows))

    def count_names(self, names: Sequence[str]) -> NDArray[np.object_]:
        """Column names: each of `names` with each number of neighbours."""
        columns = [f"{name}_{count}" for count in self.given_counts() for name in names]
        return np.array(columns, dtype=object)


def nearness(distances: Floats) -> Floats:
    """Weights of neighbours, proportional to one over the distance; they sum to 1 in each row."""
    floor = NEAREST * distances.mean(axis=1, keepdims=True)
    weights = 1 / np.maximum(distances, np.where(floor > 0, floor, 1.0))
    return weights / weights.sum(axis=1, keepdims=True)
