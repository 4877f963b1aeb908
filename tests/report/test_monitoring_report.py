"""`MonitoringReport`: figures by period, counted by hand, and sentences that are true in every case."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from surefoot import IndividualErrorClassifier
from surefoot._words import UNITS
from surefoot.monitoring import audit, estimate_performance
from surefoot.report import MonitoringReport
from surefoot.report._watch import give_watch_verdict
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
    with pytest.raises(ValueError, match="every is 'hour'"):
        MonitoringReport(sure, every="hour")
    drawn = audit(sure, X, 5, random_state=0)
    with pytest.raises(ValueError, match="The audit is about 30 rows, and 20 rows are watched"):
        MonitoringReport(sure, audit=drawn.result(y[drawn.rows])).add(X[:20]).summarize()


def period(name, estimate, low, high, n_rows=100):
    reason = "Too few rows." if estimate is None else None
    shares = {"answered": 0.5, "n_novel": 1, "novel": 0.01, "confidence": 0.95, "n_rows": n_rows}
    start = None if name == "all rows" else "2026-11-02"
    ends = {"estimate": estimate, "low": low, "high": high}
    return {"name": name, "start": start, **ends, "reason": reason, **shares}


REFERENCE = {"error": 0.084, "coverage": 0.7, "promise": "at most 5 % wrong", "novel": 0.01}
EARLY, LATE = period("week 45", 0.2, 0.15, 0.25), period("week 46", 0.091, 0.078, 0.106)
OVERALL, UNKNOWN = period("all rows", 0.1, 0.08, 0.12), period("week 46", None, None, None)

LATE_TEXT = "Estimated 9.1 % wrong in week 46 (7.8 % to 11 %), 8.4 % when it was fitted"


def verdict(periods, limit=None, shown_audit=None):
    return give_watch_verdict(
        periods, OVERALL, REFERENCE, UNITS["share"], max_error=limit, audit=shown_audit
    )


@pytest.mark.parametrize(
    ("periods", "limit", "headline"),
    [
        ([LATE], None, f"{LATE_TEXT}: the inputs give no sign of a higher error."),
        ([], 0.05, "Estimated 10 % wrong in 100 rows (8 % to 12 %), 8.4 % when it was fitted: alarm."),
        ([EARLY, LATE], 0.13, f"{LATE_TEXT}: alarm, by week 45."),
        ([EARLY, UNKNOWN], 0.3, "No figure can be given for week 46. Too few rows."),
        ([EARLY, UNKNOWN], 0.1, "No figure can be given for week 46. But there is an alarm. Too few rows."),
    ],
    ids=["none", "limit", "earlier", "unknown", "unknown and alarm"],
)  # fmt: skip
def test_headlines(periods, limit, headline):
    assert verdict(periods, limit)["headline"] == headline


def test_an_audit_may_raise_the_alarm_alone():
    texts = {"estimate": "30 %", "interval": "20 % to 40 %", "when_fitted": "8.4 %"}
    shown = {"name": "the audit", "estimate": 0.3, "low": 0.2, "high": 0.4, "what": "error rate"}
    shown |= {"comparable": True, "when_fitted": 0.084, "n_answered": 50, "texts": texts}
    result = verdict([LATE], shown_audit=shown)
    assert result["alarms"] == ["the audit"]
    assert result["headline"].endswith("when it was fitted: alarm, by the audit.")
    assert any("(concept shift), which the estimate cannot see" in s for s in result["sentences"])
