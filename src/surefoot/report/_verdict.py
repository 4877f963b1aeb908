"""Section "The verdict": how good the model is, how well its errors are known, what to do; the same in numbers."""

from typing import Any

import numpy as np

from surefoot._words import number, percent, quoted
from surefoot.abstention import Promise
from surefoot.error_estimation import HeldOut
from surefoot.report._estimates import SHOWN
from surefoot.report._improvements import ANOTHER
from surefoot.report._statistics import Sample, mean_interval

# Share of rows that a person checks, in the sentences and figures of the verdict.
CHECKED = 0.1

# Cases that the sentence on the decision counts.
PER = 1000

# Below this error it is shown, and above it what is right.
LEAST_ERROR = 0.05

# Areas under the curve that differ by a smaller share are called equal.
LEAST_DIFFERENCE = 0.02


def give_verdict(
    sample: Sample,
    promise: Promise,
    answer: dict[str, Any],
    *,
    is_asked: bool,
    improvements: list[Any],
    classes: dict[str, Any] | None,
    checks: dict[str, Any],
    intervals: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Headline, sentences and three figures of the verdict, from the other sections.

    `is_asked` says that the user asked for the risk of `promise`.
    """
    held_out, confidence, error = sample.held_out, sample.confidence, sample.loss()
    unit, losses, mean = held_out.unit, held_out.losses, float(held_out.losses.mean())
    _, name, constant = sample.constant
    least, most = mean_interval(constant - losses, sample.units, confidence)
    about_constant = ""  # if the model is clearly better
    if least <= 0 and losses.sum() > 0:
        about_constant = f"These rows do not show that it is better than always predicting {name}."
        if most < 0:
            about_constant = f"On these rows it is worse than always predicting {name}: change it before you use it."
    adds, knowing = (
        _compare_ranking(held_out, answer["augrc"])
        if intervals is None
        else (intervals["predictable"], intervals["for_verdict"])
    )
    caught, checking = _describe_checking(held_out, answer)
    helping = [each for each in improvements if each["verdict"] == "helps" and each["at_full_size"]]
    helping.sort(key=lambda each: -each["gain"])
    figures: list[Any] = [mean, error["low"], error["high"], float(constant.mean())]
    is_right = unit.is_share and mean >= LEAST_ERROR  # else what is wrong is shown
    if is_right:
        figures = [1 - figures[i] for i in (0, 2, 1, 3)]
    value, low_end, high_end, baseline = map(unit.show, figures)
    answered, about = "–", "no risk can be promised"
    if answer["chosen"] is not None:
        chosen = answer["promises"][answer["chosen"]]
        answered = percent(chosen["coverage"])
        about = f"{chosen['short']}, {percent(answer['confidence'])} confidence"
    third = {"value": answered, "label": "of the rows can be answered", "about": about}
    decision: list[str] = []
    if answer["is_useful"] or intervals is None or held_out.seen:
        decision = _decide(held_out, promise, answer, checking, is_asked=is_asked)
        if most < 0:  # worse than a constant
            decision[0] = f"If it is used anyway: {decision[0][0].lower()}{decision[0][1:]}"
    else:
        third = intervals["figure"]
    sentences = [
        *_about_checks(checks),
        about_constant,
        *decision,
        classes["sentence"] if classes else "",
        "" if held_out.seen else knowing,
        *(each["sentence"] for each in helping[:1]),
        _about_other(improvements),
        f"All ranges are {percent(confidence)} intervals.",
    ]
    label = "right" if is_right else "wrong" if unit.is_share else unit.of_answers
    return {
        "headline": _headline(held_out, classes, float(constant.mean()), name),
        "sentences": [sentence for sentence in sentences if sentence],
        "figures": [
            {
                "value": value,
                "label": label,
                "about": f"{low_end} to {high_end}; always predicting {name}: {baseline}",
            },
            caught,
            third,
        ],
        "adds": adds,
    }


def _headline(
    held_out: HeldOut, classes: dict[str, Any] | None, baseline: float, constant: str
) -> str:
    """How good the model is: for its rarest class if one is rare, above 95 % accuracy by its error."""
    unit, mean = held_out.unit, float(held_out.losses.mean())
    if mean == 0:
        ask = ": has it learned from them, or are its predictions a copy of the target?"
        return f"{unit.nothing.format(number(len(held_out.rows)))}{ask if held_out.seen else '.'}"
    rarest = classes["rarest"] if classes else None
    always = f"{unit.show(baseline)} if it always predicted {constant}"
    if rarest is not None:
        found = percent(rarest["value"]) if rarest["value"] else "none"
        return f"Finds {found} of class “{rarest['label']}”; {unit.average.format(unit.show(mean))}, {always}."
    if unit.is_share and mean < LEAST_ERROR:
        return f"Wrong on {percent(mean)} of rows; {always}."
    return unit.headline.format(unit.show(1 - mean if unit.is_share else mean))


def _decide(
    held_out: HeldOut,
    asked: Promise,
    answer: dict[str, Any],
    checking: str,
    *,
    is_asked: bool,
) -> list[str]:
    """What to do with 1,000 cases, and what is promised then; if nothing is, what to check, and why."""
    unit, losses, accepted = held_out.unit, held_out.losses, held_out.accepted
    if answer["chosen"] is None or accepted is None:
        return [checking, _about_no_promise(held_out, asked, answer, is_asked)]
    promised = f"Promised for new rows: {asked.in_words(unit)}."
    n_answered = round(PER * float(accepted.mean()))
    if losses.sum() == 0:
        return [f"It can answer {percent(float(accepted.mean()))} of the rows.", promised]
    lost = [float(losses[rows].sum()) for rows in (accepted, ~accepted)]
    if held_out.classes is None:  # a mean for the rows of each part, else a sum for 1,000 rows
        per = (accepted.sum(), max((~accepted).sum(), 1))
    else:
        per = (len(losses) / PER, len(losses) / PER)
    show = _about if unit.is_share else number
    results = [
        words.format(show(each / n))
        for words, each, n in zip((unit.answered, unit.checked), lost, per, strict=True)
    ]
    if n_answered == PER:
        return [f"All of {PER:,} such cases are answered automatically, {results[0]}.", promised]
    decision = (
        f"Of {PER:,} such cases, {n_answered} are answered automatically, {results[0]}; the {PER - n_answered} with "
        f"the highest estimated error go to a person, {results[1]}."
    )
    return [decision, promised]


def _about(count: float) -> str:
    """Rounded count for a sentence: "about 70", "fewer than 1" or "none"."""
    few = "fewer than 1" if count > 0 else "none"
    return f"about {round(count):,}" if count >= 0.5 else few


def _about_other(improvements: list[Any]) -> str:
    """Sentence on another model with fewer errors, if chance may explain the difference; else empty."""
    others = [each for each in improvements if each["name"] == ANOTHER]
    is_open = others and others[0]["verdict"] == "cannot tell" and (others[0]["gain"] or 0) > 0
    return f"{others[0]['sentence']} That may be chance: try it on more rows." if is_open else ""


def _about_checks(checks: dict[str, Any]) -> list[str]:
    """Sentences on what makes the other figures worth less, the order of the rows first."""
    items = {item["code"]: item for item in checks["items"]}
    sentences = []
    if "order" in items and not items["order"]["facts"]["sorted_by_target"]:
        sentences.append(f"{items['order']['sentence']} {items['order']['advice']}")
    if "leak" in items:
        sentences.append(
            f"{quoted(items['leak']['columns'])} may give the target away, and then every number here is too good."
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
        sentences.append("Some labels may be wrong: models and similar rows contradict them.")
    return sentences


def _describe_checking(held_out: HeldOut, answer: dict[str, Any]) -> tuple[dict[str, str], str]:
    """Figure and sentence on what a person catches who checks the tenth of the rows with the highest estimates."""
    total = held_out.unit.total.split(" ", 1)[1]
    if held_out.losses.sum() == 0:
        figure = {"value": "–", "label": f"of its {total} caught", "about": "there is none"}
        return figure, "" if held_out.seen else "There is nothing to flag."
    at, shares = answer["coverage"].index(1 - CHECKED), answer["caught"]
    caught, checked = percent(shares["surefoot"][at]), percent(CHECKED)
    ends = " to ".join(percent(answer["caught_interval"][end][at]) for end in ("low", "high"))
    other, by, its = checked, "at random", "at random"
    if shares["own"] is not None:
        by, its = "by the model's own confidence", "by its own confidence"
        other = percent(shares["own"][at])
    figure = {
        "value": caught,
        "label": f"of the {total.removeprefix('total ')} caught by checking {checked} of the rows",
        "about": f"{ends}; chosen {its}: {other}",
    }
    return figure, (
        f"If a person checked {PER * CHECKED:.0f} of {PER:,} such cases, those with the highest estimated error, they "
        f"would catch {caught} of its {total} ({ends}); {other} if the cases were chosen {by}."
    )


def _compare_ranking(held_out: HeldOut, augrc: dict[str, Any]) -> tuple[bool | None, str]:
    """Whether surefoot ranks rows better than own confidence, None if no difference is clear; and a sentence if not."""
    ratio = augrc["ratio"]
    is_equal = ratio is not None and abs(ratio - 1) < LEAST_DIFFERENCE
    is_open = ratio is None or is_equal or augrc["low"] <= 1 <= augrc["high"]
    adds = None if is_open else bool(augrc["high"] < 1)
    if adds or held_out.losses.sum() == 0:
        return adds, ""
    if is_equal:
        return adds, (
            "The estimated errors and the model's own confidence rank the rows equally well: no difference."
        )
    if is_open:
        n_wrong = number(int(np.asarray(held_out.mistakes).sum()))
        return adds, (
            "surefoot does not rank the rows measurably better than the model's own confidence, on "
            f"{n_wrong} mistakes."
        )
    return adds, (
        "Here the model's own confidence ranks the rows better than surefoot: use it instead."
    )


def _about_no_promise(
    held_out: HeldOut, asked: Promise, answer: dict[str, Any], is_asked: bool
) -> str:
    confidence = f"with {percent(answer['confidence'])} confidence"
    if answer["why_not"] is not None:
        limits = asked.describe(held_out.unit)["short"]
        limit = "requested limit" if is_asked else "limit"
        return f"The {limit} ({limits}) cannot be promised {confidence}. {answer['why_not']}"
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
    sample: Sample,
    n_rows: int,
    answer: dict[str, Any],
    models: list[dict[str, Any]],
    classes: dict[str, Any] | None,
    probabilities: dict[str, Any] | None,
    intervals: dict[str, Any] | None,
) -> dict[str, Any]:
    """Numbers of the verdict, under names that stay the same; None for one that is not available."""
    held_out, error = sample.held_out, sample.loss()
    chosen = {} if answer["chosen"] is None else answer["promises"][answer["chosen"]]
    augrc, checked = answer["augrc"], probabilities or {}
    model, constant = models[0], models[-1]
    lowest, rarest = ((classes or {}).get(name) or {} for name in ("lowest", "rarest"))
    accepted = held_out.accepted
    parts = {"answered": accepted, "left": None if accepted is None else ~accepted}
    return {
        "n_rows": n_rows,
        "n_held_out": len(held_out.rows),
        "accuracy": None if held_out.mistakes is None else float(np.mean(~held_out.mistakes)),
        "error": error["value"],
        "error_low": error["low"],
        "error_high": error["high"],
        "constant_error": constant["error"],
        "lowest_recall_class": lowest.get("label"),
        "lowest_recall": lowest.get("value"),
        "lowest_recall_low": lowest.get("low"),
        "lowest_recall_high": lowest.get("high"),
        "lowest_recall_n_rows": lowest.get("n_rows"),
        "lowest_recall_n_missed": lowest.get("n_missed"),
        "lowest_recall_n_missed_answered": lowest.get("n_missed_answered"),
        "rare_class": rarest.get("label"),
        "rare_class_share": rarest.get("share"),
        "rare_class_recall": rarest.get("value"),
        "roc_auc": model.get("roc_auc"),
        "log_loss": model.get("log_loss"),
        "r2": model.get("r2"),
        "confidence": answer["confidence"],
        "max_risk": chosen.get("max_risk"),
        "coverage": chosen.get("coverage"),
        "limit": chosen.get("limit"),
        **{
            f"{name}_error": None
            if rows is None or not rows.any()
            else float(held_out.losses[rows].mean())
            for name, rows in parts.items()
        },
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
