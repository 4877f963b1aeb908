"""Neighbours of all training series, searched once for all folds of a model that compares series."""

from collections.abc import Iterable
from math import ceil
from typing import Any

import numpy as np

from surefoot._models import series_model, series_window, split_model
from surefoot._search import KnownLists, row_keys
from surefoot._typing import Split
from surefoot.indicators import Indicator
from surefoot.neighborhoods import DTWNeighbors

# Length of the lists, as a multiple of what a fold needs on the mean: few lists are then too short, and searched again.
SPARE = 1.4


def known_series(
    estimator: Any, X: Any, indicators: Iterable[Indicator], splits: list[Split], n_jobs: Any
) -> KnownLists | None:
    """Nearest series of each row of X; None where the model compares no series, or gets them transformed."""
    model = series_model(estimator)
    is_table = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == np.float64
    if model is None or not is_table or split_model(estimator)[0]:
        return None
    n_rows = len(X)
    if not np.isfinite(X).all() or len(set(row_keys(X))) < n_rows:
        return None
    needed = max((indicator.needed_neighbors(n_rows) for indicator in indicators), default=1)
    least = min(len(train) for train, _ in splits)
    length = min(n_rows, ceil(SPARE * needed * n_rows / least) + 1)
    every = DTWNeighbors(length, window=series_window(model), n_jobs=n_jobs).fit(X)
    return KnownLists(X, *every.kneighbors(X), every.radius_)
