"""One neighbourhood for many models of the same rows: neighbours and samples are computed once for all."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surefoot._models import Outputs, axis_samples, interpolate, split_model, takes_rows_as_they_are
from surefoot._tables import as_numbers, is_frame
from surefoot._typing import Floats, Ints
from surefoot.neighborhoods import KernelKNeighborsClassifier, Neighborhood, NeighborhoodIndex

T = TypeVar("T")


class SharedNeighborhood(Neighborhood):
    """Neighbourhood of a batch of rows for one of several two-class models that share a search.

    Parameters
    ----------
    index : NeighborhoodIndex
        Made by `index_for`.
    first : Neighborhood
        Neighbourhood of the batch, whose rows and neighbours are used; of any of the models.
    shared : dict
        Cache of samples, steps and weights that are equal for all models; filled at first use.
    """

    def __init__(
        self, index: NeighborhoodIndex, first: Neighborhood, shared: dict[Any, Any]
    ) -> None:
        self.index = index
        self.transformed, self.inputs = first.transformed, first.inputs
        self._as_fitted = index.input.as_fitted(self.transformed, self.inputs)
        self.twin = None
        self.has_cached_votes = getattr(index.voter, "sample_neighbors", None) == "cached"
        self._shared = shared
        if index.n_neighbors > 0:
            self.rows, self.distances, self.indices = first.rows, first.distances, first.indices

    def sample_scores(
        self, n_neighbors: int, sampling: str = "voronoi", fractions: Floats | None = None
    ) -> Floats:
        """Scores at samples around each row; see `Neighborhood.sample_scores`."""
        near = self.indices[:, :n_neighbors]
        if sampling == "voronoi" and self.has_cached_votes:
            return self._cell_scores(near)
        if sampling not in ("voronoi", "midpoint", "uniform") or self.index.is_affine:
            return super().sample_scores(n_neighbors, sampling, fractions)
        key = sampling, n_neighbors, b"" if fractions is None else fractions.tobytes()
        samples = self._once(("samples", *key), lambda: self._samples(near, sampling, fractions))
        return self._scores_of(samples, key).reshape(*near.shape, -1)

    def _scores_of(self, samples: Any, key: tuple[Any, ...]) -> Floats:
        """Scores of the model at samples; nearest-neighbour models share the search, which ignores labels."""
        index, model = self.index, self.index.voter
        if model is None:
            return index.outputs(index.input.as_model_sees(samples))
        voting = self._once(
            ("voting", model.n_neighbors_, *key),
            lambda: model.search_.kneighbors(samples, model.n_neighbors_),
        )
        return index.outputs.scores(model.decision_function_of_lists(*voting))

    def _axis_scores(self, near: Ints) -> Floats:
        key = "axis", near.shape[1]
        samples, at, place = self._once(
            ("samples", *key), lambda: axis_samples(self.inputs, self.index.input.rows, near)
        )
        scores = np.repeat(self.scores[:, None, :], 2 * self.inputs.shape[1], axis=1)
        if samples.shape[0]:
            scores[at, place] = self._scores_of(samples, key)
        return scores

    def _samples(self, near: Ints, sampling: str, fractions: Floats | None) -> Any:
        """Points on the way from each row to its neighbours, as the model takes them."""
        steps = self._steps(near, sampling, fractions)
        return interpolate(self.inputs, self.index.input.rows, near, steps)

    def _cell_scores(self, near: Ints) -> Floats:
        """Scores at the samples by the votes of cached neighbours, whose weights do not depend on the labels."""
        model = self.index.voter
        cache = self.indices[:, : max(model.list_length, near.shape[1])]
        weights = self._once(
            ("weights", model.n_neighbors_, model.gamma_, near.shape[1]),
            lambda: model.cell_weights(self.rows, cache, near.shape[1]),
        )
        signs = np.where(self.index.labels[cache] == model.classes_[1], 1.0, -1.0)  # type: ignore[index]
        votes = weights @ signs[:, :, None]
        return self.index.outputs.scores(votes.ravel()).reshape(*near.shape, -1)

    def _steps(self, near: Ints, sampling: str, fractions: Floats | None) -> Floats:
        key = "steps", near.shape[1], sampling, b"" if fractions is None else fractions.tobytes()
        return self._once(
            key, lambda: super(SharedNeighborhood, self)._steps(near, sampling, fractions)
        )

    def _once(self, key: Any, compute: Callable[[], T]) -> T:
        """Value from the shared cache, computed if it is not there yet."""
        if key not in self._shared:
            self._shared[key] = compute()
        return self._shared[key]


def may_share(models: Sequence[Any], X: Any) -> bool:
    """Whether all fitted models take the rows untransformed and complete, so that they can share a neighbourhood."""
    if is_frame(X) or X.ndim == 1 or as_numbers(X) is None:
        return False
    return all(takes_rows_as_they_are(model) for model in models)


def index_for(
    shared: NeighborhoodIndex, model: Any, labels: NDArray[Any], *, response: str = "auto"
) -> NeighborhoodIndex:
    """Index of another model of the same rows, which shares the search of the given one."""
    index = copy(shared)
    vars(index).pop("scores", None)  # cached ones are those of the first model
    index.transformers, index.predictor = split_model(model)
    index.labels, index.held_out_scores = labels, None
    index.outputs = Outputs(index.predictor, response, index.n_trained)
    index.voter = index.predictor if index.n_neighbors > 0 and _votes(index, shared) else None
    return index


def _votes(index: NeighborhoodIndex, shared: NeighborhoodIndex) -> bool:
    """Whether the model votes by the neighbours that the index finds."""
    model, first = index.predictor, shared.predictor
    if not isinstance(model, KernelKNeighborsClassifier) or model.metric != index.metric:
        return False
    if isinstance(first, KernelKNeighborsClassifier) and model.shares_rows_with(first):
        return shared.voter is not None  # only the labels differ: rows need not be compared again
    return model.is_fitted_on(index.space.rows)
