"""Display objects."""

from surefoot.plots._voronoi_cell import VoronoiCellDisplay

__all__ = ["VoronoiCellDisplay"]
