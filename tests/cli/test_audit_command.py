"""`surefoot audit`: rows to label, the verdict, and one sentence for files that do not belong together."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import Confidence, NeighborDistance
from surefoot.model_files import load, save
from surefoot.monitoring import audit


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models of 200 rows, and a table of 300 new rows, one of whose columns is called row."""
    folder = tmp_path_factory.mktemp("audited")
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.normal(size=500), "row": random.normal(size=500)})
    kind = np.where(X["age"] + 0.7 * random.normal(size=500) > 0, "yes", "no")
    size = X["age"] + random.normal(size=500)
    models = {
        "kinds": IndividualErrorClassifier(LogisticRegression(), indicators=Confidence()),
        "sizes": IndividualErrorRegressor(LinearRegression(), indicators=NeighborDistance()),
    }
    for (name, sure), y in zip(models.items(), (kind, size), strict=True):
        sure.set_params(random_state=0).fit(X[:200], y[:200])
        save(sure, folder / f"{name}.skops")
    new = X[200:].reset_index(drop=True).assign(name=[f"n{i}" for i in range(300)])
    new.to_csv(folder / "new.csv", index=False)
    pd.DataFrame({"kinds": kind[200:], "sizes": size[200:]}).to_csv(
        folder / "truth.csv", index=False
    )
    return folder


@pytest.fixture
def asked(folder, run, tmp_path):
    """Draw an audit, and fill in its labels."""

    def call(model="kinds", n_labels=80, *options):
        ask, full = tmp_path / "ask.csv", tmp_path / "full.csv"
        result = run(
            *("audit", folder / f"{model}.skops", folder / "new.csv", "--out", ask),
            *("--labels", str(n_labels), *options),
        )
        assert result.code == 0, result.err
        table = pd.read_csv(ask)
        table["label"] = pd.read_csv(folder / "truth.csv")[model].to_numpy()[table["row"]]
        table.to_csv(full, index=False)
        return full

    return call


@pytest.fixture
def verdict(folder, run):
    def call(answers, *options, model="kinds", data="new.csv"):
        files = answers if isinstance(answers, list) else [answers]
        given = [word for file in files for word in ("--answers", file)]
        return run("audit", folder / f"{model}.skops", folder / data, *given, *options)

    return call


def refusal(result):
    """Sentence that a command is refused with, after the remark about a column that the model does not know."""
    assert (result.code, result.out) == (2, "")
    remark, sentence = result.err.splitlines()
    assert remark == "Left out 'name': unknown to the model."
    return sentence


def changed(file, **columns):
    """The file with other columns."""
    table = pd.read_csv(file).assign(**columns)
    table.to_csv(file, index=False)
    return file


def test_the_verdict_is_that_of_the_function(folder, asked, verdict):
    full = asked()
    figures = json.loads(verdict(full, "--json").out)
    table, truth = pd.read_csv(full), pd.read_csv(folder / "truth.csv")["kinds"].to_numpy()
    new = pd.read_csv(folder / "new.csv")[["age", "row"]]
    sure = load(folder / "kinds.skops")
    drawn = audit(sure, new, 80, random_state=0)
    assert table["row"].tolist() == drawn.rows.tolist()
    assert table["draw"].tolist() == list(range(80))
    result = drawn.result(truth[drawn.rows])
    assert [figures["low"], figures["high"]] == pytest.approx(result.interval)
    assert figures["estimate"] == pytest.approx(result.estimate)
    assert figures["low"] <= np.mean(sure.predict(new) != truth) <= figures["high"]
    assert (figures["n_rows"], figures["n_labels"], figures["n_answered"]) == (300, 80, 80)


def test_a_person_sees_all_columns_of_the_row_and_no_estimate(folder, asked):
    table = pd.read_csv(asked())
    new = pd.read_csv(folder / "new.csv")
    assert list(table) == ["draw", "row", "audit", "answers", "label", "age", "row (input)", "name"]
    assert table["name"].tolist() == new["name"][table["row"]].tolist()
    assert json.loads(table["answers"][0]) == ["no", "yes"]


def test_the_verdict_in_words(asked, verdict):
    result = verdict(asked(), "--fail-above", "0.01")
    assert result.code == 3
    first, second, third = result.out.splitlines()
    assert first.startswith("About ")
    assert "of the predictions for the 300 rows of new.csv are wrong (" in first
    assert "90% confidence); " in first
    assert second.startswith("At most 10% of such audits miss the true value")
    assert third == (
        "The promise of at most 1.0% is broken; the probability of a false alarm is at most 0.05."
    )


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("0.9", "is kept; the probability that this is wrong is at most 0.05."),
        ("0.2", "do not decide whether"),
    ],
)
def test_a_promise_that_is_not_broken_exits_with_zero(asked, verdict, limit, words):
    result = verdict(asked(), "--fail-above", limit)
    assert (result.code, words in result.out) == (0, True)


def test_lines_may_be_sorted_and_a_row_answered_once(asked, verdict):
    full = asked(n_labels=400)
    whole = verdict(full).out
    table = pd.read_csv(full).sort_values("row", kind="stable")
    assert table["row"].duplicated().any()
    table.loc[table["row"].duplicated(), "label"] = None
    table.to_csv(full, index=False)
    assert verdict(full).out == whole


def test_rows_without_an_answer_are_told(asked, verdict):
    full = asked()
    labels = pd.read_csv(full)["label"].where(np.arange(80) >= 8)
    n_open = 80 - json.loads(verdict(changed(full, label=labels), "--json").out)["n_answered"]
    assert 0 < n_open <= 8
    words = f"{n_open} of 80 draws have no answer: each counts as the worst case."
    assert words in verdict(full).out


def test_answers_may_be_in_two_files(asked, verdict, tmp_path):
    full = asked()
    whole, table = verdict(full).out, pd.read_csv(full)
    parts = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for part, file in zip((table[:30], table[30:]), parts, strict=True):
        part.to_csv(file, index=False)
    assert verdict(parts).out == whole


def test_what_the_labelling_page_writes_are_answers(asked, verdict, tmp_path):
    full = asked()
    table = pd.read_csv(full)
    once = table[~table["row"].duplicated()]
    lines = once[["row", "label"]].assign(
        kind="label", person="ann", seconds=1.5, strategy="audit", error=None, audit=once["audit"]
    )
    labels = tmp_path / "labels.csv"
    lines.to_csv(labels, index=False)
    assert verdict(labels).out == verdict(full).out
    lines.iloc[3, [1, 2]] = [None, "unsure"]
    lines.to_csv(labels, index=False)
    n_open = (table["row"] == once["row"].iloc[3]).sum()
    assert json.loads(verdict(labels, "--json").out)["n_answered"] == 80 - n_open


def test_a_regressor_is_audited_beyond_a_tolerance(folder, asked, verdict):
    full = asked("sizes", 60, "--tolerance", "1.5")
    result = verdict(full, model="sizes")
    assert "are off by more than 1.5 (" in result.out
    assert pd.read_csv(full)["answers"].isna().all()
    assert "which is not a number" in refusal(verdict(changed(full, label="much"), model="sizes"))


def test_files_that_do_not_belong_together_are_refused(folder, asked, verdict, tmp_path):
    full = asked()
    other = pd.read_csv(folder / "new.csv").assign(age=0.5)
    other.to_csv(folder / "other.csv", index=False)
    sentence = "belongs to another audit: it was not drawn from"
    assert sentence in refusal(verdict(full, data="other.csv"))
    for bad, words in {
        "row": "has an answer to row 999, which was not drawn",
        "audit": "which surefoot audit has not written",
        "label": "has the label 'maybe', but the model knows only 'no' and 'yes'",
    }.items():
        table = pd.read_csv(full)
        table[bad] = {"row": 999, "audit": "audit 80 0", "label": "maybe"}[bad]
        if bad == "row":
            table["label"] = "yes"
        table.to_csv(tmp_path / "bad.csv", index=False)
        result = verdict(tmp_path / "bad.csv")
        assert words in (result.sentence if bad == "audit" else refusal(result))


def test_answers_that_say_nothing_or_two_things_are_refused(asked, verdict, tmp_path):
    table = pd.read_csv(asked())
    bad = tmp_path / "bad.csv"
    table.assign(label=None).to_csv(bad, index=False)
    assert "bad.csv has no answers" in verdict(bad).sentence
    table.drop(columns="audit").to_csv(bad, index=False)
    assert "bad.csv lacks 'audit'" in verdict(bad).sentence
    both = pd.concat([table, table.assign(label=table["label"].map({"yes": "no", "no": "yes"}))])
    both.to_csv(bad, index=False)
    assert "has two different answers to row" in verdict(bad).sentence
    table.assign(row=table["row"] + 0.5).to_csv(bad, index=False)
    assert "are changed: leave them as they are" in verdict(bad).sentence


def test_bad_options_are_refused(folder, run, asked, verdict, tmp_path):
    full = asked()
    known = ("audit", folder / "kinds.skops", folder / "new.csv")
    new = ("--out", tmp_path / "x.csv")
    assert "Pass --out with a file" in run(*known).sentence
    assert "must end in .csv" in run(*known, "--out", tmp_path / "ask.parquet").sentence
    assert "is for the verdict" in run(*known, *new, "--fail-above", "1").sentence
    assert "leave them out where --answers" in verdict(full, "--labels", "5").sentence
    assert "--confidence 1 is not a probability" in verdict(full, "--confidence", "1").sentence
    assert "--fail-above nan must be a number" in verdict(full, "--fail-above", "nan").sentence
    assert run(*known, "--labels", "0", *new).code == 2
    assert not (tmp_path / "x.csv").exists()
