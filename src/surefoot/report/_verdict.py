"""The verdict: how good, how well it knows when it is wrong, and what to do."""

from typing import Any

import numpy as np
from scipy.stats import norm

from surefoot.report._answer import Selection
from surefoot.report._figures import number, percent
from surefoot.report._judged import Judged
from surefoot.report._shares import wilson_interval

# The share of rows that a person is thought to check.
CHECKED = 0.1


def give_verdict(judged: Judged, answer: dict[str, Any], improvements: list[Any]) -> dict[str, Any]:
    """Words and three figures, from what the other sections found."""
    caught, own = caught_by_checking(judged)
    adds = knows_more(answer)
    sentences = [_about_checking(judged, caught, own), *_about_adding(judged, adds)]
    sentences += [_about_answering(answer, judged), *_about_improving(improvements)]
    return {
        "headline": _headline(judged),
        "sentences": [sentence for sentence in sentences if sentence],
        "figures": [
            _how_good(judged),
            _how_well_it_knows(caught, own, judged),
            _what_to_do(answer, judged),
        ],
        "adds": adds,
    }


def knows_more(answer: dict[str, Any]) -> bool | None:
    """Whether the report orders rows better than the model's own confidence, beyond chance; None without one."""
    found = answer["augrc"]
    if found["own"] is None:
        return None
    return found["high"] is not None and found["high"] < 1


def caught_by_checking(judged: Judged) -> tuple[float, float | None]:
    """Share of the total error in the tenth of the rows with the highest estimate, and by own confidence."""
    found = Selection(judged.errors, judged.estimated).caught(1 - CHECKED)
    if judged.own is None:
        return float(found), None
    return float(found), float(Selection(judged.errors, judged.own).caught(1 - CHECKED))


def _headline(judged: Judged) -> str:
    if judged.is_classifier:
        return f"Right {percent(1 - judged.errors.mean())} of the time."
    return f"Off by {number(judged.errors.mean())} on average."


def _about_checking(judged: Judged, caught: float, own: float | None) -> str:
    if judged.errors.sum() == 0:
        n_rows = number(len(judged.errors))
        return (
            f"It made no mistake on {n_rows} rows that it had not seen: there is nothing to flag."
        )
    what = "its mistakes" if judged.is_classifier else "all that it is off"
    sentence = (
        f"If a person checked the {percent(CHECKED)} of rows flagged below, they would meet "
        f"{percent(caught)} of {what}"
    )
    by = ", by chance " + percent(CHECKED)
    if own is not None:
        by = f"; by the model's own confidence, {percent(own)}"
    return f"{sentence}{by}."


def _about_adding(judged: Judged, adds: bool | None) -> list[str]:
    if adds is not False or judged.errors.sum() == 0:
        return []
    return [
        "surefoot knows no more here than the model itself: its own confidence is as good a guide to its mistakes."
    ]


def _about_answering(answer: dict[str, Any], judged: Judged) -> str:
    if answer["chosen"] is None:
        if judged.errors.sum() == 0:
            return ""
        return (
            "There is no share of the rows for which a lower risk can be promised: let a person look, or "
            "improve it first."
        )
    promise = answer["promises"][answer["chosen"]]
    kept = (
        f"at most {percent(promise['max_risk'])} of the answers are wrong"
        if judged.is_classifier
        else f"the answers are off by at most {number(promise['max_risk'])} on average"
    )
    return (
        f"Let it answer the {percent(promise['coverage'])} of rows that it knows best, and have a person look at the "
        f"others: {kept}, with {percent(answer['confidence'])} confidence."
    )


def _about_improving(improvements: list[Any]) -> list[str]:
    helping = [found["sentence"] for found in improvements if found["verdict"] == "helps"]
    return helping[:1]


def _how_good(judged: Judged) -> dict[str, str]:
    n_rows = len(judged.errors)
    if judged.is_classifier:
        n_right = n_rows - judged.errors.sum()
        low, high = wilson_interval(n_right, n_rows, judged.confidence)
        return {
            "value": percent(n_right / n_rows),
            "label": "right",
            "about": f"{percent(float(low))} to {percent(float(high))}, {percent(judged.confidence)} confidence",
        }
    mean = judged.errors.mean()
    reach = norm.ppf((1 + judged.confidence) / 2) * judged.errors.std(ddof=1) / np.sqrt(n_rows)
    return {
        "value": number(mean),
        "label": "mean error",
        "about": f"{number(mean - reach)} to {number(mean + reach)}, {percent(judged.confidence)} confidence",
    }


def _how_well_it_knows(caught: float, own: float | None, judged: Judged) -> dict[str, str]:
    what = "mistakes" if judged.is_classifier else "error"
    by = f"by chance {percent(CHECKED)}" if own is None else f"by its own confidence {percent(own)}"
    if judged.errors.sum() == 0:
        return {"value": "–", "label": "of its mistakes found", "about": "it made none"}
    return {
        "value": percent(caught),
        "label": f"of the {what} in the {percent(CHECKED)} flagged",
        "about": by,
    }


def _what_to_do(answer: dict[str, Any], judged: Judged) -> dict[str, str]:
    if answer["chosen"] is None:
        value = "100 %" if judged.errors.sum() == 0 else "0 %"
        return {
            "value": value,
            "label": "may be answered",
            "about": "no lower risk can be promised",
        }
    promise = answer["promises"][answer["chosen"]]
    show = percent if judged.is_classifier else number
    kept = "at most {} wrong" if judged.is_classifier else "mean error at most {}"
    return {
        "value": percent(promise["coverage"]),
        "label": "may be answered",
        "about": f"{kept.format(show(promise['max_risk']))}, {percent(answer['confidence'])} confidence",
    }
