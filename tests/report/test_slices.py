"""Slices by a column: groups, figures by hand, and intervals against a generator's truth."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot.report import ReliabilityReport
from surefoot.report.page import render


@pytest.fixture(scope="module")
def sliced():
    """Labels are a coin in one city, and certain elsewhere; the age says nothing."""
    rng = np.random.default_rng(0)
    n = 500
    X = pd.DataFrame({"x": rng.normal(size=n), "age": rng.integers(18, 80, n).astype(float)})
    city = rng.choice(["Graz", "Lyon", "Oslo"], n)
    y = np.where(city == "Oslo", rng.random(n) < 0.5, X["x"] > 0)
    model = FrozenEstimator(LogisticRegression().fit(X, X["x"] > 0))
    report = ReliabilityReport(
        model, X, y, max_risk=0.3, by={"age": X["age"], "city": city}, quick=True
    )
    return report.summarize(), report.to_frame().assign(city=city)


def test_the_column_and_the_group_with_the_widest_gap_come_first(sliced):
    slices = sliced[0]["slices"]
    assert [one["column"] for one in slices] == ["city", "age"]
    assert slices[0]["groups"][0]["label"] == "Oslo"
    assert "city = Oslo: wrong on" in slices[0]["sentence"]
    assert slices[1]["sentence"] == "No group of age differs measurably from the other rows."


def test_figures_of_a_group_by_hand(sliced):
    summary, frame = sliced
    group = next(g for g in summary["slices"][0]["groups"] if g["label"] == "Lyon")
    inside = frame[frame["city"] == "Lyon"]
    assert group["n_rows"] == len(inside)
    assert group["error"]["value"] == pytest.approx(inside["loss"].mean())
    assert group["estimated_error"] == pytest.approx(inside["estimated_error"].mean())
    assert group["coverage"]["value"] == pytest.approx(inside["accepted"].mean())
    excess = inside["estimated_error"] - inside["loss"]
    assert group["calibration"]["value"] == pytest.approx(excess.mean())
    assert group["difference"] == pytest.approx(
        inside["loss"].mean() - frame["loss"][frame["city"] != "Lyon"].mean()
    )
    # Three groups: each interval at 98.3 % (Student's quantile 2.4 for so many rows).
    reach = 2.405 * excess.std() / np.sqrt(len(inside))
    assert group["calibration"]["high"] - excess.mean() == pytest.approx(reach, rel=0.02)


def test_the_page_has_a_table_for_each_column(sliced):
    page = render(sliced[0])
    assert page.count('data-test="slice"') == 2
    assert page.index('id="fails"') < page.index('id="slices"') < page.index('id="details"')


def test_costs_and_numbers_are_sliced_in_their_own_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + np.where(X[:, 1] > 0, 2.0, 0.1) * rng.normal(size=300)
    model = FrozenEstimator(LinearRegression().fit(X, y))
    side = np.where(X[:, 1] > 0, "loud", "quiet")
    [one] = ReliabilityReport(model, X, y, by={"side": side}, quick=True).summarize()["slices"]
    assert "side = loud: off by" in one["sentence"] or "side = quiet: off by" in one["sentence"]
    loud = next(group for group in one["groups"] if group["label"] == "loud")
    losses = np.abs(y - model.predict(X))
    assert loud["error"]["value"] == pytest.approx(losses[side == "loud"].mean())
    assert loud["low"] > 0


def test_columns_are_cut_into_values_bins_others_and_missing():
    numbers = np.random.default_rng(0).permutation(np.arange(100.0))
    numbers[:4] = np.nan
    lowest = np.sort(numbers)[:20]
    texts = np.array(["a"] * 50 + ["b"] * 30 + ["c"] * 3 + ["d"] * 2 + [None] * 15, dtype=object)
    columns = {
        "number": numbers,
        "tied": np.r_[np.zeros(80), np.arange(1.0, 21)],
        "day": np.datetime64("2026-01-01", "us") + np.arange(100).astype("timedelta64[D]"),
        "text": texts,
        "one rare": np.where(texts == "d", "a", texts),
        "nothing": np.full(100, np.nan),
    }
    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    model = FrozenEstimator(LogisticRegression().fit(X, y))
    summary = ReliabilityReport(model, X, y, by=columns, quick=True).summarize()
    groups = {
        each["column"]: {group["label"]: group["n_rows"] for group in each["groups"]}
        for each in summary["slices"]
    }
    sizes = groups["number"]
    assert sorted(sizes.values()) == [4, 19, 19, 19, 19, 20]
    assert (sizes["missing"], sizes[f"{lowest[0]:.0f} to {lowest[-1]:.0f}"]) == (4, 20)
    assert groups["tied"] == {"0 to 0": 80, "1 to 20": 20}  # equal numbers are in one bin
    assert groups["day"]["2026-01-01 to 2026-01-20"] == 20
    assert groups["text"] == {"a": 50, "b": 30, "2 others": 5, "missing": 15}
    assert groups["one rare"] == {"a": 52, "b": 30, "c": 3, "missing": 15}  # it keeps its name
    assert groups["nothing"] == {"missing": 100}


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        ("c", "by names 'c', and X has the columns 'a' and 'b'"),
        (["a", "d"], "by names 'd', and X has the columns"),
        ({"day": [1, 2]}, r"by\['day'\] has 2 values, and X 40 rows"),
    ],
)
def test_one_sentence_for_columns_that_are_not_there(by, sentence):
    X = pd.DataFrame({"a": np.arange(40.0), "b": 0.0})
    with pytest.raises(ValueError, match=sentence):
        ReliabilityReport(LogisticRegression(), X, np.arange(40) % 2, by=by, quick=True).summarize()


def test_a_column_of_the_model_itself_may_be_named():
    X = pd.DataFrame({"a": np.r_[np.zeros(30), np.ones(30)], "b": np.tile([0.0, 1], 30)})
    model = FrozenEstimator(LogisticRegression().fit(X, X["b"]))
    summary = ReliabilityReport(model, X, X["b"].astype(int), by="a", quick=True).summarize()
    assert [group["label"] for group in summary["slices"][0]["groups"]] == ["0", "1"]
    same = ReliabilityReport(
        model, X.assign(a=1.0), X["b"].astype(int), by=["a"], quick=True
    ).summarize()
    assert same["slices"][0]["sentence"].startswith("All held-out rows are in one group of a")
