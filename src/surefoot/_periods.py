"""Periods of time: days, ISO weeks, months, quarters and years, each known by its first day."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Names of the periods, the shortest first.
EVERY = ("day", "week", "month", "quarter", "year")


def check_every(every: str) -> str:
    """Name of a kind of period; a ValueError for any other."""
    if every not in EVERY:
        raise ValueError(f"every is {every!r}: it may be {', '.join(EVERY[:-1])} or {EVERY[-1]}.")
    return every


def as_times(values: Any) -> NDArray[Any]:
    """Times as an array of datetime64, NaT for gaps; a ValueError unless they are times or texts such as 2026-11-16."""
    times = np.asarray(values)
    if times.dtype.kind in "biufc":
        raise ValueError("The times are numbers: periods need dates, such as 2026-11-16.")
    try:
        return np.asarray(values, dtype="datetime64[us]")
    except (TypeError, ValueError) as error:
        raise ValueError(f"The times are no dates such as 2026-11-16: {error}.") from error


def period_starts(times: NDArray[Any], every: str) -> NDArray[Any]:
    """First day of the period that each time lies in, as datetime64[D]; NaT for NaT.

    >>> times = np.array(["2026-01-01T09:30", "2026-11-16"], dtype="datetime64[us]")
    >>> [str(start) for start in period_starts(times, "week")]
    ['2025-12-29', '2026-11-16']
    >>> [str(start) for start in period_starts(times, "quarter")]
    ['2026-01-01', '2026-10-01']
    """
    days = times.astype("datetime64[D]")
    if every == "week":
        # Days are counted from a Thursday: three more make whole weeks begin on Monday.
        past_monday = (days.astype(np.int64) + 3) % 7
        return np.where(np.isnat(days), days, days - past_monday)
    if every == "quarter":
        months = days.astype("datetime64[M]")
        return np.where(np.isnat(days), months, months - months.astype(np.int64) % 3).astype(
            "datetime64[D]"
        )
    unit = {"day": "D", "month": "M", "year": "Y"}[every]
    return days.astype(f"datetime64[{unit}]").astype("datetime64[D]")


def are_alone(known: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a period is known, but neither the one before nor the one after it.

    >>> are_alone(np.array([True, False, True, True])).tolist()
    [True, False, False, False]
    """
    return known & ~np.append(False, known[:-1]) & ~np.append(known[1:], False)


def period_name(start: Any, every: str) -> str:
    """Name of a period for a sentence.

    >>> start = np.datetime64("2025-12-29")
    >>> [period_name(start, every) for every in ("day", "week", "month")]
    ['2025-12-29', 'week 1 of 2026', 'December 2025']
    >>> [period_name(start, every) for every in ("quarter", "year")]
    ['quarter 4 of 2025', '2025']
    """
    day = np.datetime64(start, "D").item()
    year, week, _ = day.isocalendar()
    names = {
        "day": day.isoformat(),
        "week": f"week {week} of {year}",
        "month": f"{day:%B %Y}",
        "quarter": f"quarter {(day.month + 2) // 3} of {day.year}",
        "year": str(day.year),
    }
    return names[every]
