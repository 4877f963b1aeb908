"""Section "Before you trust any of this": faults of the table that make figures better than they are."""

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as fisher
from scipy.stats import norm, rankdata
from sklearn.frozen import FrozenEstimator

from surefoot._tables import take_rows
from surefoot._typing import Floats, Ints
from surefoot._words import listed, p_value_words, percent
from surefoot.checks import Finding, check_table
from surefoot.error_estimation import HeldOut, find_label_errors
from surefoot.report._rows import json_value

# Most rows or columns that an item lists.
MOST_LISTED = 20

# Probability of a coincidence below which labels are doubted.
LEVEL = 0.002

# Test of the order of rows, before a model is fitted for it: the probability with which rows in random order are looked
# at more closely; parts of the table, in its order, whose means are compared; most rows, in blocks at equal distances,
# and most columns that are looked at.
ORDER_LEVEL = 0.01
MOST_PARTS, LEAST_IN_A_PART = 50, 10
N_BLOCKS, LONGEST_BLOCK, MOST_COLUMNS = 40, 75, 200

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


def check_ignored(ignore: Iterable[str]) -> set[str]:
    """Codes of the checks to leave out; a ValueError for one that does not exist."""
    ignored, codes = set(ignore), [code for code in ADVICE if code != "sorted"]
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
    is_ordered = has_folds and held_out.groups is None and _may_be_ordered(error_estimator, X)
    findings = check_table(
        X,
        y,
        # Of other splits it is not known which rows were learned from.
        held_out=held_out if has_folds else replace(held_out, splits=None),
        ignore={*ignore, *(() if is_ordered else ("order",))} - {"labels"},
        estimator=estimator,
        random_state=error_estimator.random_state,
    )
    items = [_as_item(finding, labels) for finding in findings]
    if held_out.classes is not None and "labels" not in ignore:
        place = sum(finding.code not in {"identifier", "equal"} for finding in findings)
        items[place:place] = _doubted_labels(error_estimator, labels)
    return {"items": items}


def _as_item(finding: Finding, labels: Ints) -> dict[str, Any]:
    """Item of the section: a finding with the number it rests on, a table and advice."""
    code, columns, evidence = finding.code, finding.columns, finding.evidence
    facts = {name: value for name, value in evidence.items() if not isinstance(value, list)}
    sentence, advice = finding.sentence, ADVICE[code]
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
        if len(rows) > MOST_LISTED:
            sentence += f" The first {MOST_LISTED} pairs are listed."
    elif code == "entity":
        facts["column"], advice = columns[0], advice.format(column=columns[0])
    elif code == "order" and facts["sorted_by_target"]:
        advice = ADVICE["sorted"]
    elif code == "identifier":
        advice = advice.format(it="it" if len(columns) == 1 else "them")
        if any(evidence["follows_rows"]):
            advice += f" If the order is that of time, give the column to {TIME} instead."
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
    return {
        "code": code,
        "sentence": sentence,
        "figure": figure,
        "columns": list(columns),
        "rows": rows[:MOST_LISTED] if len(rows) > 1 or code == "duplicate" else [],
        "advice": advice,
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
        f"rows that never saw them ({figure}). How many are wrong cannot be told without looking. "
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


def _may_be_ordered(error_estimator: Any, X: Any) -> bool:
    """Whether rows that stand together resemble each other in columns, target, error, or in how both go together.

    A cheap test before an expensive one. Rows in random order do so in 1 % of tables. Where rows do not resemble their
    neighbours in the table in any of these, folds of rows that stand together are as good as shuffled ones.
    """
    held_out: HeldOut = error_estimator.held_out_
    n_rows = len(held_out.rows)
    places = np.arange(n_rows)
    if n_rows > N_BLOCKS * LONGEST_BLOCK:
        starts = np.linspace(0, n_rows - LONGEST_BLOCK, N_BLOCKS).astype(np.int64)
        places = (starts[:, None] + np.arange(LONGEST_BLOCK)).ravel()
    space = error_estimator.coordinates(take_rows(X, held_out.rows[places]))
    if hasattr(space, "toarray"):
        sums = np.asarray(abs(space).sum(axis=0)).ravel()
        space = space[:, np.argsort(-sums)[:MOST_COLUMNS]].toarray()
    columns = np.asarray(space, dtype=np.float64)[:, :MOST_COLUMNS]
    truth, predicted = held_out.truth[places, None], held_out.prediction[places, None]
    if held_out.classes is not None:  # a column of zeros and ones for each of the first classes
        classes = np.unique(held_out.truth)
        first = classes[1 : MOST_COLUMNS + 1]
        errors = (truth == first).astype(np.float64) - (predicted == first)
        truth = truth == classes[:MOST_COLUMNS]
    else:
        errors = (truth - predicted).astype(np.float64)
    interactions = columns * errors.mean(axis=1)[:, None]
    table = np.column_stack([columns, held_out.losses[places], errors, interactions, truth])
    return order_p_value(table.astype(np.float64)) < ORDER_LEVEL


def order_p_value(table: Floats) -> float:
    """Least p-value over the columns, times their number and two: rows follow similar rows, or parts differ.

    Each column is tested for a correlation of rows with those that follow, and for different means of its parts in the
    order of the table (analysis of variance). Columns are left out where so few rows differ from the most frequent
    value that fewer than five neighbours among them are due by chance.
    """
    n_rows = len(table)
    n_most = np.array([np.unique(column, return_counts=True)[1].max() for column in table.T])
    table = table[:, (n_rows - n_most) ** 2 >= 5 * n_rows]
    n_parts = min(MOST_PARTS, n_rows // LEAST_IN_A_PART)
    if table.shape[1] == 0 or n_parts < 2:
        return 1.0
    ranks = rankdata(table, axis=0)  # a few very large values must not decide
    centred = (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)
    following = (centred[1:] * centred[:-1]).mean(axis=0) * np.sqrt(n_rows)
    parts = np.arange(n_rows) * n_parts // n_rows
    sizes = np.bincount(parts)
    means = np.add.reduceat(centred, np.searchsorted(parts, np.arange(n_parts))) / sizes[:, None]
    between = (sizes[:, None] * means**2).sum(axis=0)
    # Nothing is left within the parts of sorted classes.
    within = np.maximum(n_rows - between, 1e-9)
    ratio = between / (n_parts - 1) / (within / (n_rows - n_parts))
    smallest = min(norm.sf(following).min(), fisher.sf(ratio, n_parts - 1, n_rows - n_parts).min())
    return float(min(1.0, 2 * table.shape[1] * smallest))
