"""One promise in `fit`, `report` and `score`; rows in the order of time; columns that are no inputs."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from surefoot.model_files import load


def words_of(sentence):
    """Limits and confidence in a sentence: from "at most" or "its answers" to "confidence"."""
    return re.search(r"(at most|its answers) .* confidence", sentence)[0]


def make_table(n_rows, seed, classes):
    """Rows whose target is hard to predict in the middle, as a class or as a number with a few large errors."""
    draw = np.random.default_rng(seed)
    size, other = draw.normal(size=n_rows), draw.normal(size=n_rows)
    noise = draw.normal(size=n_rows) * np.where(other > 0.5, 1.0, 0.1)
    target = np.where(size + noise > 0, "yes", "no") if classes else (size + noise).round(3)
    return pd.DataFrame({"size": size, "other": other, "y": target})


@pytest.mark.parametrize("classes", [True, False], ids=["classes", "numbers"])
def test_one_table_gets_one_promise_from_all_commands(run, write, tmp_path, classes):
    data = write(make_table(250, 0, classes).to_csv(index=False))
    new = write(make_table(100, 1, classes).to_csv(index=False), "new.csv")
    model, out = tmp_path / "m.skops", tmp_path / "s.csv"
    quick = ["--target", "y", "--estimator", "logistic"]
    fitted = run("fit", data, *quick, "--out", model)
    reported = run("report", data, *quick, "--quick", "--json-rows", "--scores", tmp_path / "r.csv")
    scored = run("score", model, new, "--out", out)
    parts = run("score", model, new, "--out", tmp_path / "parts")
    summary, held_out = json.loads(reported.out), load(model).held_out_
    [promised] = [each for each in summary["verdict"]["sentences"] if "confidence." in each]
    words = words_of(promised)
    assert words_of(fitted.out) == words_of(scored.out.replace("\n", " ")) == words
    assert scored.out.splitlines()[0] == parts.out.splitlines()[0]
    assert "about" in words
    assert "About" in summary["answer"]["about"]
    assert ("count as" in words) == (not classes)
    # The folds are the same, so every held-out row is predicted and judged alike.
    rows = pd.read_csv(tmp_path / "r.csv")
    np.testing.assert_allclose(rows["estimated_error"], held_out.error)
    np.testing.assert_allclose(rows["loss"], held_out.losses)
    asked = json.loads(run("score", model, new, "--out", out, "--json").out)
    assert asked["max_risk"] == summary["numbers"]["max_risk"] <= held_out.losses.mean()
    assert asked["limit"] == pytest.approx(summary["numbers"]["limit"])


def test_training_rows_and_novel_rows_are_counted_and_never_trusted(run, write, tmp_path):
    table = make_table(250, 0, classes=True)
    new = make_table(60, 1, classes=True).assign(size=lambda each: each["size"] + 1000)
    model, out = tmp_path / "m.skops", tmp_path / "s.csv"
    quick = ["--target", "y", "--estimator", "logistic"]
    run("fit", write(table.to_csv(index=False)), *quick, "--out", model)
    mixed = pd.concat([table[:100], new, make_table(200, 2, classes=True)])
    data = write(mixed.to_csv(index=False), "mixed.csv")
    words = run("score", model, data, "--out", out).out
    scores, found = (
        pd.read_csv(out),
        json.loads(run("score", model, data, "--out", out, "--json").out),
    )
    assert scores["known"].tolist() == [True] * 100 + [False] * 260
    assert scores["novel"][100:160].all()
    assert not scores["accepted"][:160].any()
    assert scores["accepted"][160:].any()
    assert found["n_known"] == 100
    assert found["n_novel"] == scores["novel"].sum() > 36  # a tenth of the rows
    assert ", for rows like the training rows." in words
    assert f"{found['n_novel']} are novel (unlike the training rows), and 100 are among" in words
    few = write(make_table(200, 2, classes=True).to_csv(index=False), "few.csv")
    assert "like the training rows." not in run("score", model, few, "--out", out).out


@pytest.fixture(scope="module")
def sales():
    """Rows in the order of their days: half of the target follows a level that wanders slowly."""
    draw = np.random.default_rng(0)
    level = np.cumsum(draw.normal(size=600)) / 8
    table = pd.DataFrame(
        {"size": draw.normal(size=600), "seen": level + 0.1 * draw.normal(size=600)}
    )
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(600), "D")
    table["day"] = days.strftime("%Y-%m-%d")
    table["number"] = 7 + 3 * np.arange(600)
    table["y"] = table["size"] + 3 * np.sin(3 * level) + 0.2 * draw.normal(size=600)
    return table.round(4)


def test_fit_holds_out_later_rows_without_the_column_of_times(run, write, tmp_path, sales):
    shuffled = sales.sample(frac=1, random_state=0)
    model = tmp_path / "m.skops"
    options = ["--target", "y", "--estimator", "knn", "--time", "day", "--drop", "number"]
    result = run("fit", write(shuffled.to_csv(index=False)), *options, "--out", model, "--json")
    assert "range" not in result.err
    told, fitted = json.loads(result.out), load(model)
    assert told["time"] == {"column": "day", "first": "2024-01-01", "last": "2025-08-22"}
    assert fitted.row_order_["time"] == told["time"]
    assert list(fitted.feature_names_in_) == ["size", "seen"]
    assert all(train.max() < test.min() for train, test in fitted.splits_)
    # Held-out rows are numbered in the order of the days.
    np.testing.assert_allclose(fitted.held_out_.truth, sales["y"][fitted.held_out_.rows])
    assert fitted.held_out_.rows.tolist() == list(range(100, 600))
    later = sales.assign(size=sales["size"] + 0.01)
    scores = []
    for left_out in ([], ["day"], ["day", "number", "y"]):
        data = write(later.drop(columns=left_out).to_csv(index=False), "later.csv")
        out = tmp_path / "s.csv"
        result = run("score", model, data, "--out", out)
        assert result.code == 0
        assert "by 'day' up to 2025-08-22" in result.out
        scores.append(pd.read_csv(out))
        assert left_out or run("watch", model, data, "--out", tmp_path / "w.html").code == 0
    pd.testing.assert_frame_equal(scores[0], scores[1])
    pd.testing.assert_frame_equal(scores[0], scores[2])


def test_columns_that_later_rows_leave_are_named(run, write, tmp_path, sales):
    sales = sales[::4]
    data, model = write(sales.to_csv(index=False)), tmp_path / "m.skops"
    options = ["--target", "y", "--estimator", "logistic", "--out", model]
    remarks = run("fit", data, *options).err.splitlines()
    assert remarks[-1] == (
        "The model learns from 'day' (dates) and 'number' (grows or falls with the rows), and `surefoot watch` will "
        "find later rows outside of that range: pass --time COLUMN to test on later rows without this input, or "
        "--drop COLUMN."
    )
    falling = sales.assign(number=-sales["number"], few=np.repeat([0, 1], 75)).drop(columns="day")
    falling = write(falling.to_csv(index=False), "falling.csv")
    assert "from 'number' (grows or falls" in run("fit", falling, *options).err
    dropped = run("fit", data, *options, "--drop", "day", "--drop", "number")
    assert "range" not in dropped.err


def test_random_folds_of_rows_in_order_are_mentioned_beside_the_promise(
    run, write, tmp_path, sales
):
    data, model = (
        write(sales.drop(columns=["day", "number"]).to_csv(index=False)),
        tmp_path / "m.skops",
    )
    quick = ["--target", "y", "--estimator", "knn"]
    fitted = run("fit", data, *quick, "--out", model)
    scored = run("score", model, data, "--out", tmp_path / "s.csv")
    reported = run("report", data, *quick, "--quick", "--out", tmp_path / "r.html")
    start = "The order of the rows matters: the model is off by"
    for each in (fitted, scored, reported):
        assert start in each.out
    # No column is seen to hold times: the user may know one.
    advice = "For later rows, errors and promises may be too low: fit with --time COLUMN.\n"
    assert advice in fitted.out
    assert advice in scored.out
    mixed = sales.sample(frac=1, random_state=0).drop(columns=["day", "number"])
    assert start not in run("fit", write(mixed.to_csv(index=False)), *quick, "--out", model).out


@pytest.mark.parametrize("command", ["fit", "report"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--drop", "dya"], "no column 'dya': is it 'day'?"),
        (["--drop", "y"], "Column 'y' cannot be both --target and --drop."),
        (["--time", "day", "--drop", "day"], "Column 'day' cannot be both --time and --drop."),
        (
            ["--drop", "size", "--drop", "seen", "--drop", "day", "--drop", "number"],
            "no column that",
        ),
        (["--time", "y"], "Column 'y' cannot be both --target and --time."),
    ],
)
def test_a_column_has_one_role(run, write, tmp_path, sales, command, options, words):
    out = tmp_path / ("m.skops" if command == "fit" else "r.html")
    data = write(sales.to_csv(index=False))
    result = run(command, data, "--target", "y", "--task", "regression", *options, "--out", out)
    assert words in result.sentence
    assert not out.exists()


def test_the_limit_of_fit_is_in_the_file_and_kept_by_score(run, write, tmp_path):
    data = write(make_table(400, 0, classes=True).to_csv(index=False))
    new = write(make_table(100, 1, classes=True).to_csv(index=False), "new.csv")
    model, out = tmp_path / "m.skops", tmp_path / "s.csv"
    quick = ["--target", "y", "--estimator", "logistic", "--max-risk", "0.37"]
    run("fit", data, *quick, "--out", model)
    kept = json.loads(run("score", model, new, "--out", out, "--json").out)
    other = json.loads(run("score", model, new, "--out", out, "--max-risk", "0.3", "--json").out)
    assert load(model).promise_.max_risk == kept["max_risk"] == 0.37
    assert other["max_risk"] == 0.3


def test_the_limit_of_a_class_is_kept_with_another_confidence_too(run, write, tmp_path):
    data = write(make_table(400, 0, classes=True).to_csv(index=False))
    model, out = tmp_path / "m.skops", tmp_path / "s.csv"
    quick = ["--target", "y", "--estimator", "logistic"]
    label = str(make_table(400, 0, classes=True)["y"].iloc[0])
    run("fit", data, *quick, "--max-risk", f"{label}=0.4", "--out", model)
    for confidence in ("0.95", "0.9"):
        words = ["--confidence", confidence, "--json"]
        scored = json.loads(run("score", model, data, "--out", out, *words).out)
        assert scored["class_risks"] == {label: 0.4}
    refused = run("fit", data, *quick, "--max-risk", "2", "--out", tmp_path / "n.skops")
    assert refused.code == 2
    assert refused.err.splitlines()[-1].startswith("--max-risk 2 is not a share of wrong answers")
    assert not (tmp_path / "n.skops").exists()
