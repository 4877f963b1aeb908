"""Classification of a series by the labels of its nearest series under DTW."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_scalar

from surefoot._typing import Floats, Ints
from surefoot.time_series._vote_classifier import SeriesVoteClassifier
from surefoot.time_series._votes import Weights, check_weights, votes_by_size


class KNeighborsDTWClassifier(SeriesVoteClassifier):
    """Nearest-neighbour classifier of time series under dynamic time warping.

    `predict_proba` gives the share of the neighbours' votes for each class; higher is more likely.

    Parameters
    ----------
    n_neighbors : int, default=1
        Training series that vote on a series.
    window : int, float or None, default=None
        Sakoe-Chiba radius in steps (int), or as a fraction of the longest training series (float);
        None sets no limit. See :class:`~surefoot.neighborhoods.DTWNeighbors`.
    weights : {"uniform", "rank", "distance"} or callable, default="uniform"
        Weight of each vote: equal, 1 / r for the r-th neighbour, one over its distance, or a
        function from an array of distances to one of weights.
    neighbors : object, default=None
        Neighbour search with the methods `fit` and `kneighbors`; None is
        :class:`~surefoot.neighborhoods.DTWNeighbors`.
    n_jobs : int, default=None
        Threads over the series to classify.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    neighbors_ : DTWNeighbors
        The fitted search.
    n_features_in_ : int
        Length of the training series, where they came as a 2-D array.

    Examples
    --------
    >>> from surefoot.datasets import make_cylinder_bell_funnel
    >>> from surefoot.time_series import KNeighborsDTWClassifier
    >>> X, y = make_cylinder_bell_funnel(60, random_state=0)
    >>> model = KNeighborsDTWClassifier(window=0.1).fit(X[:30], y[:30])
    >>> model.score(X[30:], y[30:])
    1.0
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        window: float | None = None,
        weights: Weights = "uniform",
        neighbors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.window = window
        self.weights = weights
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training series and their labels.

        Parameters
        ----------
        X : array of shape (cases, time) or (cases, channels, time), or list of series
            Training series; a list holds series of unequal lengths, 1-D or (channels, time).
        y : array-like of shape (cases,)
            Class labels: numbers or strings.

        Returns
        -------
        self : KNeighborsDTWClassifier
        """
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        check_weights(self.weights)
        self._set_training_series(X, y)
        return self

    @property
    def list_length(self) -> int:
        """Neighbours that `predict_proba_of_lists` needs."""
        return self.n_neighbors

    def _vote(self, X: Any) -> Floats:
        return self.predict_proba_of_lists(
            *self.neighbors_.kneighbors(X, n_neighbors=self.n_neighbors)
        )

    def predict_proba_of_lists(self, distances: Floats, indices: Ints) -> Floats:
        """Share of the votes for each class, from neighbours that are known already; higher is more likely."""
        no_occurrences = np.zeros((0, len(self.classes_)))
        sizes = np.array([self.n_neighbors])
        votes = votes_by_size(
            (distances, indices),
            self._codes,
            no_occurrences,
            trust=np.inf,
            weights=self.weights,
            sizes=sizes,
        )
        return votes[:, 0]
