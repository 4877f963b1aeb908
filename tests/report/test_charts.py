"""The charts say what the summary says, in the drawing and in the table under it."""

from itertools import pairwise

import numpy as np
import pytest

from surefoot.report.page._charts import make_charts


@pytest.fixture(scope="module")
def charts(classification_summary, regression_summary):
    return {
        "classification": make_charts(classification_summary),
        "regression": make_charts(regression_summary),
    }


def share(text):
    return float(text.removesuffix(" %")) / 100


def records(chart):
    """All data in a chart's specification."""
    return [record for values in chart["spec"]["datasets"].values() for record in values]


def test_there_is_a_chart_for_every_section(charts):
    shared = {"risk", "caught", "estimates", "errors", "map"}
    assert set(charts["classification"]) == shared | {"before", "after", "roc", "precision_recall"}
    assert set(charts["regression"]) == shared | {*("held", "truth", "residuals")}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_chart_has_words_a_table_and_a_legend(charts, task):
    for name, chart in charts[task].items():
        assert chart["title"]
        assert chart["description"].endswith(".")
        assert chart["legend"]
        assert chart["table"]["rows"], name
        assert {len(row) for row in chart["table"]["rows"]} == {len(chart["table"]["head"])}


def test_the_risk_table_reads_the_curves_at_tenths(charts, classification_summary):
    answer = classification_summary["answer"]
    rows = charts["classification"]["risk"]["table"]["rows"]
    assert [row[0] for row in rows] == [f"{tenth} %" for tenth in range(10, 101, 10)]
    at_half = answer["coverage"].index(0.5)
    expected = [answer["risk"][name][at_half] for name in ("surefoot", "own", "best")]
    assert [share(text) for text in rows[4][1:]] == pytest.approx(expected, abs=0.006)


def test_the_curve_of_what_is_met_starts_with_nothing_checked(charts, classification_summary):
    drawn = [
        record for record in records(charts["classification"]["caught"]) if "surefoot" in record
    ]
    assert drawn[0]["x"] == 0
    caught = classification_summary["answer"]["caught"]["surefoot"]
    by_checked = {
        round(1 - c, 9): m
        for c, m in zip(classification_summary["answer"]["coverage"], caught, strict=True)
    }
    assert {record["x"]: record["surefoot"] for record in drawn} == by_checked


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_bars_of_estimated_errors_hold_all_rows(charts, request, task):
    bars = [record for record in records(charts[task]["errors"]) if "n_rows" in record]
    n_rows = request.getfixturevalue(f"{task}_summary")["answer"]["n_rows"]
    assert sum(bar["n_rows"] for bar in bars) == n_rows
    assert all(one["high"] == other["low"] for one, other in pairwise(bars))


def test_the_map_table_counts_points_and_mistakes_by_shade(charts, classification_summary):
    points = classification_summary["regions"]["map"]
    quantiles = np.quantile(points["error"], [0.4, 0.6, 0.8, 0.9])
    limits = [*(float(f"{quantile:.2g}") for quantile in quantiles), np.inf]
    counts, wrong, low = [], [], -np.inf
    for limit in limits:
        inside = [low <= error < limit for error in points["error"]]
        counts.append(str(sum(inside)))
        wrong.append(np.mean([w for w, i in zip(points["wrong"], inside, strict=True) if i]))
        low = limit
    rows = charts["classification"]["map"]["table"]["rows"]
    assert [row[1] for row in rows] == counts
    assert [share(row[2]) for row in rows] == pytest.approx(wrong, abs=0.006)


def test_intervals_without_an_end_are_drawn_without_a_width(regression_summary):
    summary = {**regression_summary, "intervals": dict(regression_summary["intervals"])}
    summary["intervals"]["width"] = [None] * len(summary["intervals"]["width"])
    rows = make_charts(summary)["held"]["table"]["rows"]
    assert {row[3] for row in rows} == {"–"}


def test_points_of_a_regression_are_drawn_where_they_are(charts, regression_summary):
    points = regression_summary["predictions"]["points"]
    for name in ("truth", "residuals"):
        drawn = {each["row"]: each for each in records(charts["regression"][name]) if "row" in each}
        assert len(drawn) == 250
        for row, truth, prediction in zip(
            *(points[key] for key in ("row", "truth", "prediction")), strict=True
        ):
            y = truth if name == "truth" else truth - prediction
            assert (drawn[row]["x"], drawn[row]["y"]) == pytest.approx((prediction, y), rel=1e-4)
