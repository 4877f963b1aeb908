"""Confidence of a vote of nearest neighbours."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats
from surefoot.indicators import Confidence, NeighborDistance
from surefoot.neighborhoods import Neighborhood, NeighborhoodIndex


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
    ) -> None:
        super().__init__(estimator, response=response, per_class=per_class)
        self.space = space
        self.metric = metric

    def attach(self, index: NeighborhoodIndex) -> Self:
        """Attach to an index that an action built, in place of `fit`."""
        self._nearest = NeighborDistance(n_neighbors=1).attach(index)
        return super().attach(index)

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Columns of `Confidence`, and the logarithm of the distance to the nearest training row."""
        return np.hstack([super().columns(neighborhood), self._nearest.columns(neighborhood)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        return np.append(super().get_feature_names_out(), "log_distance")
