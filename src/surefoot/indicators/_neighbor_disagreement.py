"""How many of a row's nearest training rows contradict its prediction."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefoot._models import top_class
from surefoot._typing import Floats
from surefoot.indicators._neighbor_indicator import NeighborIndicator, nearness
from surefoot.neighborhoods import Neighborhood


class NeighborDisagreement(NeighborIndicator):
    """How far the labels around a row contradict its prediction; a higher score is less contradicted.

    Two columns for each number of neighbours k: `disagreement_k`, the share of the k nearest training
    rows with another label than the one predicted, and `weighted_disagreement_k`, where each weighs by
    one over its distance. For a regressor `gap_k` is their weighted mean target minus the prediction,
    and `spread_k` the standard deviation of their targets.

    `score_samples` is minus the weighted disagreement, or minus the size of the gap, over the most neighbours.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. An action
        supplies its own.
    n_neighbors : int, "log" or several of them, default=10
        Training rows to ask; "log" is 2⌈log2 n⌉ + 1 for n training rows.
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
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 1, 1]
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> NeighborDisagreement(stump, n_neighbors=(1, 3)).fit(X, y).transform([[1.4], [4.4]]).round(2)
    array([[0.  , 0.  , 0.33, 0.34],
           [0.  , 0.  , 0.  , 0.  ]])
    """

    doubt = "similar rows have other answers"

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Two columns for each number of neighbours."""
        found = []
        for count in self.counts(neighborhood.index.n_rows):
            labels = neighborhood.labels[:, :count]
            weights = nearness(neighborhood.distances[:, :count])
            if neighborhood.index.response.is_regression:
                gap = (weights * labels).sum(axis=1) - neighborhood.scores[:, 0]
                found += [gap, labels.std(axis=1)]
            else:
                wrong = labels != predicted_labels(neighborhood)[:, None]
                found += [wrong.mean(axis=1), (weights * wrong).sum(axis=1)]
        return np.column_stack(found)

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Minus the weighted disagreement, or minus the size of the gap, over the most neighbours."""
        columns = self.columns(neighborhood)
        most = int(np.argmax(self.counts(neighborhood.index.n_rows)))
        if neighborhood.index.response.is_regression:
            return -np.abs(columns[:, 2 * most])
        return -columns[:, 2 * most + 1]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        if self.index_.response.is_regression:
            return self.count_names(["gap", "spread"])
        return self.count_names(["disagreement", "weighted_disagreement"])


def predicted_labels(neighborhood: Neighborhood) -> NDArray[Any]:
    """The label that the model gives each row."""
    return np.asarray(neighborhood.index.predictor.classes_)[top_class(neighborhood.scores)]
