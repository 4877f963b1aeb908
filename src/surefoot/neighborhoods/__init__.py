"""Nearest training rows of a row, and the model's outputs around it."""

from surefoot._typing import settle
from surefoot._validation import log_n_neighbors
from surefoot.neighborhoods._hubness import hubness, infect_hubs
from surefoot.neighborhoods._index import Neighborhood, NeighborhoodIndex
from surefoot.neighborhoods._kernel_knn import KernelKNeighborsClassifier
from surefoot.neighborhoods._search import NeighborSearch, NeighborVoter
from surefoot.neighborhoods._voronoi import voronoi_samples, voronoi_steps

__all__ = [
    "KernelKNeighborsClassifier",
    "NeighborSearch",
    "NeighborVoter",
    "Neighborhood",
    "NeighborhoodIndex",
    "hubness",
    "infect_hubs",
    "log_n_neighbors",
    "voronoi_samples",
    "voronoi_steps",
]

settle(__name__)
