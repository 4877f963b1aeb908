"""Section "Before you trust any of this": faults of the table that make figures better than they are."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from surefoot._words import number, percent
from surefoot.checks import FoldOrders, compare_fold_orders, find_duplicates, find_entities
from surefoot.error_estimation import find_label_errors
from surefoot.report._assessment import Assessment
from surefoot.report._check_items import (
    GROUPS,
    MOST_LISTED,
    TIME,
    chance,
    how_good,
    make_item,
    plain_losses,
)
from surefoot.report._column_checks import (
    describe_equal_columns,
    describe_identifiers,
    describe_leaks,
)
from surefoot.report._row_order import may_be_ordered
from surefoot.report._row_table import plain

# Probability of a coincidence below which labels are doubted.
LEVEL = 0.002

# Least number or share of copies that is worth a sentence.
LEAST_COPIES = 10
LEAST_SHARE = 0.005


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
        describe_leaks(assessment),
        _duplicates(assessment, has_folds),
        _entities(assessment) if refits and not is_grouped else None,
        _order(assessment, int(cv)) if has_folds and not is_grouped else None,
        _labels(assessment) if assessment.is_classifier else None,
        describe_identifiers(assessment),
        describe_equal_columns(assessment),
    ]
    return {"items": [item for item in items if item is not None]}


def _duplicates(assessment: Assessment, has_folds: bool) -> dict[str, Any] | None:
    n_rows = len(assessment.y)
    splits, losses = np.full(n_rows, -1), np.zeros(n_rows)
    splits[assessment.rows] = assessment.held_out.splits
    losses[assessment.rows] = plain_losses(assessment)
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
            f"{how_good(assessment, found.loss)}; without, {how_good(assessment, found.loss_without)}."
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
    return make_item(
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
        f"model is {how_good(assessment, first.shuffled)} if rows are held out at random, and "
        f"{how_good(assessment, first.grouped)} if all rows of a value are held out together, "
        f"{chance(first.p_value)}."
    )
    advice = (
        f"If new rows will have new values of this column (other persons, other places), use --groups {first.column}, "
        "in Python groups=: until then the figures on this page are too good."
    )
    return make_item(
        "entities",
        sentence,
        chance(first.p_value),
        advice,
        columns=[entity.column for entity in entities],
        column=first.column,
        shuffled=first.shuffled,
        grouped=first.grouped,
        p_value=first.p_value,
    )


def _order(assessment: Assessment, n_folds: int) -> dict[str, Any] | None:
    orders = compare_orders_of(assessment, n_folds) if may_be_ordered(assessment) else None
    if orders is None or not orders.matters:
        return None
    n_rows = "" if orders.n_rows == len(assessment.y) else f" on {number(orders.n_rows)} rows"
    sentence = (
        f"The order of the rows matters: the model is {how_good(assessment, orders.shuffled)} if rows are held out at "
        f"random (shuffled folds), and {how_good(assessment, orders.ordered)} if rows that stand together are held "
        f"out together (ordered folds){n_rows}, {chance(orders.p_value)}."
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
    return make_item(
        "order",
        sentence,
        chance(orders.p_value),
        advice,
        shuffled=orders.shuffled,
        ordered=orders.ordered,
        p_value=orders.p_value,
        sorted_by_target=orders.sorted_by_target,
    )


def compare_orders_of(assessment: Assessment, n_folds: int) -> FoldOrders | None:
    """Losses by shuffled and by ordered folds; None where a model cannot be fitted on ordered folds."""
    losses = plain_losses(assessment) if len(assessment.rows) == len(assessment.y) else None
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
        "Some labels may be wrong: more labels than hard rows explain are contradicted by models and similar "
        f"rows that never saw them ({chance(errors.p_value)}). How many are wrong cannot be told without looking. "
        f"{'The row' if len(rows) == 1 else f'The {len(rows)} rows'} to look at first (score: one minus the estimated "
        "probability of the label):"
    )
    return make_item(
        "labels",
        sentence,
        chance(errors.p_value),
        "Look at these rows, and correct the labels that are wrong; error_estimation.find_label_errors ranks all rows.",
        rows=rows,
        p_value=errors.p_value,
        first_rows=[int(labels[row]) for row in errors.rows[:MOST_LISTED]],
    )
