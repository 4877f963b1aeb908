"""Checks of columns: those that give the target away, identify rows or say the same as another."""

from typing import Any

from surefoot._tables import take_rows
from surefoot._words import number, percent
from surefoot.checks import find_equal_columns, find_identifiers, find_leaks
from surefoot.report._assessment import Assessment
from surefoot.report._check_items import MOST_LISTED, TIME, make_item, quoted


def describe_leaks(assessment: Assessment) -> dict[str, Any] | None:
    """Item on columns that give the target away, or None."""
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
        f"{quoted(leak.column for leak in leaks)} {gives} the target away (target leakage): alone, "
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
    return make_item(
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


def describe_identifiers(assessment: Assessment) -> dict[str, Any] | None:
    """Item on columns that count or identify rows, or None."""
    identifiers = find_identifiers(assessment.X)
    if not identifiers:
        return None
    names = [each.column for each in identifiers]
    counting = [each.column for each in identifiers if each.kind == "counts"]
    has = "has" if len(names) == 1 else "have"
    sentence = f"{quoted(names)} {has} another value in every row: an identifier describes no row."
    if counting:
        which = "It" if len(names) == 1 else quoted(counting)
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
    return make_item(
        "identifier", sentence, str(len(names)), advice, columns=names, n_columns=len(names)
    )


def describe_equal_columns(assessment: Assessment) -> dict[str, Any] | None:
    """Item on columns that say the same as another, or None."""
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
    return make_item(
        "equal columns",
        sentence,
        str(len(pairs)),
        "Leave one of them out: nothing is lost, and rules and reasons become easier to read.",
        columns=[pair.column for pair in pairs],
        rows=rows[:MOST_LISTED] if len(pairs) > 1 else (),
        n_columns=len(pairs),
    )
