"""Section "The verdict": how good the model is, how well its errors are known, what to do; the same in numbers."""

from typing import Any

import numpy as np

from surefoot._words import number, percent, quoted
from surefoot.abstention import Promise
from surefoot.error_estimation import HeldOut
from surefoot.report._estimates import SHOWN
from surefoot.report._statistics import (
    cost_by_class,
    loss_interval,
    losses_of,
    mean_interval,
    unit_codes,
)

# Share of rows that a person checks, in the sentences and figures of the verdict.
CHECKED = 0.1

# Areas under the curve that differ by a smaller share are called equal.
LEAST_DIFFERENCE = 0.02


def give_verdict(
    held_out: HeldOut,
    promise: Promise,
    answer: dict[str, Any],
    *,
    is_asked: bool,
    improvements: list[Any],
    classes: dict[str, Any] | None,
    checks: dict[str, Any],
    intervals: dict[str, Any] | None,
) -> dict[str, Any]:
    """Headline, sentences and three figures of the verdict, from the other sections.

    `is_asked` says that the user asked for the risk of `promise`.
    """
    unit, losses, confidence = held_out.unit, held_out.losses, promise.confidence
    mean, (low, high) = float(losses.mean()), loss_interval(held_out, confidence)
    # What is best to predict always: the median, the most frequent class, or the cheapest one.
    if held_out.classes is None:
        best, name = np.median(held_out.truth), "the median"
    else:
        costs = cost_by_class(held_out)[np.searchsorted(held_out.classes, held_out.truth)]
        best = held_out.classes[costs.mean(axis=0).argmin()]
        name = f"“{best}”"
    constant = losses_of(held_out, best)
    least, most = mean_interval(constant - losses, unit_codes(held_out), confidence)
    about_constant = ""  # if the model is clearly better
    if least <= 0 and losses.sum() > 0:
        about_constant = f"These rows do not show that it is better than always predicting {name}."
        if most < 0:
            about_constant = f"It is worse than always predicting {name}: do not use it as it is."
    adds, checking = _ranks_better(answer["augrc"]), _describe_checking(held_out, answer)
    helping = [each for each in improvements if each["verdict"] == "helps" and each["at_full_size"]]
    helping.sort(key=lambda each: -each["gain"])
    sentences = [
        *_about_checks(checks),
        about_constant,
        *(
            [
                checking["sentence"],
                _about_knowing(held_out, answer, adds),
                _about_answering(held_out, promise, answer, is_asked),
            ]
            if answer["is_useful"] or intervals is None
            else [intervals["for_verdict"]]
        ),
        *(classes["for_verdict"] if classes else []),
        *(each["sentence"] for each in helping[:1]),
    ]
    figures = [mean, low, high, float(constant.mean())]
    if unit.is_share:  # what is right is shown
        figures = [1 - figures[i] for i in (0, 2, 1, 3)]
    value, low_end, high_end, baseline = map(unit.show, figures)
    ends = f"{low_end} to {high_end}, {percent(confidence)} confidence"
    answered, about = "–", "no risk can be promised"
    if answer["chosen"] is not None:
        chosen = answer["promises"][answer["chosen"]]
        answered = percent(chosen["coverage"])
        about = f"{chosen['short']}, {percent(answer['confidence'])} confidence"
    return {
        "headline": unit.headline.format(value),
        "sentences": [sentence for sentence in sentences if sentence],
        "figures": [
            {
                "value": value,
                "label": "right" if unit.is_share else unit.of_answers,
                "about": f"{ends}; always predicting {name}: {baseline}",
            },
            checking["figure"],
            {"value": answered, "label": "of the rows can be answered", "about": about},
        ],
        "adds": adds,
    }


def _about_checks(checks: dict[str, Any]) -> list[str]:
    """Sentences on what makes the other figures worth less, the order of the rows first."""
    items = {item["code"]: item for item in checks["items"]}
    sentences = []
    if "order" in items and not items["order"]["facts"]["sorted_by_target"]:
        sentences.append(f"{items['order']['sentence']} {items['order']['advice']}")
    if "leak" in items:
        sentences.append(
            f"{quoted(items['leak']['columns'])} may give the target away, and then every figure here is too good."
        )
    if "entity" in items:
        column = items["entity"]["facts"]["column"]
        sentences.append(
            f"Rows with the same value of “{column}” depend on each other: if new rows will have other values, use "
            f"--groups {column}."
        )
    if "duplicate" in items:
        sentences.append(f"{items['duplicate']['figure']} of the rows have copies in the table.")
    if "labels" in items:
        sentences.append(
            "Some labels contradict what models and similar rows say of them, and may be wrong."
        )
    return sentences


def _describe_checking(held_out: HeldOut, answer: dict[str, Any]) -> dict[str, Any]:
    """Sentence and figure on what a person catches who checks the tenth of the rows with the highest estimates."""
    total = held_out.unit.total.split(" ", 1)[1]
    if held_out.losses.sum() == 0:
        nothing = held_out.unit.nothing.format(number(len(held_out.rows)))
        figure = {"value": "–", "label": f"of its {total} caught", "about": "there is none"}
        return {"sentence": f"{nothing}: there is nothing to flag.", "figure": figure}
    at, shares = answer["coverage"].index(1 - CHECKED), answer["caught"]
    caught, checked = percent(shares["surefoot"][at]), percent(CHECKED)
    other, by, its = checked, "at random", "at random"
    if shares["own"] is not None:
        by, its = "by the model's own confidence", "by its own confidence"
        other = percent(shares["own"][at])
    return {
        "sentence": f"If a person checked the {checked} of rows with the highest estimated error, they would catch "
        f"{caught} of its {total} ({other} if the rows were chosen {by}).",
        "figure": {
            "value": caught,
            "label": f"of the {total.removeprefix('total ')} caught by checking {checked} of the rows",
            "about": f"chosen {its}: {other}",
        },
    }


def _ranks_better(augrc: dict[str, Any]) -> bool | None:
    """True if surefoot ranks rows better than own confidence, or chance; None if there is no clear difference."""
    if augrc["ratio"] is None or augrc["low"] <= 1 <= augrc["high"]:
        return None
    return None if abs(augrc["ratio"] - 1) < LEAST_DIFFERENCE else bool(augrc["high"] < 1)


def _about_knowing(held_out: HeldOut, answer: dict[str, Any], adds: bool | None) -> str:
    """Sentence for the case that surefoot does not rank rows measurably better; else empty."""
    if adds or held_out.losses.sum() == 0:
        return ""
    if answer["caught"]["own"] is None:
        if adds is None:
            return (
                "These rows do not show whether the estimated errors rank rows better than chance."
            )
        return "The estimated errors rank rows worse than chance: do not use them."
    ratio = answer["augrc"]["ratio"]
    if ratio is not None and abs(ratio - 1) < LEAST_DIFFERENCE:
        return "The estimated errors and the model's own confidence rank the rows equally well: no difference."
    if adds is None:
        n_wrong = number(int(np.count_nonzero(held_out.prediction != held_out.truth)))
        return (
            "surefoot does not rank the rows measurably better than the model's own confidence, on "
            f"{n_wrong} mistakes."
        )
    return "Here the model's own confidence ranks the rows better than surefoot: use it instead."


def _about_answering(
    held_out: HeldOut, asked: Promise, answer: dict[str, Any], is_asked: bool
) -> str:
    confidence = f"with {percent(answer['confidence'])} confidence"
    if answer["chosen"] is not None:
        promise = answer["promises"][answer["chosen"]]
        kept = f"{asked.in_words(held_out.unit)}."
        if promise["coverage"] == 1:
            return f"It can answer every row: {kept}"
        return (
            f"Let it answer the {percent(promise['coverage'])} of rows with the lowest estimated error, and give the "
            f"others to a person: then {kept}"
        )
    if answer["why_not"] is not None:
        limits = asked.describe(held_out.unit)["short"]
        return (
            f"The limit asked for ({limits}) cannot be promised {confidence}. {answer['why_not']}"
        )
    other = next((promise for promise in answer["promises"] if promise["coverage"] > 0), None)
    if is_asked and asked.max_risk is not None and other is not None:
        show = held_out.unit.show_risk
        return (
            f"A risk of {show(asked.max_risk)} cannot be promised; a risk of {show(other['max_risk'])} can, for "
            f"{percent(other['coverage'])} of the rows, {confidence}."
        )
    n_rows = number(answer["n_rows"])
    return f"No risk can be promised {confidence}: {n_rows} rows with so many errors are too few."


def give_numbers(
    held_out: HeldOut,
    n_rows: int,
    answer: dict[str, Any],
    probabilities: dict[str, Any] | None,
    intervals: dict[str, Any] | None,
) -> dict[str, float | int | None]:
    """Numbers of the verdict, under names that stay the same; None for one that is not available."""
    low, high = loss_interval(held_out, answer["confidence"])
    right = held_out.prediction == held_out.truth
    chosen = {} if answer["chosen"] is None else answer["promises"][answer["chosen"]]
    augrc, checked = answer["augrc"], probabilities or {}
    return {
        "n_rows": n_rows,
        "n_held_out": len(held_out.rows),
        "accuracy": None if held_out.classes is None else float(np.mean(right)),
        "error": float(held_out.losses.mean()),
        "error_low": low,
        "error_high": high,
        "confidence": answer["confidence"],
        "max_risk": chosen.get("max_risk"),
        "coverage": chosen.get("coverage"),
        "limit": chosen.get("limit"),
        "augrc": augrc["surefoot"],
        "augrc_ratio": augrc["ratio"],
        "augrc_ratio_low": augrc["low"],
        "augrc_ratio_high": augrc["high"],
        "brier": checked.get("brier", {}).get("before"),
        "smooth_calibration_error": checked.get("smooth_calibration_error", {}).get("before"),
        "interval_coverage": None
        if intervals is None
        else float(intervals["coverage"][intervals["confidence"].index(SHOWN)]),
    }
