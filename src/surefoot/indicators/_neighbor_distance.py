"""Distance of a row to its nearest training rows."""

from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats
from surefoot.indicators._indicator import NeighborIndicator
from surefoot.neighborhoods import Neighborhood

# Added to distances before their logarithm is taken, so that it is finite at distance 0.
NO_DISTANCE = 1e-12

# Neighbours that are searched, as a multiple of those that are used: in an action one in five is not counted.
SPARE = 1.6


class NeighborDistance(NeighborIndicator):
    """Distance to the nearest training rows (out-of-distribution score); a higher score is nearer to them.

    One column for each number of neighbours k: `log_distance_k`, the logarithm of the mean distance
    to the k nearest training rows. `score_samples` is minus the column of the largest k.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
    n_neighbors : int, "log" or several of them, default=10
        Number of nearest training rows; "log" is 2⌈log2 n⌉ + 1 for n training rows.
    space : "auto", "scaled" or transformer, default="auto"
        Coordinates in which distances are measured; see `LocalSensitivity`.
    metric : "auto", "dtw", str or callable, default="auto"
        "auto" is that of a nearest-neighbour model of texts or series, else "cosine" for sparse and "euclidean" for
        dense rows. "dtw" compares each row as a time series.
    window : int, float or None, default=None
        Sakoe-Chiba radius of metric="dtw"; see `surefoot.neighborhoods.DTWNeighbors`.
    n_jobs : int, default=None
        Number of threads, for the neighbour search and over batches of rows.

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

    directions: ClassVar[dict[str, int]] = {"log_distance": 1}

    def needed_neighbors(self, n_rows: int) -> int:
        """Neighbours needed among `n_rows` training rows, of which some may not be counted."""
        return min(ceil(SPARE * super().needed_neighbors(n_rows)), n_rows)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Logarithm of the mean distance, for each number of neighbours."""
        means = [mean_distance(neighborhood, count) for count in self.counts_]
        return np.log(np.column_stack(means) + NO_DISTANCE)

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Minus the logarithm of the mean distance, for the largest number of neighbours."""
        most = int(np.argmax(self.counts_))
        return -self.columns(neighborhood)[:, most]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        return self.count_names(["log_distance"])


def mean_distance(neighborhood: Neighborhood, count: int) -> Floats:
    """Mean distance to the `count` nearest training rows that are counted, or to fewer if fewer were found."""
    counted = neighborhood.index.counted
    if counted is None:
        return neighborhood.distances[:, :count].mean(axis=1)
    is_counted = counted[neighborhood.indices]
    is_used = is_counted & (is_counted.cumsum(axis=1) <= count)
    n_used = np.maximum(is_used.sum(axis=1), 1)
    return (neighborhood.distances * is_used).sum(axis=1) / n_used
