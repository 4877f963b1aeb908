"""Displays of a model in use: what is drawn is what was computed."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier
from surefoot.monitoring import audit, compare_rows, estimate_performance
from surefoot.plots import PerformanceOverTimeDisplay, ShiftDisplay


@pytest.fixture(scope="module")
def error_estimator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + rng.normal(size=150) > 0
    return IndividualErrorClassifier(GaussianNB(), cv=2, random_state=0).fit(X, y)


def names_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_weeks_are_estimated_each_by_its_rows(error_estimator):
    X = np.random.default_rng(1).normal(size=(63, 3))
    times = np.repeat(
        np.array(["2026-11-09", "2026-11-02", "2026-11-16"], "datetime64[D]"), [30, 30, 3]
    )
    display = PerformanceOverTimeDisplay.from_estimator(error_estimator, X, times, limit=0.5)
    assert [str(day) for day in display.starts.astype("datetime64[D]")] == [
        "2026-11-02", "2026-11-09", "2026-11-16"
    ]  # fmt: skip
    expected = [
        estimate_performance(error_estimator, X[30:60]),
        estimate_performance(error_estimator, X[:30]),
    ]
    drawn = display.line_.get_ydata()
    assert drawn[:2] == pytest.approx([each.estimate for each in expected])
    assert np.isnan(drawn[2])  # three rows are too few
    assert display.reference == pytest.approx(error_estimator.held_out_.losses.mean())
    assert names_of(display) == ["its interval", "estimated", "when it was fitted", "limit"]


def test_audits_are_drawn_with_their_intervals(error_estimator):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    drawn = audit(error_estimator, X, 20, random_state=0)
    result = drawn.result((X[:, 0] > 0)[drawn.rows])
    starts = np.array(["2026-11-02", "2026-11-09"], "datetime64[D]")
    estimates = [estimate_performance(error_estimator, X)] * 2
    display = PerformanceOverTimeDisplay.from_estimates(starts, estimates, audits=[None, result])
    assert np.isnan(display.audits[0]).all()
    assert display.audits[1].tolist() == [result.estimate, *result.interval]
    assert "audited, with labels" in names_of(display)


def test_periods_and_estimates_must_match(error_estimator):
    with pytest.raises(ValueError, match="There are 2 starts and 0 estimates"):
        PerformanceOverTimeDisplay.from_estimates(["2026-11-02", "2026-11-09"], [])


def test_the_column_that_moved_has_the_longest_bar(error_estimator):
    X = np.random.default_rng(3).normal([0, 2, 0], size=(200, 3))
    display = ShiftDisplay.from_estimator(error_estimator, X, max_columns=2)
    widths = [bar.get_width() for bar in display.bars_]
    effects = sorted(
        (column.effect for column in compare_rows(error_estimator, X).columns), reverse=True
    )
    assert widths == pytest.approx(effects[:2])
    assert display.ax_.get_yticklabels()[0].get_text() == "1"
    shades = [bar.get_facecolor() for bar in display.bars_]
    assert shades[0] != shades[1]
