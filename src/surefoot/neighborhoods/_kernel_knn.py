"""Classifier by kernel-weighted votes of the nearest training rows (Bennett 2007, equation 4)."""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot._kernels import cell_votes, sparse_cell_votes
from surefoot._parallel import in_threads, row_batches
from surefoot._tables import as_table
from surefoot._typing import Floats, Ints
from surefoot._validation import (
    check_class_labels,
    check_number,
    check_option,
    check_target,
    resolve_n_neighbors,
)
from surefoot.neighborhoods._search import NeighborVoter, csr_parts, neighbor_search, unit_rows
from surefoot.neighborhoods._voronoi import (
    ROWS_IN_CACHE,
    difference_products,
    steps_from_products,
)


class KernelKNeighborsClassifier(NeighborVoter, ClassifierMixin, BaseEstimator):
    """Nearest-neighbour classifier whose neighbours vote with their kernel value.

    `decision_function` is the sum of K(x, n) over the neighbours of a class minus the sum over the
    others (Bennett 2007, equation 4); higher means that the class is more likely.

    Parameters
    ----------
    n_neighbors : int or "log", default="log"
        Number of training rows that vote; "log" is 2⌈log2 n⌉ + 1 for n training rows. At most n vote.
    kernel : {"rbf", "cosine"} or callable, default="rbf"
        Similarity of two rows. With "rbf" neighbours are the nearest in Euclidean distance, otherwise
        the most similar. A callable takes two tables and returns the matrix of similarities.
    gamma : float, "scale" or "auto", default="scale"
        Width of the "rbf" kernel exp(−gamma·distance²): "scale" is 1 / (n_columns · variance of X),
        "auto" 1 / n_columns. The paper's σ = 1 is gamma = ½, which underflows in many dimensions.
    sample_neighbors : {"cached", "exact"}, default="cached"
        Neighbours that vote on a sample of `LocalSensitivity`: "cached" takes them from the 2·n_neighbors rows
        nearest to the row itself, as the paper does; "exact" searches them for each sample.
    n_jobs : int, default=None
        Number of threads of the neighbour search.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_neighbors_ : int
        Number of neighbours that vote.
    gamma_ : float
        Value of gamma; 0 unless `kernel="rbf"`.
    search_ : object
        Exact search among the training rows, with `kneighbors(X, n_neighbors)`; not for a callable kernel.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, where they are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelKNeighborsClassifier().fit(X, y)
    >>> model.n_neighbors_, model.decision_function(X[:1]).round(1)
    (17, array([[ 16.9, -16.9, -16.9]]))
    """

    classes_: NDArray[Any]
    n_neighbors_: int
    gamma_: float

    def __init__(
        self,
        n_neighbors: int | str = "log",
        *,
        kernel: str | Callable[[Any, Any], ArrayLike] = "rbf",
        gamma: float | str = "scale",
        sample_neighbors: str = "cached",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.sample_neighbors = sample_neighbors
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training rows and index them."""
        X, y = validate_data(
            self,
            as_table(X),
            check_target(y),
            accept_sparse="csr",
            dtype=np.float64,
            copy=True,
        )
        check_class_labels(y)
        if not callable(self.kernel):
            check_option(self.kernel, "kernel", ["rbf", "cosine"], other="a function of two tables")
        check_option(self.sample_neighbors, "sample_neighbors", ["cached", "exact"])
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        self.n_neighbors_ = min(resolve_n_neighbors(self.n_neighbors, X.shape[0]), X.shape[0])
        self.gamma_ = _resolve_gamma(self.gamma, X) if self.kernel == "rbf" else 0.0
        self._rows = self._scaled(X)
        if not callable(self.kernel):
            self.search_ = neighbor_search(self._rows, self.metric, self.n_neighbors_, self.n_jobs)
        return self

    @property
    def metric(self) -> str:
        """Metric of the neighbour search that this kernel needs."""
        return "cosine" if self.kernel == "cosine" else "euclidean"

    @property
    def list_length(self) -> int:
        """Neighbours that are needed to vote on a row and, if these are cached, on the samples around it."""
        return self.n_neighbors_ * (2 if self.sample_neighbors == "cached" else 1)

    def shared_search(self, rows: Any, metric: Any) -> Any:
        """Own search, if it is one among these rows by this metric; else None."""
        return self.search_ if metric == self.metric and self.is_fitted_on(rows) else None

    def is_fitted_on(self, rows: Any) -> bool:
        """Whether these rows are the training rows, so that a search among them finds the voting neighbours."""
        is_alike = rows.shape == self._rows.shape and issparse(rows) == issparse(self._rows)
        if callable(self.kernel) or not is_alike:
            return False
        rows = self._scaled(rows)
        if issparse(rows) and rows.data is self._rows.data:
            return True
        # A vectoriser's fit_transform and transform may differ in the last digit.
        largest = abs(self._rows).max()
        return bool(abs(rows - self._rows).max() <= 1e-12 * largest)

    def shares_rows_with(self, other: Self) -> bool:
        """Whether both hold one table of training rows, as copies made by `with_labels` do."""
        return self._rows is other._rows

    def with_labels(self, y: NDArray[Any]) -> Self:
        """Copy of the fitted classifier with new labels; the training rows are shared, not copied."""
        other = copy(self)
        other.classes_, other._codes = np.unique(y, return_inverse=True)  # noqa: SLF001 - a copy of this
        return other

    def decision_function(self, X: Any) -> Floats:
        """Kernel votes for minus against each class; higher means more likely. For two classes only the second."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        votes = np.empty((X.shape[0], len(self.classes_)))
        for batch in row_batches(X.shape[0], 8 * (self._rows.shape[0] + 4 * self.n_neighbors_)):
            near, similarity = self._most_similar(X[batch])
            votes[batch] = _sum_by_class(similarity, self._codes[near], len(self.classes_))
        return _for_minus_against(votes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class with the most kernel votes for each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def output_of_lists(self, method: str, distances: Floats, indices: Ints) -> Floats | None:
        """Output of `decision_function` from neighbours that are known; None for another method."""
        if method != "decision_function":
            return None
        return self.decision_function_of_lists(distances, indices)

    def decision_function_of_lists(self, distances: Floats, near: Ints) -> Floats:
        """Values of `decision_function` for rows whose neighbours are given, nearest first."""
        distances, near = distances[:, : self.n_neighbors_], near[:, : self.n_neighbors_]
        similarity = self._similarity(distances)
        return _for_minus_against(_sum_by_class(similarity, self._codes[near], len(self.classes_)))

    def output_in_cells(self, rows: Any, near: Ints, n_samples: int) -> Floats | None:
        """Values of `decision_function` at the samples in the Voronoi cells, computed from dot products.

        The voters of a sample are taken from the neighbours `near` of its row, nearest first; the paper
        takes twice as many of these as vote. Returns shape (n_rows, n_samples) for two classes, else
        (n_rows, n_samples, n_classes); None if voters are to be searched for each sample.
        """
        if self.sample_neighbors != "cached":
            return None
        near = near[:, : max(self.list_length, n_samples)]
        X = self._scaled(rows)
        if issparse(X):
            return _for_minus_against(self._sparse_cell_votes(X, near, n_samples))
        votes = np.empty((X.shape[0], n_samples, len(self.classes_)))

        def fill(batch: slice) -> None:
            votes[batch] = self._cell_votes(X[batch], near[batch], n_samples)

        in_threads(fill, row_batches(X.shape[0], 16 * near.shape[1] * X.shape[1], ROWS_IN_CACHE))
        return _for_minus_against(votes)

    def cell_weights(self, X: Any, near: Ints, n_samples: int) -> Floats:
        """Kernel value with which each neighbour votes at each sample, shape (n_rows, n_samples, n_near).

        It is 0 for a neighbour that does not vote. The functions that count votes by class are used, with
        each neighbour as a class of its own.
        """
        X = self._scaled(X)
        own = copy(self)
        own.classes_ = np.arange(near.shape[1])
        count = own._sparse_cell_votes if issparse(X) else own._cell_votes  # noqa: SLF001 - a copy of this
        weights = np.empty((X.shape[0], n_samples, near.shape[1]))
        for batch in row_batches(X.shape[0], 16 * near.shape[1] * X.shape[1], ROWS_IN_CACHE):
            part = near[batch]
            own._rows = self._rows[part.ravel()]  # noqa: SLF001
            own._codes = np.tile(own.classes_, len(part))  # noqa: SLF001
            weights[batch] = count(X[batch], np.arange(part.size).reshape(part.shape), n_samples)
        return weights

    def _scaled(self, X: Any) -> Any:
        """Rows scaled to length one for the cosine kernel, else unchanged."""
        if self.kernel != "cosine":
            return X
        return unit_rows(X) if issparse(X) else normalize(X)

    def _sparse_cell_votes(self, X: Any, near: Ints, n_samples: int) -> Floats:
        return sparse_cell_votes(
            csr_parts(X),
            csr_parts(self._rows),
            np.ascontiguousarray(near),
            self._codes[near],
            X.shape[1],
            n_samples,
            self.gamma_,
            min(self.n_neighbors_, near.shape[1]),
            len(self.classes_),
        )

    def _cell_votes(self, X: Any, near: Ints, n_samples: int) -> Floats:
        unit = self.kernel == "cosine"
        gram, squares = difference_products(X, self._rows, near, n_samples, unit=unit)
        steps = steps_from_products(gram, squares)
        if unit:  # a zero row is at distance one from everything, and so are its samples
            squares[~X.any(axis=1)] = -1.0
        n_voting = min(self.n_neighbors_, near.shape[1])
        codes = self._codes[near]
        return cell_votes(gram, squares, steps, codes, self.gamma_, n_voting, len(self.classes_))

    def _most_similar(self, X: Any) -> tuple[Ints, Floats]:
        """Positions of the voting neighbours of each row, and their kernel values."""
        if not callable(self.kernel):
            distances, near = self.search_.kneighbors(X, self.n_neighbors_)
            return near, self._similarity(distances)
        similarity = np.asarray(self.kernel(X, self._rows), dtype=np.float64)
        near = np.argsort(-similarity, axis=1, kind="stable")[:, : self.n_neighbors_]
        return near, np.take_along_axis(similarity, near, axis=1)

    def _similarity(self, distances: Floats) -> Floats:
        return np.exp(-self.gamma_ * distances**2) if self.kernel == "rbf" else 1 - distances

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _resolve_gamma(gamma: float | str, X: Any) -> float:
    if not isinstance(gamma, str):
        return float(check_number(gamma, "gamma", min_val=0, include_boundaries="neither"))
    check_option(gamma, "gamma", ["scale", "auto"], other="a positive number")
    if gamma == "auto":
        return 1.0 / X.shape[1]
    variance = (X.multiply(X)).mean() - X.mean() ** 2 if issparse(X) else X.var()
    scale = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if not 0 < scale < np.inf:
        raise ValueError("gamma='scale' is no finite number for columns of this size: scale them.")
    return float(scale)


def _sum_by_class(similarity: Floats, codes: Ints, n_classes: int) -> Floats:
    """Sum of the neighbours' kernel values in each row and class, shape (n_rows, n_classes)."""
    cells = np.arange(len(codes))[:, None] * n_classes + codes
    sums = np.bincount(cells.ravel(), similarity.ravel(), minlength=len(codes) * n_classes)
    return sums.astype(np.float64, copy=False).reshape(len(codes), n_classes)


def _for_minus_against(votes: Floats) -> Floats:
    """Votes for minus votes against: of the positive class for two classes, else of every class."""
    if votes.shape[-1] == 2:
        return votes[..., 1] - votes[..., 0]
    return 2.0 * votes - votes.sum(axis=-1, keepdims=True)
