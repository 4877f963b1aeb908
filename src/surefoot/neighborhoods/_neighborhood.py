"""Neighbourhood of a batch of rows, which all indicators use: one search and one set of model outputs."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.extmath import row_norms

from surefoot._models import (
    ModelInput,
    NumericInput,
    Response,
    model_input,
    predict_labels,
    split_model,
)
from surefoot._parallel import row_batches
from surefoot._search import Metric, SparseNeighbors
from surefoot._tables import as_table, column_names, is_frame, take_rows
from surefoot._typing import Floats, Mask
from surefoot.neighborhoods._index_search import (
    neighbor_search,
    own_series_search,
    resolve_metric,
    resolve_series,
)
from surefoot.neighborhoods._kernel_knn import KernelKNeighborsClassifier
from surefoot.neighborhoods._sampled_rows import SampledRows
from surefoot.neighborhoods._space import NeighborSpace

T = TypeVar("T")

# Methods that are affine in their input, shared by all of scikit-learn's linear models.
AFFINE_METHODS = (LogisticRegression.decision_function, LinearRegression.predict)


class NeighborhoodIndex:
    """Fitted model with its indexed training rows; makes a `Neighborhood` for any batch of rows.

    Parameters
    ----------
    model : fitted estimator
        Classifier or regressor; inside pipelines, searches and `FrozenEstimator` its last step is used.
    X, y : training rows and targets
        Rows in which neighbours are searched, and their targets; `y` may be None.
    n_neighbors : int
        Neighbours of each row; 0 if no indicator needs any.
    space : "auto", "scaled" or transformer, default="auto"
        "auto" is the model's own input where that is numeric and complete, else a vectorised,
        imputed and scaled copy of it; "scaled" divides the columns of that input by their standard deviations.
        A transformer is fitted on X and y.
    metric : "auto", "dtw", str or callable, default="auto"
        "auto" is that of a nearest-neighbour model, DTW with its window among them, else "cosine" for sparse and
        "euclidean" for dense rows.
    window : int, float or None, default=None
        Sakoe-Chiba radius of metric="dtw"; see `DTWNeighbors`.
    response : {"auto", "decision_function", "predict_proba", "predict"}, default="auto"
        Method of the model that the scores are made of.
    held_out_scores : ndarray of shape (n_rows, 1 or n_classes), default=None
        Out-of-fold scores of the training rows, for indicators that use the model's errors on neighbours.
    n_trained : int, default=None
        Number of rows that limits the log-odds; None means those of X.
    like : NeighborhoodIndex, default=None
        Index of the deployed rows, of which X is a part: what depends on rows alone (the kind of the input, the scale
        of the space, `n_reference`) is taken from it, so that held-out rows are described as new rows are.
    counted : ndarray of bool of shape (n_rows,), default=None
        Rows that distances are measured to, as many as a fold has: with more rows, all are nearer. None means all.
    n_jobs : int, default=None
        Number of threads, for the search and over batches of rows.
    """

    n_reference: int
    space: NeighborSpace

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        n_neighbors: int,
        space: Any = "auto",
        metric: Metric = "auto",
        window: float | None = None,
        response: str = "auto",
        held_out_scores: Floats | None = None,
        n_trained: int | None = None,
        like: "NeighborhoodIndex | None" = None,
        counted: Mask | None = None,
        n_jobs: int | None = None,
    ) -> None:
        X = as_table(X)
        self.held_out_scores, self.counted = held_out_scores, counted
        self.transformers, self.predictor = split_model(model)
        self.labels = None if y is None else np.asarray(y)
        self.n_rows, self.n_neighbors, self.n_jobs = int(X.shape[0]), 0, n_jobs
        # Number of rows from which indicators derive their number of neighbours.
        self.n_reference = self.n_rows if like is None else like.n_reference
        self.n_trained = n_trained or self.n_rows
        self.response = Response(self.predictor, response, self.n_trained)
        self.input = ModelInput(take_rows(X, slice(0, 0)))  # scores need no training rows
        if self.n_rows == 0:
            raise ValueError("X has no rows to look for neighbours in.")
        if n_neighbors > 0:
            of_whole = None if like is None else like.input
            self.input = model_input(self.predictor, self.transform(X), of_whole)
            self._index_rows(X, y, n_neighbors, space, metric, window, like)

    def _index_rows(
        self,
        X: Any,
        y: Any,
        n_neighbors: int,
        space: Any,
        metric: Metric,
        window: Any,
        like: "NeighborhoodIndex | None",
    ) -> None:
        is_series, self.window = resolve_series(self.predictor, self.input, space, metric, window)
        # Points of a series are compared across time, so their columns keep one scale.
        keeps_scale = is_series and isinstance(space, str) and space == "scaled"
        self.space = NeighborSpace(
            "auto" if keeps_scale else space,
            self.input,
            X,
            y,
            names=self._input_names(),
            like=like.space if like is not None and like.n_neighbors > 0 else None,
        )
        self.metric = "dtw" if is_series else resolve_metric(metric, self.predictor, self.space)
        # Whether the model itself votes by the neighbours of this search.
        self.shares_search = (
            isinstance(self.predictor, KernelKNeighborsClassifier)
            and self.metric == self.predictor.metric
            and self.space.is_model_input
            and self.predictor.is_fitted_on(self.space.rows)
        )
        own = self._own_series_search()
        self.shares_lists = own is not None
        if self.shares_search:
            cached = self.predictor.sample_neighbors == "cached"
            n_neighbors = max(n_neighbors, self.predictor.n_neighbors_ * (2 if cached else 1))
        elif self.shares_lists:
            n_neighbors = max(n_neighbors, self.predictor.list_length)
        self.n_neighbors = min(n_neighbors, self.n_rows)
        self.lengths = row_norms(self.space.rows) if self.metric == "cosine" else None
        self.search = self.predictor.search_ if self.shares_search else own
        if self.search is None:
            self.search = self.search_among(self.space.rows, self.n_neighbors)
        # The sparse search has scaled its rows to length one already, if the metric is the cosine.
        is_sparse = isinstance(self.search, SparseNeighbors)
        self.reference = self.search.rows if is_sparse else self.space.rows

    def _own_series_search(self) -> Any:
        if not (self.metric == "dtw" and self.space.is_model_input):
            return None
        return own_series_search(self.predictor, self.space.rows, self.window)

    def search_among(self, rows: Any, n_neighbors: int) -> Any:
        """Search among some rows of the neighbour space, by the metric of this index."""
        return neighbor_search(rows, self.metric, self.window, n_neighbors, self.n_jobs)

    def transform(self, X: Any) -> Any:
        """Rows after the transformers of the model's pipelines."""
        for transformer in self.transformers:
            X = transformer.transform(X)
        return as_table(X)

    def coordinates(self, X: Any) -> Any:
        """Rows of a table in the neighbour space, dense or CSR."""
        return self.space(X, self.input.encode(self.transform(X)))

    def coordinate_names(self) -> list[str]:
        """Names of the columns of the neighbour space, which may differ between indexes of different rows."""
        if self.space.transformer is None:
            return _output_names(self.transformers[-1:], int(self.space.rows.shape[1]))
        return _output_names([self.space.transformer], int(self.space.rows.shape[1]))

    def _input_names(self) -> list[Any]:
        """Names of the columns of the model's input, by which two indexes match them; none if it is sparse."""
        if issparse(self.input.rows):
            return []
        if is_frame(self.input.rows):
            return column_names(self.input.rows)
        if isinstance(self.input, NumericInput) and self.input.names is not None:
            return list(self.input.names)
        return list(_output_names(self.transformers[-1:], int(self.input.rows.shape[1])))

    def training_inputs(self) -> Any:
        """Training rows in the form that the model's last step takes; kept only if `n_neighbors` is above 0."""
        return self.input.as_model_sees(self.input.rows)

    @property
    def is_affine(self) -> bool:
        """Whether the scores are affine in the input, so that scores between two rows can be interpolated."""
        method = getattr(type(self.predictor), self.response.method, None)
        return isinstance(self.input, NumericInput) and method in AFFINE_METHODS

    @cached_property
    def scores(self) -> Floats:
        """Scores of the model for the indexed rows, in-sample if it was trained on them."""
        parts = [
            self.input.score(self.response, take_rows(self.input.rows, batch))
            for batch in row_batches(self.n_rows, self.input.nbytes_per_sample())
        ]
        return np.concatenate(parts)

    def map(self, function: "Callable[[Neighborhood], T]", X: Any, n_samples: int) -> list[T]:
        """Results of a function for the neighbourhood of each batch of X; `n_samples` per row bound the batch."""
        X = as_table(X)
        if X.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s): X must have a row.")
        of_scores = 32 * max(self.response.n_classes, 1)
        per_sample = 16 * self.n_neighbors + of_scores + self.input.nbytes_per_sample()
        batches = row_batches(X.shape[0], (n_samples + 2) * per_sample)

        def apply(batch: slice) -> T:
            return function(Neighborhood(self, take_rows(X, batch)))

        return Parallel(n_jobs=self.n_jobs, require="sharedmem")(delayed(apply)(b) for b in batches)


def _output_names(transformers: list[Any], n_columns: int) -> list[str]:
    """Names of a transformer's output, or numbers if it has none of them."""
    try:
        names = [name for step in transformers for name in step.get_feature_names_out()]
    except AttributeError:  # a transformer without names of its output
        names = []
    return names if len(names) == n_columns else [f"column_{i}" for i in range(n_columns)]


class Neighborhood(SampledRows):
    """Neighbours of a batch of rows, and the model's outputs on the rows, on the neighbours and in between.

    Parameters
    ----------
    index : NeighborhoodIndex
        The model and its training rows.
    X : table
        The rows to describe, as the user passes them.
    twin : Neighborhood, default=None
        Neighbourhood of these rows in another index of this model; the model's outputs are taken from it.

    Attributes
    ----------
    transformed : array, CSR or frame
        The rows after the transformers of the model's pipeline, as its last step takes them.
    inputs : array, CSR or frame
        These rows encoded for `sample_scores`, which makes points between them.
    rows : array or CSR
        The rows in the neighbour space.
    indices, distances : ndarray of shape (n_rows, n_neighbors)
        Positions and distances of the training rows nearest to each row, nearest first.
    labels : ndarray of shape (n_rows, n_neighbors)
        Targets of the neighbours.
    scores : ndarray of shape (n_rows, 1 or n_classes)
        Log-odds-like scores of the model for the rows.
    neighbor_scores : ndarray of shape (n_rows, n_neighbors, 1 or n_classes)
        Out-of-fold scores of the neighbours, in an action that cross-fits.
    probabilities : ndarray of shape (n_rows, n_classes)
        Class probabilities of the model, if it has `predict_proba`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot.neighborhoods import NeighborhoodIndex
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> index = NeighborhoodIndex(LogisticRegression().fit(X, y), X, y, n_neighbors=2)
    >>> Neighborhood(index, [[0.9]]).labels
    array([['no', 'no']], dtype='<U3')
    """

    def __init__(
        self, index: NeighborhoodIndex, X: Any, twin: "Neighborhood | None" = None
    ) -> None:
        self.index, self.table, self.twin = index, as_table(X), twin
        self.transformed: Any = index.transform(self.table) if twin is None else twin.transformed
        self.inputs = index.input.encode(self.transformed)
        self._as_fitted = index.input.as_fitted(self.transformed, self.inputs)
        if index.n_neighbors > 0:
            self.rows = index.space(self.table, self.inputs)
            # The model's own search may know the names of columns, and then expects them.
            searched = self._as_fitted if index.shares_lists else self.rows
            self.distances, self.indices = index.search.kneighbors(searched, index.n_neighbors)

    def __len__(self) -> int:
        return int(self.inputs.shape[0])

    @property
    def labels(self) -> NDArray[Any]:
        """Targets of the neighbours."""
        if self.index.labels is None:
            raise ValueError("The neighbours have no labels: fit was called without y.")
        return self.index.labels[self.indices]

    @property
    def has_cell(self) -> Mask:
        """Whether each row has a Voronoi cell: a zero row has none under the cosine."""
        if self.index.lengths is None:
            return np.ones(len(self), dtype=bool)
        return row_norms(self.rows) > 0

    @property
    def neighbor_scores(self) -> Floats:
        """Out-of-fold scores of the neighbours, shape (n, k, columns)."""
        if self.index.held_out_scores is None:
            raise ValueError(
                "The neighbours have no out-of-fold scores: they come from an action that cross-fits."
            )
        return self.index.held_out_scores[self.indices]

    @cached_property
    def scores(self) -> Floats:
        """Scores of the model for the rows."""
        if self.twin is not None and self.twin.index.response.method == self.index.response.method:
            return self.twin.scores
        if self.index.n_neighbors > 0 and self.index.shares_search:
            votes = self.index.predictor.cached_scores(self.distances, self.indices)
            return self.index.response.as_scores(votes)
        if self.index.response.method == "predict_proba":  # one call serves both
            return self.index.response.log_odds(self.probabilities)
        return self.index.response(self._as_fitted)

    @cached_property
    def probabilities(self) -> Floats:
        """Class probabilities of the model for the rows."""
        if self.twin is not None:
            return self.twin.probabilities
        if self._votes_by_lists:
            return self.index.predictor.proba_of_lists(self.distances, self.indices)
        return self.index.response.probabilities(self._as_fitted)

    @property
    def _votes_by_lists(self) -> bool:
        return self.index.n_neighbors > 0 and self.index.shares_lists

    def answer(self, method: str) -> NDArray[Any]:
        """Output of the model's `predict` or `predict_proba` for the rows."""
        if method == "predict_proba":
            return self.probabilities
        if self.index.response.is_regression:  # computed already
            return self.scores[:, 0]
        if self._votes_by_lists:
            return np.asarray(self.index.predictor.classes_)[self.probabilities.argmax(axis=1)]
        return predict_labels(self.index.predictor, self._as_fitted)
