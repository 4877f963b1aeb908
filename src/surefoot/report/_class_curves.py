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
        "roc": {"x": _thinned(false_share), "y": _thinned(found)},
        "precision_recall": {"x": _thinned(recall[::-1]), "y": _thinned(precision[::-1])},
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


def _thinned(values: Floats) -> list[float]:
    """At most `MOST_POINTS` of the values, at equal steps, with the first and the last."""
    n_points = min(MOST_POINTS, len(values))
    places = np.linspace(0, len(values) - 1, n_points).round().astype(int)
    return [float(value) for value in values[places]]
