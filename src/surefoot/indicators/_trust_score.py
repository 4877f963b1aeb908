"""Trust Score: distance to the predicted class against that to other classes (Jiang et al. 2018)."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats, Mask
from surefoot._validation import check_neighbor_metric
from surefoot.indicators._indicator import Indicator
from surefoot.indicators._neighbors import NO_DISTANCE
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex


class TrustScore(Indicator):
    """Ratio of the distances to another class and to the predicted one; a higher score is more trustworthy.

    One column, `log_trust`: the logarithm of the distance to the nearest training row of another
    class divided by the distance to the nearest one of the predicted class, the Trust Score of Jiang, Kim,
    Guan and Gupta (2018) without its filter of outliers. `score_samples` is that column.

    Parameters
    ----------
    estimator : classifier, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
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
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = [[0], [1], [5], [7]], [0, 0, 1, 1]
    >>> TrustScore(GaussianNB()).fit(X, y).score_samples([[0.5], [4]]).round(2)
    array([2.2, 1.1])
    """

    doubt = "rows of another class are nearer"

    needs_rows = True

    directions: ClassVar[dict[str, int]] = {"log_trust": -1}

    def __init__(
        self,
        estimator: Any = None,
        *,
        space: Any = "auto",
        metric: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.metric = metric
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""
        check_neighbor_metric(self.metric)

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`, and index the rows of each class."""
        super().attach(index)
        if index.model.is_regression:
            raise ValueError(
                "TrustScore needs a classifier: a regressor has no classes to be near."
            )
        if index.labels is None:
            raise ValueError("TrustScore needs labels: fit was called without y.")
        self._searches = [
            (label, index.search.among(rows))
            for label in np.unique(index.labels)
            if (rows := index.space.rows[index.labels == label]).shape[0]
        ]
        return self

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Logarithm of the ratio of the two distances."""
        predicted = neighborhood.predicted_labels
        is_own = neighborhood.labels == predicted[:, None]
        own = _first(neighborhood.distances, is_own)
        other = _first(neighborhood.distances, ~is_own)
        # Only rows whose neighbours are all of one kind need another search.
        rest = np.flatnonzero(np.isnan(own) | np.isnan(other))
        if len(rest):
            own[rest], other[rest] = self._search(neighborhood.rows[rest], predicted[rest])
        ratio = np.log(other + NO_DISTANCE) - np.log(own + NO_DISTANCE)
        # The ratio is 1 where the predicted class, or every other class, has no training row.
        return np.nan_to_num(ratio, nan=0.0)[:, None]

    def _search(self, rows: Any, predicted: NDArray[Any]) -> tuple[Floats, Floats]:
        """Distances to the nearest row of the predicted class and of any other; NaN where there is none."""
        own, other = np.full((2, len(predicted)), np.nan)
        for label, search in self._searches:
            distance = search.kneighbors(rows, 1)[0][:, 0]
            is_predicted = predicted == label
            own = np.where(is_predicted, distance, own)
            other = np.where(is_predicted, other, np.fmin(other, distance))
        return own, other

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Logarithm of the ratio of the two distances."""
        return self.columns(neighborhood)[:, 0]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        return np.array(["log_trust"], dtype=object)


def _first(distances: Floats, counts: Mask) -> Floats:
    """Distance of the first neighbour that counts; NaN where none does."""
    first = distances[np.arange(len(distances)), counts.argmax(axis=1)]
    return np.where(counts.any(axis=1), first, np.nan)
