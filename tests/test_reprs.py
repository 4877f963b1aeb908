"""Objects that a user holds are shown in at most ten lines, the answer first, and their tables keep the rows' index."""

from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pandas.testing import assert_index_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.abstention import Promise
from surefoot.checks import check_table
from surefoot.indicators import Confidence, NeighborDistance
from surefoot.monitoring import audit, compare_rows, estimate_performance


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.set_axis([f"bottle {i}" for i in range(len(X))]), y.to_numpy()


@pytest.fixture(scope="module")
def fitted(wine):
    return IndividualErrorClassifier(GaussianNB(), indicators=Confidence(), random_state=0).fit(
        *wine
    )


@pytest.fixture(scope="module")
def objects(fitted, wine):
    """One object of each kind, with its whole table of 178 rows behind it."""
    X, y = wine
    drawn = audit(fitted, X, 60, random_state=0)
    (finding, *_) = check_table(X.assign(leak=y), y)
    return {
        "Judgement": fitted.judge(X),
        "HeldOut": fitted.held_out_,
        "Promise": Promise.from_held_out(fitted.held_out_, 0.1),
        "broken Promise": Promise.from_held_out(fitted.held_out_, 1e-4),
        "Audit": drawn,
        "AuditResult": drawn.result(y[drawn.rows]),
        "AuditResult of nothing": drawn.result([]),
        "PerformanceEstimate": estimate_performance(fitted, X),
        "RowComparison": compare_rows(fitted, X * 1.3),
        "Finding": finding,
    }


STARTS = {
    "Judgement": "178 predictions, mean estimated error ",
    "HeldOut": "Wrong on ",
    "Promise": "Promised: a mean loss of at most 0.1, with 95 % confidence, for ",
    "broken Promise": "Cannot be promised: a mean loss of at most 0.0001, with 95 % confidence",
    "Audit": " rows of 178 to have labelled, in 60 draws: ",
    "AuditResult": "The share of wrong predictions is about ",
    "AuditResult of nothing": "The share of wrong predictions is about – (0 % to 100 %, 90 % conf",
    "PerformanceEstimate": "Estimated error ",
    "RowComparison": "The new rows differ from the held-out ones (AUC ",
    "Finding": "“leak” gives the target away",
}


@pytest.mark.parametrize("name", STARTS)
def test_a_few_lines_that_begin_with_the_answer(objects, name):
    lines = repr(objects[name]).splitlines()
    assert STARTS[name] in lines[0]
    assert 1 <= len(lines) <= 10
    assert max(map(len, lines)) <= 300
    html = objects[name]._repr_html_()
    assert unescape(html.removeprefix("<strong>").replace("</strong>", "")) == "<br>".join(lines)
    assert html.startswith("<strong>")


def test_the_numbers_are_those_of_the_object(objects, wine):
    judgement, held_out = objects["Judgement"], objects["HeldOut"]
    worst = int(np.argmax(judgement.error))
    _, first, second, *_ = repr(judgement).splitlines()
    assert first.startswith(f"{judgement.novel.sum()} novel row")
    assert second.startswith(f"row bottle {worst}: {judgement.prediction[worst]}, estimated error ")
    share = np.mean(held_out.prediction != wine[1])
    assert repr(held_out).startswith(f"Wrong on {100 * share:.1f} % of rows, measured on 178 held-")
    assert len(repr(judgement.take(np.arange(0))).splitlines()) == 2


def test_names_of_classes_do_not_become_html():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.repeat(["<b>yes</b>", "no\nno"], 30)
    model = IndividualErrorClassifier(GaussianNB(), indicators=Confidence()).fit(X, y)
    html = model.judge(X)._repr_html_()
    assert "&lt;b&gt;yes" in html
    assert "<b>" not in html
    assert len(repr(model.judge(X)).splitlines()) <= 10


def test_frames_of_judgements_join_the_rows_that_were_judged(fitted, wine):
    X, _ = wine
    shuffled = X.sample(frac=0.5, random_state=0)
    judged = fitted.judge(shuffled)
    assert_index_equal(judged.to_frame().index, shuffled.index)
    assert not shuffled.join(judged.to_frame()).isna().any(axis=None)
    assert_index_equal(judged.take(np.array([3, 1])).to_frame().index, shuffled.index[[3, 1]])
    two_levels = shuffled.set_index(pd.MultiIndex.from_product([["a"], range(len(shuffled))]))
    assert_index_equal(fitted.judge(two_levels).to_frame().index, two_levels.index)
    assert_index_equal(fitted.held_out_.to_frame().index, X.index)


def test_some_held_out_rows_keep_their_places(wine):
    X, y = wine
    some = ShuffleSplit(1, test_size=0.5, random_state=0)
    model = IndividualErrorClassifier(GaussianNB(), indicators=Confidence(), cv=some)
    held_out = model.fit(X, y).held_out_
    assert_index_equal(held_out.to_frame().index, X.index[held_out.rows])
    held_out = model.fit(X.to_numpy(), y).held_out_
    assert held_out.to_frame().index.tolist() == held_out.rows.tolist()


def test_rows_of_polars_and_arrow_get_frames_of_theirs():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    table = pl.from_pandas(X)
    model = IndividualErrorRegressor(LinearRegression(), indicators=NeighborDistance())
    model.fit(table, y.to_numpy())
    frame = model.judge(table).to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert isinstance(model.held_out_.to_frame(), pl.DataFrame)
    assert pl.concat([table, frame], how="horizontal").shape == (442, 10 + frame.width)
    np.testing.assert_array_equal(frame["estimated_error"], model.predict_error(table))
    arrow = model.judge(table.to_arrow()).to_frame()
    assert arrow.column_names == frame.columns
    array = X.to_numpy()
    model.fit(array, y)
    assert isinstance(model.judge(array).to_frame(), pd.DataFrame)


def test_classes_of_strings_in_polars():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 30, axis=0)
    labels = np.array(["yes", "no"], dtype=object).repeat(30)
    table = pl.DataFrame(X, schema=["a", "b"])
    model = IndividualErrorClassifier(GaussianNB(), indicators=Confidence()).fit(table, labels)
    assert model.judge(table).to_frame()["prediction"].to_list() == labels.tolist()
