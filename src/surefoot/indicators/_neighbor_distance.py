"""How far away a row's nearest training rows are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats
from surefoot.indicators._neighbor_indicator import NeighborIndicator
from surefoot.neighborhoods import Neighborhood

# The logarithm of no distance at all: below that of any other.
NO_DISTANCE = 1e-12


class NeighborDistance(NeighborIndicator):
    """How much like the training rows a row is; a higher score is more like them.

    One column for each number of neighbours k: `log_distance_k`, the logarithm of the mean distance
    to the k nearest training rows. `score_samples` is minus the one over the most neighbours.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. An action
        supplies its own.
    n_neighbors : int, "log" or several of them, default=10
        Training rows to look for; "log" is 2⌈log2 n⌉ + 1 for n training rows.
    space : "auto", "scaled" or transformer, default="auto"
        Where rows are near or far; see `LocalSensitivity`.
    metric : "auto", str or callable, default="auto"
        "auto" is "cosine" for sparse rows, else "euclidean"; a kernel nearest-neighbour model has its own.
    n_jobs : int, default=None
        Threads for the neighbour search and over batches of rows.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted model and its training rows.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = [[0], [1], [2], [3]], [0, 1, 2, 3]
    >>> near = NeighborDistance(LinearRegression(), n_neighbors=2).fit(X, y)
    >>> near.score_samples([[1.5], [30]]).round(2)
    array([ 0.69, -3.31])
    """

    doubt = "few rows are like it"

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """The logarithm of the mean distance to each number of neighbours."""
        means = [
            neighborhood.distances[:, :count].mean(axis=1)
            for count in self.counts(neighborhood.index.n_rows)
        ]
        return np.log(np.column_stack(means) + NO_DISTANCE)

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Minus the logarithm of the mean distance to the most neighbours."""
        most = int(np.argmax(self.counts(neighborhood.index.n_rows)))
        return -self.columns(neighborhood)[:, most]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        return self.count_names(["log_distance"])
