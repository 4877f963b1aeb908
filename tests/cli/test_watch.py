"""`surefoot watch`: the verdict, the page, JSON, exit codes, and one sentence for what is wrong."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.model_files import save


def make_rows(n_rows, seed, first_day="2026-11-02"):
    """Rows of three weeks, a class and a number to predict; the third week has three rows."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    days = np.r_[np.arange(n_rows - 3) % 14, 14, 15, 20]
    table["day"] = pd.Timestamp(first_day) + pd.to_timedelta(days, "D")
    table["wrong"] = np.where(table["a"] + rng.normal(size=n_rows) > 0, "yes", "no")
    table["size"] = 10 * table["a"] + rng.normal(size=n_rows)
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    make_rows(203, 1).to_parquet(folder / "new.parquet")
    make_rows(203, 1).to_csv(folder / "new.csv", index=False)
    old = make_rows(200, 0)
    models = {
        "wrong": IndividualErrorClassifier(LogisticRegression(), random_state=0),
        "size": IndividualErrorRegressor(LinearRegression(), random_state=0),
    }
    for target, model in models.items():
        fitted = model.fit(old[["a", "b"]], old[target].to_numpy())
        save(fitted, folder / f"{target}.skops")
    return folder


def test_the_first_sentence_is_a_verdict(run, folder, tmp_path):
    page = tmp_path / "watch.html"
    result = run("watch", folder / "wrong.skops", folder / "new.parquet", "--out", page)
    assert result.code == 0
    first, *_, last = result.out.splitlines()
    assert first.startswith("The inputs give no sign of a higher error: ")
    assert " if only the inputs changed), " in first
    assert first.endswith("would not be visible here; label 100 rows to be sure.")
    ask = f"surefoot audit {folder / 'wrong.skops'} {folder / 'new.parquet'} --labels 100 --out ask.csv"
    assert result.out.splitlines()[1] == f"To draw these rows: {ask}"
    assert last == f"Page: {page}"
    html = page.read_text()
    assert "Is it still as good?" in html
    assert "new.parquet" in html


def test_json_has_every_period_and_a_reason_where_there_is_no_figure(run, folder):
    names = ("new.parquet", "new.csv")
    command = ["watch", folder / "wrong.skops", "--time", "day", "--json"]
    one, other = (run(*command[:2], folder / name, *command[2:]) for name in names)
    summary = json.loads(one.out)
    assert [period["name"] for period in summary["periods"]] == [
        f"week {week} of 2026" for week in (45, 46, 47)
    ]
    assert [period["n_rows"] for period in summary["periods"]] == [102, 98, 3]
    first, _, last = summary["periods"]
    assert first["low"] < first["estimate"] < first["high"]
    assert (last["estimate"], last["low"]) == (None, None)
    assert last["reason"] == "There are 3 new rows only, and an estimate needs at least 20."
    headline = f"No error can be estimated in week 47 of 2026. {last['reason']}"
    assert summary["verdict"]["headline"].startswith(headline)
    other_summary = json.loads(other.out)
    assert other_summary["periods"][0]["n_answered"] == first["n_answered"]
    assert other_summary["overall"]["estimate"] == pytest.approx(summary["overall"]["estimate"])


def test_the_exit_code_is_3_where_a_lower_end_is_above_the_limit(run, folder):
    command = ["watch", folder / "wrong.skops", folder / "new.parquet", "--json", "--fail-above"]
    low = json.loads(run(*command, "0.9").out)["overall"]["low"]
    assert run(*command, str(low + 0.001)).code == 0
    above = run(*command, str(low - 0.001))
    assert above.code == 3
    assert json.loads(above.out)["verdict"]["alarms"] == ["all rows"]


def test_true_values_in_the_file_are_measured(run, folder, write):
    old, new, model = make_rows(200, 0), make_rows(203, 1), folder / "fitted.skops"
    table = write(old[["a", "b", "wrong"]].to_csv(index=False), "old.csv")
    fitted = run("fit", table, "--target", "wrong", "--estimator", "logistic", "--out", model)
    assert fitted.code == 0
    turned = new.assign(wrong=new["wrong"].map({"yes": "no", "no": "yes"}))
    path = write(turned.to_csv(index=False), "turned.csv")
    result = run("watch", model, path, "--fail-above", "0.5", "--json")
    measured = json.loads(result.out)["overall"]["measured"]
    guess = np.where(new["a"] > 0, "yes", "no")  # about what the model predicts
    assert measured["value"] == pytest.approx((guess != turned["wrong"]).mean(), abs=0.06)
    assert json.loads(result.out)["verdict"]["headline"].startswith(
        "The labels show an error above the limit of 50 %"
    )
    assert result.code == 3
    bare = write(turned.drop(columns="wrong").to_csv(index=False), "bare.csv")
    silent = run("watch", model, bare, "--fail-above", "0.5")
    assert silent.code == 0
    assert silent.out.startswith("The inputs give no sign of an error above the limit of 50 %")
    named = run("watch", folder / "wrong.skops", path, "--target", "wrong", "--fail-above", "0.5")
    assert named.code == 3


def test_strange_true_values_are_one_sentence(run, folder, write):
    table = make_rows(60, 3)
    path = write(table.assign(wrong="perhaps", size="large").to_csv(index=False), "strange.csv")
    assert run("watch", folder / "wrong.skops", path, "--target", "wrong").sentence == (
        f"Column 'wrong' of {path} holds 'perhaps', but the model knows only 'no' and 'yes'."
    )
    result = run("watch", folder / "size.skops", path, "--target", "size")
    assert (result.code, result.out) == (2, "")  # a remark on the promise comes first
    sentence = f"Column 'size' of {path} holds true values that are no numbers"
    assert result.err.splitlines()[-1].startswith(sentence)
    assert run("watch", folder / "wrong.skops", path, "--target", "truth").sentence == (
        f"{path} lacks 'truth', which has the true values."
    )


def test_a_regressor_is_told_in_units_of_the_target(run, folder):
    result = run(
        "watch", folder / "size.skops", folder / "new.csv", "--time", "day", "--every", "month"
    )
    first = result.out.splitlines()[0]
    assert first.startswith("The inputs give no sign of a higher error: mean error ")
    assert " estimated in November 2026 (" in first
    assert "%" not in first


def test_rows_unlike_any_seen_get_a_reason_and_no_figure(run, folder, write):
    far = make_rows(60, 2).assign(a=100.0)
    path = write(far.to_csv(index=False), "far.csv")
    result = run("watch", folder / "wrong.skops", path, "--fail-above", "0.1")
    assert result.code == 0
    assert result.out.startswith(
        "Nearly all of the rows lie outside of the training data, most in “a”. Their error cannot be estimated"
    )


def test_answers_to_an_audit_stand_beside_the_estimate(run, folder, tmp_path):
    ask, page = tmp_path / "ask.csv", tmp_path / "watch.html"
    both = [folder / "wrong.skops", folder / "new.parquet"]
    assert run("audit", *both, "--labels", "40", "--out", ask).code == 0
    asked = pd.read_csv(ask)
    truth = make_rows(203, 1)["wrong"]
    asked["label"] = truth[asked["row"]].to_numpy()
    asked.to_csv(ask, index=False)
    audit = json.loads(run("audit", *both, "--answers", ask, "--confidence", "0.95", "--json").out)
    result = run("watch", *both, "--answers", ask, "--out", page, "--json")
    shown = json.loads(result.out)["audit"]
    assert [shown[name] for name in ("estimate", "low", "high")] == [
        audit[name] for name in ("estimate", "low", "high")
    ]
    assert 'data-test="audit"' in page.read_text()
    asked.assign(label="perhaps").to_csv(ask, index=False)
    strange = run("watch", *both, "--answers", ask)
    assert (strange.code, strange.out) == (2, "")
    assert "'perhaps', but the model knows only 'no' and 'yes'" in strange.err.splitlines()[-1]


def test_times_beside_answers_are_read_as_without_them(run, folder, write, tmp_path):
    table, ask = make_rows(60, 3), tmp_path / "ask.csv"
    for day, code in (("2026-11-16", 0), ("16.11.2026", 2)):
        days = table["day"].astype(str).where(table.index != 5, day)
        new = write(table.assign(day=days)[["a", "b", "day"]].to_csv(index=False), "new.csv")
        ask.unlink(missing_ok=True)
        assert run("audit", folder / "wrong.skops", new, "--labels", "9", "--out", ask).code == 0
        pd.read_csv(ask).assign(label="no").to_csv(ask, index=False)
        command = ["watch", folder / "wrong.skops", new, "--time", "day", "--json"]
        one, other = run(*command), run(*command, "--answers", ask)
        assert (one.code, other.code) == (code, code)
        if code == 0:
            assert json.loads(one.out)["periods"] == json.loads(other.out)["periods"]
    assert other.err.splitlines()[-1].startswith("Row 5 has '16.11.2026' in the column 'day' of ")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--every", "day"], "--every needs --time COLUMN."),
        (["--out", "watch.txt"], "watch.txt must end in .html."),
        (["--fail-above", "10"], "--fail-above 10 is never passed: it is a share of wrong answers, such as 0.1."),
        (["--fail-above", "nan"], "--fail-above nan is no error: it is 0 or more."),
        (["--time", "when"], "{new} lacks 'when', which has the times."),
        (["--time", "a"], "Column 'a' of {new} holds numbers: periods need dates, such as 2026-11-16."),
    ],
    ids=["every", "page", "share", "nan", "column", "numbers"],
)  # fmt: skip
def test_mistakes_are_one_sentence(run, folder, options, sentence):
    new = folder / "new.parquet"
    assert run("watch", folder / "wrong.skops", new, *options).sentence == sentence.format(new=new)


def test_tables_without_times_or_of_standard_input_are_one_sentence(run, folder, write):
    blank = write("a,b,day\n1,2,\n3,4,\n", "blank.csv")
    assert run("watch", folder / "wrong.skops", blank, "--time", "day").sentence == (
        f"Column 'day' of {blank} has no times: every row lacks one."
    )
    result = run("watch", folder / "wrong.skops", "-")
    assert result.sentence == "Standard input is not read as a stream: name a table."
