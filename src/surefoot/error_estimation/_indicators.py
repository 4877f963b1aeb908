"""Indicators that only error estimators use: the row itself, and the confidence of a vote of neighbours."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats
from surefoot.indicators import Confidence, Indicator, NeighborDistance
from surefoot.neighborhoods import Neighborhood

NEAREST = NeighborDistance(n_neighbors=1)


class Row(Indicator):
    """Coordinates of the row in the neighbour space, complete and scaled, and the prediction if `prediction=True`.

    They measure no trust by themselves, but let an error estimator learn in which parts of the data the model
    fails (passthrough). Sparse rows have too many columns: they raise an error, or have none of these columns if
    `optional`. `layout` holds the names of the columns; one that the index lacks, such as that of a category that is
    not in its rows, is 0.
    """

    doubt = "rows with such values are hard"

    needs_rows = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        prediction: bool = False,
        optional: bool = False,
        space: Any = "scaled",
        metric: Any = "auto",
        layout: list[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.prediction = prediction
        self.optional = optional
        self.space = space
        self.metric = metric
        self.layout = layout

    def laid_out_like(self, fitted: Self) -> Self:
        """Copy with the columns of a `Row` that is fitted on other rows, in its order."""
        return clone(self).set_params(layout=fitted.layout or fitted.index_.coordinate_names())

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Prediction, if `prediction=True`, then the coordinates of the row."""
        rows = neighborhood.rows
        if issparse(rows):
            if not self.optional:
                raise ValueError(
                    "passthrough=True needs dense rows: sparse ones have too many columns."
                )
            rows = np.empty((len(neighborhood), 0))
        elif self.layout is not None:
            names = self.index_.coordinate_names()
            absent = np.zeros(len(rows))
            rows = np.column_stack(
                [rows[:, names.index(name)] if name in names else absent for name in self.layout]
            )
        return np.hstack([neighborhood.scores[:, :1], rows] if self.prediction else [rows])

    def trust(self, neighborhood: Neighborhood) -> Floats:
        """Zeros: coordinates alone do not measure trust."""
        return np.zeros(len(neighborhood))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        check_is_fitted(self)
        rows = self.index_.space.rows
        n_columns = 0 if issparse(rows) else len(self.layout or rows.T)
        names = ["prediction"] * self.prediction + [f"column_{i}" for i in range(n_columns)]
        return np.array(names, dtype=object)


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
        window: float | None = None,
    ) -> None:
        super().__init__(estimator, response=response, per_class=per_class)
        self.space = space
        self.metric = metric
        self.window = window

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Columns of `Confidence`, and the logarithm of the distance to the nearest training row."""
        return np.hstack([super().columns(neighborhood), NEAREST.columns(neighborhood)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        return np.append(super().get_feature_names_out(), "log_distance")
