"""Base of indicators: columns about each prediction (meta-features), and one number for how far to trust it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import check_consistent_length, check_random_state, get_tags
from sklearn.utils.validation import (
    check_is_fitted,
    validate_data,
)

from surefoot._models import check_model, fit_model
from surefoot._parallel import counted
from surefoot._sklearn_private import check_sample_weight
from surefoot._tables import as_table
from surefoot._typing import Floats, Ints
from surefoot._validation import (
    check_neighbor_metric,
    check_target,
    resolve_n_neighbors,
)
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Parameters of an indicator that its neighbourhood index needs, too.
SETTINGS = ("space", "metric", "response")

# Smallest distance that weights are computed from, as a share of the row's mean distance.
NEAREST = 1e-3


class Indicator(TransformerMixin, BaseEstimator, ABC):
    """Base of all indicators: a transformer around a model.

    A subclass returns how many neighbours it needs (`needed_neighbors`), names its columns
    (`get_feature_names_out`), computes them from a `Neighborhood` (`columns`), and sums them up
    in one number per row (`trust`). It is fitted on rows, or attached to an index that an action built
    for several indicators: the neighbourhoods may then hold more neighbours than this indicator needs.
    For recalibration it also has a parameter `per_class`; if True, columns come in blocks of one per class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.indicators import Indicator
    >>> class NearestDistance(Indicator):
    ...     def __init__(self, estimator=None):
    ...         self.estimator = estimator
    ...     def needed_neighbors(self, n_rows):
    ...         return 1
    ...     def columns(self, neighborhood):
    ...         return neighborhood.distances[:, :1]
    ...     def trust(self, neighborhood):
    ...         return -neighborhood.distances[:, 0]
    ...     def get_feature_names_out(self, input_features=None):
    ...         return np.array(["distance"], dtype=object)
    >>> X, y = load_iris(return_X_y=True)
    >>> NearestDistance(GaussianNB()).fit(X, y).score_samples(X[:1] + 1).round(2)
    array([-1.27])
    """

    estimator: Any
    index_: NeighborhoodIndex

    # Reason for doubt that a report shows for a row; if it is empty, the name of the indicator is shown.
    doubt = ""

    # Whether a mistake is more (1) or less likely (-1) where a column is higher, by the end of the column's name.
    directions: ClassVar[dict[str, int]] = {}

    # Whether it needs out-of-fold scores of a row's neighbours.
    needs_held_out_scores = False

    # Whether it fits models of its own, in `learn`.
    learns = False

    # Whether it needs the rows of the index, in its space, even if it needs no neighbours.
    needs_rows = False

    @abstractmethod
    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Columns of the indicator, shape (n_rows, n_columns_out), for the rows of the neighbourhood."""

    @abstractmethod
    def trust(self, neighborhood: Neighborhood) -> Floats:
        """One number for each row of the neighbourhood; higher is more trustworthy."""

    @abstractmethod
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""

    def known_column_names(self, name: str) -> list[str]:
        """Names by which a prior knows the columns: those of what they stand for, where this could not be measured."""
        return [f"{name}__{column}" for column in self.get_feature_names_out()]

    def column_directions(self) -> Ints:
        """Whether a mistake is more (1) or less likely (-1) where each column is higher; 0 if either may be."""
        names = self.get_feature_names_out()
        if getattr(self, "per_class", False) or self.index_.model.is_regression:
            return np.zeros(len(names), dtype=np.int64)
        ends = self.directions.items()
        plain = [re.sub(r"_\d+$", "", name) for name in names]
        return np.array([next((sign for end, sign in ends if n.endswith(end)), 0) for n in plain])

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""

    def prepared(self, random_state: Any = None) -> Self:
        """Copy with checked parameters and an int as `random_state`, if it has that: every fold then draws the same.

        An indicator without a seed gets one from `random_state`, that of the action around it. The other parameters
        are not copied, so that indicators with one space object still share a search.
        """
        self.check_parameters()
        fixed = copy(self)
        parameters = fixed.get_params(deep=False)
        if "random_state" in parameters:
            own = parameters["random_state"]
            random = check_random_state(random_state if own is None else own)
            fixed.set_params(random_state=random.randint(np.iinfo(np.int32).max))
        return fixed

    def needed_neighbors(self, n_rows: int) -> int:
        """Neighbours needed among `n_rows` training rows; an index keeps its rows if one is needed."""
        return int(self.needs_rows)

    def needed_samples(self) -> int:
        """Samples made around each row, which bound the size of a batch: 0, unless a subclass overrides it."""
        return 0

    def index_settings(self) -> dict[str, Any]:
        """Parameters of this indicator that its neighbourhood index needs."""
        return {name: getattr(self, name) for name in SETTINGS if hasattr(self, name)}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model, unless it is frozen, and index its training rows.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Training rows, as the model takes them.
        y : array-like of shape (n_rows,), default=None
            Targets; a frozen model needs none.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for fitting the model.

        Returns
        -------
        self : object
            The fitted indicator.
        """
        if self.estimator is None:
            raise ValueError(
                f"{type(self).__name__}(estimator=None) has no model: estimator may be a "
                "scikit-learn classifier or regressor, or a fitted one in FrozenEstimator."
            )
        check_model(self.estimator)
        self.check_parameters()
        X = as_table(X, copy=True)
        validate_data(self, X, skip_check_array=True)
        if y is not None:
            y = np.array(check_target(y))
            check_consistent_length(X, y)
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, X, dtype=np.float64)
        model = fit_model(self.estimator, X, y, sample_weight)
        index = NeighborhoodIndex(
            model,
            X,
            y,
            n_neighbors=self.needed_neighbors(X.shape[0]),
            held_out_scores=self._held_out_scores(X, y, sample_weight),
            n_jobs=getattr(self, "n_jobs", None),
            copy=False,
            **self.index_settings(),
        )
        self.attach(index)
        return self.learn(index.space.rows, index.labels) if self.learns else self

    def _held_out_scores(self, X: Any, y: Any, sample_weight: Floats | None) -> Floats | None:
        """Out-of-fold scores of the rows; None unless a subclass needs them."""
        return None

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`."""
        self.index_ = index
        return self

    def learn(self, rows: Any, labels: NDArray[Any] | None) -> Self:
        """Fit models of its own on rows in the neighbour space, after `attach`; only called if `learns`.

        The rows may be more than those in which neighbours are searched.
        """
        return self

    def fit_folds(
        self,
        indexes: Sequence[NeighborhoodIndex],
        rows: Sequence[Any],
        folds: Ints | None = None,
        n_jobs: int | None = None,
    ) -> list[Self]:
        """Fitted copy for each of several models of one table, the first of which is the deployed one.

        Parameters
        ----------
        indexes : sequence of NeighborhoodIndex
            Index of each model.
        rows : sequence of tuples of table and ndarray
            For an indicator that learns, the rows of each model in the space of its index, and their targets.
        folds : ndarray of int, default=None
            Fold that holds out each of the first rows, -1 if none does: the other models are then those of the folds,
            in order, and may share what has not seen a fold. None if they may share nothing.
        n_jobs : int, default=None
            Parallel fits.
        """
        tasks = (delayed(self._fit_to)(*each) for each in zip(indexes, rows, strict=True))
        fitted = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        return list(counted(fitted, "learn") if self.learns else fitted)

    def _fit_to(self, index: NeighborhoodIndex, rows: Any) -> Self:
        """Copy, attached to an index, that has learned from these rows and targets."""
        fitted = clone(self).attach(index)
        return fitted.learn(*rows) if self.learns else fitted

    def transform(self, X: Any) -> Floats:
        """Columns of each row.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to describe.

        Returns
        -------
        columns : ndarray of shape (n_rows, n_columns_out)
            The columns that `get_feature_names_out` names.
        """
        return np.concatenate(self._map(self.columns, X))

    def score_samples(self, X: Any) -> Floats:
        """Trust in each row's prediction; higher is more trustworthy.

        Parameters
        ----------
        X : array-like, CSR or frame of shape (n_rows, n_columns)
            Rows to describe.

        Returns
        -------
        scores : ndarray of shape (n_rows,)
            One number per row.
        """
        return np.concatenate(self._map(self.trust, X))

    def _map(self, function: Any, X: Any) -> list[Floats]:
        """Results of a function of neighbourhoods for each batch of checked rows."""
        check_is_fitted(self)
        X = as_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.index_.map(function, X, self.needed_samples())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = get_tags(self.estimator)
            tags.input_tags = inner.input_tags
            tags.target_tags.required = inner.target_tags.required
        return tags


class NeighborIndicator(Indicator, ABC):
    """Base of indicators with columns for one or several numbers of neighbours."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int | str | Sequence[int | str] = 10,
        space: Any = "auto",
        metric: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.space = space
        self.metric = metric
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""
        if not self.given_counts():
            raise ValueError("n_neighbors is empty: it may be a number, 'log', or several of them.")
        self.needed_neighbors(2)
        check_neighbor_metric(self.metric)

    def given_counts(self) -> list[Any]:
        """Values of the parameter `n_neighbors`, as a list: ints or "log"."""
        is_single = isinstance(self.n_neighbors, str) or not np.iterable(self.n_neighbors)
        return [self.n_neighbors] if is_single else list(self.n_neighbors)  # type: ignore[arg-type]

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`; `counts_` are the numbers of neighbours."""
        self.counts_ = [resolve_n_neighbors(n, index.n_reference) for n in self.given_counts()]
        return super().attach(index)

    def needed_neighbors(self, n_rows: int) -> int:
        """Neighbours needed among `n_rows` training rows."""
        return max(resolve_n_neighbors(count, n_rows) for count in self.given_counts())

    def count_names(self, names: Sequence[str]) -> NDArray[np.object_]:
        """Column names: each of `names` with each number of neighbours."""
        columns = [f"{name}_{count}" for count in self.given_counts() for name in names]
        return np.array(columns, dtype=object)


def nearness(distances: Floats) -> Floats:
    """Weights of neighbours, proportional to one over the distance; they sum to 1 in each row."""
    floor = NEAREST * distances.mean(axis=1, keepdims=True)
    weights = 1 / np.maximum(distances, np.where(floor > 0, floor, 1.0))
    return weights / weights.sum(axis=1, keepdims=True)
