"""Metrics between rows, each with one canonical name."""

from collections.abc import Callable
from typing import Any

from surefoot._search._series import window_radius

Metric = str | Callable[[Any, Any], float]

# Metrics that allow points between two rows, by all their names; p of "minkowski" is 2.
METRICS = {
    **{name: name for name in ("braycurtis", "canberra", "chebyshev", "correlation", "cosine")},
    **dict.fromkeys(("euclidean", "l2", "minkowski"), "euclidean"),
    **dict.fromkeys(("cityblock", "l1", "manhattan"), "cityblock"),
    "sqeuclidean": "sqeuclidean",
}


def canonical_metric(metric: Metric) -> Metric:
    """Canonical name of a metric; raises if it is unknown."""
    if callable(metric):
        return metric
    if metric not in METRICS:
        names = ", ".join(sorted(METRICS))
        raise ValueError(
            f"metric={metric!r} is not known: it may be a function of two rows or one of {names}."
        )
    return METRICS[metric]


def check_neighbor_metric(metric: Metric, window: Any = None) -> None:
    """Raise an error unless neighbours can be searched by this metric: "auto", "dtw" or a metric between rows."""
    window_radius(window, 1)
    if window is not None and not (isinstance(metric, str) and metric == "dtw"):
        raise ValueError(f"window={window!r} needs metric='dtw': metric={metric!r} has no window.")
    if not (isinstance(metric, str) and metric in ("auto", "dtw")):
        canonical_metric(metric)
