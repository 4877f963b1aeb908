"""The first screen on planted tables: every number of its sentences, recomputed from the table of rows with numpy."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_samples import sample_of
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from surefoot._words import number, percent
from surefoot.report import ReliabilityReport
from surefoot.report._improvements import Alternatives
from surefoot.report.page import render

COSTS = [[0, 1], [10, 0]]


class Planted(ClassifierMixin, BaseEstimator):
    """Model whose probabilities are the columns of the table, for the given classes."""

    def __init__(self, classes):
        self.classes = classes
        self.classes_ = np.array(classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        shares = np.asarray(X)[:, : len(self.classes_)]
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def plant(shares, n_rows, confusion, seed=0):
    """Truth drawn with the given shares, and probabilities that predict the class of `confusion[truth]`."""
    draw = np.random.default_rng(seed)
    truth = draw.choice(len(shares), n_rows, p=shares)
    predicted = np.array([draw.choice(len(shares), p=confusion[each]) for each in truth])
    # Wrong answers are less sure, so that the doubtful rows can be told.
    sure = np.where(
        truth == predicted, draw.uniform(0.6, 0.99, n_rows), draw.uniform(0.5, 0.8, n_rows)
    )
    columns = np.full((n_rows, len(shares)), 0.0)
    columns += ((1 - sure) / (len(shares) - 1))[:, None]
    columns[np.arange(n_rows), predicted] = sure
    return np.column_stack([columns, draw.normal(size=n_rows)]), truth


TABLES = {
    "rare": (["no", "yes"], [0.975, 0.025], [[0.995, 0.005], [0.4, 0.6]], {}),
    "balanced": (["no", "yes"], [0.55, 0.45], [[0.9, 0.1], [0.3, 0.7]], {}),
    "accurate": (["no", "yes"], [0.55, 0.45], [[0.98, 0.02], [0.02, 0.98]], {}),
    "three": (
        ["a", "b", "c"],
        [0.5, 0.4, 0.1],
        [[0.9, 0.1, 0], [0.1, 0.9, 0], [0.3, 0.3, 0.4]],
        {},
    ),
    "costs": (["no", "yes"], [0.9, 0.1], [[0.95, 0.05], [0.3, 0.7]], {"loss": COSTS}),
    "common": (["no", "yes"], [0.95, 0.05], [[1, 0], [1, 0]], {}),
    "right": (["no", "yes"], [0.5, 0.5], [[1, 0], [0, 1]], {}),
    "absent": (["a", "b", "c"], [0.6, 0.4, 0], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0, 0, 1]], {}),
}


@pytest.fixture(scope="module", params=TABLES)
def planted(request):
    classes, shares, confusion, settings = TABLES[request.param]
    X, codes = plant(shares, 800, confusion)
    model = FrozenEstimator(Planted(classes))
    report = ReliabilityReport(model, X, np.array(classes)[codes], quick=True, **settings)
    return request.param, report, report.summarize(), report.to_frame()


def constant(name, frame):
    """Best class to predict always, and its mean loss."""
    losses = {}
    for label in sorted(set(frame["truth"])):
        wrong = frame["truth"] != label
        costs = np.where(frame["truth"] == "yes", 10, 1) if name == "costs" else 1
        losses[label] = float((wrong * costs).mean())
    best = min(losses, key=losses.get)
    return best, losses[best]


def recalls(frame):
    return (frame["prediction"] == frame["truth"]).groupby(frame["truth"]).mean()


def test_the_headline(planted):
    name, _, summary, frame = planted
    error, (label, baseline) = frame["loss"].mean(), constant(name, frame)
    found = recalls(frame)
    always = f"if it always predicted “{label}”."
    expected = {
        "rare": lambda: (
            f"Finds {percent(found['yes'])} of class “yes”; {percent(error)} of all rows are wrong, "
            f"{percent(baseline)} {always}"
        ),
        "balanced": lambda: f"Right {percent(1 - error)} of the time.",
        "accurate": lambda: f"Wrong on {percent(error)} of rows; {percent(baseline)} {always}",
        "three": lambda: (
            f"Finds {percent(found['c'])} of class “c”; {percent(error)} of all rows are wrong, "
            f"{percent(baseline)} {always}"
        ),
        "costs": lambda: (
            f"Finds {percent(found['yes'])} of class “yes”; an answer costs {number(error)} on average, "
            f"{number(baseline)} {always}"
        ),
        "common": lambda: (
            f"Finds none of class “yes”; {percent(error)} of all rows are wrong, {percent(error)} "
            f"{always}"
        ),
        "right": lambda: "It made no mistake on 800 held-out rows.",
        "absent": lambda: f"Right {percent(1 - error)} of the time.",
    }
    assert summary["verdict"]["headline"] == expected[name]()


def test_the_class_found_least_with_its_interval_and_the_rows_missed_under_the_advice(planted):
    name, _, summary, frame = planted
    numbers, found = summary["numbers"], recalls(frame)
    label = found.idxmin()
    rows = frame[frame["truth"] == label]
    n_found = int((rows["prediction"] == label).sum())
    ends = binomtest(n_found, len(rows)).proportion_ci(0.95, method="wilson")
    assert numbers["lowest_recall_class"] == label
    assert numbers["lowest_recall"] == pytest.approx(n_found / len(rows))
    assert [numbers["lowest_recall_low"], numbers["lowest_recall_high"]] == pytest.approx([*ends])
    assert numbers["lowest_recall_n_missed"] == len(rows) - n_found
    if name == "right":
        assert not any("lowest recall is" in each for each in summary["verdict"]["sentences"])
        return
    sentence = (
        f"The class with the lowest recall is “{label}”: {n_found} of its {len(rows)} rows, "
        f"{percent(n_found / len(rows))} ({percent(ends.low)} to {percent(ends.high)})."
    )
    if "accepted" in frame:
        answered = rows[rows["accepted"]]
        missed = int((answered["prediction"] != label).sum())
        assert numbers["lowest_recall_n_missed_answered"] == missed
        are = "1 is" if missed == 1 else f"{missed or 'none'} are"
        of = f" Of the {len(answered)} of them that are answered, {are} missed."
        sentence += of if len(answered) else " None of them is answered."
    else:
        assert numbers["lowest_recall_n_missed_answered"] is None
    assert [each for each in summary["verdict"]["sentences"] if "lowest recall is" in each] == [
        sentence
    ]


def test_a_decision_for_a_thousand_cases(planted):
    name, _, summary, frame = planted
    [*decisions] = [each for each in summary["verdict"]["sentences"] if "1,000 such cases" in each]
    if name == "right":
        assert decisions == []
        return
    [decision] = decisions
    if "accepted" not in frame:
        assert decision.startswith("If a person checked 100 of 1,000 such cases")
        return
    answered = frame[frame["accepted"]]
    lost = 1000 * answered["loss"].sum() / len(frame)
    rest = 1000 * frame["loss"].sum() / len(frame) - lost
    n_answered = round(1000 * len(answered) / len(frame))
    if name == "costs":
        wrong, found = (f"a cost of about {number(each)}" for each in (lost, rest))
        left = f"the {1000 - n_answered} with the highest estimated error go to a person"
        expected = f"at {wrong}; {left}, who avoids {found}."
    else:
        wrong, found = ("none" if each == 0 else f"about {each:.0f}" for each in (lost, rest))
        expected = (
            f"{wrong} of them wrong; the {1000 - n_answered} with the highest estimated error go to a person, who "
            f"can find {found} mistakes of the model."
        )
    if n_answered == 1000:
        assert (
            decision
            == f"All of 1,000 such cases are answered automatically, {expected.split(';')[0]}."
        )
        return
    assert decision == f"Of 1,000 such cases, {n_answered} are answered automatically, {expected}"
    assert summary["numbers"]["answered_error"] == pytest.approx(answered["loss"].mean())
    assert summary["numbers"]["left_error"] == pytest.approx(
        frame[~frame["accepted"]]["loss"].mean()
    )


def test_models_are_compared_by_error_auc_and_log_loss(planted):
    name, report, summary, frame = planted
    model, *others, pool, last = summary["models"]
    assert pool["name"] == "a weighted mean of this model and others"
    classes = report.estimator.estimator.classes_
    shares = {"this model": frame[[f"probability_{label}" for label in classes]].to_numpy()}
    opinions = {"a forest": "trees", "boosted trees": "boosting", "a logistic regression": "linear"}
    held_out = report._fitted[1].held_out
    shares |= {each["name"]: held_out.opinions[opinions[each["name"]]] for each in others}
    shares[last["name"]] = np.tile(
        (frame["truth"].to_numpy()[:, None] == classes).mean(axis=0), (800, 1)
    )
    assert set(opinions) == {each["name"] for each in others}
    label, baseline = constant(name, frame)
    assert last["name"] == f"always predicting “{label}”"
    assert last["error"] == summary["numbers"]["constant_error"] == pytest.approx(baseline)
    assert model["error"] == pytest.approx(frame["loss"].mean())
    for each in (model, *others, last):
        own = shares[each["name"]]
        of_truth = own[np.arange(800), np.searchsorted(classes, frame["truth"])]
        assert each["log_loss"] == pytest.approx(-np.log(np.clip(of_truth, 2.3e-16, 1)).mean())
        areas = []
        for place, one in enumerate(classes):
            is_one = (frame["truth"] == one).to_numpy()
            if is_one.any():
                ahead = own[is_one, place][:, None] - own[~is_one, place]
                areas.append(np.mean((ahead > 0) + 0.5 * (ahead == 0)))
        assert each["roc_auc"] == pytest.approx(np.mean(areas))
    assert summary["numbers"]["roc_auc"] == model["roc_auc"]
    assert "Log loss" in render(summary)


def test_of_many_equal_classes_none_is_rare_and_the_page_says_ranges_once():
    classes = [str(each) for each in range(8)]
    confusion = 0.75 * np.eye(8) + 0.25 / 8
    X, codes = plant(np.full(8, 1 / 8), 600, confusion / confusion.sum(axis=1, keepdims=True))
    report = ReliabilityReport(
        FrozenEstimator(Planted(classes)), X, np.array(classes)[codes], quick=True
    )
    summary = report.summarize()
    assert summary["verdict"]["headline"].startswith("Right ")
    assert summary["numbers"]["rare_class"] is None
    assert render(summary).count("All ranges are 95\u00a0% intervals") == 1


def alternatives(truth, prediction, classes="abc", **fields):
    """Alternatives of a model with the given answers; it has no second opinion."""
    classes, n_rows = np.array([*classes]), len(truth)
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = classes[np.arange(60) % len(classes)]
    fitted = ReliabilityReport(LogisticRegression(), X, y, quick=True)._fitted[1].held_out
    held_out = replace(
        fitted.take(np.arange(n_rows) % 60),
        truth=classes[truth],
        prediction=classes[prediction],
        losses=(truth != prediction) * 1.0,
        rows=np.arange(n_rows),
        splits=np.arange(n_rows) % 5,
        opinions={},
        distinct=None,
        **fields,
    )
    return Alternatives(sample_of(held_out), LogisticRegression(), n_rows, is_given=False)


def test_an_option_that_is_a_constant_is_no_help():
    truth = np.repeat([0, 0, 1, 1], [935, 45, 5, 15])
    prediction = np.repeat([0, 1, 0, 1], [935, 45, 5, 15])  # 50 mistakes, and 20 of the constant
    card = alternatives(truth, prediction, "ab").measure("It would make", np.full(1000, "a"))
    assert (card["than"], card["gain"]) == ("always predicting “a”", 0)
    assert card["verdict"] != "helps"


def test_a_gain_that_only_comes_from_never_predicting_a_class_is_no_help():
    truth = np.repeat([0, 1, 2], [500, 480, 20])
    right = np.where(truth == 2, 0, truth)
    prediction = right.copy()
    prediction[np.r_[:60, 500:560]] = 2  # 120 rows are taken for the rare class, wrongly
    both = alternatives(truth, prediction)
    card = both.measure("It would make", np.array([*"abc"])[right])
    assert card["gain"] == pytest.approx(120 / 140)
    assert card["verdict"] == "would not help"
    assert card["sentence"].endswith("That is only because it never predicts “c”.")
    prediction[100:200] = 1  # 100 more mistakes that the option does not make
    card = alternatives(truth, prediction).measure("It would make", np.array([*"abc"])[right])
    assert card["verdict"] == "helps"


def test_a_large_loss_is_a_factor():
    truth = np.arange(1000) % 2
    prediction = np.where(np.arange(1000) < 100, 1 - truth, truth)
    flipped = np.array([*"ab"])[np.where(np.arange(1000) < 500, 1 - truth, truth)]
    card = alternatives(truth, prediction, "ab").measure("It would make", flipped)
    assert card["sentence"].startswith("It would make 5 times as many mistakes (")
    assert card["gain"] == pytest.approx(-4)


def test_options_that_cannot_be_told_are_one_line():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(120, 2)), columns=["a", "b"])
    y = np.where(X["a"] + draw.normal(size=120) > 0, "yes", "no")
    report = ReliabilityReport(FrozenEstimator(LogisticRegression().fit(X, y)), X, y)
    page = render(report.summarize())
    names = [
        each["name"]
        for each in report.summarize()["improvements"]
        if each["verdict"] == "cannot tell"
    ]
    assert len(names) >= 3
    assert page.count("The model is not fitted again") == 1
    line = re.search(r'data-test="unknown">(.*?)</p>', page)[1]
    assert all(name.lower() in line for name in names)
    assert not any(f"<h4>{name}</h4>" in page for name in names)


def test_a_model_that_is_worse_than_a_constant_is_to_be_changed_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = rng.random(400) < 0.1
    model = RandomForestClassifier(
        3, class_weight={False: 1, True: 60}, max_depth=2, random_state=0
    )
    verdict = ReliabilityReport(model, X, y.astype(int), quick=True).summarize()["verdict"]
    constant = next(i for i, each in enumerate(verdict["sentences"]) if "is worse than" in each)
    assert verdict["sentences"][constant].endswith("change it before you use it.")
    assert verdict["sentences"][constant + 1].startswith("If it is used anyway: ")
