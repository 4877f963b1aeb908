"""Section "Where it fails": how often each class is found, what it is taken for, and what flipping answers gains."""

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
from surefoot._words import change_words, number, percent
from surefoot.error_estimation import HeldOut
from surefoot.report._statistics import (
    GAIN_CONFIDENCE,
    cost_by_class,
    relative_gain,
    share_interval,
    unit_codes,
    with_interval,
)

# Level, divided by the number of classes, of the test that a class is found less than half of the time.
LEVEL = 0.002

# Most classes in the matrix and in the table of classes, and most mistakes that are listed.
MOST_IN_MATRIX, MOST_LISTED, MOST_MISTAKES = 12, 30, 10

# Most classes that the sentence names.
MOST_NAMED = 2

# Most points of a curve, and the points of the mean of several curves.
MOST_POINTS = 150
GRID = np.linspace(0, 1, 101)


def describe_classes(held_out: HeldOut, confidence: float) -> dict[str, Any]:
    """Confusion matrix, precision, recall and ranking of each class, and the classes missed."""
    classes, accepted = np.asarray(held_out.classes), held_out.accepted
    truth, predicted = (
        np.searchsorted(classes, labels) for labels in (held_out.truth, held_out.prediction)
    )
    units, scores = unit_codes(held_out), held_out.probabilities
    every = np.full(len(truth), True)
    if scores is None:
        scores = held_out.scores
        scores = scores if scores.shape[1] > 1 else np.hstack([-scores, scores])
    items = []
    for code, label in enumerate(classes):
        is_class, is_predicted = truth == code, predicted == code
        has_rank, score = 0 < is_class.sum() < len(truth), scores[:, code]
        items.append(
            {
                "label": str(label),
                "code": code,
                **_found(is_class, is_predicted, every, units, confidence),
                "share": float(is_class.mean()),
                "answered": None
                if accepted is None
                else _found(is_class, is_predicted, accepted, units, confidence),
                "roc_auc": float(roc_auc_score(is_class, score)) if has_rank else None,
                "average_precision": float(average_precision_score(is_class, score))
                if has_rank
                else None,
                "missed_in": _missed_in(is_class, is_predicted, accepted, units, len(classes)),
            }
        )
    ranked = [item for item in items if item["roc_auc"] is not None]
    # Classes without a row, which have no recall, come last.
    recalls = {item["code"]: item["recall"]["value"] for item in items}
    items.sort(key=lambda item: 2.0 if recalls[item["code"]] is None else recalls[item["code"]])
    matrix = confusion_matrix(truth, predicted, labels=np.arange(len(classes)))
    # Classes known to be found less than half of the time, in all rows or in the answered ones, worst first.
    missed = [
        {
            "label": item["label"],
            "in": item["missed_in"],
            "n_rows": item["n_rows"],
            "recall": item["recall"]["value"],
            "low": item["recall"]["low"],
            "high": item["recall"]["high"],
            "n_answered": item["answered"] and item["answered"]["n_rows"],
            "recall_answered": item["answered"] and item["answered"]["recall"]["value"],
        }
        for item in items
        if item["missed_in"] is not None
    ]
    sentences = [_about_missed_class(one) for one in missed[:MOST_NAMED]]
    flipping = _measure_flipping(held_out)
    if (n_more := len(missed) - MOST_NAMED) > 0:
        are = "class is" if n_more == 1 else "classes are"
        sentences.append(f"{n_more} more {are} found less than half of the time.")
    sentence = " ".join(sentences)
    advice = flipping["sentence"] if flipping is not None and flipping["low"] > 0 else ""
    return {
        "items": items[:MOST_LISTED],
        "n_classes": len(classes),
        "n_rows": len(truth),
        "n_answered": None if accepted is None else int(accepted.sum()),
        "confidence": confidence,
        "matrix": None
        if len(classes) > MOST_IN_MATRIX
        else {
            "labels": [str(label) for label in classes],
            "counts": matrix.tolist(),
            "shares": (matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)).tolist(),
        },
        "mistakes": _list_mistakes(matrix, classes),
        "missed": missed,
        # Macro averages over the classes that can be ranked.
        "roc_auc": float(np.mean([item["roc_auc"] for item in ranked])) if ranked else None,
        "average_precision": float(np.mean([item["average_precision"] for item in ranked]))
        if ranked
        else None,
        "curves": _draw_curves(ranked, truth, scores, n_classes=len(classes)),
        "sentence": sentence or _about_least_found(items[0]),
        "turning": flipping,
        "for_verdict": [each for each in (sentence, advice) if each],
    }


def _found(
    is_class: Mask, is_predicted: Mask, rows: Mask, units: Ints, confidence: float
) -> dict[str, Any]:
    """Numbers of rows of a class and of its predictions, recall and precision, among the given rows."""
    own, taken = is_class & rows, is_predicted & rows
    return {
        "n_rows": int(own.sum()),
        "n_predicted": int(taken.sum()),
        "recall": with_interval(is_predicted[own], units[own], confidence, is_share=True),
        "precision": with_interval(is_class[taken], units[taken], confidence, is_share=True),
    }


def _missed_in(
    is_class: Mask, is_found: Mask, accepted: Mask | None, units: Ints, n_classes: int
) -> str | None:
    """Rows in which the class is known to be found less than half of the time: "all", "answered", or None.

    The upper end of the interval of its recall is below one half. Its level is 0.002 for all classes together.
    """
    parts = {"all": is_class, "answered": is_class & (False if accepted is None else accepted)}
    for name, rows in parts.items():
        confidence = 1 - 2 * LEVEL / n_classes
        if rows.any() and share_interval(is_found[rows], units[rows], confidence)[1] < 0.5:
            return name
    return None


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


def _about_missed_class(one: dict[str, Any]) -> str:
    n_answered, answered = one["n_answered"], one["recall_answered"]
    wrong = None if answered is None else percent(1 - answered)
    if one["in"] == "answered":
        return f"Of the {number(n_answered)} rows that are “{one['label']}” and that it answers, {wrong} are wrong."
    how_many = percent(one["recall"]) if one["recall"] > 0 else "none"
    sentence = f"It finds {how_many} of the {number(one['n_rows'])} rows that are “{one['label']}” (recall)."
    if n_answered is None:
        return sentence
    if n_answered == 0:
        return f"{sentence} It answers none of them."
    return f"{sentence} Of the {number(n_answered)} of them that it answers, {wrong} are wrong."


def _about_least_found(least: dict[str, Any]) -> str:
    """Sentence on the class that is found least, where none is known to be missed."""
    recall = least["recall"]
    if recall["value"] is None:
        return "The held-out rows have none of the classes."
    if recall["value"] == 1:
        return "Every row of every class is found (recall 100 %)."
    return (
        f"The class that is found least is “{least['label']}”: {percent(recall['value'])} of its "
        f"{number(least['n_rows'])} rows (recall; {percent(recall['low'])} to {percent(recall['high'])})."
    )


def _measure_flipping(held_out: HeldOut) -> dict[str, Any] | None:
    """Gain of the other of two classes in rows where it is expected to cost less; None if there is no such row.

    The estimates are out of fold, so the same rows can measure the gain. Tasks with more than two classes have no one
    other class.
    """
    classes, wrong, losses = np.asarray(held_out.classes), held_out.wrong, held_out.losses
    unit = held_out.unit
    if len(classes) != 2 or wrong is None or losses.sum() == 0:
        return None
    costs = cost_by_class(held_out)
    truth, answer = (
        np.searchsorted(classes, labels) for labels in (held_out.truth, held_out.prediction)
    )
    expected, other = (
        right * costs[each, each] + (1 - right) * costs[1 - each, each]
        for each, right in ((answer, 1 - wrong), (1 - answer, wrong))
    )
    flipped = other < expected
    if not flipped.any():
        return None
    gain = relative_gain(
        losses,
        costs[truth, np.where(flipped, 1 - answer, answer)],
        units=unit_codes(held_out),
        fits=held_out.splits,
        counts=unit.is_share,
    )
    n_flipped, n_wrong = int(flipped.sum()), int((truth != answer)[flipped].sum())
    rows = "1 row" if n_flipped == 1 else f"{number(n_flipped)} rows"
    reason = "the other class is more likely than the model's answer"
    if not unit.is_share:
        reason = "the other class is expected to cost less than the model's answer"
    conclusion = ""
    if gain.low <= 0:
        conclusion = (
            " That would do harm." if gain.high < 0 else " These rows do not show that it helps."
        )
    return {
        "n_rows": n_flipped,
        "n_wrong_before": n_wrong,
        "n_wrong_after": n_flipped - n_wrong,
        "gain": gain.value,
        "low": gain.low,
        "high": gain.high,
        "sentence": f"On {rows}, {reason}. Flipping {'this answer' if n_flipped == 1 else 'these answers'} would make "
        f"{change_words(gain, GAIN_CONFIDENCE, unit.less, unit.more)}.{conclusion} This report does not flip them.",
    }
