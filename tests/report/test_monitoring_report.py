"""`MonitoringReport`: figures by period, counted by hand, and sentences that are true in every case."""

import json

import numpy as np
import pytest
from scipy.stats import t
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot._words import UNITS
from surefoot.monitoring import audit, estimate_performance
from surefoot.report import MonitoringReport
from surefoot.report._watch import Watched, give_watch_verdict
from surefoot.report.page import render

DAY = np.datetime64("2026-11-02")


def make_rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)


@pytest.fixture(scope="module")
def sure():
    return IndividualErrorClassifier(LogisticRegression(), random_state=0).fit(*make_rows(200, 0))


def test_figures_of_periods_are_those_of_their_rows(sure):
    X, _ = make_rows(120, 1)
    times = DAY + np.arange(120) % 14
    times[5] = np.datetime64("NaT")
    report = MonitoringReport(sure)
    for part in (slice(0, 50), slice(50, 120)):
        report.add(X[part], times[part])
    summary = json.loads(json.dumps(report.summarize()))
    assert summary["data"] == {"name": "the table", "n_rows": 120, "n_without_time": 1}
    judgement, answered = sure.judge(X), report.promise.apply(sure.judge(X)).accepted
    in_first = (times >= DAY) & (times < DAY + 7)
    first, second = summary["periods"]
    assert (first["name"], second["start"]) == ("week 45 of 2026", "2026-11-09")
    assert first["n_rows"] == in_first.sum()
    assert first["n_answered"] == answered[in_first].sum()
    assert first["n_novel"] == judgement.novel[in_first].sum()
    assert summary["overall"]["n_answered"] == answered.sum()
    alone = estimate_performance(sure, X[in_first])
    assert first["estimate"] == pytest.approx(alone.estimate)
    assert [first["low"], first["high"]] == pytest.approx(alone.interval)
    assert summary["reference"]["error"] == pytest.approx(sure.held_out_.losses.mean())
    assert "at most about" in summary["reference"]["promise_words"]  # models of folds predicted
    assert any("“About”" in caveat for caveat in summary["how"]["caveats"])


def test_one_page_has_every_section_and_escapes_names(sure):
    X, y = make_rows(60, 1)
    drawn = audit(sure, X, 30, random_state=0)
    report = MonitoringReport(
        sure, audit=drawn.result(y[drawn.rows]), name="<b>new</b>", max_error=0.5
    )
    report.add(X, np.repeat([DAY, DAY + 7, DAY + 14], 20))
    page = render(report.summarize())
    assert "&lt;b&gt;new&lt;/b&gt;" in page
    assert "<b>new" not in page
    for name in ("over_time", "answered", "moved"):
        assert f'id="chart-{name}"' in page
    assert 'data-test="audit"' in page


def test_mistakes_are_one_sentence(sure):
    X, y = make_rows(30, 1)
    with pytest.raises(ValueError, match="There are no new rows yet: add some"):
        MonitoringReport(sure).add(X[:0]).summarize()
    with pytest.raises(ValueError, match=r"There are 30 rows, but times has the shape \(2,\)"):
        MonitoringReport(sure).add(X, ["2026-11-16", "2026-11-17"])
    with pytest.raises(ValueError, match=r"There are 30 rows, but y has the shape \(2,\)"):
        MonitoringReport(sure).add(X, y=[0, 1])
    with pytest.raises(ValueError, match="every is 'hour'"):
        MonitoringReport(sure, every="hour")
    drawn = audit(sure, X, 5, random_state=0)
    with pytest.raises(ValueError, match="The audit is about 30 rows, and 20 rows are watched"):
        MonitoringReport(sure, audit=drawn.result(y[drawn.rows])).add(X[:20]).summarize()


def test_measured_errors_are_counted_by_hand_and_decide_the_headline(sure):
    X, y = make_rows(400, 1)
    times = np.repeat([DAY, DAY + 7], 200)
    turned = np.where(np.arange(400) < 200, y, 1 - y).astype(
        object
    )  # outcomes change, inputs do not
    turned[:7] = None
    summary = MonitoringReport(sure).add(X, times, None, turned).summarize()
    wrong = sure.predict(X) != turned
    first, second = summary["periods"]
    assert first["n_labelled"] == 193
    assert first["measured"]["value"] == pytest.approx(wrong[7:200].mean())
    assert second["measured"]["value"] == pytest.approx(wrong[200:].mean())
    assert second["measured"]["low"] < wrong[200:].mean() < second["measured"]["high"]
    assert summary["verdict"]["headline"].startswith("The labels show a higher error: ")
    assert "(concept shift), which the estimate cannot see" in summary["verdict"]["sentences"][0]
    assert summary["verdict"]["alarms"] == ["week 46 of 2026", "all rows"]
    assert "measured error rate" in render(summary)
    silent = MonitoringReport(sure).add(X, times).summarize()["verdict"]
    assert silent["headline"].startswith("The inputs give no sign of a higher error: ")
    assert "A change in the outcomes would not be visible here" in silent["headline"]
    assert silent["alarms"] == []


def test_the_latest_labels_decide_and_later_rows_are_only_estimated(sure):
    X, y = make_rows(400, 1)
    late = np.where(np.arange(400) < 200, y.astype(float), np.nan)
    report = MonitoringReport(sure).add(X, np.repeat([DAY, DAY + 7], 200), None, late)
    verdict = report.summarize()["verdict"]
    assert verdict["headline"].startswith("The labels show no sign of a higher error: ")
    assert " measured in week 45 of 2026 on 200 rows (" in verdict["headline"]
    assert any(" estimated in week 46 of 2026 (" in sentence for sentence in verdict["sentences"])
    assert any("would not be visible here" in sentence for sentence in verdict["sentences"])


@pytest.mark.parametrize("costs", [None, [[0.0, 1.0], [10.0, 0.0]]], ids=["share", "cost"])
def test_a_class_that_the_model_does_not_know_is_a_mistake(costs):
    X, y = make_rows(200, 0)
    sure = IndividualErrorClassifier(LogisticRegression(), loss=costs, random_state=0).fit(X, y)
    new, _ = make_rows(40, 1)
    measured = (
        MonitoringReport(sure).add(new, None, None, [7] * 40).summarize()["overall"]["measured"]
    )
    of_zero, of_one = (1, 1) if costs is None else (10, 1)
    assert measured["value"] == np.where(sure.predict(new) == 0, of_zero, of_one).mean()


def test_sizes_of_a_regressor_are_measured_with_students_interval():
    X, _ = make_rows(260, 0)
    y = 3 * X[:, 0] + np.random.default_rng(1).normal(size=260)
    sure = IndividualErrorRegressor(LinearRegression(), random_state=0).fit(X[:200], y[:200])
    summary = MonitoringReport(sure).add(X[200:], None, None, y[200:] + 5).summarize()
    sizes = np.abs(sure.predict(X[200:]) - y[200:] - 5)
    low, high = t.interval(0.95, 59, sizes.mean(), sizes.std(ddof=1) / np.sqrt(60))
    measured = summary["overall"]["measured"]
    assert [measured[key] for key in ("value", "low", "high")] == pytest.approx(
        [sizes.mean(), low, high]
    )
    assert summary["verdict"]["headline"].startswith("The labels show a higher error: mean error ")


def test_rows_outside_are_named_and_the_others_estimated(sure):
    X, _ = make_rows(300, 1)
    X[:180, 1] += 30
    summary = MonitoringReport(sure).add(X).summarize()
    overall, verdict = summary["overall"], summary["verdict"]
    assert overall["outside"] == pytest.approx(0.6, abs=0.02)
    assert overall["outside"] >= overall["novel"]
    assert overall["outside_in"] == ["1"]
    assert verdict["headline"].startswith(
        "60 % of the rows lie outside of the training data, most in “1”. "
    )
    assert "The inputs of the other 40 % give no sign of a higher error" in verdict["headline"]
    assert overall["estimate"] == pytest.approx(
        estimate_performance(sure, X[180:]).estimate, abs=0.02
    )
    X[:, 1] += 30
    verdict = MonitoringReport(sure).add(X).summarize()["verdict"]
    assert verdict["headline"].startswith("Nearly all of the rows lie outside")
    assert "If “1” only grows with time, train without it." in verdict["sentences"]


def test_moved_columns_and_a_drop_in_volume_are_in_the_verdict(sure):
    X, _ = make_rows(430, 1)
    X[400:, 1] += 1.0
    times = np.r_[np.repeat(DAY + 7 * np.arange(4), 100), np.repeat(DAY + 28, 30)]
    verdict = MonitoringReport(sure).add(X, times).summarize()["verdict"]
    assert verdict["headline"].startswith("The inputs have moved, most “1”, ")
    few = "Week 49 of 2026 has 30 rows, where 100 are usual"
    assert any(sentence.startswith(few) for sentence in verdict["sentences"])


def period(name, estimate, low, high, n_rows=100, measured=None):
    reason = "Too few rows." if estimate is None else None
    shares = {"answered": 0.5, "outside": 0.01, "outside_in": [], "confidence": 0.95}
    counts = {"n_rows": n_rows, "n_estimated": n_rows, "n_labelled": n_rows if measured else 0}
    start = None if name == "all rows" else "2026-11-02"
    ends = {"estimate": estimate, "low": low, "high": high, "measured": measured}
    return {"name": name, "start": start, **ends, "reason": reason, **shares, **counts}


REFERENCE = {
    "error": 0.084,
    "high": 0.1,
    "coverage": 0.7,
    "promise": "at most 5 % wrong",
    "novel": 0.01,
}
EARLY, LATE = period("week 45", 0.2, 0.15, 0.25), period("week 46", 0.091, 0.078, 0.106)
OVERALL, UNKNOWN = period("all rows", 0.1, 0.08, 0.12), period("week 46", None, None, None)
WRONG = period("week 46", 0.091, 0.078, 0.106, measured={"value": 0.3, "low": 0.25, "high": 0.35})
RIGHT = period("week 46", 0.2, 0.15, 0.25, measured={"value": 0.1, "low": 0.08, "high": 0.12})

LATE_TEXT = (
    "9.1 % estimated in week 46 (7.8 to 11 % if only the inputs changed), 8.4 % at training."
)
UNSEEN = "A change in the outcomes would not be visible here; label 100 rows to be sure."


def verdict(periods, limit=None, shown_audit=None):
    watched = Watched(periods, OVERALL, REFERENCE, UNITS["share"], limit, shown_audit)
    return give_watch_verdict(watched, [], "draw rows")


@pytest.mark.parametrize(
    ("periods", "limit", "headline", "alarms"),
    [
        ([LATE], None, f"The inputs give no sign of a higher error: {LATE_TEXT} {UNSEEN}", []),
        (
            [],
            0.05,
            (
                "The inputs point to an error above the limit of 5 %: 10 % estimated (8 to 12 % if only the inputs "
                f"changed), 8.4 % at training. {UNSEEN}"
            ),
            ["all rows"],
        ),
        (
            [EARLY, LATE],
            0.13,
            (
                f"The inputs give no sign of an error above the limit of 13 %: {LATE_TEXT} {UNSEEN} "
                "An error above the limit of 13 % was estimated for week 45."
            ),
            ["week 45"],
        ),
        (
            [EARLY, UNKNOWN],
            0.3,
            f"No error can be estimated in week 46. Too few rows. {UNSEEN}",
            [],
        ),
        (
            [LATE, WRONG],
            None,
            "The labels show a higher error: 30 % measured in week 46 on 100 rows (25 to 35 %), 8.4 % at training.",
            ["week 46"],
        ),
        (
            [LATE, RIGHT],
            None,
            (
                "The labels show no sign of a higher error: 10 % measured in week 46 on 100 rows (8 to 12 %), 8.4 % at "
                "training."
            ),
            [],
        ),
    ],
    ids=["none", "limit", "earlier", "unknown", "measured", "measured against the estimate"],
)
def test_headlines(periods, limit, headline, alarms):
    result = verdict(periods, limit)
    assert (result["headline"], result["alarms"]) == (headline, alarms)


def test_an_audit_may_raise_the_alarm_alone():
    texts = {"estimate": "30 %", "interval": "20 % to 40 %", "when_fitted": "8.4 %"}
    shown = {"name": "the audit", "estimate": 0.3, "low": 0.2, "high": 0.4, "what": "an error rate"}
    shown |= {"comparable": True, "when_fitted": 0.084, "n_answered": 50, "texts": texts}
    result = verdict([LATE], shown_audit=shown)
    assert result["alarms"] == ["the audit"]
    assert result["headline"].startswith(
        "The audit shows a higher error. The audit with 50 answers shows an error rate of"
    )
    assert "(concept shift), which the estimate cannot see" in result["headline"]
