"""Section "Before you trust any of this": faults of the table that make figures better than they are."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from surefoot._words import p_value_words, percent
from surefoot.checks import Finding, check_table
from surefoot.error_estimation import find_label_errors
from surefoot.report._assessment import Assessment
from surefoot.report._row_order import may_be_ordered
from surefoot.report._row_table import plain

# Most rows or columns that an item lists.
MOST_LISTED = 20

# Probability of a coincidence below which labels are doubted.
LEVEL = 0.002

# Name of the item about each finding, where it differs from the code.
KINDS = {"duplicate": "duplicates", "entity": "entities", "equal": "equal columns"}

GROUPS = "--groups COLUMN, in Python groups="
TIME = "--time COLUMN"
ADVICE = {
    "leak": "Ask whether this value is known before the target is. If not, leave the column out: the model will not "
    "have it for new rows, and every figure on this page is too good.",
    "duplicate": "If new rows will be no copies of known ones, remove the copies, or hold each row out together with "
    f"its copies: {GROUPS}.",
    "entity": "If new rows will have new values of this column (other persons, other places), use --groups {column}, "
    "in Python groups=: until then the figures on this page are too good.",
    "order": f"If new rows come from other persons or places, or from a later time, use {GROUPS}, or {TIME}: until "
    "then the figures on this page are too good.",
    "sorted": "If nothing but the target sorted the rows, there is nothing to do. If rows of one person, place or time "
    f"stand together as well, use {GROUPS}, or {TIME}.",
    "identifier": "Leave {it} out: a model can learn nothing from {it} that holds for new rows.",
    "equal": "Leave one of them out: nothing is lost, and rules and reasons become easier to read.",
    "labels": "Look at these rows, and correct the labels that are wrong; error_estimation.find_label_errors ranks all "
    "rows.",
}


def describe_checks(assessment: Assessment, cv: Any = None) -> dict[str, Any]:
    """Items of the section, none where nothing is found; `cv` is that of the report.

    Each item has a `kind`, a `sentence`, a `figure` (the share or the p-value that it rests on, as a text), the
    `columns` or `rows` that it is about, `advice`, and the numbers behind it (`facts`). Rows are dicts of texts and
    numbers for a table with the names of their keys.
    """
    held_out: Any = assessment.held_out
    estimator = assessment.error_estimator.estimator
    refits = not isinstance(estimator, FrozenEstimator)
    has_folds = refits and isinstance(cv, Integral)
    if not has_folds:  # of other splits it is not known which rows were learned from
        held_out = replace(held_out, splits=None)
    is_ordered = has_folds and held_out.groups is None and may_be_ordered(assessment)
    findings = check_table(
        assessment.X,
        assessment.y,
        held_out=held_out,
        ignore=() if is_ordered else ["order"],
        estimator=estimator,
        random_state=assessment.random_state,
    )
    items = [_item(finding, assessment) for finding in findings]
    if assessment.is_classifier:
        place = sum(finding.code not in {"identifier", "equal"} for finding in findings)
        items[place:place] = _labels(assessment)
    return {"items": items}


def _item(finding: Finding, assessment: Assessment) -> dict[str, Any]:
    """Item of the section: a finding with the number it rests on, a table and advice."""
    code, columns, evidence = finding.code, finding.columns, finding.evidence
    facts = {name: value for name, value in evidence.items() if not isinstance(value, list)}
    sentence, advice, rows = finding.sentence, ADVICE[code], []
    if code == "leak":
        figure = percent(facts["score"])
        rows = [
            {"column": column, "explains alone": percent(score)}
            for column, score in zip(columns, evidence["scores"], strict=True)
        ]
    elif code == "duplicate":
        figure = percent(facts["share"])
        rows = _pairs(finding, assessment)
        if len(rows) > MOST_LISTED:
            sentence += f" The first {MOST_LISTED} pairs are listed."
    elif code == "entity":
        figure, facts["column"] = p_value_words(facts["p_value"]), columns[0]
        advice = advice.format(column=columns[0])
    elif code == "order":
        figure = p_value_words(facts["p_value"])
        advice = ADVICE["sorted"] if facts["sorted_by_target"] else advice
    elif code == "identifier":
        figure = str(len(columns))
        advice = advice.format(it="it" if len(columns) == 1 else "them")
        if any(evidence["follows_rows"]):
            advice += f" If the order is that of time, give the column to {TIME} instead."
    else:
        figure = str(len(columns))
        rows = [
            {
                "column": column,
                "same as": same_as,
                "values": "equal" if identical else "renamed, or in another unit",
            }
            for column, same_as, identical in zip(
                columns, evidence["same_as"], evidence["identical"], strict=True
            )
        ]
    return {
        "kind": KINDS.get(code, code),
        "sentence": sentence,
        "figure": figure,
        "columns": list(columns),
        "rows": rows[:MOST_LISTED] if len(rows) > 1 or code == "duplicate" else [],
        "advice": advice,
        "facts": facts,
    }


def _pairs(finding: Finding, assessment: Assessment) -> list[dict[str, Any]]:
    """Rows with their copies, each pair once."""
    labels, known = assessment.labels, set(finding.rows)
    copies, exact = finding.evidence["copies"], finding.evidence["exact"]
    return [
        {"row": int(labels[row]), "copy": int(labels[copy]), "kind": "equal" if equal else "near"}
        for row, copy, equal in zip(finding.rows, copies, exact, strict=True)
        if row < copy or copy not in known
    ]


def _labels(assessment: Assessment) -> list[dict[str, Any]]:
    """Item on labels that are probably wrong, where there are more than by chance."""
    errors = find_label_errors(assessment.error_estimator)
    is_doubted = errors.scores > 0.5
    if errors.p_value >= LEVEL or not is_doubted.any():
        return []
    labels, figure = assessment.labels, p_value_words(errors.p_value)
    rows = [
        {
            "row": int(labels[errors.rows[i]]),
            "label": str(plain(errors.labels[i])),
            "more probable": str(plain(errors.suggested[i])),
            "score": percent(float(errors.scores[i])),
        }
        for i in np.flatnonzero(is_doubted)[:MOST_LISTED]
    ]
    sentence = (
        "Some labels may be wrong: more labels than hard rows explain are contradicted by models and similar "
        f"rows that never saw them ({figure}). How many are wrong cannot be told without looking. "
        f"{'The row' if len(rows) == 1 else f'The {len(rows)} rows'} to look at first (score: one minus the estimated "
        "probability of the label):"
    )
    first_rows = [int(labels[row]) for row in errors.rows[:MOST_LISTED]]
    return [
        {
            "kind": "labels",
            "sentence": sentence,
            "figure": figure,
            "columns": [],
            "rows": rows,
            "advice": ADVICE["labels"],
            "facts": {"p_value": errors.p_value, "first_rows": first_rows},
        }
    ]
