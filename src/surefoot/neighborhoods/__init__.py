"""Who is near a row, and what the model says around it."""

from surefoot.neighborhoods._dtw import DTWNeighbors
from surefoot.neighborhoods._hubness import hubness, infect_hubs

__all__ = ["DTWNeighbors", "hubness", "infect_hubs"]
