"""Curves of the ranking of classes: ROC, and precision against recall."""

from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from surefoot._typing import Floats, Ints

# Most points of a curve.
MOST_POINTS = 150

GRID = np.linspace(0, 1, 101)


def draw_curves(items: list[dict[str, Any]], truth: Ints, scores: Floats) -> list[dict[str, Any]]:
    """Curves of the rarer of two classes; of many classes their mean, and the class with the lowest ROC AUC."""
    ranked = [item for item in items if item["roc_auc"] is not None]
    if not ranked:
        return []
    if len(items) == 2:
        return [_of_class(min(ranked, key=lambda item: item["n_rows"]), truth, scores)]
    worst = min(ranked, key=lambda item: item["roc_auc"])
    return [_of_mean(ranked, truth, scores), _of_class(worst, truth, scores)]


def _of_class(item: dict[str, Any], truth: Ints, scores: Floats) -> dict[str, Any]:
    is_class, score = truth == item["code"], scores[:, item["code"]]
    false_share, found, _ = roc_curve(is_class, score)
    precision, recall, _ = precision_recall_curve(is_class, score)
    return {
        "name": f"“{item['label']}”",
        "share": item["share"],
        "roc": _thinned(false_share, found),
        "precision_recall": _thinned(recall[::-1], precision[::-1]),
    }


def _of_mean(items: list[dict[str, Any]], truth: Ints, scores: Floats) -> dict[str, Any]:
    """Mean over the classes, at equal steps of the false positive rate and of the recall."""
    found, precise = [], []
    for item in items:
        is_class, score = truth == item["code"], scores[:, item["code"]]
        false_share, rate, _ = roc_curve(is_class, score)
        found.append(np.interp(GRID, false_share, rate))
        precision, recall, _ = precision_recall_curve(is_class, score)
        # Precision at the first threshold that reaches the recall.
        precise.append(precision[::-1][np.searchsorted(recall[::-1], GRID)])
    return {
        "name": "mean of all classes",
        "share": float(np.mean([item["share"] for item in items])),
        "roc": {"x": GRID.tolist(), "y": np.mean(found, axis=0).tolist()},
        "precision_recall": {"x": GRID.tolist(), "y": np.mean(precise, axis=0).tolist()},
    }


def _thinned(x: Floats, y: Floats) -> dict[str, list[float]]:
    """At most `MOST_POINTS` points of a curve, at equal steps along it, with the first and the last."""
    way = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    steps = np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS))
    places = np.unique(np.append(steps, [0, len(way) - 1]))
    return {"x": x[places].tolist(), "y": y[places].tolist()}
