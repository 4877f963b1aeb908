"""Base class of the nearest-neighbour classifiers of series."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import DTWNeighbors
from surefoot.time_series._neighbors import encode_labels, fit_neighbors


class SeriesVoteClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that let the nearest training series vote.

    A subclass has the parameters `neighbors`, `window` and `n_jobs`.
    """

    def _set_training_series(self, X: Any, y: Any) -> None:
        """Set `classes_`, the labels' codes, and the search fitted to the series."""
        self.classes_, self._codes = encode_labels(self, y)
        self.neighbors_ = fit_neighbors(self, X, len(self._codes))

    neighbors: Any

    @property
    def metric(self) -> str:
        """Name of the distance, which indicators search neighbours by: "dtw", unless another search was given."""
        own = self.neighbors is None or isinstance(self.neighbors, DTWNeighbors)
        return "dtw" if own else type(self.neighbors).__name__

    def shared_search(self, rows: Floats, metric: Any, window: Any) -> Any:
        """Own search, if it is one among these rows, within this window, and lists are enough to vote; else None."""
        search = self.neighbors_
        fits = metric == "dtw" == self.metric and 0 < self.list_length <= len(rows)
        if not fits or search.window != window or not search.is_fitted_on(rows):
            return None
        return search.part(np.arange(len(rows)))  # without names of columns

    @property
    @abstractmethod
    def list_length(self) -> int:
        """Neighbours that `predict_proba_of_lists` needs; 0 if lists are not enough to vote."""

    @abstractmethod
    def predict_proba_of_lists(self, distances: Floats, indices: Ints) -> Floats:
        """Share of the votes for each class, from neighbours that are known already; higher is more likely.

        Parameters
        ----------
        distances, indices : ndarrays of shape (n_series, n_neighbors)
            Distances and positions of the nearest training series, nearest first, at least `list_length` of them.

        Returns
        -------
        ndarray of shape (n_series, n_classes)
            Columns in the order of `classes_`; rows sum to 1.
        """

    @abstractmethod
    def _vote(self, X: Any) -> Floats:
        """Share of the votes for each class, of shape (n_series, n_classes)."""

    def predict_proba(self, X: Any) -> Floats:
        """Share of the votes for each class; higher is more likely.

        Parameters
        ----------
        X : array or list of series
            Series to classify, in any form that `fit` takes.

        Returns
        -------
        ndarray of shape (n_series, n_classes)
            Columns in the order of `classes_`; rows sum to 1.
        """
        check_is_fitted(self)
        return self._vote(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most votes; of several with equal votes, the first in `classes_`.

        Parameters
        ----------
        X : array or list of series
            Series to classify, in any form that `fit` takes.

        Returns
        -------
        ndarray of shape (n_series,)
        """
        votes = self.predict_proba(X)
        return self.classes_[votes.argmax(axis=1)]
