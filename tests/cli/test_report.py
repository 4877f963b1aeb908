"""`surefoot report`: a page, every row, or JSON; and the old page is kept where a new one fails."""

import gzip
import json
import os
import resource
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from skops.io import dump

from surefoot._tables import table_bytes

QUICK = ["--estimator", "logistic", "--quick"]
HOME = Path(os.environ.get("SUREFOOT_DATA", "nowhere"))


@pytest.fixture(scope="module")
def table(tmp_path_factory, customers):
    path = tmp_path_factory.mktemp("report") / "customers.csv"
    few = customers.drop(columns=["note", "since"])
    few.loc[3:5, "leaves"] = None
    path.write_bytes(table_bytes(few, ".csv"))
    return path


def test_the_page_and_every_row_are_written(run, table, tmp_path):
    page, scores = tmp_path / "page.html", tmp_path / "scores.csv"
    result = run("report", table, "--target", "leaves", *QUICK, "--out", page, "--scores", scores)
    assert result.code == 0
    assert result.err.splitlines() == [
        "Predicting 'leaves' as a class.",
        "3 rows without 'leaves' cannot be evaluated.",
    ]
    rows = pd.read_csv(scores)
    assert result.out.startswith(f"Right {1 - rows['loss'].mean():.0%}".replace("%", " %"))
    assert result.out.splitlines()[-2:] == [f"The page: {page}", f"Every row: {scores}"]
    text = page.read_text()
    assert f"surefoot report {table} --target leaves --estimator logistic --out" in text
    assert "customers.csv" in text
    assert "Columns of the CSV and of the file that --scores writes" in text
    assert "to_frame" not in text


def test_json_is_all_there_is_on_stdout(run, customers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "numbers.csv"
    table.write_bytes(table_bytes(customers[["age", "plan", "spent"]], ".csv"))
    result = run("report", table, "--target", "spent", *QUICK, "--json", "--task", "regression")
    summary = json.loads(result.out)
    assert next(iter(summary)) == "numbers"
    assert summary["numbers"]["n_rows"] == 120
    assert "rows" not in summary
    assert "map" not in summary["regions"]
    assert (summary["task"], summary["target"]) == ("regression", "spent")
    assert summary["data"]["n_rows"] == 120
    assert (result.code, result.err, list(tmp_path.iterdir())) == (0, "", [table])


@pytest.fixture
def fitted(tmp_path, table):
    """A model that knows the first half of the table, and the second half."""
    known = pd.read_csv(table).dropna()
    first, second = known.iloc[::2], known.iloc[1::2]
    path, data = tmp_path / "mine.skops", tmp_path / "new.csv"
    model = LogisticRegression().fit(first[["spent", "age"]], first["leaves"].to_numpy("U3"))
    dump(model, path)
    data.write_bytes(table_bytes(second, ".csv"))
    return model, second, path, data


def test_a_fitted_model_is_not_fitted_again(run, fitted, tmp_path):
    model, rows, path, data = fitted
    scores = tmp_path / "s.csv"
    result = run(
        *(
            "report",
            data,
            "--target",
            "leaves",
            "--estimator",
            path,
            "--scores",
            scores,
            "--json",
            "--quick",
        )
    )
    assert result.code == 0
    assert result.err.splitlines() == [
        "Left out 'plan': unknown to the model.",
        f"{path} is already fitted and is not fitted again: the rows of new.csv must be new to it.",
    ]
    told = pd.read_csv(scores)
    assert (
        told["prediction"].tolist() == model.predict(rows[["spent", "age"]])[told["row"]].tolist()
    )


def test_a_model_that_is_not_fitted_is_fitted_here(run, fitted, tmp_path):
    _, rows, _, _ = fitted
    path, data = tmp_path / "bare.skops", tmp_path / "numbers.csv"
    dump(LogisticRegression(C=0.5), path)
    data.write_bytes(table_bytes(rows[["age", "spent", "leaves"]], ".csv"))
    result = run("report", data, "--target", "leaves", "--estimator", path, "--json", "--quick")
    assert json.loads(result.out)["model"] == "LogisticRegression"
    assert result.err == ""


def test_a_model_that_does_not_fit_the_columns(run, fitted, write):
    *_, path, data = fitted
    few = write("age,leaves\n" + "30,yes\n40,no\n" * 20)
    result = run("report", few, "--target", "leaves", "--estimator", path)
    assert result.sentence == "table.csv lacks 'spent', which the model was fitted on."
    texts = write("age,spent,leaves\n" + "old,much,yes\nyoung,little,no\n" * 20)
    result = run("report", texts, "--target", "leaves", "--estimator", path)
    assert result.sentence == (
        f"{path} cannot predict the rows of table.csv: could not convert string to float: 'much'."
    )
    other = write("age,spent,leaves\n" + "30,9,maybe\n40,8,no\n" * 20)
    result = run("report", other, "--target", "leaves", "--estimator", path)
    assert (
        result.sentence
        == f"{path} knows the classes 'no' and 'yes', but 'leaves' also has 'maybe'."
    )
    result = run("report", data, "--target", "spent", "--estimator", path, "--task", "regression")
    assert result.sentence == f"{path} holds a model for classification, not for regression."


def test_a_model_without_names_must_have_as_many_columns(run, fitted, tmp_path):
    *_, data = fitted
    path = tmp_path / "bare.skops"
    dump(LogisticRegression().fit(np.eye(2), ["no", "yes"]), path)
    result = run("report", data, "--target", "leaves", "--estimator", path)
    assert result.sentence == "The model was fitted on 2 columns, but new.csv has 3."


def test_a_folder_that_may_not_be_written(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, _: path != tmp_path)  # root may write anywhere
    result = run("report", table, "--target", "leaves", "--scores", tmp_path / "s.csv")
    assert result.sentence == f"You have no permission to write to the folder {tmp_path}."


def test_a_page_of_somebody_else_is_not_overwritten_unless_that_is_meant(run, table, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>my thesis</title>")
    report = ("report", table, "--target", "leaves", *QUICK, "--out", page)
    assert run(*report).sentence == (
        f"{page} already exists, and is not what this command writes: name another file, or pass --overwrite."
    )
    assert "my thesis" in page.read_text()
    assert run(*report, "--overwrite").code == 0
    # It is a page of surefoot now, and another option is refused.
    assert run(*report, "--ignore", "it").sentence.startswith("--ignore it is not known")


def test_a_full_disk_leaves_the_old_page(run, table, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("the old page")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, before[1]))
    try:
        result = run("report", table, "--target", "leaves", *QUICK, "--out", page, "--overwrite")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1] == (
        f"{page} could not be written: file too large. The old file is kept."
    )
    assert page.read_text() == "the old page"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_column_that_a_fitted_model_knows_may_be_constant_or_empty(run, write, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0, "yes", "no")
    model = tmp_path / "m.skops"
    dump(LogisticRegression().fit(X, y), model)
    for column, value in (("b", 1.5), ("c", 0.0)):
        data = write(X.assign(y=y, **{column: value}).to_csv(index=False), "new.csv")
        result = run("report", data, "--target", "y", "--estimator", model, "--json", "--quick")
        assert result.code == 0, result.err
        assert "lacks" not in result.err


@pytest.mark.skipif(not (HOME / "tabular").is_dir(), reason="no tables in $SUREFOOT_DATA")
@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "target", "task", "n_columns"),
    [
        ("tabular/classification/german_credit.csv.gz", "target", "classification", 20),
        pytest.param(
            "uci/winequality-red.csv", "quality", "classification", 11, marks=pytest.mark.slow
        ),
    ],
    ids=["german_credit", "wine"],
)
def test_the_target_is_all_that_is_asked_for(run, write, file, target, task, n_columns):
    content = (HOME / file).read_bytes()
    lines = (gzip.decompress(content) if file.endswith(".gz") else content).splitlines(True)
    few = [lines[0], *lines[1 :: len(lines) // 120]]  # whole tables are for the benchmarks
    path = write(b"".join(few))
    result = run("report", path, "--target", target, "--json", "--quick")
    assert result.code == 0
    summary = json.loads(result.out)
    assert (summary["task"], summary["target"]) == (task, target)
    assert (summary["data"]["n_rows"], summary["data"]["n_columns"]) == (len(few) - 1, n_columns)
    assert summary["answer"]["risk"]["surefoot"][-1] == pytest.approx(
        summary["answer"]["overall_risk"]
    )
