"""Know where your model stands: how far each single prediction can be trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.abstention import AbstainingClassifier, DeferringClassifier
    from surefoot.ensemble import StriveClassifier, TrustWeightedClassifier
    from surefoot.error_estimation import (
        IndividualErrorClassifier,
        IndividualErrorRegressor,
        assess,
        assess_predictions,
    )
    from surefoot.indicators import Confidence, LocalSensitivity
    from surefoot.model_files import load, save
    from surefoot.neighborhoods import KernelKNeighborsClassifier
    from surefoot.recalibration import LocallyRecalibratedClassifier, RecalibratedClassifier
    from surefoot.report import ReliabilityReport
    from surefoot.selection import LocalSelectionClassifier, LocalSelectionRegressor
    from surefoot.time_series import KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier

__version__ = "0.1.0"

# Resolved on first use, so that `import surefoot` costs nothing and numba loads only when needed.
_HOMES = {
    "AbstainingClassifier": "abstention",
    "Confidence": "indicators",
    "DeferringClassifier": "abstention",
    "IndividualErrorClassifier": "error_estimation",
    "IndividualErrorRegressor": "error_estimation",
    "KNeighborsDTWClassifier": "time_series",
    "KernelKNeighborsClassifier": "neighborhoods",
    "LocalKNeighborsDTWClassifier": "time_series",
    "LocalSelectionClassifier": "selection",
    "LocalSelectionRegressor": "selection",
    "LocalSensitivity": "indicators",
    "LocallyRecalibratedClassifier": "recalibration",
    "RecalibratedClassifier": "recalibration",
    "ReliabilityReport": "report",
    "StriveClassifier": "ensemble",
    "TrustWeightedClassifier": "ensemble",
    "assess": "error_estimation",
    "assess_predictions": "error_estimation",
    "load": "model_files",
    "save": "model_files",
}

__all__ = [
    "AbstainingClassifier",
    "Confidence",
    "DeferringClassifier",
    "IndividualErrorClassifier",
    "IndividualErrorRegressor",
    "KNeighborsDTWClassifier",
    "KernelKNeighborsClassifier",
    "LocalKNeighborsDTWClassifier",
    "LocalSelectionClassifier",
    "LocalSelectionRegressor",
    "LocalSensitivity",
    "LocallyRecalibratedClassifier",
    "RecalibratedClassifier",
    "ReliabilityReport",
    "StriveClassifier",
    "TrustWeightedClassifier",
    "__version__",
    "assess",
    "assess_predictions",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    return getattr(import_module(f"surefoot.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
