"""Indicators that error estimators learn from unless others are given, and the one that tells stability."""

from typing import Any

from surefoot._models import series_model
from surefoot.error_estimation._row import Row
from surefoot.error_estimation._series import series_indicators
from surefoot.indicators import (
    Confidence,
    Indicator,
    LocalSensitivity,
    NeighborDisagreement,
    NeighborDistance,
    SecondOpinion,
)

# Name of the indicator of stability, unless `LocalSensitivity` is among those that are learned from.
STABILITY = "stability"


def classifier_indicators(model: Any, random_state: Any) -> list[Indicator]:
    """Indicators around a classifier; those of series around one that compares series."""
    if series_model(model) is not None:
        return series_indicators(random_state)
    return [
        Confidence(),
        LocalSensitivity(n_neighbors=10, space="scaled"),
        NeighborDisagreement(n_neighbors=(3, 10, 30), space="scaled"),
        NeighborDistance(n_neighbors=10, space="scaled"),
        SecondOpinion(space="scaled", random_state=random_state),
    ]


def regressor_indicators(random_state: Any) -> list[Indicator]:
    """Indicators around a regressor."""
    return [
        Row(prediction=True, optional=True),
        NeighborDisagreement(n_neighbors=(10, 30), space="scaled"),
        NeighborDistance(n_neighbors=10, space="scaled"),
        SecondOpinion(space="scaled", random_state=random_state),
    ]


def stability_name(learned: dict[str, Indicator]) -> str:
    """Name of the indicator with the columns shift, spread and worst: a learned one, if there is one."""
    fitting = (
        name
        for name, indicator in learned.items()
        if isinstance(indicator, LocalSensitivity) and not indicator.per_class
    )
    return next(fitting, STABILITY)
