"""Section "Where it fails": faults of the table that make figures better than they are."""

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from surefoot._typing import Ints
from surefoot._words import listed, p_value_words, percent
from surefoot.checks import Finding, check_table
from surefoot.error_estimation import find_label_errors
from surefoot.report._rows import json_value

# Most rows or columns that an item lists.
MOST_LISTED = 20

# Probability of a coincidence below which labels are doubted.
LEVEL = 0.002

# What the page says before the question of a finding, and after it.
ADVICE = {
    "leak": "",
    "duplicate": "Equal rows are held out together on this page, and count once in a promise.",
    "near": "Near copies are held out one by one.",
    "entity": "",
    "order": "",
    "sorted": "If nothing but the target sorted the rows, there is nothing to do.",
    "identifier": "",
    "equal": "",
    "labels": "Look at these rows, and correct the labels that are wrong; error_estimation.find_label_errors ranks all "
    "rows.",
}
TOO_GOOD = "Until this is answered, the numbers on this page may be too good."


def check_ignored(ignore: Iterable[str]) -> set[str]:
    """Codes of the checks to leave out; a ValueError for one that does not exist."""
    ignored, codes = set(ignore), [code for code in ADVICE if code not in {"near", "sorted"}]
    if not ignored <= set(codes):
        raise ValueError(
            f"ignore names {listed(sorted(ignored - set(codes)))}: the checks are {listed(codes)}."
        )
    return ignored


def describe_checks(
    error_estimator: Any, X: Any, y: NDArray[Any], *, labels: Ints, cv: Any, ignore: Iterable[str]
) -> dict[str, Any]:
    """Items of the section, none where nothing is found; `cv` and `ignore` are those of the report.

    Each item has a `code`, a `sentence`, a `figure` (the share or the p-value that it rests on, as a text), the
    `columns` or `rows` that it is about, `advice`, and the numbers behind it (`facts`). Rows are dicts of texts and
    numbers for a table with the names of their keys.
    """
    held_out, estimator = error_estimator.held_out_, error_estimator.estimator
    has_folds = isinstance(cv, Integral) and not isinstance(estimator, FrozenEstimator)
    findings = check_table(
        X,
        y,
        # Of other splits it is not known which rows were learned from.
        held_out=held_out if has_folds else replace(held_out, splits=None),
        ignore={*ignore, *(() if has_folds else ("order",))} - {"labels"},
        estimator=estimator,
        coordinates=error_estimator.coordinates,
        random_state=error_estimator.random_state,
    )
    entity = next((each.columns[0] for each in findings if each.code == "entity"), None)
    items = [_as_item(finding, labels, entity) for finding in findings]
    if held_out.classes is not None and "labels" not in ignore:
        place = sum(finding.code not in {"identifier", "equal"} for finding in findings)
        items[place:place] = _doubted_labels(error_estimator, labels)
    return {"items": items}


def _as_item(finding: Finding, labels: Ints, entity: str | None) -> dict[str, Any]:
    """Item of the section: a finding with the number it rests on, a table and advice; `entity` is a column, if any."""
    code, columns, evidence = finding.code, finding.columns, finding.evidence
    facts = {name: value for name, value in evidence.items() if not isinstance(value, list)}
    sentence, advice = finding.sentence, code
    figure = p_value_words(facts["p_value"]) if "p_value" in facts else str(len(columns))
    rows: list[dict[str, Any]] = []
    if code == "leak":
        figure = percent(facts["score"])
        rows = [
            {"column": column, "explains alone": percent(score)}
            for column, score in zip(columns, evidence["scores"], strict=True)
        ]
    elif code == "duplicate":
        figure, known = percent(facts["share"]), set(finding.rows)
        pairs = zip(finding.rows, evidence["copies"], evidence["exact"], strict=True)
        rows = [
            {
                "row": int(labels[row]),
                "copy": int(labels[copy]),
                "kind": "equal" if exact else "near",
            }
            for row, copy, exact in pairs
            if row < copy or copy not in known  # each pair once
        ]
        advice = "near" if facts["n_near"] == len(finding.rows) else code
        if len(rows) > MOST_LISTED:
            sentence += f" The first {MOST_LISTED} pairs are listed."
    elif code == "entity":
        facts["column"] = columns[0]
    elif code == "order":
        advice = "sorted" if facts["sorted_by_target"] else code
    elif code == "equal":
        same = zip(columns, evidence["same_as"], evidence["identical"], strict=True)
        rows = [
            {
                "column": column,
                "same as": same_as,
                "values": "equal" if identical else "renamed, or in another unit",
            }
            for column, same_as, identical in same
        ]
    after = TOO_GOOD if advice in {"leak", "entity", "order"} else ""
    question = finding.question.replace("--groups COLUMN", f"--groups {entity or 'COLUMN'}")
    return {
        "code": code,
        "sentence": sentence,
        "figure": figure,
        "columns": list(columns),
        "rows": rows[:MOST_LISTED] if len(rows) > 1 or code == "duplicate" else [],
        "advice": " ".join(filter(None, [ADVICE[advice], question, after])),
        "facts": facts,
    }


def _doubted_labels(error_estimator: Any, labels: Ints) -> list[dict[str, Any]]:
    """Item on labels that are probably wrong, where there are more than by chance."""
    errors = find_label_errors(error_estimator)
    is_doubted = errors.scores > 0.5
    if errors.p_value >= LEVEL or not is_doubted.any():
        return []
    figure = p_value_words(errors.p_value)
    rows = [
        {
            "row": int(labels[errors.rows[i]]),
            "label": str(json_value(errors.labels[i])),
            "more probable": str(json_value(errors.suggested[i])),
            "score": percent(float(errors.scores[i])),
        }
        for i in np.flatnonzero(is_doubted)[:MOST_LISTED]
    ]
    sentence = (
        "Some labels may be wrong: more labels than hard rows explain are contradicted by models and similar "
        f"rows that never saw them ({figure}). Wrong labels cannot be counted without looking at them. "
        f"{'The row' if len(rows) == 1 else f'The {len(rows)} rows'} to look at first (score: one minus the estimated "
        "probability of the label):"
    )
    first_rows = [int(labels[row]) for row in errors.rows[:MOST_LISTED]]
    return [
        {
            "code": "labels",
            "sentence": sentence,
            "figure": figure,
            "columns": [],
            "rows": rows,
            "advice": ADVICE["labels"],
            "facts": {"p_value": errors.p_value, "first_rows": first_rows},
        }
    ]
