"""Tables and targets that are odd but not wrong are read as meant; those that cannot be get one sentence."""

import json
import os
import subprocess
import sys
import threading
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.linear_model import LogisticRegression

from surefoot import _tables
from surefoot._tables import TableFileError, table_bytes
from surefoot._tables._files import as_cell
from surefoot.cli._console import Mistake
from surefoot.cli._model import model_for
from surefoot.cli._rows import take_apart
from surefoot.model_files import load_model, save_model

N_ROWS = 60


def read_table(path):
    return _tables.read_table(path, print)


def numbers(seed=0):
    return np.random.default_rng(seed).normal(size=N_ROWS)


def target_of(values, task="auto"):
    return take_apart(pd.DataFrame({"x": numbers(), "y": values}), "y", task, None, "t.csv")


def refused(values, task="auto"):
    with pytest.raises(Mistake) as caught:
        target_of(values, task)
    return str(caught.value)


@pytest.mark.parametrize("values", [[1.5, 2.5], [0.1, 0.2, 0.3], [-1.5, 1.5, 2.0, 3.25, 4.0]])
def test_a_few_numbers_that_are_not_whole_are_classes(values):
    rows = target_of(np.resize(values, N_ROWS))
    assert rows.task == "classification"
    assert sorted(set(rows.y)) == sorted(map(str, values))


def test_decimals_are_numbers(tmp_path):
    amounts = [Decimal(f"{value:.2f}") for value in numbers()]
    table = pa.table({"x": numbers(1), "y": pa.array(amounts, pa.decimal128(9, 2))})
    parquet.write_table(table, tmp_path / "t.parquet")
    rows = take_apart(read_table(tmp_path / "t.parquet"), "y", "auto", None, "t")
    assert rows.task == "regression"
    np.testing.assert_allclose(rows.y, np.array(amounts, dtype=float))


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([[1], [2]], "values of type list"),
        ([{"a": 1}, {"a": 2}], "values of type dict"),
        ([b"a", b"b"], "values of type bytes"),
        ([date(2024, 1, 1), date(2024, 1, 2)], "dates or times"),
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), "dates or times"),
        (pd.to_timedelta([1, 2], "D"), "dates or times"),
    ],
)
def test_what_is_no_target_is_told_by_one_rule(values, names):
    column = pd.Series(list(values) * 30, dtype=None if hasattr(values, "dtype") else object)
    assert names in refused(column)


def test_codes_with_a_leading_zero_are_texts(write):
    lines = [f"{i},{code}" for i, code in enumerate(["1", "01", "007", "12"] * 15)]
    table = read_table(write("\n".join(["x,code", *lines])))
    assert table["code"].tolist() == ["1", "01", "007", "12"] * 15
    assert table["x"].dtype.kind == "i"


@pytest.mark.parametrize("header", ["<id>,y", "[a],b", "{x};y", "<5 km\tshare"])
def test_a_name_may_begin_with_a_bracket(write, header):
    delimiter = next(sign for sign in ",;\t" if sign in header)
    table = read_table(write(f"{header}\n1{delimiter}2\n3{delimiter}4\n"))
    assert list(table.columns) == header.split(delimiter)


def test_a_few_texts_among_numbers_are_remarked_on(write, capsys):
    lines = [*(str(i) for i in range(95)), "unknown", "?", "3 kg", "-", "none yet"]
    read_table(write("\n".join(["x,y", *(f"{i},{cell}" for i, cell in enumerate(lines))])))
    assert capsys.readouterr().out == (
        "Column 'y' is read as strings: 5 values of 100, such as 'unknown', are no numbers.\n"
    )


def test_nested_columns_of_parquet_are_left_out_with_a_remark(tmp_path, capsys):
    table = pa.table(
        {
            "x": numbers(),
            "list": [[1, 2]] * N_ROWS,
            "struct": [{"a": 1}] * N_ROWS,
            "bytes": [b"ab"] * N_ROWS,
            "y": ["a", "b"] * 30,
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").columns) == ["x", "y"]
    assert "Left out 'list', 'struct' and 'bytes'" in capsys.readouterr().out


def test_an_index_named_like_a_column_is_no_second_column(tmp_path):
    frame = pd.DataFrame({"x": [1, 2], "y": [3, 4]}, index=pd.Index([7, 8], name="x"))
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.to_dict("list") == {"x": [1, 2], "y": [3, 4]}


def test_two_columns_of_one_name_in_parquet_are_named(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(TableFileError, match="more than one column 'x'"):
        read_table(tmp_path / "t.parquet")


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "x,y\n" + "\n".join(f"{i},{i % 3}" for i in range(5000))
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    table = read_table(pipe)
    writer.join(timeout=10)
    assert table["x"].tolist() == list(range(5000))


def test_standard_input_is_a_table(tmp_path):
    text = "x,z,y\n" + "\n".join(f"{i},{i * 7 % 5},{'ab'[i % 2]}" for i in range(60))
    command = ["fit", "/dev/stdin", "--target", "y", "--estimator", "logistic", "--json", "--out"]
    code = "from surefoot.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *command, str(tmp_path / "m.skops")],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["n_rows"] == 60


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"), ("+A1", "'+A1"), ("-2+3", "'-2+3"), ("@SUM(A1)", "'@SUM(A1)"), ("\tx", "'\tx"),
        ("-1", "-1"), ("+3.5e2", "+3.5e2"), ("a=b", "a=b"), (-1, -1), (None, None), (True, True),
    ],
)  # fmt: skip
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(value, cell):
    assert as_cell(value) == cell


def test_only_texts_of_a_csv_are_touched(tmp_path):
    table = pd.DataFrame({"prediction": ["=1", "-1", "ok"], "shift": [-0.5, 1.0, np.nan]})
    (tmp_path / "t.csv").write_bytes(table_bytes(table, ".csv"))
    (tmp_path / "t.parquet").write_bytes(table_bytes(table, ".parquet"))
    again = pd.read_csv(tmp_path / "t.csv")
    assert again["prediction"].tolist() == ["'=1", "-1", "ok"]
    np.testing.assert_array_equal(again["shift"], table["shift"])
    assert pd.read_parquet(tmp_path / "t.parquet")["prediction"].tolist() == ["=1", "-1", "ok"]


def test_a_column_that_a_fitted_model_knows_may_be_constant_or_empty(run, write, tmp_path):
    X = pd.DataFrame({"a": numbers(), "b": numbers(1), "c": numbers(2)})
    y = np.where(X["a"] > 0, "yes", "no")
    model = tmp_path / "m.skops"
    save_model(LogisticRegression().fit(X, y), model)
    for column, value in (("b", 1.5), ("c", 0.0)):
        data = write(X.assign(y=y, **{column: value}).to_csv(index=False), "new.csv")
        result = run("report", data, "--target", "y", "--estimator", model, "--json")
        assert result.code == 0, result.err
        assert "lacks" not in result.err


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    table = pd.DataFrame({"a": numbers(), "b": numbers(1), "prediction": "x", "name": "n"})
    table["y"] = np.where(table["a"] > 0, "yes", "no")
    table.to_csv(folder / "t.csv", index=False)
    return folder


def test_a_column_is_kept_once_and_not_beside_one_of_its_name(run, scored):
    model, data, out = scored / "m.skops", scored / "t.csv", scored / "s.csv"
    fit = ["fit", data, "--target", "y", "--estimator", "logistic", "--out", model]
    assert run(*fit).code == 0
    assert "y" not in load_model(model).feature_names_in_
    assert run("score", model, data, "--out", out, "--keep", "name", "--keep", "name").code == 0
    assert list(pd.read_csv(out).columns[:3]) == ["row", "name", "prediction"]
    result = run("score", model, data, "--out", out, "--keep", "prediction")
    assert result.sentence == (
        "--keep prediction has the name of a column that is written: rename it."
    )


def test_a_class_of_one_group_cannot_be_held_out(run, write, tmp_path):
    groups = np.repeat(np.arange(6), 10)
    table = pd.DataFrame(
        {"x": numbers(), "clinic": groups, "y": np.where(groups == 3, "rare", "usual")}
    )
    data = write(table.to_csv(index=False))
    result = run("fit", data, "--target", "y", "--groups", "clinic", "--out", tmp_path / "m.skops")
    assert "Fewer than two classes of 'y' can be held out" in result.err
    assert result.code == 2


@pytest.mark.parametrize("groups", [[], ["--groups", "clinic"]])
def test_a_class_with_one_row_is_learned_from_and_never_held_out(run, write, tmp_path, groups):
    table = pd.DataFrame(
        {"x": numbers(), "clinic": np.repeat(np.arange(6), 10), "y": ["a", "b"] * 30}
    )
    table.loc[25, "y"] = "once"  # of clinic 2
    data, out = write(table.to_csv(index=False)), tmp_path / "m.skops"
    quick = ["--target", "y", "--estimator", "logistic", "--task", "classification", *groups]
    result = run("fit", data, *quick, "--out", out)
    never = 1 if not groups else 10
    few = "1 row is" if not groups else "10 rows are"
    what = "groups" if groups else "rows"
    remark = f"{few} learned from but never held out: too few {what} have 'once'.\n"
    assert (result.code, result.err) == (0, remark)
    sure = load_model(out)
    assert len(sure.never_held_out_) == never
    assert sure.classes_.tolist() == ["a", "b", "once"]


def test_boosting_does_not_stop_early_where_a_class_has_one_row():
    table = pd.DataFrame({"x": numbers(), "y": ["a", "b"] * 30})
    for lone in (False, True):
        if lone:
            table.loc[0, "y"] = "c"
        rows = take_apart(table, "y", "auto", None, "t.csv")
        _, model = model_for(rows, None, "boosting", 0)
        assert model[-1].early_stopping == (False if lone else "auto")


def test_a_wide_table_is_announced_before_the_work_starts(capsys):
    wide = pd.DataFrame({f"c{i}": numbers(i) for i in range(501)}).assign(y=["a", "b"] * 30)
    take_apart(wide, "y", "auto", None, "wide.csv")
    assert "wide.csv has 501 input columns" in capsys.readouterr().err
    take_apart(wide.drop(columns="c0"), "y", "auto", None, "wide.csv")
    assert "input columns" not in capsys.readouterr().err
