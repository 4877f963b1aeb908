"""Section "Where it fails": how often each class is found, and what it is taken for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from surefoot._typing import Floats, Ints, Mask
from surefoot._words import number, percent, plural
from surefoot.error_estimation import HeldOut
from surefoot.report._statistics import Sample

# A class is rare if it has less than this share of the rows, and less than this part of an equal share: of ten equal
# classes none is rare.
RARE, RARE_TO_EQUAL = 0.2, 0.8

# Most classes in the matrix and in the table of classes, and most mistakes that are listed.
MOST_IN_MATRIX, MOST_LISTED, MOST_MISTAKES = 12, 30, 10

# Most points of a curve, and the points of the mean of several curves.
MOST_POINTS = 150
GRID = np.linspace(0, 1, 101)


def describe_classes(sample: Sample) -> dict[str, Any]:
    """Confusion matrix, precision, recall and ranking of each class, and the class that is found least."""
    held_out = sample.held_out
    classes, accepted = np.asarray(held_out.classes), held_out.accepted
    (truth, predicted), scores, items = held_out.codes, class_scores(held_out), []
    for code, label in enumerate(classes):
        is_class, is_predicted, score = truth == code, predicted == code, scores[:, code]
        has_rank = 0 < is_class.sum() < len(truth)
        items.append(
            {
                "label": str(label),
                "code": code,
                **_found(sample, is_class, is_predicted),
                "share": float(is_class.mean()),
                "answered": None
                if accepted is None
                else _found(sample, is_class, is_predicted, accepted),
                "roc_auc": float(roc_auc_score(is_class, score)) if has_rank else None,
                "average_precision": float(average_precision_score(is_class, score))
                if has_rank
                else None,
            }
        )
    ranked = [item for item in items if item["roc_auc"] is not None]
    # Classes without a row, which have no recall, come last.
    recalls = {item["code"]: item["recall"]["value"] for item in items}
    items.sort(key=lambda item: 2.0 if recalls[item["code"]] is None else recalls[item["code"]])
    lowest = _lowest(items[0])
    present = [item for item in items if item["n_rows"] > 0]
    rarest = min(present, key=lambda item: item["share"])
    is_rare = rarest["share"] < min(RARE, RARE_TO_EQUAL / len(present))
    matrix = confusion_matrix(truth, predicted, labels=np.arange(len(classes)))
    n_missed = sum(item["recall"]["high"] < 0.5 for item in present if item is not items[0])
    are = f"{plural(n_missed, 'more class')} {'is' if n_missed == 1 else 'are'}"
    more = f" {are} found less than half of the time." if n_missed else ""
    return {
        "items": items[:MOST_LISTED],
        "n_classes": len(classes),
        "n_rows": len(truth),
        "n_answered": None if accepted is None else int(accepted.sum()),
        "confidence": sample.confidence,
        "matrix": None
        if len(classes) > MOST_IN_MATRIX
        else {
            "labels": [str(label) for label in classes],
            "counts": matrix.tolist(),
            "shares": (matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)).tolist(),
        },
        "mistakes": _list_mistakes(matrix, classes),
        # Macro averages over the classes that can be ranked.
        "roc_auc": mean_auc(truth, scores),
        "average_precision": float(np.mean([item["average_precision"] for item in ranked]))
        if ranked
        else None,
        "curves": _draw_curves(ranked, truth, scores, n_classes=len(classes)),
        "lowest": lowest,
        "rarest": {"label": rarest["label"], "share": rarest["share"], **rarest["recall"]}
        if is_rare
        else None,
        "sentence": _about_least_found(lowest, items[0]["answered"]) + more,
    }


def _found(
    sample: Sample, is_class: Mask, is_predicted: Mask, among: Mask | bool = True
) -> dict[str, Any]:
    """Numbers of rows of a class and of its predictions, recall and precision, among the given rows."""
    own, taken = is_class & among, is_predicted & among
    return {
        "n_rows": int(own.sum()),
        "n_predicted": int(taken.sum()),
        "recall": sample.share(is_predicted, own),
        "precision": sample.share(is_class, taken),
    }


def class_scores(held_out: HeldOut) -> Floats:
    """Probability of each class, or the score of one that is given none."""
    if held_out.probabilities is not None:
        return held_out.probabilities
    scores = held_out.scores
    return scores if scores.shape[1] > 1 else np.hstack([-scores, scores])


def mean_auc(truth: Ints, scores: Floats) -> float | None:
    """Area under the ROC curve, mean over the classes, each against the rest; None if there is one class only."""
    codes = np.unique(truth)
    if len(codes) < 2:
        return None
    return float(np.mean([roc_auc_score(truth == code, scores[:, code]) for code in codes]))


def _lowest(item: dict[str, Any]) -> dict[str, Any]:
    """Class with the lowest recall, and how many of its rows are missed: of all, and of the answered ones."""
    parts = {"n_missed": item, "n_missed_answered": item["answered"]}
    missed = {
        name: part and round(part["n_rows"] * (1 - (part["recall"]["value"] or 0)))
        for name, part in parts.items()
    }
    return {"label": item["label"], "n_rows": item["n_rows"], **item["recall"], **missed}


def _list_mistakes(matrix: Ints, classes: NDArray[Any]) -> list[dict[str, Any]]:
    """Most frequent mistakes: the true class, the class predicted, their number, and their share of the true class."""
    counts = matrix.copy()
    np.fill_diagonal(counts, 0)
    places = np.argsort(-counts, axis=None, kind="stable")[:MOST_MISTAKES]
    return [
        {
            "truth": str(classes[i]),
            "prediction": str(classes[j]),
            "n_rows": int(counts[i, j]),
            "share": float(counts[i, j] / matrix[i].sum()),
        }
        for i, j in (divmod(int(place), len(classes)) for place in places)
        if counts[i, j] > 0
    ]


def _draw_curves(
    ranked: list[dict[str, Any]], truth: Ints, scores: Floats, n_classes: int
) -> list[dict[str, Any]]:
    """Curves of the rarer of two classes; of many classes their mean, and the class with the lowest ROC AUC."""
    if not ranked:
        return []
    drawn = {}  # recall by false positive rate (ROC), and precision by recall, both ascending
    for code in (item["code"] for item in ranked):
        false_share, found, _ = roc_curve(truth == code, scores[:, code])
        precision, recall, _ = precision_recall_curve(truth == code, scores[:, code])
        drawn[code] = (false_share, found), (recall[::-1], precision[::-1])
    if n_classes == 2:
        single, means = min(ranked, key=lambda item: item["n_rows"]), []
    else:
        single = min(ranked, key=lambda item: item["roc_auc"])
        # Precision at the first threshold that reaches the recall.
        recalls = [np.interp(GRID, *roc) for roc, _ in drawn.values()]
        precisions = [
            precision[np.searchsorted(recall, GRID)] for _, (recall, precision) in drawn.values()
        ]
        means = [
            {
                "name": "mean of all classes",
                "share": float(np.mean([item["share"] for item in ranked])),
                "roc": {"x": GRID.tolist(), "y": np.mean(recalls, axis=0).tolist()},
                "precision_recall": {"x": GRID.tolist(), "y": np.mean(precisions, axis=0).tolist()},
            }
        ]
    roc, precision_recall = drawn[single["code"]]
    of_class = {
        "name": f"“{single['label']}”",
        "share": single["share"],
        "roc": _thinned(*roc),
        "precision_recall": _thinned(*precision_recall),
    }
    return [*means, of_class]


def _thinned(x: Floats, y: Floats) -> dict[str, list[float]]:
    """At most `MOST_POINTS` points of a curve, at equal steps along it, with the first and the last."""
    way = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    steps = np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS))
    places = np.unique(np.append(steps, [0, len(way) - 1]))
    return {"x": x[places].tolist(), "y": y[places].tolist()}


def _about_least_found(lowest: dict[str, Any], answered: dict[str, Any] | None) -> str:
    """Sentence on the class with the lowest recall; empty if every row of every class is found."""
    recall, n_rows = lowest["value"], lowest["n_rows"]
    if recall is None or recall == 1:
        return ""
    sentence = (
        f"The class with the lowest recall is “{lowest['label']}”: {number(n_rows - lowest['n_missed'])} of its "
        f"{number(n_rows)} rows, {percent(recall)} ({percent(lowest['low'])} to {percent(lowest['high'])})."
    )
    if answered is None:
        return sentence
    if answered["n_rows"] == 0:
        return f"{sentence} None of them is answered."
    n_missed = lowest["n_missed_answered"]
    missed = "1 is" if n_missed == 1 else f"{number(n_missed) if n_missed else 'none'} are"
    return f"{sentence} Of the {number(answered['n_rows'])} of them that are answered, {missed} missed."
