"""Nearest training rows of a prediction: how far away they are, and whether their targets disagree with it."""

from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats
from surefoot.indicators._indicator import NeighborIndicator, nearness
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
    metric : "auto", str, callable or neighbour search, default="auto"
        "auto" is that of a nearest-neighbour model of texts or series, else "cosine" for sparse and "euclidean" for
        dense rows. `surefoot.time_series.DTWNeighbors()` compares each row as a time series.
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


class NeighborDisagreement(NeighborIndicator):
    """Disagreement of the nearest training labels with a prediction; a higher score is less disagreement.

    Two columns for each number of neighbours k: `disagreement_k`, the share of the k nearest training
    rows whose label is not the predicted one, and `weighted_disagreement_k`, the share weighted by
    one over the distance. For a regressor `gap_k` is their weighted mean target minus the prediction,
    and `spread_k` the standard deviation of their targets.

    `score_samples` is minus the weighted disagreement, or minus the absolute gap, for the largest k.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
    n_neighbors : int, "log" or several of them, default=10
        Number of nearest training rows; "log" is 2⌈log2 n⌉ + 1 for n training rows.
    space : "auto", "scaled" or transformer, default="auto"
        Coordinates in which distances are measured; see `LocalSensitivity`.
    metric : "auto", str, callable or neighbour search, default="auto"
        "auto" is that of a nearest-neighbour model of texts or series, else "cosine" for sparse and "euclidean" for
        dense rows. `surefoot.time_series.DTWNeighbors()` compares each row as a time series.
    n_jobs : int, default=None
        Number of threads, for the neighbour search and over batches of rows.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted model and its training rows.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 1, 1]
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> NeighborDisagreement(stump, n_neighbors=(1, 3)).fit(X, y).transform([[1.4], [4.4]]).round(2)
    array([[0.  , 0.  , 0.33, 0.34],
           [0.  , 0.  , 0.  , 0.  ]])
    """

    doubt = "similar rows have other answers"

    directions: ClassVar[dict[str, int]] = {"disagreement": 1}

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Disagreement and weighted disagreement, or gap and spread, for each number of neighbours."""
        columns: list[Floats] = []
        for count in self.counts_:
            labels = neighborhood.labels[:, :count]
            weights = nearness(neighborhood.distances[:, :count])
            if neighborhood.index.model.is_regression:
                gap = (weights * labels).sum(axis=1) - neighborhood.scores[:, 0]
                columns += [gap, labels.std(axis=1)]
            else:
                differs = labels != neighborhood.predicted_labels[:, None]
                columns += [differs.mean(axis=1), (weights * differs).sum(axis=1)]
        return np.column_stack(columns)

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Minus the weighted disagreement, or minus the absolute gap, for the largest number of neighbours."""
        columns = self.columns(neighborhood)
        most = int(np.argmax(self.counts_))
        if neighborhood.index.model.is_regression:
            return -np.abs(columns[:, 2 * most])
        return -columns[:, 2 * most + 1]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        if self.index_.model.is_regression:
            return self.count_names(["gap", "spread"])
        return self.count_names(["disagreement", "weighted_disagreement"])
