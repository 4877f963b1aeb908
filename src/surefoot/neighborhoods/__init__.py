"""Who is near a row, and what the model says around it."""

from surefoot.neighborhoods._dtw import DTWNeighbors

__all__ = ["DTWNeighbors"]
