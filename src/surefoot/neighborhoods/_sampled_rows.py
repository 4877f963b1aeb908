"""Scores of a model at samples around rows: on the way to their neighbours, or one column away."""

from abc import ABC
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.extmath import row_norms

from surefoot._models import NumericInput, axis_samples, interpolate
from surefoot._typing import Floats, Ints
from surefoot._validation import check_option
from surefoot.neighborhoods._index_search import align
from surefoot.neighborhoods._voronoi import steps_towards, unscaled_steps, voronoi_steps

if TYPE_CHECKING:
    from surefoot.neighborhoods._neighborhood import NeighborhoodIndex


class SampledRows(ABC):
    """Base of `Neighborhood`: the model's scores at samples around each of its rows."""

    index: "NeighborhoodIndex"
    inputs: Any
    rows: Any
    indices: Ints
    distances: Floats
    scores: Any

    # Values of `sampling`; see `sample_scores`.
    SAMPLINGS = ("voronoi", "midpoint", "uniform", "axis")

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
        if sampling == "axis":
            return self._axis_scores(near)
        if index.metric == "dtw":
            return self._scores_towards_aligned(near, sampling, fractions)
        if sampling == "voronoi" and self._may_use_cache():
            n_cached = max(2 * index.predictor.n_neighbors_, near.shape[1])
            cache = self.indices[:, :n_cached]
            votes = index.predictor.cached_cell_scores(self.rows, cache, near.shape[1])
            flat = votes.reshape(near.size, *votes.shape[2:])
            return index.response.as_scores(flat).reshape(*near.shape, -1)
        steps = np.full(near.shape, 0.5) if sampling == "midpoint" else self._steps(near)
        if sampling == "uniform" and fractions is not None:
            steps *= fractions[: near.shape[1]]
        if index.is_affine:
            start = self.scores[:, None, :]
            return start + steps[:, :, None] * (index.scores[near] - start)
        return index.input.score_between(index.response, self.inputs, near, steps)

    def _scores_towards_aligned(
        self, near: Ints, sampling: str, fractions: Floats | None
    ) -> Floats:
        """Scores between each series and its neighbours, once these are aligned with it: the cell is theirs."""
        index = self.index
        if not index.space.is_model_input:
            raise ValueError(
                "Samples between series need metric='dtw' in the model's own input: space may be 'auto'."
            )
        aligned = align(
            self.rows,
            index.space.rows,
            near,
            self.distances[:, : near.shape[1]],
            index.search,
        )
        steps = np.full(near.shape, 0.5)
        if sampling != "midpoint":
            steps = voronoi_steps(self.rows, aligned.reshape(*near.shape, -1))
        if sampling == "uniform" and fractions is not None:
            steps *= fractions[: near.shape[1]]
        places = np.arange(near.size).reshape(near.shape)
        samples = interpolate(self.rows, aligned, places, steps)
        return index.input.score(index.response, samples).reshape(*near.shape, -1)

    def _may_use_cache(self) -> bool:
        """Whether the votes at samples come from the neighbours of the row, without another search."""
        return self.index.shares_search and self.index.predictor.sample_neighbors == "cached"

    def _steps(self, near: Ints) -> Floats:
        """Steps in the model's input towards each neighbour that end at the border of the row's cell."""
        steps = steps_towards(self.rows, self.index.reference, near, self.index.metric)
        if self.index.lengths is not None:
            steps = unscaled_steps(steps, row_norms(self.rows), self.index.lengths[near])
        return steps

    def _axis_scores(self, near: Ints) -> Floats:
        """Scores at samples that differ from the row in one column; the row's own where a column is constant."""
        rows, table = self.inputs, self.index.input
        if not isinstance(table, NumericInput):
            raise ValueError(  # noqa: TRY004 - the value of a parameter is wrong, not its type
                "sampling='axis' needs a model whose input is a table of numbers: for mixed columns it "
                "may be 'voronoi', 'midpoint' or 'uniform'."
            )
        samples, at, place = axis_samples(rows, table.rows, near)
        scores = np.repeat(self.scores[:, None, :], 2 * rows.shape[1], axis=1)
        if samples.shape[0]:
            scores[at, place] = table.score(self.index.response, samples)
        return scores
