"""Base of indicators: columns about each prediction (meta-features), and one number for how far to trust it."""

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.validation import (
    check_is_fitted,
    validate_data,
)

from surefoot._models import check_model, fit_model
from surefoot._sklearn_private import check_sample_weight
from surefoot._tables import as_table
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

SETTINGS = ("space", "metric", "response")


class Indicator(TransformerMixin, BaseEstimator, ABC):
    """Base of all indicators: a transformer around a model.

    A subclass returns how many neighbours it needs (`needed_neighbors`), names its columns
    (`get_feature_names_out`), computes them from a `Neighborhood` (`columns`), and sums them up
    in one number per row (`trust`). It is fitted on rows, or attached to an index that an action built
    for several indicators: the neighbourhoods may then hold more neighbours than this indicator needs.
    For recalibration it also has a parameter `per_class`; if True, columns come in blocks of one per class.
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

    @abstractmethod
    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Columns of the indicator, shape (n_rows, n_columns_out), for the rows of the neighbourhood."""

    @abstractmethod
    def trust(self, neighborhood: Neighborhood) -> Floats:
        """One number for each row of the neighbourhood; higher is more trustworthy."""

    @abstractmethod
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""

    def column_directions(self) -> Ints:
        """Whether a mistake is more (1) or less likely (-1) where each column is higher; 0 if either may be."""
        names = self.get_feature_names_out()
        if getattr(self, "per_class", False) or self.index_.response.is_regression:
            return np.zeros(len(names), dtype=np.int64)
        return np.array([self._direction(re.sub(r"_\d+$", "", name)) for name in names])

    def _direction(self, name: str) -> int:
        fitting = (sign for end, sign in self.directions.items() if name.endswith(end))
        return next(fitting, 0)

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""

    def needed_neighbors(self, n_rows: int) -> int:
        """Neighbours needed among `n_rows` training rows: 0, unless a subclass overrides it."""
        return 0

    def needed_samples(self) -> int:
        """Samples made around each row, which bound the size of a batch: 0, unless a subclass overrides it."""
        return 0

    def laid_out_like(self, fitted: Self) -> Self:
        """Copy with the columns of a fitted indicator, in its order; self, unless columns depend on the rows."""
        return self

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
        validate_data(self, X, skip_check_array=True)
        X = as_table(X)
        if y is not None:
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
            **self.index_settings(),
        )
        self.attach(index)
        if self.learns:
            self.learn(index.space.rows, index.labels)
        return self

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
