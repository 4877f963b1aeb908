"""What is shown of long work: the share that is done, and how long the rest will take."""

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

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
