"""What is to be predicted is understood, and what cannot be learned is told in one sentence."""

import numpy as np
import pandas as pd
import pytest

from surefoot.cli._mistakes import Mistake
from surefoot.cli._roles import take_apart
from surefoot.cli._target import choose_task, has_one_peak


def rows(target, task="auto", groups=None, **columns):
    table = pd.DataFrame({"x": np.arange(len(target)) % 7, **columns, "y": target})
    return take_apart(table, "y", task, groups, "t.csv")


def mistake(target, task="auto", groups=None, **columns):
    with pytest.raises(Mistake) as caught:
        rows(target, task, groups, **columns)
    return str(caught.value)


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (["yes", "no"] * 20, "classification"),
        ([True, False] * 20, "classification"),
        ([0, 1] * 20, "classification"),
        ([0.0, 1.0] * 20, "classification"),
        ([1, 2, 3, 4, 5] * 20, "classification"),
        (list(range(10)) * 20, "classification"),  # ten digits, each as frequent
        ([3] * 10 + [4] * 53 + [5] * 681 + [6] * 638 + [7] * 199 + [8] * 18, "regression"),  # marks
        ([0] * 90 + [1] * 50 + [2] * 30 + [3] * 12 + [4] * 4 + [5] * 1, "regression"),  # counts
        ([1] * 400 + [2] * 5 + [3] * 35 + [4] * 44 + [5] * 160 + [6] * 240, "classification"),
        (list(range(30)) * 5, "regression"),
        (np.linspace(0, 1, 40), "regression"),
        ([0.5, 1.5] * 20, "classification"),
    ],
)
def test_the_task_is_what_the_values_speak_for(target, task):
    assert choose_task(pd.Series(target), "auto") == task


def test_a_task_that_is_asked_for_is_done():
    assert rows([1, 2, 3] * 20, "regression").task == "regression"
    assert rows(list(range(30)) * 5, "classification").task == "classification"


def test_counts_that_differ_by_chance_have_one_peak():
    draws = np.random.default_rng(0).binomial(12, 0.4, size=(200, 300))
    peaks = [has_one_peak(np.bincount(draw)[np.bincount(draw) > 0]) for draw in draws]
    assert np.mean(peaks) > 0.95


def test_flat_counts_that_differ_by_chance_have_none():
    draws = np.random.default_rng(0).integers(0, 8, size=(200, 400))
    assert not any(has_one_peak(np.bincount(draw)) for draw in draws)


def test_how_the_target_was_taken_is_said(capsys):
    rows(["a", "b"] * 20)
    rows(np.linspace(0, 1, 40))
    rows(["a", "b"] * 20, "classification")
    assert capsys.readouterr().err.splitlines() == [
        "Predicting 'y' as a class. If it is a number, pass --task regression.",
        "Predicting 'y' as a number. If its values are classes, pass --task classification.",
    ]


def test_rows_without_a_target_are_kept_apart():
    found = rows([1.0, None, 0.0, 1.0] * 10)
    assert found.y.tolist() == [1, 0, 1] * 10
    assert found.X["x"].tolist() == [i % 7 for i in range(40) if i % 4 != 1]
    assert found.unlabelled["x"].tolist() == [i % 7 for i in range(40) if i % 4 == 1]


@pytest.mark.parametrize(
    ("target", "labels"),
    [
        (pd.array([2, 1, None] * 20, dtype="Int64"), [1, 2]),
        (pd.array([True, False, None] * 20, dtype="boolean"), [False, True]),
        (pd.Categorical(["b", "a", None] * 20), ["a", "b"]),
        (pd.Series([True, False, None] * 20, dtype=object), [False, True]),
    ],
    ids=["Int64", "boolean", "category", "objects"],
)
def test_classes_of_every_type_are_read(target, labels):
    found = rows(target)
    assert (len(found.y), np.unique(found.y).tolist()) == (40, labels)


def test_groups_are_no_column_to_predict_from():
    found = rows([0, 1] * 20, groups="who", who=list("abcdefgh") * 5)
    assert list(found.X.columns) == ["x"]
    assert found.groups.tolist() == list(range(8)) * 5


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Y", "is it 'y'?"), ("price", "there are 'x' and 'y'."), ("z1", "there are 'x' and 'y'.")],
)
def test_an_unknown_target(name, hint):
    table = pd.DataFrame({"x": [1], "y": [2]})
    with pytest.raises(Mistake) as caught:
        take_apart(table, name, "auto", None, "t.csv")
    assert str(caught.value) == f"t.csv has no column {name!r}: {hint}"


def test_a_misspelt_target_is_recognised():
    table = pd.DataFrame({"customer age": [1], "Churned": [2]})
    with pytest.raises(Mistake, match=r"no column 'churn': is it 'Churned'\?"):
        take_apart(table, "churn", "auto", None, "t.csv")


def test_a_target_that_is_missing_everywhere():
    assert mistake([None] * 30) == "Column 'y' is empty: there is nothing to learn from."


def test_too_few_rows():
    assert mistake([0, 1] * 6) == (
        "Column 'y' has a value in 12 rows, and 20 are needed to evaluate a model."
    )


def test_a_constant_target():
    assert mistake(["no"] * 30) == "Column 'y' is no in every row: there is nothing to predict."
    assert mistake([2.0] * 30, "regression") == (
        "Column 'y' is 2 in every row: there is nothing to predict."
    )


def test_a_target_that_is_different_in_every_row():
    assert mistake([f"id{i}" for i in range(30)]) == (
        "Column 'y' has 30 classes in 30 rows: it looks like an id or free text."
    )
    assert mistake(np.linspace(0, 1, 30), "classification") == (
        "Column 'y' has 30 classes in 30 rows: pass --task regression."
    )


@pytest.mark.parametrize("n_rare", [1, 2])
def test_a_class_with_too_few_rows(n_rare):
    assert mistake(["a"] * 20 + ["b"] * 20 + ["c"] * n_rare) == (
        f"Every class of 'y' needs 5 rows, so that some can be held out, but 'c' has {n_rare}: "
        "merge it with another class, or remove its rows."
    )


def test_texts_are_no_numbers():
    assert mistake(["low", "high"] * 20, "regression") == (
        "Column 'y' holds 'low', which is not a number: regression needs numbers."
    )


def test_infinity_cannot_be_learned():
    assert mistake([*np.linspace(0, 1, 30), np.inf]) == (
        "Column 'y' holds infinite values, which no model can learn."
    )


def test_a_date_is_no_target():
    dates = pd.date_range("2024-01-01", periods=30)
    assert mistake(dates) == (
        "Column 'y' holds dates or times: convert them to numbers or classes first."
    )


def test_nothing_to_predict_from():
    words = r"t.csv has no column that a model can use\."
    for table in ({"y": [0, 1] * 20}, {"one": ["a"] * 40, "id": range(40), "y": [0, 1] * 20}):
        with pytest.raises(Mistake, match=words):
            take_apart(pd.DataFrame(table), "y", "auto", None, "t.csv")


def test_too_many_columns():
    wide = {f"c{i}": np.zeros(40) for i in range(10_000)}
    assert mistake([0, 1] * 20, **wide).startswith("t.csv has 10,001 input columns")


def test_groups_that_leave_nothing_to_hold_out():
    assert mistake([0, 1] * 20, groups="who", who=["a", "b"] * 20) == (
        "Column 'who' of --groups has 2 groups: at least 5 are needed."
    )
    assert mistake([0, 1] * 20, groups="who", who=[*range(39), None]) == (
        "Column 'who' of --groups has missing values: every row needs a group."
    )
    assert mistake([0, 1] * 20, groups="y") == "Column 'y' cannot be both --target and --groups."
