"""Leaks, identifiers, equal columns, copies and entities: each planted defect is found, and clean tables pass."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.special import expit

from surefoot.checks import (
    find_duplicates,
    find_entities,
    find_equal_columns,
    find_identifiers,
    find_leaks,
)


def clean_table(kind, n_rows=300):
    """Frame and target without a defect: correlated and whole numbers, categories, gaps; classes or numbers."""
    draw = np.random.default_rng([7, kind])
    X = pd.DataFrame(draw.normal(size=(n_rows, 5)) @ draw.normal(size=(5, 5))).add_prefix("c")
    X["count"] = draw.poisson(3, n_rows)
    X["age"] = draw.integers(18, 80, n_rows)
    X["city"] = draw.choice(["Graz", "Lyon", "Oslo", "Rome"], n_rows, p=[0.6, 0.25, 0.1, 0.05])
    X["income"] = draw.lognormal(9, 1, n_rows).round()
    X.loc[draw.random(n_rows) < 0.1, "c1"] = np.nan
    signal = X["c0"] / X["c0"].std() + X["age"] / 30 + (X["city"] == "Oslo") - 0.3 * X["count"]
    signal = np.asarray(signal - signal.mean())
    if kind % 2:
        return X, signal + draw.normal(size=n_rows)
    return X, np.where(draw.random(n_rows) < expit(2 * signal - kind % 3), "yes", "no")


CLEAN = range(20)


@pytest.mark.parametrize("kind", CLEAN)
def test_a_clean_table_raises_no_alarm(kind):
    X, y = clean_table(kind)
    assert find_leaks(X, y) == []
    assert find_identifiers(X) == []
    assert find_equal_columns(X) == []
    assert not find_duplicates(X)
    assert find_entities(X, y) == []


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas])
def test_every_planted_column_is_named(kind, frame):
    X, y = clean_table(kind)
    draw = np.random.default_rng(0)
    codes = y if kind % 2 else (y == "yes").astype(float)
    X["after"] = np.exp(codes) + 0.01 * draw.normal(size=300)
    X["number"] = draw.permutation(300) + 5000
    X["code"] = [f"r{i:04}" for i in range(300)]
    X["town"] = X["city"].map({"Graz": 3, "Lyon": 1, "Oslo": 2, "Rome": 0})
    X["cm"] = -2.54 * X["c3"]
    X["copy"] = X["city"]
    table = frame(X)
    assert [leak.column for leak in find_leaks(table, y)] == ["after"]
    assert {(each.column, each.kind) for each in find_identifiers(table)} == {
        ("number", "identifies"),
        ("code", "counts"),
    }
    assert {tuple(pair) for pair in find_equal_columns(table)} == {
        ("town", "city", False),
        ("cm", "c3", False),
        ("copy", "city", True),
    }


def test_the_score_of_a_column_by_hand():
    # Two halves; the column names the half, and each held-out fold sees 0 or 1 for all others but one row at the mean.
    y = np.repeat([0, 1], 100)
    X = np.column_stack([y, np.tile([0, 1], 100)])
    [leak] = find_leaks(X, y, prediction=np.column_stack([1 - y, y]))
    # 80 of 81 rows have the class: (1 − 80/81)² of the spread is left.
    assert leak.score == pytest.approx(1 - (1 / 81) ** 2, abs=1e-4)
    assert leak.model_score == pytest.approx(1)
    assert leak.next_score < 0.01


def test_an_honest_column_is_no_leak():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(1000, 4))
    y = X[:, 0] + 0.6 * draw.normal(size=1000) > 0
    assert find_leaks(X, y) == []
    assert find_leaks(X, X[:, 0] + X[:, 1] + X[:, 2]) == []
    assert find_leaks(X[:, :1], X[:, 0]) == []  # the only column may be as good as it likes


def test_two_columns_may_agree_by_chance():
    few = pd.DataFrame({"a": [0, 0, 0, 1], "b": [0, 0, 0, 5]})
    assert find_equal_columns(few) == []
    constant = np.ones((50, 3))
    assert find_equal_columns(constant) == []
    persons = np.repeat(np.random.default_rng(0).normal(size=(30, 2)), 5, axis=0)
    assert find_equal_columns(persons) == []  # two facts about each person, in different order


def test_different_numbers_may_be_a_coincidence():
    draw = np.random.default_rng(0)
    ids = draw.choice(10**9, 200, replace=False)
    assert find_identifiers(pd.DataFrame({"price": ids})) == []
    assert len(find_identifiers(pd.DataFrame({"customer_id": ids}))) == 1
    assert find_identifiers(pd.DataFrame({"time": 0.1 * np.arange(50)}))[0].kind == "counts"
    names = pd.DataFrame({"text": [f"row number {i}" for i in range(50)]})
    assert find_identifiers(names) == []  # sentences describe


def test_copies_on_both_sides_of_a_split_carry_the_accuracy():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(120, 4))
    X[100:] = X[:20]
    splits = np.arange(120) % 3  # row i + 100 is in another fold than row i
    losses = np.r_[np.zeros(20), np.ones(80), np.zeros(20)]
    copies = find_duplicates(X, splits=splits, losses=losses)
    assert copies.rows.tolist() == [*range(20), *range(100, 120)]
    assert copies.copies[:20].tolist() == list(range(100, 120))
    assert copies.exact.all()
    assert copies.across.all()
    assert_allclose([copies.loss, copies.loss_without], [80 / 120, 1])
    together = find_duplicates(X, splits=np.arange(120) % 100 % 3, losses=losses)
    assert not together.across.any()
    assert together.loss == together.loss_without


def test_near_copies_are_pairs_of_the_rows_they_were_made_from():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.normal(size=(330, 5))).add_prefix("c")
    X["city"] = draw.choice(["Graz", "Lyon"], 330)
    X.iloc[300:] = X.iloc[:30]
    X.loc[300:, "c0":"c4"] += 0.001 * draw.normal(size=(30, 5))
    copies = find_duplicates(X)
    assert not copies.exact.any()
    assert copies.rows.tolist() == [*range(30), *range(300, 330)]
    assert copies.copies.tolist() == [*range(300, 330), *range(30)]
    X.loc[300:, "city"] = X["city"].map({"Graz": "Lyon", "Lyon": "Graz"})[300:]
    assert not find_duplicates(X)  # another category is another row


def test_rows_of_a_small_grid_agree_by_coincidence():
    grid = np.random.default_rng(0).integers(0, 3, size=(400, 4))
    assert not find_duplicates(grid)
    rare = (np.random.default_rng(0).random((300, 6)) < 0.01).astype(int)
    assert not find_duplicates(rare)


def test_entities_are_told_from_categories_and_sizes():
    draw = np.random.default_rng(0)
    person = draw.permutation(np.repeat(np.arange(60), 10))
    X = pd.DataFrame({"x": draw.normal(size=600), "age": draw.integers(18, 80, 600)})
    X["person"] = [f"p{7 * i % 60:02}" for i in person]
    y = draw.normal(size=60)[person] + X["age"] / 20 + 0.5 * draw.normal(size=600)
    [entity] = find_entities(X, y)
    assert entity.column == "person"
    assert entity.grouped > 1.3 * entity.shuffled
    assert entity.p_value < 0.002
    assert find_entities(X, X["age"] / 20 + draw.normal(size=600)) == []


@pytest.mark.parametrize(
    "table",
    [
        csr_array(np.eye(60)),
        np.array([f"a text {i}" for i in range(60)], dtype=object),
        np.full((60, 3), np.nan),
        np.ones((60, 1)),
        pd.DataFrame({"when": pd.date_range("2024-01-01", periods=60), "flag": [True, None] * 30}),
        pl.DataFrame({"a": [None] * 60, "b": [[1, 2]] * 60}),
        pd.DataFrame({1: range(60), "1": pd.Categorical(["x", None] * 30)}),
        np.array([[np.inf, 1.0], [-np.inf, 2.0]] * 30),
    ],
    ids=["sparse", "texts", "gaps", "constant", "dates", "lists", "names", "infinite"],
)
@pytest.mark.parametrize(
    "y", [np.arange(60) % 2, np.linspace(0, 1, 60), np.array(["a", 1] * 30, dtype=object)]
)
def test_any_table_is_taken(table, y):
    find_leaks(table, y)
    find_identifiers(table)
    find_equal_columns(table)
    find_duplicates(table, splits=np.arange(60) % 5, losses=np.ones(60))
    find_entities(table, y)


def test_a_task_of_another_name_is_one_sentence():
    with pytest.raises(ValueError, match="task='clustering' is not known"):
        find_leaks(np.zeros((30, 2)), np.arange(30) % 2, task="clustering")
