"""The section "Where it fails" names planted defects, and is not there without them."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from surefoot.checks._dependence import order_p_value
from surefoot.report import ReliabilityReport
from surefoot.report.page import render

# What the verdict says of each defect.
WORDS = {
    "order": "The order of the rows matters",
    "leak": "may give the target away",
    "entity": "depend on each other",
    "duplicate": "of the rows have copies in the table",
    "labels": "Some labels may be wrong: models and similar rows contradict them",
}


def items_of(model, X, y, **settings):
    """Items of the section by kind; the verdict says the same, and nothing of other kinds."""
    summary = ReliabilityReport(model, X, y, quick=True, **settings).summarize()
    json.dumps(summary["checks"], allow_nan=False)
    items = {item["code"]: item for item in summary["checks"]["items"]}
    verdict = " ".join(summary["verdict"]["sentences"])
    for kind, words in WORDS.items():
        harmless = kind == "order" and kind in items and items[kind]["facts"]["sorted_by_target"]
        assert (words in verdict) == (kind in items and not harmless)
    return items


def two_classes(n_rows=300):
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] + X["b"] + 0.5 * draw.normal(size=n_rows) > 0, "yes", "no"), draw


def test_nothing_is_said_of_a_clean_table(classification_summary, regression_summary):
    assert classification_summary["checks"] == {"items": []}
    assert regression_summary["checks"] == {"items": []}
    assert 'id="checks"' not in render(classification_summary)


def test_columns_are_named_with_their_figures():
    X, y, _ = two_classes()
    X["after"] = (y == "yes") * 2.0
    X["number"] = np.arange(300)
    X["again"] = 10 * X["b"]
    items = items_of(GaussianNB(), X, y)
    assert list(items) == ["leak", "identifier", "equal"]
    assert items["leak"]["columns"] == ["after"]
    assert items["leak"]["facts"]["score"] > 0.99 > items["leak"]["facts"]["next_score"]
    assert "It follows the order of the rows." in items["identifier"]["sentence"]
    assert items["equal"]["columns"] == ["again"]


def test_copies_are_counted_and_the_accuracy_without_them_is_given():
    X, _, draw = two_classes(200)
    X = pd.concat([X, X[:60]], ignore_index=True)
    y = np.where(draw.random(200) < 0.5, "yes", "no")  # only copies can be known
    y = np.r_[y, y[:60]]
    order = draw.permutation(260)
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    item = items_of(KNeighborsClassifier(1), X, y)["duplicate"]
    facts = item["facts"]
    assert (facts["n_rows"], facts["n_near"]) == (120, 0)
    assert facts["loss"] == pytest.approx(0.5, abs=0.1)
    assert "(46 %) have a copy" in item["sentence"]


def test_of_other_splits_it_is_not_known_which_rows_were_learned_from():
    X, y, _ = two_classes(100)
    X, y = pd.concat([X, X], ignore_index=True), np.r_[y, y]
    facts = items_of(GaussianNB(), X, y, cv=KFold(3, shuffle=True, random_state=0))
    assert facts["duplicate"]["facts"]["loss"] is None


def test_rows_that_stand_together_are_named_with_both_figures():
    draw = np.random.default_rng(0)
    person = np.repeat(np.arange(40), 8)
    X = draw.normal(size=(40, 3))[person] + 0.3 * draw.normal(size=(320, 3))
    y = draw.normal(size=40)[person] + 0.1 * draw.normal(size=320)
    item = items_of(KNeighborsRegressor(3), X, y)["order"]
    in_order = np.abs(y - cross_val_predict(KNeighborsRegressor(3), X, y, cv=KFold(5)))
    assert item["facts"]["ordered"] == pytest.approx(in_order.mean())
    assert item["facts"]["ordered"] > 1.5 * item["facts"]["shuffled"]
    assert "(--time COLUMN)" in item["advice"]
    assert "(--groups COLUMN, a column that says which)" in item["advice"]
    when = pd.DataFrame(X, columns=list("abc")).assign(day=1 + np.arange(320) // 9)
    item = items_of(KNeighborsRegressor(3), when, y)["order"]
    assert "(--time day)" in item["advice"]
    items = items_of(KNeighborsRegressor(3), when.assign(who=person * 7 % 40), y)
    assert items["entity"]["columns"][0] == "who"
    assert "(--groups who, a column that says which)" in items["order"]["advice"]


def test_a_table_sorted_by_its_target_is_said_to_be():
    draw = np.random.default_rng(0)
    y = np.sort(draw.normal(size=200))
    X = y[:, None] + 0.2 * draw.normal(size=(200, 2))
    item = items_of(KNeighborsRegressor(), X, y)["order"]
    assert "sorted by the target" in item["sentence"]
    assert "nothing to do" in item["advice"]


def test_entities_get_the_option_that_holds_them_out_together():
    X, _, draw = two_classes(400)
    X["shop"] = draw.permutation(np.repeat(np.arange(40), 10)) * 7 % 40
    y = draw.normal(size=40)[X["shop"]] + 0.3 * X["a"] + 0.3 * draw.normal(size=400) > 0
    item = items_of(KNeighborsClassifier(), X, y)["entity"]
    assert item["columns"] == ["shop"]
    assert "--groups shop" in item["advice"]
    assert item["facts"]["grouped"] > item["facts"]["shuffled"]


def test_flipped_labels_are_listed_with_the_label_suggested():
    draw = np.random.default_rng(0)
    clean = np.arange(900) % 2
    X = pd.DataFrame(4.0 * clean[:, None] + draw.normal(size=(900, 2)), index=np.arange(900) + 50)
    flipped = draw.random(900) < 0.06
    y = np.where(clean ^ flipped, "b", "a")
    item = items_of(GaussianNB(), X, y)["labels"]
    assert item["facts"]["p_value"] < 0.002
    listed = [row["row"] - 50 for row in item["rows"]]
    assert flipped[listed].mean() > 0.8
    assert all(row["label"] != row["more probable"] for row in item["rows"])


def test_a_frozen_model_is_asked_only_about_its_rows():
    X, y, _ = two_classes(120)
    X["after"] = (y == "yes") * 2.0
    X = pd.concat([X, X], ignore_index=True)
    model = FrozenEstimator(LogisticRegression().fit(X, np.r_[y, y]))
    items = items_of(model, X, np.r_[y, y])
    assert set(items) == {"leak", "duplicate"}
    assert items["duplicate"]["facts"]["loss"] is None


def test_texts_have_no_checks_but_their_order_and_labels():
    texts = np.array([f"word{i % 7} other{i % 11}" for i in range(120)], dtype=object)
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    assert items_of(model, texts, np.arange(120) % 7 > 3) == {}


def planted(summary):
    """Summary with an item of each kind that has a table."""
    summary = copy.deepcopy(summary)
    rows = [{"row": 7, "label": "<no>", "more probable": "yes", "score": "97 %"}]
    kinds = ("leak", "duplicate", "entity", "order", "labels", "identifier", "equal")
    summary["checks"]["items"] = [
        {
            "code": kind,
            "sentence": f"Something about {kind}.",
            "figure": "97 %",
            "columns": [],
            "rows": rows if kind == "labels" else [],
            "advice": "Look at it.",
            "facts": {},
        }
        for kind in kinds
    ]
    return summary


def test_the_page_lists_checks_first_where_it_says_where_the_model_fails(classification_summary):
    page = render(planted(classification_summary))
    assert page.index('id="fails"') < page.index('id="checks"') < page.index('id="classes"')
    assert "&lt;no&gt;" in page
    assert "Something about labels." in page


def test_a_check_that_does_not_exist_cannot_be_left_out():
    X, y = np.eye(30, 3), np.arange(30) % 2
    report = ReliabilityReport(GaussianNB(), X, y, ignore=["leak", "luck"])
    with pytest.raises(ValueError, match="ignore names 'luck': the checks are 'leak', "):
        report.summarize()


@pytest.mark.parametrize("kind", ["normal", "skewed", "rare", "ties"])
def test_rows_in_random_order_are_hardly_ever_taken_for_ordered(kind):
    draw, alarms = np.random.default_rng(0), 0
    for _ in range(100):
        table = draw.normal(size=(300, 8))
        if kind == "skewed":
            table = np.exp(3 * table)
        elif kind == "rare":
            table = (table > 2.2) * 1.0  # one in seventy: two that follow each other are no order
        elif kind == "ties":
            table = np.round(table)
        alarms += order_p_value(table) < 0.01
    assert binomtest(alarms, 100, 0.01, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize("kind", ["pairs", "trend", "sorted classes"])
def test_one_ordered_column_among_others_is_seen(kind):
    draw = np.random.default_rng(0)
    table = draw.normal(size=(400, 10))
    if kind == "pairs":  # two rows of one person follow each other
        table[:, 3] = np.repeat(draw.normal(size=200), 2)
    elif kind == "trend":
        table[:, 3] += np.linspace(-1, 1, 400)
    else:
        table[:, 3] = np.repeat([0.0, 1.0], 200)
    assert order_p_value(table) < 0.01
    assert order_p_value(draw.permutation(table)) > 0.01


def test_a_table_that_is_too_short_or_constant_has_no_order():
    assert order_p_value(np.ones((100, 3))) == 1.0
    assert order_p_value(np.arange(15.0)[:, None]) == 1.0
