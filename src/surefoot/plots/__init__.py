"""Display objects."""

from surefoot.plots._bias_variance import BiasVarianceDisplay
from surefoot.plots._boosting import BoostingDisplay
from surefoot.plots._error_matrix import ErrorMatrixDisplay
from surefoot.plots._learning_curve import LearningCurveDisplay
from surefoot.plots._performance_over_time import PerformanceOverTimeDisplay
from surefoot.plots._risk_coverage import RiskCoverageDisplay
from surefoot.plots._shift import ShiftDisplay
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
