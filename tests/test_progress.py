"""What is shown of long work: the share that is done, and how long the rest will take."""

import time

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from surefoot._parallel import Plan
from surefoot.report import ReliabilityReport

WORDS = {"fit": "fitting", "draw": "drawing"}


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_the_rest_is_estimated_from_costs_and_then_from_what_steps_took():
    shown, clock = [], Clock()
    plan = Plan(
        {"fit": 2, "draw": 2}, {"fit": 1, "draw": 3}, WORDS, lambda *x: shown.append(x), clock
    )
    for kind, seconds in (("fit", 2), ("fit", 4), ("draw", 5), ("draw", 5)):
        clock.now += seconds
        plan.done(kind)
    plan.finish()
    assert shown == [
        (0.0, "fitting", None),
        (2 / 16, "fitting", 14.0),  # one more fit of 2 s, two drawings of three times that
        (6 / 24, "drawing", 18.0),  # fits took 3 s on average
        (11 / 16, "drawing", 5.0),
        (1.0, "drawing", 0.0),
        (1.0, "", 0.0),
    ]


def test_the_share_never_goes_back():
    shares, clock = [], Clock()
    plan = Plan({"fit": 5}, {"fit": 1}, WORDS, lambda share, *_: shares.append(share), clock)
    for seconds in (1, 1, 1, 100, 1, 1):  # one more than planned
        clock.now += seconds
        plan.done("fit")
    assert shares == sorted(shares)


def classes(n_rows):
    return make_classification(n_rows, 8, n_informative=4, random_state=0)


@pytest.fixture(scope="module")
def warm():
    """Reports whose time does not count: they import and compile what the first ones of a process need."""
    for model, rows in (
        (LogisticRegression(), classes(120)),
        (Ridge(), make_regression(60, 5, noise=5, random_state=0)),
    ):
        ReliabilityReport(model, *rows).summarize()


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (HistGradientBoostingClassifier(max_iter=30, random_state=0), classes(600)),
        (LogisticRegression(), classes(1500)),
        (KNeighborsRegressor(), make_regression(250, 5, noise=5, random_state=0)),
    ],
    ids=["boosting", "logistic", "neighbours"],
)
def test_at_half_time_about_half_is_shown(model, rows, monkeypatch):
    def shown_shares(clock):
        shares = []
        report = ReliabilityReport(model, *rows, progress=lambda share, *_: shares.append(share))
        monkeypatch.setattr(Plan.__init__, "__defaults__", (clock,))
        with threadpool_limits(1):  # threads that wait for a busy machine use time of the processor
            report.summarize()
        return shares

    def seconds_of_steps():
        readings = []

        def read_clock():
            readings.append(time.process_time())  # others use the machine, too
            return readings[-1]

        shown_shares(read_clock)
        return np.diff(readings)

    # The shorter of two times is the step's own, without what disturbed the other.
    times = np.cumsum([0, *np.minimum(seconds_of_steps(), seconds_of_steps())])
    shares = shown_shares(iter(times).__next__)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    at_steps = shares[: len(times)]  # the last is shown when all is done
    assert np.interp(times[-1] / 2, times, at_steps) == pytest.approx(0.5, abs=0.15)


def test_a_bar_on_a_terminal_and_nothing_in_a_pipe(monkeypatch, capsys):
    def shown():
        ReliabilityReport(
            LogisticRegression(), *classes(100), quick=True, progress=True
        ).summarize()
        return capsys.readouterr().err

    assert shown() == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    first, second, *_, last = shown().split("\r\033[K")[1:]
    assert first == f"{'╶' * 24}   0 %  Fitting the model on folds"
    assert second.count("━") + second.count("╶") == 24
    assert second.endswith(" s left")
    assert last == ""
