"""Display objects."""

from surefoot.plots._bias_variance import BiasVarianceDisplay
from surefoot.plots._error_matrix import ErrorMatrixDisplay
from surefoot.plots._learning import BoostingDisplay, LearningCurveDisplay
from surefoot.plots._monitoring import PerformanceOverTimeDisplay, ShiftDisplay
from surefoot.plots._risk_coverage import RiskCoverageDisplay
from surefoot.plots._voronoi_cell import VoronoiCellDisplay

__all__ = [
    "BiasVarianceDisplay",
    "BoostingDisplay",
    "ErrorMatrixDisplay",
    "LearningCurveDisplay",
    "PerformanceOverTimeDisplay",
    "RiskCoverageDisplay",
    "ShiftDisplay",
    "VoronoiCellDisplay",
]
