"""Indicator whose columns are the row itself (passthrough)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from surefoot._typing import Floats
from surefoot.indicators import Indicator
from surefoot.neighborhoods import Neighborhood


class Row(Indicator):
    """Coordinates of the row in the neighbour space, complete and scaled, and the prediction if `prediction=True`.

    They measure no trust by themselves, but let an error estimator learn in which parts of the data the model
    fails. Sparse rows have too many columns: they raise an error, or have none of these columns if `optional`.
    `layout` holds the names of the columns; one that the index lacks, such as that of a category that is not in
    its rows, is 0.
    """

    doubt = "rows with such values are hard"

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

    def needed_neighbors(self, n_rows: int) -> int:
        """1, so that the index has a neighbour space."""
        return 1

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Prediction, if `prediction=True`, then the coordinates of the row."""
        prediction = [neighborhood.scores[:, :1]] if self.prediction else []
        if not issparse(neighborhood.rows):
            return np.hstack([*prediction, self._laid_out(neighborhood.rows)])
        if not self.optional:
            raise ValueError(
                "passthrough=True needs dense rows: sparse ones have too many columns."
            )
        return np.hstack([*prediction, np.empty((len(neighborhood), 0))])

    def laid_out_like(self, fitted: Self) -> Self:
        """Copy with the columns of a `Row` that is fitted on other rows, in its order."""
        return clone(self).set_params(layout=fitted.layout or fitted.index_.coordinate_names())

    def _laid_out(self, rows: Floats) -> Floats:
        """Coordinates in the order of `layout`; 0 for columns that the index lacks."""
        if self.layout is None:
            return rows
        place = {name: i for i, name in enumerate(self.index_.coordinate_names())}
        laid_out = np.zeros((len(rows), len(self.layout)))
        for i, name in enumerate(self.layout):
            if name in place:
                laid_out[:, i] = rows[:, place[name]]
        return laid_out

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
