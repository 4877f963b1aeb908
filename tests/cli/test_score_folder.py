"""`surefoot score --out FOLDER`, and `--sample`: tables of any size at the command line."""

import json
import resource

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory, customers):
    folder = tmp_path_factory.mktemp("parts")
    table = customers.drop(columns=["note", "since"])
    table.to_csv(folder / "table.csv", index=False)
    (folder / "big").mkdir()
    table[:50].to_parquet(folder / "big" / "a.parquet")
    table[50:].to_parquet(folder / "big" / "b.parquet")
    return folder


@pytest.fixture(scope="module")
def model(folder, command):
    path = folder / "leaves.skops"
    options = ["--target", "leaves", "--estimator", "logistic", "--out", path]
    command("fit", folder / "table.csv", *options)
    return path


def test_a_folder_has_the_scores_of_one_file(run, folder, model, tmp_path):
    one = run("score", model, folder / "table.csv", "--out", tmp_path / "s.parquet")
    parts = run(
        *("score", model, folder / "big", "--out", tmp_path / "scores", "--keep", "leaves"),
        *("--jobs", "1"),
    )
    assert (one.code, parts.code) == (0, 0)
    scores = pd.read_parquet(tmp_path / "scores")
    assert list(scores)[:3] == ["row", "leaves", "prediction"]
    pd.testing.assert_frame_equal(
        scores.drop(columns="leaves"), pd.read_parquet(tmp_path / "s.parquet"), check_dtype=False
    )
    first, place, speed = parts.out.splitlines()
    assert first == one.out.splitlines()[0]
    assert place == f"Every row: {tmp_path / 'scores'}"
    mean = scores["estimated_error"].mean()
    assert speed.startswith(f"Mean estimated error: {mean:.4g}. 120 rows; this run took ")
    assert speed.endswith(" rows per second.")


def test_the_same_command_again_has_nothing_to_do(run, folder, model, tmp_path):
    command = ["score", model, folder / "table.csv", "--out", tmp_path / "scores"]
    found = json.loads(run(*command, "--json").out)
    assert (found["n_rows"], found["n_earlier"], found["n_parts"]) == (120, 0, 1)
    again = json.loads(run(*command, "--json").out)
    assert again["n_earlier"] == 120
    assert again["estimated_error"] == found["estimated_error"]
    words = run(*command).out.splitlines()[-1]
    assert "120 rows, 120 of them by an earlier run; this run took 0." in words
    assert "per second" not in words


RISK = ["--max-risk", "0.5"]  # it can be promised: no remark on that


def test_mistakes_are_one_sentence(run, folder, model, tmp_path):
    out = tmp_path / "scores"
    inside = folder / "big" / "scores"
    assert run("score", model, folder / "big", "--out", inside).sentence == (
        f"{inside} is in {folder / 'big'}, which is read: write it elsewhere."
    )
    assert run("score", model, "-", "--out", out).sentence.startswith("Standard input is read once")
    assert run("score", model, folder / "big", "--out", out, "--keep", "novel").sentence == (
        "--keep novel has the name of a column that is written: rename it."
    )
    assert run(
        "score", model, folder / "big", "--out", tmp_path / "no" / "scores", *RISK
    ).sentence == (f"There is no folder {tmp_path / 'no'} to make scores in.")


def test_a_full_disk_is_told_with_the_file(run, folder, model, tmp_path):
    out = tmp_path / "scores"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        result = run("score", model, folder / "big", "--out", out, *RISK)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert result.sentence == (
        f"{out / 'part-000000.parquet'} could not be written: file too large. Finished parts stay, and the same "
        "command resumes after them."
    )
    assert run("score", model, folder / "big", "--out", out).code == 0


def test_a_sample_is_drawn_at_random_and_named(run, folder, tmp_path):
    out = tmp_path / "m.skops"
    options = ["--target", "leaves", "--estimator", "logistic", "--json", "--out", out]
    result = run("fit", folder / "table.csv", *options, "--sample", "80")
    assert "\n80 of the 120 rows of table.csv are used, drawn at random.\n" in result.err
    assert json.loads(result.out)["n_rows"] == 80


def test_tables_beyond_the_memory_are_noticed_before_they_are_read(
    run, folder, model, tmp_path, monkeypatch
):
    monkeypatch.setattr("surefoot._tables._files.free_memory", lambda: 5000.0)
    out = tmp_path / "m.skops"
    result = run("fit", folder / "big", "--target", "leaves", "--out", out)
    assert result.sentence.startswith("big has about 120 rows, which need about ")
    assert "GB of memory where 5e-06 GB are free: pass --sample" in result.sentence
    result = run("report", folder / "table.csv", "--target", "leaves", "--json")
    assert result.sentence.endswith(" for that many rows at random.")
    result = run("score", model, folder / "big", "--out", tmp_path / "s.csv")
    assert result.sentence.endswith(
        f"name a folder instead of {tmp_path / 's.csv'}, and the rows are scored part by part."
    )
    assert run("score", model, folder / "big", "--out", tmp_path / "scores").code == 0


def test_a_sample_needs_a_table(run):
    assert run("report", "--sample", "50").sentence == "--sample draws rows of a table: name one."
