"""Section "The verdict": how good the model is, how well its errors are known, and what to do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._words import number, percent, quoted
from surefoot.report._answer import Selection
from surefoot.report._assessment import Assessment
from surefoot.report._numbers import error_interval
from surefoot.report._shares import mean_interval

# Share of rows that a person checks, in the sentences and figures of the verdict.
CHECKED = 0.1

# Areas under the curve that differ by a smaller share are called equal.
LEAST_DIFFERENCE = 0.02


def give_verdict(
    assessment: Assessment,
    answer: dict[str, Any],
    improvements: list[Any],
    classes: dict[str, Any] | None = None,
    checks: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Headline, sentences and three figures of the verdict, from the other sections."""
    caught, own = caught_by_checking(assessment)
    helping = [each for each in improvements if each["verdict"] == "helps" and each["at_full_size"]]
    helping.sort(key=lambda each: -each["gain"])
    sentences = [
        *_about_checks({"items": []} if checks is None else checks),
        _about_baseline(assessment),
        _about_checking(assessment, caught, own),
        _about_knowing(assessment, answer),
        _about_answering(assessment, answer),
        *(classes["for_verdict"] if classes else []),
        *(each["sentence"] for each in helping[:1]),
    ]
    return {
        "headline": _headline(assessment),
        "sentences": [sentence for sentence in sentences if sentence],
        "figures": [
            _how_good(assessment),
            _how_well_it_knows(assessment, caught, own),
            _what_to_do(answer),
        ],
        "adds": knows_more(answer),
    }


def _about_checks(checks: dict[str, Any]) -> list[str]:
    """Sentences on what makes the other figures worth less, the order of the rows first."""
    items = {item["kind"]: item for item in checks["items"]}
    sentences = []
    if "order" in items and not items["order"]["facts"]["sorted_by_target"]:
        sentences.append(f"{items['order']['sentence']} {items['order']['advice']}")
    if "leak" in items:
        names = quoted(items["leak"]["columns"])
        sentences.append(
            f"{names} may give the target away, and then every figure here is too good."
        )
    if "entities" in items:
        column = items["entities"]["facts"]["column"]
        sentences.append(
            f"Rows with the same value of “{column}” depend on each other: if new rows will have other values, use "
            f"--groups {column}."
        )
    if "duplicates" in items:
        sentences.append(f"{items['duplicates']['figure']} of the rows have copies in the table.")
    if "labels" in items:
        sentences.append(
            "Some labels contradict what models and similar rows say of them, and may be wrong."
        )
    return sentences


def knows_more(answer: dict[str, Any]) -> bool | None:
    """True if surefoot ranks rows better than own confidence, or chance; None if there is no clear difference."""
    augrc = answer["augrc"]
    if augrc["ratio"] is None or augrc["low"] <= 1 <= augrc["high"]:
        return None
    return None if abs(augrc["ratio"] - 1) < LEAST_DIFFERENCE else bool(augrc["high"] < 1)


def caught_by_checking(assessment: Assessment) -> tuple[float, float | None]:
    """Shares of the total error caught by checking a tenth of the rows: by estimate, by own confidence."""
    caught = float(Selection(assessment.losses, assessment.estimated).caught(1 - CHECKED))
    if assessment.own_doubt is None:
        return caught, None
    return caught, float(Selection(assessment.losses, assessment.own_doubt).caught(1 - CHECKED))


def _headline(assessment: Assessment) -> str:
    if assessment.counts_mistakes:
        return f"Right {percent(1 - assessment.losses.mean())} of the time."
    if assessment.unit.name == "cost":
        return f"An answer costs {number(assessment.losses.mean())} on average."
    return f"Off by {number(assessment.losses.mean())} on average."


def _about_checking(assessment: Assessment, caught: float, own: float | None) -> str:
    if assessment.losses.sum() == 0:
        nothing = assessment.unit.nothing.format(number(len(assessment.losses)))
        return f"{nothing}: there is nothing to flag."
    what = assessment.unit.total.replace("all", "its").replace("the", "its")
    by = f" ({percent(CHECKED)} if the rows were chosen at random)"
    if own is not None:
        by = f" ({percent(own)} if the rows were chosen by the model's own confidence)"
    return (
        f"If a person checked the {percent(CHECKED)} of rows with the highest estimated error, they would catch "
        f"{percent(caught)} of {what}{by}."
    )


def _about_knowing(assessment: Assessment, answer: dict[str, Any]) -> str:
    """Sentence for the case that surefoot does not rank rows measurably better; else empty."""
    adds = knows_more(answer)
    if adds or assessment.losses.sum() == 0:
        return ""
    if assessment.own_doubt is None:
        if adds is None:
            return (
                "These rows do not show whether the estimated errors rank rows better than chance."
            )
        return "The estimated errors rank rows worse than chance: do not use them."
    ratio = answer["augrc"]["ratio"]
    if ratio is not None and abs(ratio - 1) < LEAST_DIFFERENCE:
        return "The estimated errors and the model's own confidence rank the rows equally well: no difference."
    if adds is None:
        n_wrong = number(int(np.count_nonzero(assessment.wrong)))
        return (
            "surefoot does not rank the rows measurably better than the model's own confidence, on "
            f"{n_wrong} mistakes."
        )
    return "Here the model's own confidence ranks the rows better than surefoot: use it instead."


def _about_answering(assessment: Assessment, answer: dict[str, Any]) -> str:
    confidence = f"with {percent(answer['confidence'])} confidence"
    if answer["chosen"] is not None:
        promise = answer["promises"][answer["chosen"]]
        kept = f"{promise['words']}, {confidence}."
        if promise["coverage"] == 1:
            return f"It can answer every row: {kept}"
        return (
            f"Let it answer the {percent(promise['coverage'])} of rows with the lowest estimated error, and give the "
            f"others to a person: then {kept}"
        )
    other = next((promise for promise in answer["promises"] if promise["coverage"] > 0), None)
    asked = assessment.promise
    if answer["why_not"] is not None:
        limits = assessment.unit.describe_limits(asked.max_risk, asked.class_risks)["short"]
        return (
            f"The limit asked for ({limits}) cannot be promised {confidence}. {answer['why_not']}"
        )
    if assessment.max_risk is not None and asked.max_risk is not None and other is not None:
        show = assessment.unit.show_risk
        return (
            f"A risk of {show(asked.max_risk)} cannot be promised; a risk of {show(other['max_risk'])} can, for "
            f"{percent(other['coverage'])} of the rows, {confidence}."
        )
    n_rows = number(len(assessment.losses))
    return f"No risk can be promised {confidence}: {n_rows} rows with so many errors are too few."


def _how_good(assessment: Assessment) -> dict[str, str]:
    show, is_share = assessment.unit.show, assessment.counts_mistakes
    low, high = error_interval(assessment)
    if is_share:
        low, high = 1 - high, 1 - low
    mean = float(assessment.losses.mean())
    return {
        "value": show(1 - mean if is_share else mean),
        "label": "right" if is_share else assessment.unit.of_answers,
        "about": f"{show(low)} to {show(high)}, {percent(assessment.confidence)} confidence; {_baseline(assessment)}",
    }


def _baseline(assessment: Assessment) -> str:
    """Result of always predicting the same."""
    constant, words = best_constant(assessment)
    mean = float(assessment.losses_of(constant).mean())
    show = percent(1 - mean) if assessment.counts_mistakes else number(mean)
    return f"always predicting {words}: {show}"


def best_constant(assessment: Assessment) -> tuple[NDArray[Any], str]:
    """Always the most frequent class, the cheapest class, or the median; and its name."""
    n_rows, truth = len(assessment.truth), assessment.truth
    if not assessment.is_classifier:
        return np.full(n_rows, np.median(truth)), "the median"
    labels, counts = np.unique(truth, return_counts=True)
    best = labels[counts.argmax()]
    if assessment.held_out.costs is not None:
        classes = assessment.error_estimator.classes_
        means = assessment.held_out.costs[np.searchsorted(classes, truth)].mean(axis=0)
        best = classes[means.argmin()]
    return np.repeat(np.asarray([best]), n_rows), f"“{best}”"


def _about_baseline(assessment: Assessment) -> str:
    """Sentence for a model that is not clearly better than always predicting the same; else empty."""
    constant, words = best_constant(assessment)
    gained = assessment.losses_of(constant) - assessment.losses
    low, high = mean_interval(gained, assessment.unit_codes, assessment.confidence)
    if low > 0 or assessment.losses.sum() == 0:
        return ""
    if high < 0:
        return f"It is worse than always predicting {words}: do not use it as it is."
    return f"These rows do not show that it is better than always predicting {words}."


def _how_well_it_knows(assessment: Assessment, caught: float, own: float | None) -> dict[str, str]:
    what = assessment.unit.total.removeprefix("all ").removeprefix("the total ")
    by = (
        f"chosen at random: {percent(CHECKED)}"
        if own is None
        else f"chosen by its own confidence: {percent(own)}"
    )
    if assessment.losses.sum() == 0:
        return {
            "value": "–",
            "label": f"of its {assessment.unit.total.split(' ', 1)[1]} caught",
            "about": "there is none",
        }
    return {
        "value": percent(caught),
        "label": f"of the {what} caught by checking {percent(CHECKED)} of the rows",
        "about": by,
    }


def _what_to_do(answer: dict[str, Any]) -> dict[str, str]:
    if answer["chosen"] is None:
        return {
            "value": "–",
            "label": "of the rows can be answered",
            "about": "no risk can be promised",
        }
    promise = answer["promises"][answer["chosen"]]
    return {
        "value": percent(promise["coverage"]),
        "label": "of the rows can be answered",
        "about": f"{promise['short']}, {percent(answer['confidence'])} confidence",
    }
