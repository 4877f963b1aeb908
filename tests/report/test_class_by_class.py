"""The section class by class, risks of classes and costs in the summary: against scikit-learn, and by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from surefoot._words import percent
from surefoot.report import ReliabilityReport
from surefoot.report.page import render


def rare_class(n_rows=400):
    """A class of about 12 % of the rows that a linear model hardly ever predicts, and its report's rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    chance = 1 / (1 + np.exp(2.6 - 1.2 * X["a"]))
    return X, np.where(rng.random(n_rows) < chance, "yes", "no")


@pytest.fixture(scope="module")
def rare():
    X, y = rare_class(800)
    report = ReliabilityReport(LogisticRegression(), X, y, max_risk=0.1, quick=True)
    return report.summarize(), report.to_frame()


@pytest.fixture(scope="module")
def priced():
    X, y = rare_class()
    report = ReliabilityReport(LogisticRegression(), X, y, loss=[[0, 1], [10, 0]])
    return report.summarize(), report.to_frame()


def test_counts_precision_and_recall_are_those_of_scikit_learn(rare):
    summary, frame = rare
    classes, labels = summary["classes"], ["no", "yes"]
    truth, predicted = frame["truth"], frame["prediction"]
    assert classes["matrix"]["counts"] == confusion_matrix(truth, predicted).tolist()
    for part, rows in (("all", frame), ("answered", frame[frame["accepted"]])):
        for item in classes["items"]:
            figures = item if part == "all" else item["answered"]
            settings = {"labels": [item["label"]], "average": None, "zero_division": np.nan}
            for name, score in (("recall", recall_score), ("precision", precision_score)):
                [expected] = score(rows["truth"], rows["prediction"], **settings)
                value = figures[name]["value"]
                assert np.isnan(expected) if value is None else value == pytest.approx(expected)
    assert classes["n_answered"] == frame["accepted"].sum() > 0
    assert sorted(item["label"] for item in classes["items"]) == labels


def test_ranking_is_that_of_scikit_learn_and_of_all_pairs(rare):
    summary, frame = rare
    is_rare, score = frame["truth"] == "yes", frame["probability_yes"]
    item = next(item for item in summary["classes"]["items"] if item["label"] == "yes")
    assert item["roc_auc"] == pytest.approx(roc_auc_score(is_rare, score))
    ahead = score[is_rare].to_numpy()[:, None] - score[~is_rare].to_numpy()
    assert item["roc_auc"] == pytest.approx(np.mean((ahead > 0) + 0.5 * (ahead == 0)))
    assert item["average_precision"] == pytest.approx(average_precision_score(is_rare, score))
    [curve] = summary["classes"]["curves"]
    assert curve["name"] == "“yes”"
    assert np.trapezoid(curve["roc"]["y"], curve["roc"]["x"]) == pytest.approx(
        item["roc_auc"], abs=0.01
    )
    assert curve["precision_recall"]["x"][-1] == 1


def test_the_verdict_names_the_class_that_is_found_least(rare):
    summary, frame = rare
    of_class = frame[frame["truth"] == "yes"]
    found = of_class["prediction"] == "yes"
    low, high = proportion_ends(found.sum(), len(found))
    answered = of_class[of_class["accepted"]]
    missed = (answered["prediction"] != "yes").sum()
    assert summary["verdict"]["headline"].startswith(
        f"Finds {percent(found.mean())} of class “yes”; "
    )
    assert (
        f"The class with the lowest recall is “yes”: {found.sum()} of its {len(found)} rows, {percent(found.mean())} "
        f"({percent(low)} to {percent(high)}). Of the {len(answered)} of them that are answered, {missed} are missed."
    ) in summary["verdict"]["sentences"]


def proportion_ends(n_hits, n_rows):
    """Wilson's 95 % interval, from its definition: shares whose score test does not reject this one."""
    shares = np.linspace(0, 1, 200001)[1:-1]
    kept = np.abs(n_hits / n_rows - shares) <= 1.959964 * np.sqrt(shares * (1 - shares) / n_rows)
    return shares[kept].min(), shares[kept].max()


def test_a_class_that_is_found_has_its_sentence_too():
    X, y = load_iris(return_X_y=True)
    summary = ReliabilityReport(FrozenEstimator(GaussianNB().fit(X, y)), X, y).summarize()
    classes = summary["classes"]
    assert classes["sentence"].startswith(
        "The class with the lowest recall is “1”: 47 of its 50 rows, 94 % ("
    )
    assert classes["sentence"] in summary["verdict"]["sentences"]
    assert classes["curves"][0]["name"] == "mean of all classes"
    assert "The other class where it is better" not in {
        card["name"] for card in summary["improvements"]
    }  # three classes have no one other class


def test_a_model_without_probabilities_is_ranked_by_its_scores():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]
    model = LinearSVC().fit(X, y)
    summary = ReliabilityReport(FrozenEstimator(model), X, y, quick=True).summarize()
    aucs = [item["roc_auc"] for item in summary["classes"]["items"]]
    assert aucs == pytest.approx([roc_auc_score(y, model.decision_function(X))] * 2)


def test_many_classes_have_a_list_of_mistakes_instead_of_a_matrix():
    y = np.repeat(np.arange(13), 8)
    X = np.random.default_rng(0).normal(size=(104, 1)) + y[:, None]
    summary = ReliabilityReport(FrozenEstimator(GaussianNB().fit(X, y)), X, y).summarize()
    classes = summary["classes"]
    assert classes["matrix"] is None
    predicted = GaussianNB().fit(X, y).predict(X)
    first = classes["mistakes"][0]
    pairs = pd.Series(list(zip(y[predicted != y], predicted[predicted != y], strict=True)))
    assert first["n_rows"] == pairs.value_counts().max()
    assert first["share"] == first["n_rows"] / 8
    assert 'data-test="mistakes"' in render(summary)


def test_rows_of_a_group_are_no_more_evidence_than_they_differ():
    """Ten groups of 20 rows that are alike: the interval is that of ten rows, not of 200."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 20)
    truth = np.arange(20) % 2
    X = np.column_stack([truth[groups] * 1.0, rng.normal(size=400)])
    X[groups < 4, 0] = 1 - X[groups < 4, 0]  # two groups of each class look like the other one
    y = truth[groups]
    model = FrozenEstimator(LogisticRegression().fit(X * [1, 0], y))
    items = ReliabilityReport(model, X, y, groups=groups, quick=True).summarize()["classes"][
        "items"
    ]
    # Wilson's interval of 8 of 10 is 0.49 to 0.94; with the ten groups as a sample, n − 1 of them count.
    ends = [(item["recall"]["low"], item["recall"]["high"]) for item in items]
    assert ends == [pytest.approx((0.469, 0.948), abs=0.005)] * 2


def test_every_figure_is_a_cost(priced):
    summary, frame = priced
    wrong = frame["prediction"] != frame["truth"]
    costs = np.where(frame["truth"] == "yes", 10, 1) * wrong
    mean = costs.mean()
    assert frame["loss"].tolist() == costs.tolist()
    assert summary["unit"] == "cost"
    assert (frame["prediction"][frame["truth"] == "yes"] == "no").all()
    assert summary["verdict"]["headline"] == (
        f"Finds none of class “yes”; an answer costs {mean:.3g} on average, {(frame['truth'] == 'no').mean():.3g} if "
        "it always predicted “yes”."
    )
    assert summary["answer"]["overall_risk"] == pytest.approx(mean)
    assert frame["estimated_error"].mean() == pytest.approx(mean, rel=0.01)
    own = np.where(
        frame["prediction"] == "no", 10 * frame["probability_yes"], frame["probability_no"]
    )
    assert frame["own_error"].to_numpy() == pytest.approx(own)
    assert summary["verdict"]["figures"][0]["about"].endswith(
        f"always predicting “yes”: {(frame['truth'] == 'no').mean():.3g}"
    )
    swapped = summary["improvements"][0]["sentence"]
    assert " cost (" in swapped
    assert any("“yes” predicted as “no” 10" in caveat for caveat in summary["how"]["caveats"])
    json.dumps(summary, allow_nan=False)


def test_a_promised_cost_holds_in_the_rows_answered(priced):
    summary, frame = priced
    for promise in summary["answer"]["promises"]:
        if promise["coverage"]:
            answered = frame["estimated_error"] <= promise["limit"]
            assert frame["loss"][answered].mean() <= promise["max_risk"]
    page = render(summary)
    assert "of the total cost caught by the person" in page
    assert "mean cost" in page


def test_a_model_that_is_mostly_wrong_somewhere_would_gain_by_flipping():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 1)  # the model does not know the second column
    model = LogisticRegression().fit(X * [1, 0], X[:, 0] > 0)
    report = ReliabilityReport(FrozenEstimator(model), X, y)
    frame, others = report.to_frame(), report._fitted[1].held_out.opinions
    card = next(c for c in report.summarize()["improvements"] if c["name"].startswith("The other"))
    doubted = frame["estimated_error"] > 0.5
    assert (
        f"The other class on the {doubted.sum()} rows where it is more likely" in card["sentence"]
    )
    flipped = np.where(doubted, 1 - frame["loss"], frame["loss"]).mean()
    best = min((others[name].argmax(axis=1) != y).mean() for name in ("trees", "boosting"))
    assert best < frame["loss"].mean()
    assert card["gain"] == pytest.approx(1 - flipped / best)
    assert card["low"] < card["gain"] < card["high"]


def test_the_risk_of_a_class_is_promised_for_its_own_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=900) > 0.5, "yes", "no")
    model = FrozenEstimator(LogisticRegression().fit(X, y))
    limits = {"yes": 0.2, None: 0.1}
    report = ReliabilityReport(model, X, y, max_risk=limits, quick=True)
    summary, frame = report.summarize(), report.to_frame()
    promise = summary["answer"]["promises"][summary["answer"]["chosen"]]
    assert promise["by_class"] == [{"label": "yes", "max_risk": 0.2}]
    answered = frame[frame["accepted"]]
    of_class = answered[answered["truth"] == "yes"]
    assert (of_class["prediction"] != "yes").mean() < 0.2
    assert 0 < len(answered) == round(promise["coverage"] * 900) < 900
    words = "at most 10 % of its answers are wrong, and at most 20 % of the answered rows that are “yes”"
    assert any(words in sentence for sentence in summary["verdict"]["sentences"])
    assert "Bonferroni" in render(summary)


def test_too_few_rows_of_a_class_promise_nothing():
    X, y = rare_class(200)
    model = FrozenEstimator(LogisticRegression().fit(X, y))
    summary = ReliabilityReport(model, X, y, max_risk={"yes": 0.05}, quick=True).summarize()
    n_rows = (y == "yes").sum()
    told = " ".join(summary["verdict"]["sentences"])
    assert "The requested limit (at most 5 % of “yes” wrong) cannot be promised" in told
    assert f"The class 'yes' has {n_rows} held-out rows, which can promise" in told
    assert summary["answer"]["chosen"] is None
    assert f"{1 - 0.05 ** (1 / n_rows):.2g} at best" in told


@pytest.mark.parametrize(
    ("model", "settings", "sentence"),
    [
        (
            LogisticRegression(),
            {"max_risk": {"maybe": 0.1}},
            "'maybe', and the classes are 0 and 1",
        ),
        (LogisticRegression(), {"max_risk": {1: 2.0}}, r"max_risk\[1\] == 2.0, must be < 1"),
        (LogisticRegression(), {"loss": [[0, 1]]}, "loss must be 2 × 2 costs"),
        (LinearRegression(), {"loss": [[0, 1], [1, 0]]}, "the model is a regressor"),
        (LinearRegression(), {"max_risk": {1: 0.1}}, "a regressor has no classes"),
    ],
)
def test_one_sentence_for_limits_and_costs_that_make_no_sense(model, settings, sentence):
    X, y = np.arange(40)[:, None], np.arange(40) % 2
    with pytest.raises(ValueError, match=sentence):
        ReliabilityReport(model, X, y, **settings, quick=True).summarize()
