"""Dynamic time warping: the distance of two series, and classification by the votes of the nearest series."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_array, check_is_fitted

from surefoot._kernels import search, store_series
from surefoot._parallel import row_batches
from surefoot._sklearn_private import neighbor_weights
from surefoot._typing import Floats, Ints
from surefoot._validation import (
    check_class_labels,
    check_option,
    check_target,
)
from surefoot.indicators import (
    Confidence,
    Indicator,
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    TrustScore,
)
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex, NeighborVoter
from surefoot.time_series._dtw import DTWNeighbors
from surefoot.time_series._series import (
    UNBOUNDED,
    check_path_exists,
    check_same_channels,
    check_series,
    window_radius,
)

Weights = str | Callable[[Floats], Floats]


def dtw_distance(x: Any, y: Any, *, window: float | None = None) -> float:
    """Dynamic time warping distance of two series; lower is more alike.

    The square root of the lowest sum of squared differences over all alignments of both series
    from start to end. All channels are warped together (dependent DTW): the difference at a step is
    the Euclidean distance over the channels.

    Parameters
    ----------
    x, y : array-like of shape (time,) or (channels, time)
        Two series, of any lengths.
    window : int, float or None, default=None
        Sakoe-Chiba radius: how many steps (int) two matched points may lie apart; a float is that
        fraction of the longer series, rounded down; None sets no limit.

    Returns
    -------
    float
        Distance, at least 0; 0 for equal series.

    Notes
    -----
    tslearn's `dtw` and dtaidistance's `distance` give the same value; aeon's `dtw_distance` gives
    its square.

    Examples
    --------
    >>> from surefoot.time_series import dtw_distance
    >>> dtw_distance([0, 0, 1, 2, 1], [0, 1, 2, 1, 1])
    0.0
    >>> dtw_distance([0, 0, 1, 2, 1], [0, 1, 2, 1, 1], window=0)  # the square root of 3
    1.7320508075688772
    """
    first, second = check_series([x], name="x"), check_series([y], name="y")
    check_same_channels(second, first.n_channels)
    radius = window_radius(window, int(max(first.lengths[0], second.lengths[0])))
    check_path_exists(radius, first.lengths, second.lengths)
    steps = UNBOUNDED if radius is None else radius
    stored = [
        store_series(each.values, each.starts, each.lengths, each.n_channels, steps)
        for each in (first, second)
    ]
    cost, index = np.empty((1, 1)), np.empty((1, 1), dtype=np.int64)
    search(stored[0], np.array([-1]), stored[1], steps, cost, index)
    return float(np.sqrt(cost[0, 0]))


class VoteConfidence(Confidence):
    """Confidence of a nearest-neighbour vote: shares of the votes, and the distance of the nearest voter.

    Besides the columns of `Confidence` there is `log_distance`, the logarithm of the distance to the nearest training
    row: the votes of a single neighbour are always unanimous, and then only the distance measures confidence.
    """

    needs_rows = True  # the nearest voter

    directions: ClassVar[dict[str, int]] = {**Confidence.directions, "log_distance": 1}

    def __init__(
        self,
        estimator: Any = None,
        *,
        response: str = "auto",
        per_class: bool = False,
        space: Any = "scaled",
        metric: Any = "auto",
    ) -> None:
        super().__init__(estimator, response=response, per_class=per_class)
        self.space = space
        self.metric = metric

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`."""
        self._nearest = NeighborDistance(n_neighbors=1).attach(index)
        return super().attach(index)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Columns of `Confidence`, and the logarithm of the distance to the nearest training row."""
        return np.hstack([super().columns(neighborhood), self._nearest.columns(neighborhood)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        return np.append(super().get_feature_names_out(), "log_distance")


class SeriesVoteClassifier(NeighborVoter, ClassifierMixin, BaseEstimator):
    """Base of classifiers that let the nearest training series vote.

    A subclass has the parameters `weights`, `neighbors`, `window` and `n_jobs`, the number of neighbours that decide
    (`list_length`; 0 if lists of them are not enough), and the votes of lists of that length (`_votes_of_lists`).
    """

    metric = "euclidean"  # of a search that was given, and is no DTW

    def __init__(
        self, *, window: float | None, weights: Weights, neighbors: Any, n_jobs: int | None
    ) -> None:
        self.window = window
        self.weights = weights
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    def neighbor_search(self) -> DTWNeighbors | None:
        """Search by which indicators find neighbours; None if it was given and is no DTW."""
        search = self.neighbors
        if search is None:
            search = DTWNeighbors(window=self.window, n_jobs=self.n_jobs)
        return search if isinstance(search, DTWNeighbors) else None

    def error_indicators(self) -> list[Indicator]:
        """Default indicators of an error estimator: neighbours as the votes see them (Buza et al. 2010)."""
        return [
            VoteConfidence(),
            NeighborDisagreement(n_neighbors=(3, 10, 30), space="scaled"),
            NeighborDistance(n_neighbors=10, space="scaled"),
            NeighborError(n_neighbors=10, space="scaled"),
            TrustScore(space="scaled"),
        ]

    def shared_search(self, rows: Floats, metric: Any) -> Any:
        """Own search, if it is one among these rows, within the same window, and lists are enough to vote."""
        own = self.neighbors_
        both = isinstance(own, DTWNeighbors) and isinstance(metric, DTWNeighbors)
        fits = both and own.window == metric.window and 0 < self.list_length <= len(rows)
        if not fits or not own.is_fitted_on(rows):
            return None
        return own.part(np.arange(len(rows)))  # without names of columns

    def output_of_lists(self, method: str, distances: Floats, indices: Ints) -> Any:
        """Votes for each class, or the class with most votes, from neighbours that are known; else None."""
        if method not in ("predict", "predict_proba"):
            return None
        votes = self._votes_of_lists(distances, indices)
        return votes if method == "predict_proba" else self.classes_[votes.argmax(axis=1)]

    def _set_training_series(self, X: Any, y: Any) -> None:
        """Set `classes_`, the labels' codes, and the search fitted to the series."""
        if not callable(self.weights):
            check_option(self.weights, "weights", ("uniform", "rank", "distance"))
        labels = check_target(y)
        check_array(labels, ensure_2d=False, dtype=None, input_name="y")
        check_class_labels(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._codes = codes.astype(np.int64)
        own = DTWNeighbors(window=self.window, n_jobs=self.n_jobs)
        neighbors = clone(own if self.neighbors is None else self.neighbors).fit(X)
        if neighbors.n_samples_fit_ != len(codes):
            raise ValueError(
                f"X has {neighbors.n_samples_fit_} series and y has {len(codes)} labels: "
                "they must be as many."
            )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(neighbors, name):
                setattr(self, name, getattr(neighbors, name))
            else:
                self.__dict__.pop(name, None)  # of an earlier fit
        self.neighbors_ = neighbors

    @abstractmethod
    def _votes_of_lists(self, distances: Floats, indices: Ints) -> Floats:
        """Share of the votes for each class, from neighbours that are known already; higher is more likely."""

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
        votes = self.predict_proba(X)  # which says that the model is not fitted
        return self.classes_[votes.argmax(axis=1)]


class KNeighborsDTWClassifier(SeriesVoteClassifier):
    """Nearest-neighbour classifier of time series under dynamic time warping.

    `predict_proba` gives the share of the neighbours' votes for each class; higher is more likely.

    Parameters
    ----------
    n_neighbors : int, default=1
        Training series that vote on a series.
    window : int, float or None, default=None
        Sakoe-Chiba radius in steps (int), or as a fraction of the longest training series (float);
        None sets no limit. See :class:`~surefoot.time_series.DTWNeighbors`.
    weights : {"uniform", "rank", "distance"} or callable, default="uniform"
        Weight of each vote: equal, 1 / r for the r-th neighbour, one over its distance, or a
        function from an array of distances to one of weights.
    neighbors : object, default=None
        Neighbour search with the methods `fit` and `kneighbors`; None is
        :class:`~surefoot.time_series.DTWNeighbors`.
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
        super().__init__(window=window, weights=weights, neighbors=neighbors, n_jobs=n_jobs)
        self.n_neighbors = n_neighbors

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
        self._set_training_series(X, y)
        return self

    @property
    def list_length(self) -> int:
        """Neighbours that decide."""
        return self.n_neighbors

    def _vote(self, X: Any) -> Floats:
        return self._votes_of_lists(*self.neighbors_.kneighbors(X, n_neighbors=self.n_neighbors))

    def _votes_of_lists(self, distances: Floats, indices: Ints) -> Floats:
        """Share of the votes for each class, from neighbours that are known already; higher is more likely."""
        return votes_by_size(
            (distances, indices),
            self._codes,
            np.zeros((0, len(self.classes_))),  # a neighbour votes for its own label only
            trust=np.inf,
            weights=self.weights,
            sizes=np.array([self.n_neighbors]),
        )[:, 0]


def vote_weights(distances: Floats, weights: Weights) -> Floats:
    """Weights of the neighbours' votes, of the shape of `distances`.

    `"rank"` gives the r-th neighbour 1 / r; `"distance"` the inverse of its distance, where
    neighbours at distance zero outvote all others, as in scikit-learn.
    """
    if weights == "rank":
        return np.broadcast_to(1 / np.arange(1, distances.shape[1] + 1), distances.shape)
    returned = neighbor_weights(distances, weights)
    given = np.ones_like(distances) if returned is None else np.asarray(returned)
    if given.shape != distances.shape or given.dtype.kind not in "fiub":
        raise ValueError(
            f"weights returned {given.dtype} of shape {given.shape} for distances of shape {distances.shape}: "
            "it may return a number for each distance."
        )
    wrong = ~((given >= 0) & (given < np.inf))
    if wrong.any():
        raise ValueError(
            f"weights returned {given[wrong][0]}: it may return finite numbers of at least 0."
        )
    return given.astype(np.float64)


def class_occurrences(indices: Ints, codes: Ints, n_rows: int, n_classes: int) -> Floats:
    """Counts of how often each row is a neighbour of a row of each class; an r-th neighbour counts 1 / r.

    `indices` are the neighbours, among `n_rows` rows, of rows of classes `codes`.
    """
    counts = np.zeros((n_rows, n_classes))
    rank_weights = np.broadcast_to(1 / np.arange(1, indices.shape[1] + 1), indices.shape)
    np.add.at(counts, (indices, codes[:, None]), rank_weights)
    return counts


def ballots(
    indices: Ints,
    labels: Ints,
    occurrences: Floats,
    trust: float,
    own_codes: Ints | None = None,
) -> Floats:
    """Share of each neighbour's vote that goes to each class, of shape (rows, neighbours, classes).

    A neighbour votes for the classes of the rows that it is a neighbour of (hubness-aware
    fuzzy nearest neighbours, Tomasev et al. 2014), and for its own label with weight `trust`;
    with infinite trust only for its own label. If the rows are among those counted, `own_codes` has their
    labels, and the counts that a row itself added are subtracted.
    """
    rows, places = np.ogrid[: len(indices), : indices.shape[1]]
    if np.isinf(trust):
        shares = np.zeros((*indices.shape, occurrences.shape[1]))
        shares[rows, places, labels[indices]] = 1.0
        return shares
    shares = occurrences[indices]
    if own_codes is not None:
        shares[rows, places, own_codes[:, None]] -= 1 / (places + 1)
        np.maximum(shares, 0.0, out=shares)  # rounding
    shares[rows, places, labels[indices]] += trust
    return shares / shares.sum(axis=2, keepdims=True)


def running_votes(shares: Floats, weights: Floats, sizes: Ints) -> Floats:
    """Shares of the votes among the first `sizes` neighbours, of shape (rows, sizes, classes); sum 1."""
    votes = np.cumsum(shares * weights[:, :, None], axis=1)[:, sizes - 1]
    total = votes.sum(axis=2, keepdims=True)
    if (empty := np.argwhere(total == 0)).size:
        raise ValueError(
            f"weights returned 0 for the {sizes[empty[0, 1]]} nearest neighbours of a series: one of them must "
            "be above 0."
        )
    return votes / total


def votes_by_size(
    lists: tuple[Floats, Ints],
    labels: Ints,
    occurrences: Floats,
    *,
    trust: float,
    weights: Weights,
    sizes: Ints,
    own_codes: Ints | None = None,
) -> Floats:
    """Shares of the votes for every number of neighbours in `sizes`, computed in batches."""
    distances, indices = lists[0][:, : sizes[-1]], lists[1][:, : sizes[-1]]
    n_classes = occurrences.shape[1]
    out = np.empty((len(indices), len(sizes), n_classes))
    for rows in row_batches(len(indices), 3 * 8 * int(sizes[-1]) * n_classes):
        own = None if own_codes is None else own_codes[rows]
        shares = ballots(indices[rows], labels, occurrences, trust, own)
        out[rows] = running_votes(shares, vote_weights(distances[rows], weights), sizes)
    return out
