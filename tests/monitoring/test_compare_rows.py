"""Comparison of new rows with the held-out rows of `fit`."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from surefoot.error_estimation import IndividualErrorClassifier, assess_predictions
from surefoot.indicators import Confidence
from surefoot.monitoring import compare_rows, estimate_performance


@pytest.fixture(scope="module")
def sure():
    X = np.random.RandomState(0).normal(size=(500, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    return IndividualErrorClassifier(LogisticRegression(), cv=2, random_state=0).fit(X, y)


def test_a_column_that_moved_is_named(sure):
    X = np.random.RandomState(1).normal(size=(400, 4))
    X[:, 2] += 1
    comparison = compare_rows(sure, X)
    assert [column.name for column in comparison.moved] == [2]
    assert not comparison.same
    # A normal classifier tells a shift of one standard deviation with an AUC of Φ(1/√2).
    assert comparison.auc == pytest.approx(0.76, abs=0.04)
    # The largest difference between the shares below a value is Φ(1/2) − Φ(−1/2).
    assert comparison.columns[0].effect == pytest.approx(0.383, abs=0.08)
    effects = [column.effect for column in comparison.columns]
    assert effects == sorted(effects, reverse=True)


def test_rows_of_one_distribution_are_rarely_told_apart(sure):
    """Under the hypothesis each p value is uniform: of 20, more than 4 below 0.05 have a chance of 0.3 %."""
    random = np.random.RandomState(2)
    comparisons = [compare_rows(sure, random.normal(size=(60, 4))) for _ in range(20)]
    assert sum(not comparison.same for comparison in comparisons) <= 4
    assert sum(bool(comparison.moved) for comparison in comparisons) <= 4


def test_three_rows_cannot_be_told_apart(sure):
    comparison = compare_rows(sure, np.zeros((3, 4)))
    assert comparison.same
    assert np.isnan(comparison.auc)
    assert len(comparison.novel) == 3


def test_novel_rows_are_those_of_the_model(sure):
    X = np.random.RandomState(1).normal(size=(50, 4)) * 3
    novel = compare_rows(sure, X).novel
    np.testing.assert_array_equal(novel, sure.predict_novelty(X))
    assert novel.any()


def colours(n_rows, shares, random):
    colour = random.choice(["blue", "green", "red"], n_rows, p=shares)
    size = random.normal(size=n_rows)
    return pd.DataFrame({"colour": colour, "size": size}).astype({"colour": "category"})


@pytest.fixture(scope="module")
def framed():
    random = np.random.RandomState(0)
    X = colours(300, [0.5, 0.3, 0.2], random)
    y = np.where(random.uniform(size=300) < 0.2, "a", np.where(X["colour"] == "red", "a", "b"))
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", sparse_output=False), LogisticRegression()
    )
    sure = IndividualErrorClassifier(model, cv=2, random_state=0)
    X["size"] = X["size"].round()
    return sure.fit(X, y), X


def test_categories_are_compared_by_their_shares(framed):
    """Chi-squared and half the sum of absolute differences, worked out from the counts."""
    sure, X = framed
    new = colours(200, [0.2, 0.3, 0.5], np.random.RandomState(1))
    new["size"] = new["size"].round()
    old_counts = X["colour"].value_counts().sort_index().to_numpy()
    new_counts = new["colour"].value_counts().sort_index().to_numpy()
    expected = np.outer([300, 200], (old_counts + new_counts) / 500)
    statistic = ((np.array([old_counts, new_counts]) - expected) ** 2 / expected).sum()
    by_name = {column.name: column for column in compare_rows(sure, new).columns}
    colour, size = by_name["colour"], by_name["size"]
    assert colour.statistic == pytest.approx(statistic)
    assert colour.effect == pytest.approx(np.abs(old_counts / 300 - new_counts / 200).sum() / 2)
    # With two columns, the smaller p value is doubled (Benjamini and Hochberg).
    assert colour.p_value == pytest.approx(2 * chi2.sf(statistic, 2))
    assert colour.moved
    assert not size.moved


def test_gaps_and_new_categories_are_differences(framed):
    sure, X = framed
    new = X[:150].astype({"colour": object})
    new.loc[new.index[::2], "colour"] = "violet"
    new.loc[new.index[1::4], "size"] = np.nan
    assert all(column.moved for column in compare_rows(sure, new).columns)


def test_a_text_for_a_number_gets_one_sentence(framed):
    sure, X = framed
    with pytest.raises(
        ValueError, match="Column 'size' holds strings where the model expects numbers"
    ):
        compare_rows(sure, X.assign(size="large"))


def test_texts_are_compared_without_columns():
    random = np.random.RandomState(0)
    words = np.array(["tea", "coffee", "milk", "water", "juice"])
    texts = [" ".join(random.choice(words, 6)) for _ in range(200)]
    y = ["tea" in text for text in texts]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    sure = IndividualErrorClassifier(model, cv=2, random_state=0).fit(texts, y)
    dry = [" ".join(random.choice(words[:2], 6)) for _ in range(100)]
    comparison = compare_rows(sure, dry)
    assert comparison.columns == []
    assert not comparison.same
    assert estimate_performance(sure, texts[:100]).reason is None


def test_constant_columns_tell_nothing_apart():
    """A column that is constant, but for the rounding of its scaling, is the same in old and new rows."""
    random = np.random.RandomState(0)
    X = np.column_stack([random.normal(size=(400, 2)), np.full(400, 0.1), np.full(400, 1e6 / 3)])
    model = make_pipeline(StandardScaler(), LogisticRegression())
    sure = IndividualErrorClassifier(model, indicators=Confidence(), cv=2, random_state=0)
    sure.fit(X[:200], X[:200, 0] + random.normal(size=200) > 0)
    assert compare_rows(sure, X[200:]).auc < 0.6


def test_texts_that_differ_in_every_row_have_not_moved():
    """Each text is new: that alone is no change, and a category that new rows lack is one."""
    random = np.random.RandomState(0)
    words = np.array(["tea", "coffee", "milk", "water", "juice", "salt", "bread", "rice"])
    table = pd.DataFrame({"x": random.normal(size=500)})
    table["note"] = [" ".join(random.choice(words, 9)) for _ in range(500)]
    table["shop"] = random.choice(["north", "south"], 500)
    truth = table["x"] + random.normal(size=500) > 0
    predictions = table["x"] > 0
    known = slice(0, 300)
    sure = assess_predictions(table[known], truth[known], predictions[known], random_state=0)
    new = table[300:].assign(prediction=predictions[300:])
    moved = {each.name: each.moved for each in compare_rows(sure, new).columns}
    assert not moved["note"]
    assert not moved["shop"]
    moved = {each.name: each.moved for each in compare_rows(sure, new.assign(shop="north")).columns}
    assert moved["shop"]
