"""Neighbourhood of a batch of rows, which all indicators use: one search and one set of model outputs."""

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.extmath import row_norms

from surefoot._models import (
    FittedModel,
    ModelInput,
    as_labels,
    axis_samples,
    interpolate,
    model_input,
    offered_by,
    top_class,
)
from surefoot._parallel import row_batches
from surefoot._tables import as_table, is_frame, take_rows
from surefoot._typing import Floats, Ints, Mask
from surefoot._validation import Metric, canonical_metric, check_neighbor_metric, check_option
from surefoot.neighborhoods._search import NeighborSearch, NeighborVoter, neighbor_search
from surefoot.neighborhoods._space import NeighborSpace
from surefoot.neighborhoods._voronoi import steps_towards, unscaled_steps, voronoi_steps

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
    metric : "auto", str, callable or neighbour search, default="auto"
        "auto" is that of a nearest-neighbour model, or its own search, else "cosine" for sparse and "euclidean" for
        dense rows. A search is an object with `fit(X)` and `kneighbors(X, n_neighbors)`; see `NeighborSearch`.
    response : {"auto", "decision_function", "predict_proba", "predict"}, default="auto"
        Method of the model that the scores are made of.
    held_out_scores : ndarray of shape (n_rows, 1 or n_classes), default=None
        Out-of-fold scores of the training rows, for indicators that use the model's errors on neighbours.
    n_trained : int, default=None
        Number of rows that limits the log-odds; None means those of X.
    like : NeighborhoodIndex, default=None
        Index of the deployed rows, of which X is a part: what depends on rows alone (the kind of the input, the scale
        of the space, `n_reference`) is taken from it, so that held-out rows are described as new rows are.
    positions : ndarray of int of shape (n_rows,), default=None
        Positions of the rows of X in those of `like`; its search may then offer a view of itself.
    counted : ndarray of bool of shape (n_rows,), default=None
        Rows that distances are measured to, as many as a fold has: with more rows, all are nearer. None means all.
    n_jobs : int, default=None
        Number of threads, for the search and over batches of rows.
    copy : bool, default=True
        Whether the rows are copied. False is for rows that nobody changes in place.

    Attributes
    ----------
    model : FittedModel
        The model: its classes, its predictor, and how its scores are made.
    voter : NeighborVoter or None
        The predictor, if it votes by the neighbours that this index finds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.neighborhoods import NeighborhoodIndex
    >>> X, y = load_iris(return_X_y=True)
    >>> index = NeighborhoodIndex(GaussianNB().fit(X, y), X, y, n_neighbors=3)
    >>> distances = index.map(lambda neighborhood: neighborhood.distances, X[:2] + 1, 0)
    >>> distances[0].shape
    (2, 3)
    """

    space: NeighborSpace
    search: Any
    metric: Any

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        n_neighbors: int,
        space: Any = "auto",
        metric: Metric = "auto",
        response: str = "auto",
        held_out_scores: Floats | None = None,
        n_trained: int | None = None,
        like: "NeighborhoodIndex | None" = None,
        positions: Ints | None = None,
        counted: Mask | None = None,
        n_jobs: int | None = None,
        copy: bool = True,
    ) -> None:
        X = as_table(X, copy=copy and n_neighbors > 0)
        self.held_out_scores, self.counted, self.like = held_out_scores, counted, like
        self.labels = None if y is None else np.array(y)
        self.n_rows, self.n_neighbors, self.n_jobs = int(X.shape[0]), n_neighbors, n_jobs
        # Number of rows from which indicators derive their number of neighbours.
        self.n_reference: int = self.n_rows if like is None else like.n_reference
        self.n_trained = n_trained or self.n_rows
        self.model = FittedModel(model, response, self.n_trained)
        self.input = ModelInput(take_rows(X, slice(0, 0)))  # scores need no training rows
        self.voter: NeighborVoter | None = None
        if self.n_rows == 0:
            raise ValueError("X has no rows to look for neighbours in.")
        if n_neighbors > 0:
            known = like if like is not None and like.n_neighbors > 0 else None
            self._index_rows(X, y, space, metric, known, positions)

    def _index_rows(
        self,
        X: Any,
        y: Any,
        space: Any,
        metric: Metric,
        like: "NeighborhoodIndex | None",
        positions: Ints | None,
    ) -> None:
        model, predictor = self.model, self.model.predictor
        if model.is_given:
            self.scores = model(X)
        self.input = model_input(
            predictor, model.transform(X), None if like is None else like.input
        )
        own = self._own_search(space, metric) if like is None else like.metric
        # A search that compares rows as they are, such as series across time, keeps one scale for all columns.
        keeps_scale = isinstance(own, NeighborSearch) and isinstance(space, str)
        self.space = NeighborSpace(
            "auto" if keeps_scale and space == "scaled" else space,
            self.input,
            model.inputs(X),
            y,
            names=self._input_names(),
            like=None if like is None else like.space,
        )
        rows, voter = self.space.rows, None
        if isinstance(predictor, NeighborVoter) and self.space.is_model_input:
            voter = predictor
        plain = "cosine" if issparse(rows) else "euclidean"
        offered = plain if voter is None else voter.metric
        self.metric = offered if own is None else own
        shared = None if voter is None else voter.shared_search(rows, self.metric)
        if voter is not None and shared is not None:
            self.voter = voter
            self.n_neighbors = max(self.n_neighbors, voter.list_length)
        self.n_neighbors = min(self.n_neighbors, self.n_rows)
        self.search = self._part_of(like, positions) or shared
        if self.search is None:
            self.search = neighbor_search(rows, self.metric, self.n_neighbors, self.n_jobs)
        self.lengths = row_norms(rows) if self.metric == "cosine" else None
        # A sparse search has scaled its rows to length one already, if the metric is the cosine.
        self.reference = self.search.rows if issparse(rows) else rows

    def _own_search(self, space: Any, metric: Metric) -> Any:
        """Metric or search that was given, or that the model offers; None if neither was."""
        check_neighbor_metric(metric)
        takes_numbers = self.input.is_numeric and not issparse(self.input.rows)
        if isinstance(metric, NeighborSearch) and not takes_numbers:
            raise ValueError(
                f"metric={metric!r} compares rows as they are: each row may be a series of numbers, none of them "
                "missing."
            )
        if not (isinstance(metric, str) and metric == "auto"):
            return canonical_metric(metric)
        may_offer = takes_numbers and isinstance(space, str)
        return offered_by(self.model.predictor, "neighbor_search") if may_offer else None

    def _part_of(self, like: "NeighborhoodIndex | None", positions: Ints | None) -> Any:
        """View of the search of the deployed rows, if these rows are some of them; else None."""
        rows = self.space.rows
        is_dense = self.space.is_model_input and not issparse(rows)
        if like is None or positions is None or not is_dense:
            return None
        is_part = np.array_equal(rows, like.space.rows[positions])
        return like.search.part(positions) if is_part else None

    def prepare_parts(self, n_rows: int) -> None:
        """Prepare for searches of the indexed rows among parts of about `n_rows` of them."""
        if self.n_neighbors > 0:
            self.search.prepare_parts(self.n_neighbors, n_rows)

    def with_held_out_scores(self, scores: Floats) -> Self:
        """Copy that knows out-of-fold scores of its rows."""
        other = copy(self)
        other.held_out_scores = scores
        return other

    def coordinates(self, X: Any) -> Any:
        """Rows of a table in the neighbour space, dense or CSR."""
        X = as_table(X)
        return self.space(self.model.inputs(X), self.input.encode(self.model.transform(X)))

    def coordinate_names(self) -> list[str]:
        """Names of the columns of the neighbour space, which may differ between indexes of different rows."""
        if self.space.transformer is None:
            return _output_names(self.model.transformers[-1:], int(self.space.rows.shape[1]))
        return _output_names([self.space.transformer], int(self.space.rows.shape[1]))

    def _input_names(self) -> list[Any]:
        """Names of the columns of the model's input, by which two indexes match them; none if it is sparse."""
        if issparse(self.input.rows):
            return []
        if self.input.names is not None:
            return list(self.input.names)
        return _output_names(self.model.transformers[-1:], int(self.input.rows.shape[1]))

    @property
    def is_affine(self) -> bool:
        """Whether the scores are affine in the input, so that scores between two rows can be interpolated."""
        method = getattr(type(self.model.predictor), self.model.method, None)
        return self.input.is_numeric and method in AFFINE_METHODS

    @cached_property
    def scores(self) -> Floats:
        """Scores of the model for the indexed rows, in-sample if it was trained on them."""
        table = self.input
        batches = row_batches(self.n_rows, table.nbytes_per_sample)
        parts = [self.model(table.as_model_sees(take_rows(table.rows, rows))) for rows in batches]
        return np.concatenate(parts)

    def map(self, function: "Callable[[Neighborhood], T]", X: Any, n_samples: int) -> list[T]:
        """Results of a function for the neighbourhood of each batch of X; `n_samples` per row bound the batch."""
        X = as_table(X)
        if X.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s): X must have a row.")
        per_row = 16 * self.n_neighbors + self.input.nbytes_per_sample
        per_sample = per_row + 32 * self.model.n_columns
        results: list[T] = []
        # The search divides many rows among threads, but few rows badly: it gets as many as there are.
        for rows in row_batches(X.shape[0], per_row):
            near = Neighborhood(self, take_rows(X, rows))
            batches = list(row_batches(rows.stop - rows.start, (n_samples + 2) * per_sample))
            if len(batches) == 1:  # joblib takes as long as the search for one row
                results.append(function(near))
                continue
            parts = (near.part(batch) for batch in batches)
            results += Parallel(n_jobs=self.n_jobs, require="sharedmem")(
                delayed(function)(part) for part in parts
            )
        return results


def _output_names(transformers: list[Any], n_columns: int) -> list[str]:
    """Names of a transformer's output, or numbers if it has none of them."""
    try:
        names = [name for step in transformers for name in step.get_feature_names_out()]
    except AttributeError:  # a transformer without names of its output
        names = []
    return names if len(names) == n_columns else [f"column_{i}" for i in range(n_columns)]


class Neighborhood:
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
        Class probabilities of the model, or its decision values turned into probabilities.
    opinions : dict of str to ndarray
        Outputs of other models on the rows, by name; an indicator that asks other models adds theirs.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot.neighborhoods import NeighborhoodIndex
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> index = NeighborhoodIndex(LogisticRegression().fit(X, y), X, y, n_neighbors=2)
    >>> Neighborhood(index, [[0.9]]).labels
    array([['no', 'no']], dtype='<U3')
    """

    # Values of `sampling`; see `sample_scores`.
    SAMPLINGS = ("voronoi", "midpoint", "uniform", "axis")

    def __init__(
        self, index: NeighborhoodIndex, X: Any, twin: "Neighborhood | None" = None
    ) -> None:
        self.index, self.table = index, as_table(X)
        # Outputs of the model for the rows, by method, and of other models, by name.
        self.asked: dict[str, Any] = {} if twin is None else twin.asked
        self.opinions: dict[str, Any] = {} if twin is None else twin.opinions
        self.transformed: Any = (
            index.model.transform(self.table) if twin is None else twin.transformed
        )
        self.inputs = index.input.encode(self.transformed)
        if index.n_neighbors > 0:
            self.rows = index.space(index.model.inputs(self.table), self.inputs)
            self.distances, self.indices = index.search.kneighbors(self.rows, index.n_neighbors)

    def __len__(self) -> int:
        return int(self.inputs.shape[0])

    def part(self, rows: slice) -> "Neighborhood":
        """Neighbourhood of some of the rows."""
        part = copy(self)
        part.asked, part.opinions = {}, {}
        for name in ("table", "transformed", "inputs"):
            setattr(part, name, take_rows(getattr(self, name), rows))
        if self.index.n_neighbors > 0:
            part.rows = self.rows[rows]
            part.distances, part.indices = self.distances[rows], self.indices[rows]
        return part

    @property
    def labels(self) -> NDArray[Any]:
        """Targets of the neighbours."""
        if self.index.labels is None:
            raise ValueError("The neighbours have no labels: fit was called without y.")
        return self.index.labels[self.indices]

    @property
    def predicted_labels(self) -> NDArray[Any]:
        """Class with the highest score for each row: what the model predicts, but for ties."""
        return self.index.model.classes[top_class(self.scores)]

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
        outputs = self.index.model
        return outputs.scores(self._asked(outputs.method))

    @cached_property
    def probabilities(self) -> Floats:
        """Class probabilities of the model for the rows, or its decision values turned into probabilities."""
        model = self.index.model
        if model.has_probabilities:
            return model.probabilities(self._asked("predict_proba"))
        return model.probabilities_of_scores(self.scores)

    def answer(self, method: str) -> NDArray[Any]:
        """Output of the model's `predict` or `predict_proba` for the rows."""
        return self.probabilities if method == "predict_proba" else as_labels(self._asked(method))

    def _asked(self, method: str) -> Any:
        """Output of a method of the model for the rows; one that votes takes the neighbours that are known."""
        index, known = self.index, self.asked
        if method not in known and index.voter is not None:
            output = index.voter.output_of_lists(method, self.distances, self.indices)
            known |= {} if output is None else {method: output}
        if method not in known:
            rows = self.table if index.model.is_given else self.transformed
            if index.input.library is not None and not is_frame(type(rows)):  # it knows names
                rows = index.input.as_model_sees(self.inputs)
            known[method] = index.model.asked(method, rows, known)
        return known[method]

    def _ask_around(self, samples: Any) -> Floats:
        """Scores at the samples under the rows in a table: one call, which also gives the outputs of the rows."""
        index = self.index
        ask = getattr(index.model.predictor, index.model.method)
        output = np.asarray(ask(index.input.as_model_sees(samples)))
        self.asked[index.model.method] = output[: len(self)]
        return index.model.scores(output[len(self) :])

    def sample_scores(
        self, n_neighbors: int, sampling: str = "voronoi", fractions: Floats | None = None
    ) -> Floats:
        """Scores at samples around each row, shape (n_rows, n_samples, 1 or n_classes).

        `sampling` is the place of the samples: "voronoi" on the way to each of the nearest `n_neighbors`, at the border
        of the row's cell; "midpoint" half way to the neighbour; "uniform" at the given fraction of the way to the
        border, one for each neighbour; "axis" one local standard deviation up and down in one column at a time.
        """
        check_option(sampling, "sampling", self.SAMPLINGS)
        index, near = self.index, self.indices[:, :n_neighbors]
        if index.model.is_given:  # the neighbours themselves, whose outputs are known
            return index.scores[near]
        if sampling == "axis":
            return self._axis_scores(near)
        distances = self.distances[:, :n_neighbors]
        aligned = index.search.aligned(self.rows, index.reference, near, distances)
        if aligned is not None:
            return self._scores_towards(aligned, sampling, fractions)
        if sampling == "voronoi" and (scores := self._cell_scores(near)) is not None:
            return scores
        steps = self._steps(near, sampling, fractions)
        if index.is_affine:
            start = self.scores[:, None, :]
            return start + steps[:, :, None] * (index.scores[near] - start)
        return index.input.score_between(self._ask_around, self.inputs, near, steps)

    def _cell_scores(self, near: Ints) -> Floats | None:
        """Scores at the samples by the votes of the row's own neighbours; None if these do not suffice."""
        voter = self.index.voter
        votes = (
            None if voter is None else voter.output_in_cells(self.rows, self.indices, near.shape[1])
        )
        if votes is None:
            return None
        flat = votes.reshape(near.size, *votes.shape[2:])
        return self.index.model.scores(flat).reshape(*near.shape, -1)

    def _steps(self, near: Ints, sampling: str, fractions: Floats | None) -> Floats:
        """Steps in the model's input towards each neighbour: half way, or to the border of the row's cell."""
        if sampling == "midpoint":
            return np.full(near.shape, 0.5)
        steps = steps_towards(self.rows, self.index.reference, near, self.index.metric)
        if self.index.lengths is not None:
            steps = unscaled_steps(steps, row_norms(self.rows), self.index.lengths[near])
        if sampling == "uniform" and fractions is not None:
            steps = steps * fractions[: near.shape[1]]
        return steps

    def _scores_towards(self, aligned: Floats, sampling: str, fractions: Floats | None) -> Floats:
        """Scores between each row and its neighbours, once these are aligned with it: the cell is theirs."""
        index, (n_rows, n_near) = self.index, aligned.shape[:2]
        if not index.space.is_model_input:
            raise ValueError(
                "Samples between aligned rows are made in the model's own input: space may be 'auto'."
            )
        steps = np.full((n_rows, n_near), 0.5)
        if sampling != "midpoint":
            steps = voronoi_steps(self.rows, aligned)
        if sampling == "uniform" and fractions is not None:
            steps *= fractions[:n_near]
        places = np.arange(steps.size).reshape(steps.shape)
        flat = aligned.reshape(steps.size, -1)
        samples = interpolate(self.rows, flat, places, steps)
        return index.model(index.input.as_model_sees(samples)).reshape(*steps.shape, -1)

    def _axis_scores(self, near: Ints) -> Floats:
        """Scores at samples that differ from the row in one column; the row's own where a column is constant."""
        rows, table = self.inputs, self.index.input
        if not table.is_numeric:
            raise ValueError(
                "sampling='axis' needs a model whose input is a table of numbers: for mixed columns it "
                "may be 'voronoi', 'midpoint' or 'uniform'."
            )
        samples, at, place = axis_samples(rows, table.rows, near)
        scores = np.repeat(self.scores[:, None, :], 2 * rows.shape[1], axis=1)
        if samples.shape[0]:
            scores[at, place] = self.index.model(table.as_model_sees(samples))
        return scores
