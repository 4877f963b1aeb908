"""Judgements of a table as a stream, with a column of times."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier
from surefoot.scoring import judge_table


@pytest.fixture(scope="module")
def sure():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    return IndividualErrorClassifier(GaussianNB(), cv=2, random_state=0).fit(X, X["a"] > 0)


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    rows["day"] = pd.Timestamp("2026-11-16 23:30") + pd.to_timedelta(np.arange(30), "h")
    return rows


def judged(sure, table, path, **options):
    """Parts of a table that was written to a path."""
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    return list(judge_table(sure, path, **options))


@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_parts_are_judged_as_the_rows_are(sure, table, tmp_path, name):
    (part,) = judged(sure, table, tmp_path / name, time="day")
    assert (part.first_row, part.n_infinite) == (0, 0)
    np.testing.assert_allclose(part.judgement.error, sure.predict_error(table[["a", "b"]]))
    assert part.times.tolist() == table["day"].dt.to_pydatetime().tolist()


def test_times_with_a_zone_are_those_of_utc(sure, table, tmp_path):
    zoned = table.assign(day=table["day"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"))
    texts = table.assign(day=table["day"].dt.strftime("%Y-%m-%dT%H:%M+02:00"))
    (one,) = judged(sure, zoned, tmp_path / "zoned.parquet", time="day")
    (other,) = judged(sure, texts, tmp_path / "texts.csv", time="day")
    assert one.times.tolist() == table["day"].dt.to_pydatetime().tolist()
    assert (one.times - other.times == np.timedelta64(2, "h")).all()


def test_gaps_and_dates_are_read(sure, table, tmp_path):
    days = table.assign(day=[None, *table["day"].dt.date[1:]])
    for name in ("days.parquet", "days.csv"):
        (part,) = judged(sure, days, tmp_path / name, time="day")
        assert np.isnat(part.times).tolist() == [True] + 29 * [False]
        assert part.times[1].astype("datetime64[D]") == np.datetime64("2026-11-17")


@pytest.mark.parametrize(
    ("days", "sentence"),
    [
        (range(30), "Column 'day' of {} holds numbers: periods need dates, such as 2026-11-16."),
        (
            ["2026-11-16", *29 * ["16.11.2026"]],
            "Row 1 of {} has '16.11.2026' in the column 'day' of times: write times as 2026-11-16 or 2026-11-16T08:00.",
        ),
    ],
    ids=["numbers", "texts"],
)
def test_what_is_no_time_is_one_sentence(sure, table, tmp_path, days, sentence):
    path = tmp_path / "new.parquet"
    with pytest.raises(ValueError, match="day") as raised:
        judged(sure, table.assign(day=list(days)), path, time="day")
    assert str(raised.value) == sentence.format(path)
