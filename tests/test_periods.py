"""Periods of time: the first day of each, and its name."""

from datetime import date, timedelta

import numpy as np
import pytest

from surefoot._periods import as_times, check_every, period_starts

# A leap year, its ends, and days before 1970.
DAYS = [date(2019, 12, 1) + timedelta(days=17 * i) for i in range(60)]
DAYS += [date(2021, 1, 3), date(2021, 1, 4), date(1969, 12, 31), date(1900, 3, 1)]


def first_day(day, every):
    if every == "week":
        return day - timedelta(days=day.isoweekday() - 1)
    months = {"month": day.month, "quarter": 3 * ((day.month - 1) // 3) + 1, "year": 1}
    return day if every == "day" else date(day.year, months[every], 1)


@pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year"])
def test_first_days_are_those_of_the_calendar(every):
    evenings = np.array(DAYS, dtype="datetime64[us]") + np.timedelta64(86_399_999_999, "us")
    starts = period_starts(evenings, every)
    assert starts.dtype == np.dtype("datetime64[D]")
    assert starts.tolist() == [first_day(day, every) for day in DAYS]


@pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year"])
def test_gaps_stay_gaps(every):
    times = np.array(["NaT", "2026-11-16"], dtype="datetime64[us]")
    assert np.isnat(period_starts(times, every)).tolist() == [True, False]


def test_what_is_no_time_or_no_period_is_one_sentence():
    with pytest.raises(ValueError, match="The times are numbers: periods need dates"):
        as_times([1, 2])
    with pytest.raises(ValueError, match="no dates such as 2026-11-16"):
        as_times(["16.11.2026"])
    with pytest.raises(ValueError, match="every is 'fortnight': it may be day, week,"):
        check_every("fortnight")
