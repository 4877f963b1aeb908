"""Nearest-neighbour classification of time series, with a number of neighbours chosen for each series."""

from surefoot._typing import settle
from surefoot.time_series._dtw import DTWNeighbors
from surefoot.time_series._kneighbors import KNeighborsDTWClassifier, dtw_distance
from surefoot.time_series._local_kneighbors import LocalKNeighborsDTWClassifier

__all__ = [
    "DTWNeighbors",
    "KNeighborsDTWClassifier",
    "LocalKNeighborsDTWClassifier",
    "dtw_distance",
]

settle(__name__)
