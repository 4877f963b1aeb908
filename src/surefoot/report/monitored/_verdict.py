"""Section "The verdict" of the page of `surefoot watch`: the estimate, the error at fit, and alarms."""

from typing import Any

from surefoot._words import UNITS, LossUnit, number, percent, plural

# Periods that one sentence names.
MOST_NAMED = 4

UNSEEN = (
    "The estimate needs no labels, and assumes that rows with the same inputs still have the same targets (P(y|x) "
    "unchanged). It does not see a change of that kind: only labels show it."
)


def alarms_of(
    periods: list[dict[str, Any]],
    audit: dict[str, Any] | None,
    reference: dict[str, Any],
    limit: float | None,
) -> list[dict[str, Any]]:
    """Periods, and the audit, whose lower end is above the limit; without one, above the error at fit."""
    level = reference["error"] if limit is None else limit
    alarms = [each for each in periods if each["low"] is not None and each["low"] > level]
    if audit is None or (limit is not None and not audit["comparable"]):
        return alarms
    is_above = audit["low"] > (audit["when_fitted"] if limit is None else limit)
    return [*alarms, audit] if is_above else alarms


def give_watch_verdict(
    periods: list[dict[str, Any]],
    overall: dict[str, Any],
    reference: dict[str, Any],
    unit_name: str,
    *,
    limit: float | None,
    audit: dict[str, Any] | None,
) -> dict[str, Any]:
    """Headline, sentences and figures; `alarms` names what is above the limit, or above the error at fit."""
    unit = UNITS[unit_name]
    alarms = alarms_of([*periods, overall], audit, reference, limit)
    latest = periods[-1] if periods else overall
    sentences = [
        _about_alarms(alarms, [*periods, overall], latest, unit, limit),
        _about_last_known(periods, latest, reference, unit),
        _about_unknown(periods, latest),
        _about_audit(audit, overall, unit),
        UNSEEN,
    ]
    return {
        "headline": _headline(latest, reference, alarms, unit),
        "sentences": [sentence for sentence in sentences if sentence],
        "figures": _figures(latest, reference, unit),
        "alarms": [each["name"] for each in alarms],
    }


def _headline(
    latest: dict[str, Any], reference: dict[str, Any], alarms: list[dict[str, Any]], unit: LossUnit
) -> str:
    if latest["estimate"] is None:
        alarm = " But there is an alarm." if alarms else ""
        return f"No figure can be given for {_rows_of(latest)}.{alarm} {latest['reason']}"
    elsewhere = "alarm" if latest in alarms else f"alarm, by {_named(alarms)}"
    return f"{_estimated(latest, reference, unit)}: {elsewhere if alarms else 'no alarm'}."


def _estimated(period: dict[str, Any], reference: dict[str, Any], unit: LossUnit) -> str:
    figure = unit.estimated.format(unit.show(period["estimate"]))
    ends = f"{unit.show(period['low'])} to {unit.show(period['high'])}"
    return f"{figure} in {_rows_of(period)} ({ends}), {unit.show(reference['error'])} when it was fitted"


def _rows_of(period: dict[str, Any]) -> str:
    """Name of a period, or the number of all rows, for a sentence."""
    return plural(period["n_rows"], "row") if period["start"] is None else str(period["name"])


def _named(periods: list[dict[str, Any]]) -> str:
    """Names of periods, the first ones and the number of the others if there are many."""
    names = [period["name"] for period in periods]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    names = [*names[:MOST_NAMED], *more]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _about_alarms(
    alarms: list[dict[str, Any]],
    periods: list[dict[str, Any]],
    latest: dict[str, Any],
    unit: LossUnit,
    limit: float | None,
) -> str | None:
    """Sentence that says what an alarm means, and what is above the limit; None if nothing has an interval."""
    against = (
        "the error when it was fitted" if limit is None else f"the limit of {unit.show_risk(limit)}"
    )
    if not alarms and all(period["low"] is None for period in periods):
        return None
    if not alarms:
        return f"No lower end of an interval is above {against}."
    noun = "Its lower end is" if alarms == [latest] else f"The lower end is, for {_named(alarms)},"
    return f"{noun} above {against}."


def _about_last_known(
    periods: list[dict[str, Any]],
    latest: dict[str, Any],
    reference: dict[str, Any],
    unit: LossUnit,
) -> str | None:
    """Sentence about the last period that has a figure, where the latest one has none."""
    known = [period for period in periods if period["estimate"] is not None]
    if latest["estimate"] is not None or not known:
        return None
    return f"{_estimated(known[-1], reference, unit)}."


def _about_unknown(periods: list[dict[str, Any]], latest: dict[str, Any]) -> str | None:
    """Sentence about the periods that have no figure; the headline tells of the latest one."""
    unknown = [period for period in periods if period["estimate"] is None and period is not latest]
    if not unknown:
        return None
    first = unknown[0]
    if len(unknown) == 1:
        return f"No figure can be given for {first['name']}. {first['reason']}"
    return (
        f"No figure can be given for {plural(len(unknown), 'earlier period')}; the table says why for each. "
        f"{first['name'].capitalize()}: {first['reason']}"
    )


def _about_audit(
    audit: dict[str, Any] | None, overall: dict[str, Any], unit: LossUnit
) -> str | None:
    """Sentence that puts what labels show beside the estimate."""
    if audit is None:
        return None
    if audit["estimate"] is None:
        return "The audit has no answers yet."
    texts, n_answered = audit["texts"], plural(audit["n_answered"], "answer")
    if not audit["comparable"]:
        return (
            f"The audit with {n_answered} shows that {texts['estimate']} of the rows ({texts['interval']}) "
            f"{audit['what']}; {texts['when_fitted']} were when the model was fitted."
        )
    shows = f"The audit with {n_answered} shows {audit['what']} of {texts['estimate']} ({texts['interval']})"
    if overall["estimate"] is None:
        return f"{shows}, whatever has changed."
    return f"{shows}, {_beside(audit, overall, unit.show(overall['estimate']))}."


def _beside(audit: dict[str, Any], overall: dict[str, Any], estimated: str) -> str:
    """Words that compare the audit with the estimate."""
    changed = (
        "the same inputs now have other targets than when the model was fitted (concept shift)"
    )
    if audit["low"] > overall["high"]:
        return f"more than the estimate of {estimated}: probably {changed}, which the estimate cannot see"
    if audit["high"] < overall["low"]:
        return f"less than the estimate of {estimated}: probably {changed}"
    return f"which does not contradict the estimate of {estimated}"


def _figures(
    latest: dict[str, Any], reference: dict[str, Any], unit: LossUnit
) -> list[dict[str, str]]:
    where = "" if latest["start"] is None else f" in {latest['name']}"
    if latest["estimate"] is None:
        about = "No figure can be given."
    else:
        ends = f"{unit.show(latest['low'])} to {unit.show(latest['high'])}"
        about = (
            f"{ends}, with {percent(latest['confidence'])} confidence; "
            f"{unit.show(reference['error'])} when it was fitted"
        )
    return [
        {
            "value": unit.show(latest["estimate"]),
            "label": f"estimated {unit.mean}{where}",
            "about": about,
        },
        {
            "value": percent(latest["answered"]),
            "label": f"of the rows answered{where}",
            "about": f"{percent(reference['coverage'])} when it was fitted, for {reference['promise']}",
        },
        {
            "value": percent(latest["novel"]),
            "label": f"of the rows novel{where}",
            "about": f"{number(latest['n_novel'])} of {number(latest['n_rows'])} rows; about "
            f"{percent(reference['novel'])} of the held-out rows were",
        },
    ]
