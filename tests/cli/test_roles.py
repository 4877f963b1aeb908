"""What is to be predicted is understood, and what cannot be learned is told in one sentence."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
import typer

from surefoot.cli._rows import take_apart
from surefoot.model_files import load


def rows(target, task="auto", groups=None, **columns):
    table = pd.DataFrame({"x": np.arange(len(target)) % 7, **columns, "y": target})
    return take_apart(table, "y", task, groups, "t.csv")


def mistake(target, task="auto", groups=None, **columns):
    with pytest.raises(typer.TyperException) as caught:
        rows(target, task, groups, **columns)
    return str(caught.value)


TOO_MANY = (
    "Column 'y' holds {} different numbers in {} rows, too many for classes: pass --task regression (and a regressor), "
    "or divide them into classes first."
)


TIMES = "Column 'y' holds dates or times: convert them to numbers or classes first."


def objects(values):
    return pd.Series(values * 15, dtype=object)


def test_a_target_that_may_be_either_is_asked_about():
    for n_values in (11, 100):
        sentence = mistake(list(range(n_values)) * 3)
        assert f"{n_values} different whole numbers" in sentence
        assert "--task" in sentence
    assert rows(list(range(10)) * 6).task == "classification"
    assert rows(list(range(101)) * 3).task == "regression"
    assert rows(list(range(30)) * 6, "classification").task == "classification"
    assert rows(list(range(30)) * 3, "regression").task == "regression"


def test_too_few_rows_of_each_class_are_no_reason_to_predict_a_number():
    assert mistake([0] * 38 + [1] + [2] + [3] * 3).startswith("Fewer than two")
    assert mistake([True] * 38 + [False] * 2).startswith("Fewer than two")


def test_how_the_target_was_taken_is_said(capsys):
    rows(["a", "b"] * 20)
    rows([0, 1] * 20)
    rows(np.linspace(0, 1, 40))
    rows(["a", "b"] * 20, "classification")
    assert capsys.readouterr().err.splitlines() == [
        "Predicting 'y' as a class.",  # texts are no numbers
        "Predicting 'y' as a class. If it is a number, pass --task regression.",
        "Predicting 'y' as a number. If its values are classes, pass --task classification.",
    ]


def test_the_task_is_the_first_thing_said(run, tmp_path):
    table = tmp_path / "t.csv"
    cells = [
        f"{i % 5},{'?' if i == 7 else i * 37 % 101},{'yes' if i % 2 else 'no'}" for i in range(60)
    ]
    table.write_text("\n".join(["a,b,y", *cells]))
    result = run(
        "fit", table, "--target", "y", "--estimator", "logistic", "--out", tmp_path / "m.skops"
    )
    first, second = result.err.splitlines()[:2]
    assert first == "Predicting 'y' as a class."
    assert "'b'" in second  # one value is no number
    assert "'b'" in run("report", table, "--target", "z").err


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


# tests/bad_inputs has more.
REFUSED = [
    ([None] * 30, "auto", "Column 'y' is empty: there is nothing to learn from."),
    ([2.0] * 30, "regression", "Column 'y' is 2 in every row: there is nothing to predict."),
    (np.linspace(0, 1, 30), "classification", TOO_MANY.format(30, 30)),
    (pd.date_range("2024-01-01", periods=30), "auto", TIMES),
    (pd.to_timedelta(np.arange(30), "D"), "auto", TIMES),
    (objects([date(2024, 1, 1), date(2024, 1, 2)]), "auto", TIMES),
    (objects([[1], [2]]), "auto", "Column 'y' holds values of type list: a target holds numbers or texts."),
    (objects([b"a", b"b"]), "auto", "Column 'y' holds values of type bytes: a target holds numbers or texts."),
]  # fmt: skip


@pytest.mark.parametrize(("target", "task", "sentence"), REFUSED)
def test_what_cannot_be_learned_is_told_in_one_sentence(target, task, sentence):
    assert mistake(target, task) == sentence


def test_a_group_that_alone_has_a_class_is_named(capsys):
    who = np.repeat(list("abcdefgh"), 5)
    found = rows(["x", "y"] * 19 + ["z"] * 2, groups="who", who=who)
    assert len(found.y) == 40
    assert capsys.readouterr().err.splitlines()[1:] == [
        "5 rows are used for training but not for evaluation: too few groups have 'z'."
    ]
    assert mistake(
        np.repeat(["x", "y"], 20), groups="who", who=np.r_[np.repeat("a", 20), who[20:]]
    ) == (
        "Fewer than two classes of 'y' can be held out, because a group that alone has a class cannot: "
        "leave out that class, or --groups."
    )


def test_nothing_to_predict_from():
    words = r"t.csv has no column that a model can use\."
    for table in ({"y": [0, 1] * 20}, {"one": ["a"] * 40, "id": range(40), "y": [0, 1] * 20}):
        with pytest.raises(typer.TyperException, match=words):
            take_apart(pd.DataFrame(table), "y", "auto", None, "t.csv")


def test_too_many_columns():
    wide = {f"c{i}": np.zeros(40) for i in range(10_000)}
    assert mistake([0, 1] * 20, **wide).startswith("t.csv has 10,001 input columns")


def test_columns_without_information_are_left_out_and_named(capsys):
    useless = {
        "customer": [f"C-{i}" for i in range(30)],
        "row": range(7, 7 + 30),
        "country": "DE",
        "version": 1.0,
        "note": None,
    }
    table = {**useless, "age": np.arange(30) % 9, "high": [np.inf, 1.5, 2.5] * 10}
    found = rows(["a", "b"] * 15, "classification", **table)
    assert list(found.X.columns) == ["x", "age", "high"]
    assert found.X["high"].isna().tolist() == [True, False, False] * 10
    assert capsys.readouterr().err.splitlines() == [
        "Left out 'customer' and 'row': another value in every row.",
        "Left out 'country' and 'version': same value in every row.",
        "Left out 'note': empty.",
        "10 numbers that are infinite or above 3.4e+38 are treated as missing.",
    ]


def test_columns_that_may_tell_something_are_kept(capsys):
    useful = {
        "text": [f"said {i} words" for i in range(30)],
        "day": pd.date_range("2024-01-01", periods=30).astype(str),
        "when": pd.date_range("2024-01-01", periods=30),
        "name": [f"C-{i // 2}" for i in range(30)],
        "falling": range(30, 0, -1),
        "sometimes": ["yes", None, None] * (30 // 3),
        "price": np.linspace(0, 1, 30),
    }
    found = rows(["a", "b"] * 15, "classification", **useful)
    assert list(found.X.columns) == ["x", *useful]
    assert capsys.readouterr().err == ""


def test_a_wide_table_is_announced_before_the_work_starts(capsys):
    wide = pd.DataFrame({f"c{i}": np.arange(60) % 7 for i in range(501)})
    wide = wide.assign(y=["a", "b"] * 30)
    take_apart(wide, "y", "auto", None, "wide.csv")
    assert "wide.csv has 501 input columns" in capsys.readouterr().err
    take_apart(wide.drop(columns="c0"), "y", "auto", None, "wide.csv")
    assert "input columns" not in capsys.readouterr().err


@pytest.mark.slow
def test_boosting_does_not_stop_early_where_a_class_has_one_row(run, write, tmp_path):
    table = pd.DataFrame({"x": np.arange(60) * 7 % 59, "y": ["a", "b"] * 30})
    fit = ["--target", "y", "--out", tmp_path / "m.skops"]
    for lone in (False, True):
        if lone:
            table.loc[0, "y"] = "c"
        assert run("fit", write(table.to_csv(index=False)), *fit).code == 0
        model = load(tmp_path / "m.skops").estimator
        assert model[-1].early_stopping == (False if lone else "auto")


@pytest.mark.parametrize("groups", [[], ["--groups", "clinic"]])
def test_a_class_with_one_row_is_learned_from_and_never_held_out(run, write, tmp_path, groups):
    table = pd.DataFrame(
        {"x": np.arange(60) * 7 % 59, "clinic": np.repeat(np.arange(6), 10), "y": ["a", "b"] * 30}
    )
    table.loc[25, "y"] = "once"  # of clinic 2
    data, out = write(table.to_csv(index=False)), tmp_path / "m.skops"
    quick = ["--target", "y", "--estimator", "logistic", "--task", "classification", *groups]
    result = run("fit", data, *quick, "--out", out)
    never = 1 if not groups else 10
    few = "1 row is" if not groups else "10 rows are"
    what = "groups" if groups else "rows"
    remark = f"{few} used for training but not for evaluation: too few {what} have 'once'.\n"
    assert (result.code, result.err.splitlines(keepends=True)[0]) == (0, remark)
    sure = load(out)
    assert len(sure.never_held_out_) == never
    assert sure.classes_.tolist() == ["a", "b", "once"]
