"""`surefoot report --time` and `--quick`: rows are held out later than those that are learned from."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Rows in random order whose target drifts with the day: what held at first no longer does at the end."""
    draw = np.random.default_rng(0)
    n_rows = 400
    day = draw.permutation(n_rows)
    size = draw.normal(size=n_rows)
    slope = np.where(day < n_rows / 2, 3.0, -3.0)
    label = np.where(slope * size + 0.3 * draw.normal(size=n_rows) > 0, "yes", "no")
    table = pd.DataFrame({"size": size, "label": label})
    table["day"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(day, "D")).strftime("%Y-%m-%d")
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    table.to_csv(path, index=False)
    return path, table


def summary_of(run, path, *options):
    quick = ["--estimator", "logistic", "--json-rows", "--quick"]
    done = run("report", path, "--target", "label", *quick, *options)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_each_row_is_predicted_from_earlier_ones(run, visits):
    path, table = visits
    later = summary_of(run, path, "--time", "day")
    held_out = [row["row"] for row in later["rows"]["items"]]
    assert len(held_out) == later["numbers"]["n_held_out"] < 400
    assert table["day"][held_out].min() > table["day"].drop(held_out).max()
    assert "model of earlier rows only" in later["data"]["held_out"]
    assert any("future is like the past" in caveat for caveat in later["how"]["caveats"])
    # After the turn, models of earlier rows are mostly wrong; shuffled folds know a bit of both.
    assert later["numbers"]["error"] > 0.4
    assert "day" not in later["rows"]["columns"]


def test_shuffled_folds_say_that_they_are_and_the_command_is_told_as_it_was_typed(run, visits):
    path, _ = visits
    summary = summary_of(run, path, "--by", "size", "--max-risk", "yes=0.5", "--max-risk", "0.4")
    assert (
        summary["data"]["held_out"] == "Rows were held out in 5 folds, drawn at random (shuffled)."
    )
    assert summary["improvements"] == []  # --quick
    command = summary["how"]["command"]
    assert "--max-risk yes=0.5 --max-risk 0.4" in command
    assert "--by size" in command
    assert "--cost" not in command


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--time", "dya"], "no column 'dya'"),
        (["--time", "label"], "cannot be both --target and --time"),
        (["--time", "day", "--groups", "size"], "--groups or --time, not both"),
        (["--time", "kind"], "neither numbers nor dates: write times as 2026-11-16"),
        (["--time", "american"], "neither numbers nor dates: write times as 2026-11-16"),
        (["--time", "gap"], "missing values"),
        (["--time", "same"], "different times"),
    ],
)
def test_a_column_that_is_no_time_is_told_so(run, visits, tmp_path, options, words):
    _, table = visits
    odd = table.assign(
        kind=np.where(table.index % 2, "left", "right"),
        gap=np.where(table.index == 7, np.nan, 1.0),
        same=5,
        american="11/16/2026",
    )
    odd.to_csv(tmp_path / "odd.csv", index=False)
    done = run("report", str(tmp_path / "odd.csv"), "--target", "label", *options)
    assert done.code == 2
    assert words in done.err
    assert done.err.strip().split("\n")[-1].endswith((".", "?"))
    assert "Traceback" not in done.err
    assert not (tmp_path / "report.html").exists()


def test_a_class_that_comes_only_at_the_end_cannot_be_learned(run, tmp_path):
    table = pd.DataFrame({"x": np.arange(200) % 17, "day": np.arange(200)})
    table["label"] = np.where(table["day"] >= 190, "yes", "no")
    table.to_csv(tmp_path / "late.csv", index=False)
    done = run("report", tmp_path / "late.csv", "--target", "label", "--time", "day")
    assert done.code == 2
    assert "By 'day', the class 'yes' comes only at the end" in done.err


def test_a_check_may_be_left_out(run, visits, tmp_path):
    table = visits[1][:120]
    path = tmp_path / "leaky.csv"
    table.assign(refund=np.where(table["label"] == "yes", 1.5, 0)).to_csv(path, index=False)
    found, ignored = (
        [item["code"] for item in summary_of(run, path, *options)["checks"]["items"]]
        for options in ([], ["--ignore", "leak"])
    )
    assert "leak" in found
    assert ignored == [kind for kind in found if kind != "leak"]
