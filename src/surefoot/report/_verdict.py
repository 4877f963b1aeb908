"""The verdict: how good, how well it knows when it is wrong, and what to do."""

from typing import Any

import numpy as np

from surefoot.report._answer import Selection
from surefoot.report._figures import number, percent
from surefoot.report._judged import Judged
from surefoot.report._shares import mean_interval, wilson_interval

# The share of rows that a person is thought to check.
CHECKED = 0.1


def give_verdict(judged: Judged, answer: dict[str, Any], improvements: list[Any]) -> dict[str, Any]:
    """Headline, sentences and three figures of the verdict, from the other sections."""
    caught, own = caught_by_checking(judged)
    helping = [found["sentence"] for found in improvements if found["verdict"] == "helps"]
    sentences = [
        _about_checking(judged, caught, own),
        _about_knowing(judged, answer),
        _about_answering(judged, answer),
        *helping[:1],
    ]
    return {
        "headline": _headline(judged),
        "sentences": [sentence for sentence in sentences if sentence],
        "figures": [
            _how_good(judged),
            _how_well_it_knows(judged, caught, own),
            _what_to_do(judged, answer),
        ],
        "adds": knows_more(answer),
    }


def knows_more(answer: dict[str, Any]) -> bool | None:
    """Whether surefoot ranks rows better than own confidence, or chance; None if not significant."""
    found = answer["augrc"]
    if found["ratio"] is None or found["low"] <= 1 <= found["high"]:
        return None
    return bool(found["high"] < 1)


def caught_by_checking(judged: Judged) -> tuple[float, float | None]:
    """Shares of the total error caught by checking a tenth of the rows: by estimate, by own confidence."""
    found = Selection(judged.errors, judged.estimated).caught(1 - CHECKED)
    if judged.own is None:
        return float(found), None
    return float(found), float(Selection(judged.errors, judged.own).caught(1 - CHECKED))


def show_risk(judged: Judged, risk: float) -> str:
    """A risk as it is promised: not rounded below itself."""
    return f"{100 * risk:g} %" if judged.is_classifier else number(risk)


def _headline(judged: Judged) -> str:
    if judged.is_classifier:
        return f"Right {percent(1 - judged.errors.mean())} of the time."
    return f"Off by {number(judged.errors.mean())} on average."


def _about_checking(judged: Judged, caught: float, own: float | None) -> str:
    if judged.errors.sum() == 0:
        n_rows = number(len(judged.errors))
        return f"It made no mistake on {n_rows} held-out rows: there is nothing to flag."
    what = "its mistakes" if judged.is_classifier else "its total error"
    by = f" ({percent(CHECKED)} if the rows were chosen at random)"
    if own is not None:
        by = f" ({percent(own)} if the rows were chosen by the model's own confidence)"
    return (
        f"If a person checked the {percent(CHECKED)} of rows with the highest estimated error, they would catch "
        f"{percent(caught)} of {what}{by}."
    )


def _about_knowing(judged: Judged, answer: dict[str, Any]) -> str:
    """Sentence for the case that surefoot does not rank rows measurably better; else empty."""
    adds = knows_more(answer)
    if adds or judged.errors.sum() == 0:
        return ""
    if judged.own is None:
        if adds is None:
            return (
                "These rows do not show whether the estimated errors rank rows better than chance."
            )
        return "The estimated errors rank rows worse than chance: do not use them."
    if adds is None:
        n_wrong = number(int(np.count_nonzero(judged.errors)))
        return (
            "surefoot does not rank the rows measurably better than the model's own confidence, on "
            f"{n_wrong} mistakes."
        )
    return "Here the model's own confidence ranks the rows better than surefoot: use it instead."


def _about_answering(judged: Judged, answer: dict[str, Any]) -> str:
    confidence = f"with {percent(answer['confidence'])} confidence"
    if answer["chosen"] is not None:
        promise = answer["promises"][answer["chosen"]]
        risk = show_risk(judged, promise["max_risk"])
        kept = f"its answers are off by at most {risk} on average, {confidence}."
        if judged.is_classifier:
            kept = f"at most {risk} of its answers are wrong, {confidence}."
        if promise["coverage"] == 1:
            return f"It can answer every row: {kept}"
        return (
            f"Let it answer the {percent(promise['coverage'])} of rows with the lowest estimated error, and give the "
            f"others to a person: then {kept}"
        )
    other = next((found for found in answer["promises"] if found["coverage"] > 0), None)
    if judged.max_risk is not None and other is not None:
        return (
            f"A risk of {show_risk(judged, judged.max_risk)} cannot be promised; a risk of "
            f"{show_risk(judged, other['max_risk'])} can, for {percent(other['coverage'])} of the rows, {confidence}."
        )
    return f"No risk can be promised {confidence}: {number(len(judged.errors))} rows with so many errors are too few."


def _how_good(judged: Judged) -> dict[str, str]:
    n_rows, show = len(judged.errors), percent if judged.is_classifier else number
    low, high = mean_interval(judged.errors, judged.unit_codes, judged.confidence)
    if judged.is_classifier and judged.groups is None:
        ends = wilson_interval(judged.errors.sum(), n_rows, judged.confidence)
        low, high = float(ends[0]), float(ends[1])
    if judged.is_classifier:
        low, high = max(0.0, 1 - high), min(1.0, 1 - low)
    mean = float(judged.errors.mean())
    return {
        "value": show(1 - mean if judged.is_classifier else mean),
        "label": "right" if judged.is_classifier else "mean error",
        "about": f"{show(low)} to {show(high)}, {percent(judged.confidence)} confidence; {_baseline(judged)}",
    }


def _baseline(judged: Judged) -> str:
    """Result of always predicting the most frequent class, or the median."""
    if not judged.is_classifier:
        return f"always predicting the median: {number(np.abs(judged.truth - np.median(judged.truth)).mean())}"
    labels, counts = np.unique(judged.truth, return_counts=True)
    return f"always predicting “{labels[counts.argmax()]}”: {percent(counts.max() / counts.sum())}"


def _how_well_it_knows(judged: Judged, caught: float, own: float | None) -> dict[str, str]:
    what = "mistakes" if judged.is_classifier else "error"
    by = (
        f"chosen at random: {percent(CHECKED)}"
        if own is None
        else f"chosen by its own confidence: {percent(own)}"
    )
    if judged.errors.sum() == 0:
        return {"value": "–", "label": "of its mistakes caught", "about": "it made none"}
    return {
        "value": percent(caught),
        "label": f"of the {what} caught by checking {percent(CHECKED)} of the rows",
        "about": by,
    }


def _what_to_do(judged: Judged, answer: dict[str, Any]) -> dict[str, str]:
    if answer["chosen"] is None:
        return {
            "value": "–",
            "label": "of the rows can be answered",
            "about": "no risk can be promised",
        }
    promise = answer["promises"][answer["chosen"]]
    risk = show_risk(judged, promise["max_risk"])
    kept = f"at most {risk} wrong" if judged.is_classifier else f"mean error at most {risk}"
    return {
        "value": percent(promise["coverage"]),
        "label": "of the rows can be answered",
        "about": f"{kept}, {percent(answer['confidence'])} confidence",
    }
