"""Section "Before you trust any of this": faults of the table that make figures better than they are."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from surefoot._tables import take_rows
from surefoot._typing import Floats
from surefoot.checks import (
    FoldOrders,
    compare_fold_orders,
    find_duplicates,
    find_entities,
    find_equal_columns,
    find_identifiers,
    find_leaks,
)
from surefoot.error_estimation import find_label_errors
from surefoot.report._assessment import Assessment
from surefoot.report._figures import number, percent
from surefoot.report._row_table import plain

# Probability of a coincidence below which labels are doubted.
LEVEL = 0.002

# Most rows or columns that an item lists, and the least number or share of copies that is worth a sentence.
MOST_LISTED = 20
LEAST_COPIES = 10
LEAST_SHARE = 0.005

GROUPS = "--groups COLUMN, in Python groups="
TIME = "--time COLUMN"


def describe_checks(assessment: Assessment, cv: Any = None) -> dict[str, Any]:
    """Items of the section, none where nothing is found; `cv` is that of the report.

    Each item has a `kind`, a `sentence`, a `figure` (the share or the p-value that it rests on, as a text), the
    `columns` or `rows` that it is about, `advice`, and the numbers behind it (`facts`). Rows are dicts of texts and
    numbers for a table with the names of their keys.
    """
    refits = not isinstance(assessment.error_estimator.estimator, FrozenEstimator)
    has_folds = refits and isinstance(cv, Integral)
    is_grouped = assessment.held_out.groups is not None
    items = [
        _leaks(assessment),
        _duplicates(assessment, has_folds),
        _entities(assessment) if refits and not is_grouped else None,
        _order(assessment, int(cv)) if has_folds and not is_grouped else None,
        _labels(assessment) if assessment.is_classifier else None,
        _identifiers(assessment),
        _equal_columns(assessment),
    ]
    return {"items": [item for item in items if item is not None]}


def _item(
    kind: str,
    sentence: str,
    figure: str,
    advice: str,
    *,
    columns: Any = (),
    rows: Any = (),
    **facts: Any,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "sentence": sentence,
        "figure": figure,
        "columns": list(columns),
        "rows": list(rows),
        "advice": advice,
        "facts": facts,
    }


def _plain_losses(assessment: Assessment) -> Floats:
    """0 or 1 for each held-out class, or the size of the error, whatever the costs are."""
    truth, prediction = assessment.truth, assessment.held_out.prediction
    if assessment.is_classifier:
        return np.asarray(truth != prediction, dtype=np.float64)
    return np.asarray(np.abs(truth - prediction), dtype=np.float64)


def _how_good(assessment: Assessment, loss: float) -> str:
    """Mean loss as a text: the share of right answers, or the mean error."""
    if assessment.is_classifier:
        return f"right on {percent(1 - loss)} of rows"
    return f"off by {number(loss)} on average"


def _chance(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {number(p_value)}"


def _quoted(names: Any) -> str:
    names = [f"“{name}”" for name in names]
    if len(names) > MOST_LISTED:
        names = [*names[: MOST_LISTED - 1], f"{len(names) - MOST_LISTED + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _leaks(assessment: Assessment) -> dict[str, Any] | None:
    held_out, rows = assessment.held_out, assessment.rows
    prediction = held_out.prediction if held_out.probabilities is None else held_out.probabilities
    leaks = find_leaks(
        take_rows(assessment.X, rows),
        assessment.truth,
        prediction=prediction,
        task=assessment.task,
        random_state=assessment.random_state,
    )
    if not leaks:
        return None
    first = leaks[0]
    what = "the Brier score" if assessment.is_classifier else "the variance of its ranks"
    gives = "gives" if len(leaks) == 1 else "each give"
    sentence = (
        f"{_quoted(leak.column for leak in leaks)} {gives} the target away (target leakage): alone, "
        f"“{first.column}” explains {percent(first.score)} of the target (share of {what}, on held-out rows), the next "
        f"column {percent(first.next_score)}, and the whole model {percent(max(first.model_score or 0.0, 0.0))}."
    )
    if len(leaks) == 1:
        sentence = sentence.replace("“" + first.column + "” explains", "it explains")
    advice = (
        "Ask whether this value is known before the target is. If not, leave the column out: the model will not have "
        "it for new rows, and every figure on this page is too good."
    )
    rows_of = [{"column": leak.column, "explains alone": percent(leak.score)} for leak in leaks]
    return _item(
        "leak",
        sentence,
        percent(first.score),
        advice,
        columns=[leak.column for leak in leaks],
        rows=rows_of[:MOST_LISTED] if len(leaks) > 1 else (),
        score=first.score,
        next_score=first.next_score,
        model_score=first.model_score,
    )


def _identifiers(assessment: Assessment) -> dict[str, Any] | None:
    identifiers = find_identifiers(assessment.X)
    if not identifiers:
        return None
    names = [each.column for each in identifiers]
    counting = [each.column for each in identifiers if each.kind == "counts"]
    has = "has" if len(names) == 1 else "have"
    sentence = f"{_quoted(names)} {has} another value in every row: an identifier describes no row."
    if counting:
        which = "It" if len(names) == 1 else _quoted(counting)
        sentence += (
            f" {which} {'follows' if len(counting) == 1 else 'follow'} the order of the rows."
        )
    advice = (
        "Leave it out: a model can learn nothing from it that holds for new rows."
        if len(names) == 1
        else "Leave them out: a model can learn nothing from them that holds for new rows."
    )
    if counting:
        advice += f" If the order is that of time, give the column to {TIME} instead."
    return _item(
        "identifier", sentence, str(len(names)), advice, columns=names, n_columns=len(names)
    )


def _equal_columns(assessment: Assessment) -> dict[str, Any] | None:
    pairs = find_equal_columns(assessment.X)
    if not pairs:
        return None
    first = pairs[0]
    how = "equal in every row" if first.identical else "the same in other words or another unit"
    sentence = f"“{first.column}” says the same as “{first.same_as}”: {how}."
    if len(pairs) > 1:
        sentence = f"{number(len(pairs))} columns say the same as another one, in every row."
    rows = [
        {
            "column": pair.column,
            "same as": pair.same_as,
            "values": "equal" if pair.identical else "renamed, or in another unit",
        }
        for pair in pairs
    ]
    return _item(
        "equal columns",
        sentence,
        str(len(pairs)),
        "Leave one of them out: nothing is lost, and rules and reasons become easier to read.",
        columns=[pair.column for pair in pairs],
        rows=rows[:MOST_LISTED] if len(pairs) > 1 else (),
        n_columns=len(pairs),
    )


def _duplicates(assessment: Assessment, has_folds: bool) -> dict[str, Any] | None:
    n_rows = len(assessment.y)
    splits, losses = np.full(n_rows, -1), np.zeros(n_rows)
    splits[assessment.rows] = assessment.held_out.splits
    losses[assessment.rows] = _plain_losses(assessment)
    found = find_duplicates(
        assessment.X,
        splits=splits if has_folds else None,
        losses=losses if has_folds else None,
        random_state=assessment.random_state,
    )
    n_copies = len(found.rows)
    if n_copies < LEAST_COPIES and n_copies < LEAST_SHARE * n_rows:
        return None
    n_near, share = int((~found.exact).sum()), n_copies / n_rows
    sentence = (
        f"{number(n_copies)} of {number(n_rows)} rows ({percent(share)}) have a copy in the table"
    )
    if n_near:
        some = "all" if n_near == n_copies else number(n_near)
        sentence += f", {some} of them not quite equal (near duplicates)"
    sentence += "."
    if found.searched < n_rows and n_near:
        sentence += f" Near copies were searched for {number(found.searched)} rows only."
    n_across = 0 if found.across is None else int(found.across.sum())
    if n_across and found.loss is not None and found.loss_without is not None:
        sentence += (
            f" {number(n_across)} {'was' if n_across == 1 else 'were'} predicted by a model that had learned from the "
            f"copy. With {'it' if n_across == 1 else 'them'}, the model is "
            f"{_how_good(assessment, found.loss)}; without, {_how_good(assessment, found.loss_without)}."
        )
    labels = assessment.labels
    rows = [
        {"row": int(labels[row]), "copy": int(labels[copy]), "kind": "equal" if exact else "near"}
        for row, copy, exact in zip(found.rows, found.copies, found.exact, strict=True)
        if row < copy or copy not in found.rows
    ]
    if len(rows) > MOST_LISTED:
        sentence += f" The first {MOST_LISTED} pairs are listed."
    advice = (
        "If new rows will be no copies of known ones, remove the copies, or hold each row out together with its "
        f"copies: {GROUPS}."
    )
    return _item(
        "duplicates",
        sentence,
        percent(share),
        advice,
        rows=rows[:MOST_LISTED],
        share=share,
        n_rows=n_copies,
        n_near=n_near,
        n_across=n_across,
        loss=found.loss,
        loss_without=found.loss_without,
    )


def _entities(assessment: Assessment) -> dict[str, Any] | None:
    entities = find_entities(
        assessment.X, assessment.y, task=assessment.task, random_state=assessment.random_state
    )
    if not entities:
        return None
    first = entities[0]
    sentence = (
        f"Rows with the same value of “{first.column}” ({number(first.n_values)} values) depend on each other. A small "
        f"model is {_how_good(assessment, first.shuffled)} if rows are held out at random, and "
        f"{_how_good(assessment, first.grouped)} if all rows of a value are held out together, "
        f"{_chance(first.p_value)}."
    )
    advice = (
        f"If new rows will have new values of this column (other persons, other places), use --groups {first.column}, "
        "in Python groups=: until then the figures on this page are too good."
    )
    return _item(
        "entities",
        sentence,
        _chance(first.p_value),
        advice,
        columns=[entity.column for entity in entities],
        column=first.column,
        shuffled=first.shuffled,
        grouped=first.grouped,
        p_value=first.p_value,
    )


def _order(assessment: Assessment, n_folds: int) -> dict[str, Any] | None:
    orders = compare_orders_of(assessment, n_folds)
    if orders is None or not orders.matters:
        return None
    n_rows = "" if orders.n_rows == len(assessment.y) else f" on {number(orders.n_rows)} rows"
    sentence = (
        f"The order of the rows matters: the model is {_how_good(assessment, orders.shuffled)} if rows are held out at "
        f"random (shuffled folds), and {_how_good(assessment, orders.ordered)} if rows that stand together are held "
        f"out together (ordered folds){n_rows}, {_chance(orders.p_value)}."
    )
    advice = (
        f"If new rows come from other persons or places, or from a later time, use {GROUPS}, or {TIME}: until then the "
        "figures on this page are too good."
    )
    if orders.sorted_by_target:
        sentence += " The rows are sorted by the target, so ordered folds lack parts of it: that may be the reason."
        advice = (
            "If nothing but the target sorted the rows, there is nothing to do. If rows of one person, place or time "
            f"stand together as well, use {GROUPS}, or {TIME}."
        )
    return _item(
        "order",
        sentence,
        _chance(orders.p_value),
        advice,
        shuffled=orders.shuffled,
        ordered=orders.ordered,
        p_value=orders.p_value,
        sorted_by_target=orders.sorted_by_target,
    )


def compare_orders_of(assessment: Assessment, n_folds: int) -> FoldOrders | None:
    """Losses by shuffled and by ordered folds; None where a model cannot be fitted on ordered folds."""
    losses = _plain_losses(assessment) if len(assessment.rows) == len(assessment.y) else None
    try:
        return compare_fold_orders(
            assessment.error_estimator.estimator,
            assessment.X,
            assessment.y,
            cv=n_folds,
            losses=losses,
            random_state=assessment.random_state,
        )
    except ValueError:  # too few rows, or a model that needs several rows of each class
        return None


def _labels(assessment: Assessment) -> dict[str, Any] | None:
    errors = find_label_errors(assessment.error_estimator)
    is_doubted = errors.scores > 0.5
    if errors.p_value >= LEVEL or not is_doubted.any():
        return None
    labels = assessment.labels
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
        "Some labels are probably wrong: more labels than hard rows explain are contradicted by models and similar "
        f"rows that never saw them ({_chance(errors.p_value)}). How many are wrong cannot be told without looking. "
        f"{'The row' if len(rows) == 1 else f'The {len(rows)} rows'} to look at first (score: one minus the estimated "
        "probability of the label):"
    )
    return _item(
        "labels",
        sentence,
        _chance(errors.p_value),
        "Look at these rows, and correct the labels that are wrong; error_estimation.find_label_errors ranks all rows.",
        rows=rows,
        p_value=errors.p_value,
        first_rows=[int(labels[row]) for row in errors.rows[:MOST_LISTED]],
    )
