"""Display objects."""

from surefoot.plots._error_matrix import ErrorMatrixDisplay
from surefoot.plots._risk_coverage import RiskCoverageDisplay
from surefoot.plots._voronoi_cell import VoronoiCellDisplay

__all__ = ["ErrorMatrixDisplay", "RiskCoverageDisplay", "VoronoiCellDisplay"]
