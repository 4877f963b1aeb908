"""Dynamic time warping distance of two series."""

from typing import Any

import numpy as np

from surefoot._kernels import search, store_series
from surefoot._series import check_path_exists, check_same_channels, check_series
from surefoot._validation import UNBOUNDED, window_radius


def dtw_distance(x: Any, y: Any, *, window: float | None = None) -> float:
    """Dynamic time warping distance of two series; lower is more alike.

    The square root of the lowest sum of squared differences over all alignments of both series
    from start to end. All channels are warped together (dependent DTW): the difference at a step is
    the Euclidean distance over the channels.

    Parameters
    ----------
    x, y : array-like of shape (time,) or (channels, time)
        Two series, of any lengths.
    window : int, float or None, default=None
        Sakoe-Chiba radius: how many steps (int) two matched points may lie apart; a float is that
        fraction of the longer series, rounded down; None sets no limit.

    Returns
    -------
    float
        Distance, at least 0; 0 for equal series.

    Notes
    -----
    tslearn's `dtw` and dtaidistance's `distance` give the same value; aeon's `dtw_distance` gives
    its square.

    Examples
    --------
    >>> from surefoot.time_series import dtw_distance
    >>> dtw_distance([0, 0, 1, 2, 1], [0, 1, 2, 1, 1])
    0.0
    >>> dtw_distance([0, 0, 1, 2, 1], [0, 1, 2, 1, 1], window=0)  # the square root of 3
    1.7320508075688772
    """
    first, second = check_series([x], name="x"), check_series([y], name="y")
    check_same_channels(second, first.n_channels)
    n, m = int(first.lengths[0]), int(second.lengths[0])
    radius = window_radius(window, max(n, m))
    check_path_exists(radius, first.lengths, second.lengths)
    steps = UNBOUNDED if radius is None else radius
    stored = store_series(second.values, second.starts, second.lengths, second.n_channels, steps)
    cost, index = np.empty((1, 1)), np.empty((1, 1), dtype=np.int64)
    search(first.values, first.starts, first.lengths, np.array([-1]), stored, steps, cost, index)
    return float(np.sqrt(cost[0, 0]))
