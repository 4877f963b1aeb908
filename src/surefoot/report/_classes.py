"""Section "Class by class": how often each class is found, and what it is taken for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from surefoot._typing import Floats, Ints, Mask
from surefoot._words import number, percent
from surefoot.report._assessment import Assessment
from surefoot.report._class_curves import draw_curves
from surefoot.report._shares import share_interval
from surefoot.report._turning import measure_turning

# Level, divided by the number of classes, of the test that a class is found less than half of the time.
LEVEL = 0.002

# Most classes in the matrix and in the table of classes, and most mistakes that are listed.
MOST_IN_MATRIX, MOST_LISTED, MOST_MISTAKES = 12, 30, 10

# Most classes that the sentence names.
MOST_NAMED = 2


def describe_classes(assessment: Assessment) -> dict[str, Any] | None:
    """Confusion matrix, precision, recall and ranking of each class, and the classes missed; None for a regressor."""
    if not assessment.is_classifier:
        return None
    classes = assessment.error_estimator.classes_
    truth, predicted = (
        np.searchsorted(classes, labels)
        for labels in (assessment.truth, assessment.held_out.prediction)
    )
    matrix = confusion_matrix(truth, predicted, labels=np.arange(len(classes)))
    answered = (
        assessment.promise.accepted(assessment.estimated) if assessment.promise.kept else None
    )
    scores = class_scores(assessment)
    items = [
        _describe_class(assessment, code, truth, predicted, answered, scores)
        for code in range(len(classes))
    ]
    missed, turning = hardly_found(items), measure_turning(assessment)
    advice = turning["sentence"] if turning is not None and turning["low"] > 0 else None
    return {
        "items": sorted(items, key=_by_recall)[:MOST_LISTED],
        "n_classes": len(classes),
        "n_rows": len(truth),
        "n_answered": None if answered is None else int(answered.sum()),
        "confidence": assessment.confidence,
        "matrix": _describe_matrix(matrix, classes),
        "mistakes": list_mistakes(matrix, classes),
        "missed": missed,
        "roc_auc": _mean_of(items, "roc_auc"),
        "average_precision": _mean_of(items, "average_precision"),
        "curves": draw_curves(items, truth, scores),
        "sentence": missed_sentence(missed) or _least_found(items),
        "turning": turning,
        "for_verdict": [each for each in (missed_sentence(missed), advice) if each is not None],
    }


def hardly_found(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Classes that are known to be found less than half of the time, in all rows or in the answered ones, worst first.

    The upper end of the interval of their recall is below one half. Its level is 0.002 for all classes together.
    """
    missed = [item for item in items if item["missed_in"] is not None]
    return [
        {
            "label": item["label"],
            "in": item["missed_in"],
            "n_rows": item["n_rows"],
            "recall": item["recall"]["value"],
            "low": item["recall"]["low"],
            "high": item["recall"]["high"],
            "n_answered": None if item["answered"] is None else item["answered"]["n_rows"],
            "recall_answered": None
            if item["answered"] is None
            else item["answered"]["recall"]["value"],
        }
        for item in sorted(missed, key=_by_recall)
    ]


def missed_sentence(missed: list[dict[str, Any]]) -> str | None:
    """Sentence of the verdict on classes that are hardly ever found; None if there is none."""
    if not missed:
        return None
    sentences = [_about_missed(one) for one in missed[:MOST_NAMED]]
    n_more = len(missed) - MOST_NAMED
    if n_more > 0:
        are = "class is" if n_more == 1 else "classes are"
        sentences.append(f"{n_more} more {are} found less than half of the time.")
    return " ".join(sentences)


def class_scores(assessment: Assessment) -> Floats:
    """Score of each class in each held-out row: the model's probabilities, or its decision values."""
    held_out = assessment.held_out
    if held_out.probabilities is not None:
        return held_out.probabilities
    scores = held_out.scores
    return scores if scores.shape[1] > 1 else np.hstack([-scores, scores])


def list_mistakes(matrix: Ints, classes: NDArray[Any]) -> list[dict[str, Any]]:
    """Most frequent mistakes: the true class, the class predicted, their number, and their share of the true class."""
    counts = matrix.copy()
    np.fill_diagonal(counts, 0)
    places = np.argsort(-counts, axis=None, kind="stable")[:MOST_MISTAKES]
    pairs = [divmod(int(place), len(classes)) for place in places]
    return [
        {
            "truth": str(classes[i]),
            "prediction": str(classes[j]),
            "n_rows": int(counts[i, j]),
            "share": float(counts[i, j] / matrix[i].sum()),
        }
        for i, j in pairs
        if counts[i, j] > 0
    ]


def _describe_class(
    assessment: Assessment,
    code: int,
    truth: Ints,
    predicted: Ints,
    answered: Mask | None,
    scores: Floats,
) -> dict[str, Any]:
    """Figures of one class, in all rows and in the answered ones."""
    classes = assessment.error_estimator.classes_
    is_class = truth == code
    every = _found(assessment, is_class, predicted == code, np.ones(len(truth), dtype=bool))
    of_answered = None
    if answered is not None:
        of_answered = _found(assessment, is_class, predicted == code, answered)
    ranked = 0 < is_class.sum() < len(truth)
    return {
        "label": str(classes[code]),
        "code": code,
        **every,
        "share": float(is_class.mean()),
        "answered": of_answered,
        "roc_auc": float(roc_auc_score(is_class, scores[:, code])) if ranked else None,
        "average_precision": (
            float(average_precision_score(is_class, scores[:, code])) if ranked else None
        ),
        "missed_in": _missed_in(assessment, is_class, predicted == code, answered, len(classes)),
    }


def _found(
    assessment: Assessment, is_class: Mask, is_predicted: Mask, rows: Mask
) -> dict[str, Any]:
    """Numbers of rows of a class and of its predictions, recall and precision, among the given rows."""
    return {
        "n_rows": int((is_class & rows).sum()),
        "n_predicted": int((is_predicted & rows).sum()),
        "recall": _share(assessment, is_predicted, is_class & rows),
        "precision": _share(assessment, is_class, is_predicted & rows),
    }


def _share(assessment: Assessment, hits: Mask, rows: Mask) -> dict[str, Any]:
    """Share of hits in the given rows with its interval; None if there is no row."""
    if not rows.any():
        return dict.fromkeys(("value", "low", "high"))
    units = assessment.unit_codes[rows]
    low, high = share_interval(hits[rows], units, assessment.confidence)
    return {"value": float(hits[rows].mean()), "low": low, "high": high}


def _missed_in(
    assessment: Assessment, is_class: Mask, is_found: Mask, answered: Mask | None, n_classes: int
) -> str | None:
    """Rows in which the class is known to be found less than half of the time: "all", "answered", or None."""
    parts = {"all": is_class, "answered": is_class & (False if answered is None else answered)}
    for name, rows in parts.items():
        if rows.any():
            units = assessment.unit_codes[rows]
            if share_interval(is_found[rows], units, 1 - 2 * LEVEL / n_classes)[1] < 0.5:
                return name
    return None


def _describe_matrix(matrix: Ints, classes: NDArray[Any]) -> dict[str, Any] | None:
    """Counts by true class and prediction, and their shares of each true class; None for many classes."""
    if len(classes) > MOST_IN_MATRIX:
        return None
    sizes = np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    return {
        "labels": [str(label) for label in classes],
        "counts": matrix.tolist(),
        "shares": (matrix / sizes).tolist(),
    }


def _mean_of(items: list[dict[str, Any]], name: str) -> float | None:
    """Mean of a figure over the classes that have it (macro average)."""
    values = [item[name] for item in items if item[name] is not None]
    return float(np.mean(values)) if values else None


def _by_recall(item: dict[str, Any]) -> float:
    recall = item["recall"]
    value = recall["value"] if isinstance(recall, dict) else recall
    return 2.0 if value is None else float(value)


def _about_missed(one: dict[str, Any]) -> str:
    rows = f"the {number(one['n_rows'])} rows that are “{one['label']}”"
    n_answered, answered = one["n_answered"], one["recall_answered"]
    wrong = None if answered is None else percent(1 - answered)
    if one["in"] == "answered":
        return f"Of the {number(n_answered)} rows that are “{one['label']}” and that it answers, {wrong} are wrong."
    how_many = percent(one["recall"]) if one["recall"] > 0 else "none"
    sentence = f"It finds {how_many} of {rows} (recall)."
    if n_answered is None:
        return sentence
    if n_answered == 0:
        return f"{sentence} It answers none of them."
    return f"{sentence} Of the {number(n_answered)} of them that it answers, {wrong} are wrong."


def _least_found(items: list[dict[str, Any]]) -> str:
    """Sentence on the class that is found least, where none is known to be missed."""
    least = min(items, key=_by_recall)
    recall = least["recall"]
    if recall["value"] is None:
        return "The held-out rows have none of the classes."
    if recall["value"] == 1:
        return "Every row of every class is found (recall 100 %)."
    return (
        f"The class that is found least is “{least['label']}”: {percent(recall['value'])} of its "
        f"{number(least['n_rows'])} rows (recall; {percent(recall['low'])} to {percent(recall['high'])})."
    )
