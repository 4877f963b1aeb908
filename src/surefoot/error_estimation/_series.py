"""What an error estimator around a classifier of time series learns from."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats
from surefoot.indicators import (
    Confidence,
    Indicator,
    NeighborDisagreement,
    NeighborDistance,
    NeighborError,
    SecondOpinion,
    TrustScore,
)
from surefoot.neighborhoods import Neighborhood


class VoteConfidence(Confidence):
    """Confidence of a nearest-neighbour vote: shares of the votes, and the distance of the nearest voter.

    Besides the columns of `Confidence` there is `log_distance`, the logarithm of the distance to the nearest training
    row: the votes of a single neighbour are always unanimous, and then the distance alone says how sure to be.
    """

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

    def needed_neighbors(self, n_rows: int) -> int:
        """1, the nearest voter."""
        return 1

    def columns(self, neighborhood: Neighborhood) -> Floats:
        """Columns of `Confidence`, and the logarithm of the distance to the nearest training row."""
        return np.hstack([super().columns(neighborhood), nearest.columns(neighborhood)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns."""
        return np.append(super().get_feature_names_out(), "log_distance")


nearest = NeighborDistance(n_neighbors=1)


def series_indicators(random_state: Any) -> list[Indicator]:
    """Default indicators around a classifier of series, which search neighbours as it does (Buza et al. 2010)."""
    return [
        VoteConfidence(),
        NeighborDisagreement(n_neighbors=(3, 10, 30), space="scaled"),
        NeighborDistance(n_neighbors=10, space="scaled"),
        NeighborError(n_neighbors=10, space="scaled"),
        TrustScore(space="scaled"),
        SecondOpinion(space="scaled", random_state=random_state),
    ]
