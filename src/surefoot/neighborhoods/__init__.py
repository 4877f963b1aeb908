"""Who is near a row, and what the model says around it."""

from surefoot.neighborhoods._dtw import DTWNeighbors
from surefoot.neighborhoods._hubness import hubness, infect_hubs
from surefoot.neighborhoods._kernel_knn import KernelKNeighborsClassifier
from surefoot.neighborhoods._model_input import MixedInput, as_table, split_model
from surefoot.neighborhoods._n_neighbors import log_n_neighbors, resolve_n_neighbors
from surefoot.neighborhoods._neighborhood import SAMPLINGS, Neighborhood, NeighborhoodIndex
from surefoot.neighborhoods._response import margin, top_class
from surefoot.neighborhoods._shared import SharedNeighborhood, index_for, may_share, relabelled
from surefoot.neighborhoods._space import default_vectorizer
from surefoot.neighborhoods._voronoi import canonical_metric, voronoi_samples, voronoi_steps

__all__ = [
    "SAMPLINGS",
    "DTWNeighbors",
    "KernelKNeighborsClassifier",
    "MixedInput",
    "Neighborhood",
    "NeighborhoodIndex",
    "SharedNeighborhood",
    "as_table",
    "canonical_metric",
    "default_vectorizer",
    "hubness",
    "index_for",
    "infect_hubs",
    "log_n_neighbors",
    "margin",
    "may_share",
    "relabelled",
    "resolve_n_neighbors",
    "split_model",
    "top_class",
    "voronoi_samples",
    "voronoi_steps",
]
