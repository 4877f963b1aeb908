"""Change of a model's output within a row's Voronoi cell (Bennett 2007, section 3)."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefoot._models import margin, top_class
from surefoot._typing import Floats, Mask
from surefoot._validation import check_neighbor_metric, check_option, resolve_n_neighbors
from surefoot.indicators._confidence import class_column_names
from surefoot.indicators._indicator import Indicator
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex

# Added to the spread to avoid a division by zero; too small to change the order of rows.
TINY_SPREAD = 1e-12

# Columns of the cell, and those of the neighbours that stand in their place without a model.
OF_CELL = ("shift", "spread", "worst", "flips")
OF_NEIGHBOR_CLASSES = ("neighbor_change", "neighbor_spread", "other_distance", "other_share")
OF_NEIGHBORS = ("neighbor_change", "neighbor_spread", "neighbor_worst")

# Trust in a row without a cell, such as a text without a known word: finite, but below that of any other row.
UNKNOWN = -1 / TINY_SPREAD


class LocalSensitivity(Indicator):
    """Stability of each prediction within the row's Voronoi cell; a higher score is more stable.

    Around a row, samples are placed on the way to each of its nearest training rows, as far as the
    row itself is still the nearest. With λ the model's lead of the predicted class over the best
    other one, four columns describe the change λ(s) − λ(x) from the row to the samples: `shift`, its
    mean; `spread`, its standard deviation; `worst`, its minimum; and `flips`, the share of samples
    that get another class. For a regressor λ is the prediction and there is no `flips`.

    Predictions that were made elsewhere (`assess_predictions`) come without a model that could be asked about samples.
    In their place stand the neighbours themselves: `neighbor_change` and `neighbor_spread` are mean and standard
    deviation of the change to their leads, `other_distance` is the distance to the nearest of them with another class,
    twice that to the furthest if there is none, and `other_share` is the share of them with another class; for a
    regressor the third is `neighbor_worst`.

    `score_samples` is the mean lead in the cell divided by its spread; for a regressor minus the root mean
    squared change. A row that has no cell, such as a text without a known word, scores lowest.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The model: cloned and fitted, or used as it is inside `FrozenEstimator`. In an action, the action's
        model is used instead.
    n_neighbors : int or "log", default="log"
        Number of training rows to sample towards; "log" is 2⌈log2 n⌉ + 1 for n training rows.
    space : "auto", "scaled" or transformer, default="auto"
        Coordinates in which distances are measured. "auto" is the input of the model, after its pipeline, when
        that is numeric and complete; otherwise an imputed, encoded and scaled copy. Unscaled columns with large
        values dominate the distances: "scaled" divides each column by its standard deviation, or put a scaler
        before the model in a Pipeline, even before a forest. A transformer, for example a learned metric, is
        fitted on the training rows.
    metric : "auto", str, callable or neighbour search, default="auto"
        "auto" is that of a nearest-neighbour model of texts or series, else "cosine" for sparse and "euclidean" for
        dense rows. `surefoot.time_series.DTWNeighbors()` compares each row as a time series.
    sampling : {"voronoi", "midpoint", "uniform", "axis"}, default="voronoi"
        Place of the samples: at the border of the cell; half way to the neighbour, inside the cell or not; at a
        random fraction of the way to the border; or one local standard deviation up and down in one column
        at a time.
    response : {"auto", "decision_function", "predict_proba", "predict"}, default="auto"
        Method that λ is computed from: "auto" is `decision_function` where there is one, else the log-odds of
        `predict_proba`, clipped according to the number of training rows.
    per_class : bool, default=False
        If True, the columns are shift and spread of each class's λ; of two classes the positive one's, as in the paper.
    random_state : int, RandomState or None, default=None
        Seed of the fractions of `sampling="uniform"`, one for each neighbour rank, drawn in `fit`.
    n_jobs : int, default=None
        Number of threads, for the neighbour search and over batches of rows.

    Attributes
    ----------
    index_ : NeighborhoodIndex
        The fitted model and its training rows.
    n_neighbors_ : int
        Number of neighbours that are sampled towards.

    See Also
    --------
    surefoot.recalibration.RecalibratedClassifier : Probabilities that use these columns.

    Examples
    --------
    A prediction in the middle of its class is stable, one at the border is not:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> stability = LocalSensitivity(RandomForestClassifier(random_state=0)).fit(X, y)
    >>> stability.set_output(transform="pandas").transform(X[[0, 70]]).round(1)
       shift  spread  worst  flips
    0    0.0     0.0    0.0    0.0
    1   -0.4     3.2   -4.0    0.5
    """

    _fractions: Floats | None
    n_neighbors_: int

    doubt = "the prediction changes nearby"

    # The others go both ways: where the lead is small already, it can only grow.
    directions: ClassVar[dict[str, int]] = {"flips": 1, "other_distance": -1, "other_share": 1}

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int | str = "log",
        space: Any = "auto",
        metric: Any = "auto",
        sampling: str = "voronoi",
        response: str = "auto",
        per_class: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.space = space
        self.metric = metric
        self.sampling = sampling
        self.response = response
        self.per_class = per_class
        self.random_state = random_state
        self.n_jobs = n_jobs

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`."""
        super().attach(index)
        self.n_neighbors_ = min(self.needed_neighbors(index.n_reference), index.n_rows)
        self._fractions = None
        if self.sampling == "uniform":
            self._fractions = check_random_state(self.random_state).uniform(size=self.n_neighbors_)
        return self

    def check_parameters(self) -> None:
        """Raise an error for a wrong parameter, before a model is fitted."""
        check_option(self.sampling, "sampling", Neighborhood.SAMPLINGS)
        resolve_n_neighbors(self.n_neighbors, 2)
        check_neighbor_metric(self.metric)

    def needed_neighbors(self, n_rows: int) -> int:
        """Neighbours needed among `n_rows` training rows."""
        return resolve_n_neighbors(self.n_neighbors, n_rows)

    def needed_samples(self) -> int:
        """Number of samples around each row."""
        if self.sampling == "axis":
            return 2 * int(self.index_.input.rows.shape[1])
        return self.n_neighbors_

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Shift, spread, worst and flips, or shift and spread of each class."""
        around = neighborhood.sample_scores(self.n_neighbors_, self.sampling, self._fractions)
        if self.per_class:
            change = around - neighborhood.scores[:, None, :]
            return np.hstack([change.mean(axis=1), change.std(axis=1)])
        if neighborhood.index.model.is_regression:
            return describe_change(around[:, :, 0] - neighborhood.scores)
        top = top_class(neighborhood.scores)
        change = margin(around, top) - margin(neighborhood.scores, top)[:, None]
        others, described = top_class(around) != top[:, None], describe_change(change)
        if neighborhood.index.model.is_given:
            described[:, 2] = nearest_other(neighborhood.distances[:, : others.shape[1]], others)
        return np.column_stack([described, others.mean(axis=1)])

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Mean lead in the cell divided by its spread; for a regressor minus the root mean squared change."""
        around = neighborhood.sample_scores(self.n_neighbors_, self.sampling, self._fractions)
        if neighborhood.index.model.is_regression:
            trust = -np.sqrt(((around[:, :, 0] - neighborhood.scores) ** 2).mean(axis=1))
        else:
            leads = margin(around, top_class(neighborhood.scores))
            trust = leads.mean(axis=1) / (leads.std(axis=1) + TINY_SPREAD)
        return np.where(neighborhood.has_cell, trust, UNKNOWN)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        response = self.index_.model
        if self.per_class and not response.is_regression:
            return class_column_names(["shift", "spread"], self.index_.model.classes)
        if self.per_class:
            return np.array(["shift", "spread"], dtype=object)
        names: tuple[str, ...] = OF_CELL
        if self.index_.model.is_given:
            names = OF_NEIGHBORS if response.is_regression else OF_NEIGHBOR_CLASSES
        return np.array(names[: 4 - response.is_regression], dtype=object)

    def known_column_names(self, name: str) -> list[str]:
        """Names of the columns of the cell, in whose place those of the neighbours stand without a model."""
        own = super().known_column_names(name)
        return own if self.per_class else [f"{name}__{cell}" for cell in OF_CELL[: len(own)]]


def nearest_other(distances: Floats, others: Mask) -> Floats:
    """Distance of the nearest of the others, or twice that of the furthest neighbour if none is one."""
    return np.where(others, distances, 2 * distances[:, -1:]).min(axis=1)


def describe_change(change: Floats) -> Floats:
    """Mean, standard deviation and minimum of each row of changes."""
    # Equal changes have no spread; rounding would leave one that ranks rows by chance.
    spread = np.where(np.ptp(change, axis=1) > 0, change.std(axis=1), 0.0)
    return np.column_stack([change.mean(axis=1), spread, change.min(axis=1)])
