"""Page of `surefoot watch` in a browser: it draws its charts, fits a telephone, and asks for nothing."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier
from surefoot.report import MonitoringReport
from surefoot.report.page import render


@pytest.fixture(scope="module")
def page():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(270, 3))
    y = X[:, 0] + rng.normal(size=270) > 0
    sure = IndividualErrorClassifier(GaussianNB(), cv=2, random_state=0).fit(X[:150], y[:150])
    times = np.datetime64("2026-11-02") + np.arange(120) % 28
    return render(MonitoringReport(sure, max_error=0.5).add(X[150:], times).summarize())


def test_charts_are_drawn_and_fit_a_telephone(open_html, page):
    shown = open_html(page, viewport={"width": 360, "height": 700})
    assert shown.evaluate("document.documentElement.scrollWidth") == 360
    for name in ("over_time", "answered", "moved"):
        assert shown.get_by_test_id(f"chart-{name}").locator("svg").count() == 1
    points = shown.locator("#chart-over_time .mark-symbol path")
    assert points.count() == 4
