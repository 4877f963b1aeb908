"""Options that name classes and columns: `--max-risk yes=0.2`, `--cost "yes->no=10"`, `--by city`."""

import json

import numpy as np
import pandas as pd
import pytest

from surefoot.abstention import Promise
from surefoot.model_files import load


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame({"a": rng.normal(size=n), "city": rng.choice(["Graz", "Lyon"], n)})
    frame["y"] = np.where(frame["a"] + 0.5 * rng.normal(size=n) > 0.6, "yes", "no")
    path = tmp_path_factory.mktemp("classes") / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(table, command):
    """A model that was fitted with costs."""
    path = table.with_name("model.skops")
    options = ["--target", "y", "--estimator", "logistic", "--cost", "yes->no=10"]
    command("fit", table, *options, "--out", path)
    return path


def test_fit_keeps_the_costs(model):
    sure = load(model)
    np.testing.assert_array_equal(sure.loss, [[0, 1], [10, 0]])
    wrong = sure.held_out_.prediction != sure.held_out_.truth
    by_hand = wrong * np.where(sure.held_out_.truth == "yes", 10, 1)
    np.testing.assert_array_equal(sure.held_out_.losses, by_hand)


def test_score_promises_costs_of_a_class_and_of_all_rows(run, table, model, tmp_path):
    out = tmp_path / "s.csv"
    limits = ["--max-risk", "yes=5", "--max-risk", "2"]
    result = run("score", model, table, "--out", out, *limits, "--json")
    summary = json.loads(result.out)
    promise = Promise.from_held_out(load(model).held_out_, {"yes": 5, None: 2})
    assert (summary["max_risk"], summary["class_risks"]) == (2, {"yes": 5})
    assert summary["limit"] == promise.threshold
    assert promise.kept
    assert pd.read_csv(out)["accepted"].sum() == summary["n_accepted"]
    words = run("score", model, table, "--out", out, *limits).out
    limits = "its answers cost at most about 2 on average, and the answered rows that are “yes” cost at most about 5"
    assert f": {limits} on average, with 95 % confidence." in words


def test_score_says_which_class_has_too_few_rows(run, table, model, tmp_path):
    result = run("score", model, table, "--out", tmp_path / "s.csv", "--max-risk", "yes=0.01")
    assert (
        "cannot promise mean cost of “yes” at most about 0.01 with a confidence of 0.95. The class"
        in result.err
    )
    assert result.out.startswith("0 of 240 rows can be trusted: mean cost of “yes” at most")


def test_a_report_takes_classes_costs_and_columns(run, table):
    options = [
        "--target",
        "y",
        "--estimator",
        "logistic",
        "--task",
        "classification",
        "--json",
        "--quick",
    ]
    given = ["--cost", "yes->no=4", "--max-risk", "yes=3", "--by", "city", "--by", "a"]
    summary = json.loads(run("report", table, *options, *given).out)
    assert summary["unit"] == "cost"
    assert {one["column"] for one in summary["slices"]} == {"city", "a"}
    assert summary["answer"]["promises"][-1]["by_class"] == [{"label": "yes", "max_risk": 3}]
    command = summary["how"]["command"]
    assert "--max-risk yes=3 --cost 'yes->no=4' --by city --by a" in command


def test_a_column_that_is_no_input_may_be_compared(run, write):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "clinic": np.arange(80) // 8})
    frame["y"] = np.where(frame["x"] > 0, "b", "a")
    frame.loc[3, "y"] = None  # a row without a target is in no group
    path = write(frame.to_csv(index=False))
    options = [
        "--target",
        "y",
        "--estimator",
        "logistic",
        "--groups",
        "clinic",
        "--json",
        "--quick",
    ]
    summary = json.loads(run("report", path, *options, "--by", "clinic").out)
    assert sum(group["n_rows"] for group in summary["slices"][0]["groups"]) == 79


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--max-risk", "0.1", "--max-risk", "0.2"],
            "--max-risk limits the risk of all rows twice",
        ),
        (
            ["--max-risk", "yes=0.1", "--max-risk", "yes=0.2"],
            "--max-risk limits the risk of 'yes' tw",
        ),
        (["--max-risk", "yes"], "--max-risk yes has no number: write it as 0.05, or yes=0.2 for a"),
        (["--max-risk", "yes=nan"], "--max-risk yes=nan has no number"),
        (["--max-risk", "yes=2"], "--max-risk 2 is not a share of wrong answers"),
        (
            ["--max-risk", "maybe=0.2"],
            "--max-risk names the class 'maybe': there are 'no' and 'yes'.",
        ),
        (["--cost", "yes->no"], "--cost yes->no has no number: write it as yes->no=10: true class"),
        (["--cost", "yes=10"], "--cost yes=10 has no arrow: write it as yes->no=10: true class"),
        (["--cost", "yes->maybe=10"], "--cost names the class 'maybe': there are 'no' and 'yes'."),
        (["--cost", "yes->no=-1"], "--cost yes->no=-1 must be 0 or a number from 1e-38 to 1e+38"),
        (
            ["--cost", "yes->yes=1"],
            "--cost yes->yes=1 is about a right answer, which costs nothing.",
        ),
        (["--cost", "yes->no=1", "--cost", "yes->no=2"], "--cost yes->no=2 is given twice"),
        (["--cost", "yes->no=0", "--cost", "no->yes=0"], "With these --cost no mistake costs any"),
        (["--cost", "yes->no=2", "--max-risk", "0"], "--max-risk 0 is not a mean cost: it must"),
        (["--by", "citi"], "table.csv has no column 'citi': is it 'city'?"),
        (["--by", "y"], "--by y is the target: name another column, whose groups are compared."),
    ],
)
def test_one_sentence_for_options_that_make_no_sense(run, table, options, sentence):
    result = run("report", table, "--target", "y", "--task", "classification", *options)
    assert result.sentence.startswith(sentence)


@pytest.mark.parametrize("option", [["--cost", "yes->no=2"], ["--max-risk", "yes=0.2"]])
def test_a_number_has_no_classes(run, table, option):
    result = run("report", table, "--target", "a", "--task", "regression", *option)
    assert result.sentence.startswith(f"{option[0]} {option[1]} names")
    assert "a number is predicted" in result.sentence


def test_a_name_may_hold_an_arrow_or_an_equals_sign(run, write, tmp_path):
    labels = np.resize(["a->b", "c", "d=1"], 60)
    data = write(pd.DataFrame({"x": np.arange(60) % 7, "y": labels}).to_csv(index=False))
    out = tmp_path / "m.skops"
    fit = ["fit", data, "--target", "y", "--estimator", "knn", "--out", out]
    assert run(*fit, "--cost", "a->b->c=3", "--cost", "c->d=1=5").code == 0
    np.testing.assert_array_equal(load(out).loss, [[0, 3, 1], [1, 0, 5], [1, 1, 0]])
    assert "names the class 'a': there are" in run(*fit, "--cost", "a->c=3").err
