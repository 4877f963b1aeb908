"""Runs that are stopped, at whatever moment, go on where they were and end with the same bytes."""

import json
import pickle
import resource
import subprocess
import sys

import pandas as pd
import pytest

from surefoot.scoring import score_table

ROWS = 20  # in a part

# Forks a process that scores, and kills it as soon as so many parts are noted; then scores the rest.
KILLED = """
import os, pickle, random, signal, sys, time
from surefoot.scoring import score_table
sure, source, out = pickle.load(open(sys.argv[1], "rb")), sys.argv[2], sys.argv[3]
draw = random.Random(0)
for n_lines in (0, 3, 3, 5, 9, 13):
    child = os.fork()
    if child == 0:
        score_table(sure, source, out, rows_per_part=20)
        os._exit(0)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        record = os.path.join(out, "_manifest.jsonl")
        if n_lines == 0 or os.path.exists(record) and open(record, "rb").read().count(b"\\n") > n_lines:
            break
        time.sleep(0.0005)
    time.sleep(0.01 * draw.random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(len([name for name in os.listdir(out) if name.startswith("part")]) if os.path.isdir(out) else 0)
score_table(sure, source, out, rows_per_part=20)
"""


class StoppedError(Exception):
    pass


def stopping(n_parts):
    """Function for `progress` that stops the run when so many parts are written."""
    seen = []

    def show(*step):
        seen.append(step)
        if len(seen) > n_parts:
            raise StoppedError

    return show


@pytest.fixture(scope="module")
def source(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "rows.parquet"
    rows.to_parquet(path, index=False, row_group_size=33)
    return path


@pytest.fixture(scope="module")
def whole(classifier, source, tmp_path_factory):
    """Folder of a run that was not stopped."""
    folder = tmp_path_factory.mktemp("whole") / "scores"
    score_table(classifier, source, folder, rows_per_part=ROWS)
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def half_done(sure, source, out, n_parts=4):
    with pytest.raises(StoppedError):
        score_table(sure, source, out, rows_per_part=ROWS, progress=stopping(n_parts))
    assert len(list(out.glob("part-*.parquet"))) == n_parts
    return out


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bytes(
    classifier, source, whole, tmp_path
):
    (tmp_path / "sure").write_bytes(pickle.dumps(classifier))
    command = [sys.executable, "-c", KILLED, tmp_path / "sure", source, tmp_path / "out"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    n_parts = [int(line) for line in done.stdout.split()]
    assert len(n_parts) == 6
    assert n_parts == sorted(n_parts)  # nothing is lost
    assert any(0 < count < 15 for count in n_parts)
    assert contents(tmp_path / "out") == contents(whole)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_run_that_was_stopped_goes_on_behind_its_last_part(classifier, rows, tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    rows.to_parquet(path, index=False) if kind == "parquet" else rows.to_csv(path, index=False)
    score_table(classifier, path, tmp_path / "whole", rows_per_part=ROWS)
    out = half_done(classifier, path, tmp_path / "out")
    before = {name: (out / name).stat().st_mtime_ns for name in contents(out) if "part" in name}
    summary = score_table(classifier, path, out, rows_per_part=ROWS)
    assert (summary["n_earlier"], summary["n_rows"]) == (4 * ROWS, 300)
    assert contents(out) == contents(tmp_path / "whole")
    assert before == {name: (out / name).stat().st_mtime_ns for name in before}
    again = score_table(classifier, path, out, rows_per_part=ROWS)
    assert again == {**summary, "n_earlier": 300}


def test_a_part_that_was_cut_is_scored_again(classifier, source, whole, tmp_path):
    out = half_done(classifier, source, tmp_path / "out")
    part = out / "part-000002.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    (out / ".surefoot-half").write_bytes(b"half a part")
    score_table(classifier, source, out, rows_per_part=ROWS)
    assert contents(out) == contents(whole)


@pytest.mark.parametrize("cut", [1, 20, 400])
def test_a_record_that_was_cut_costs_parts_and_no_more(classifier, source, whole, tmp_path, cut):
    out = half_done(classifier, source, tmp_path / "out")
    record = out / "_manifest.jsonl"
    record.write_bytes(record.read_bytes()[:-cut])
    assert score_table(classifier, source, out, rows_per_part=ROWS)["n_earlier"] < 80
    assert contents(out) == contents(whole)


def test_a_record_without_its_first_line_is_refused(classifier, source, tmp_path):
    out = half_done(classifier, source, tmp_path / "out")
    record = out / "_manifest.jsonl"
    record.write_bytes(record.read_bytes()[:30])
    before = contents(out)
    with pytest.raises(ValueError, match=r"_manifest.jsonl is damaged: name another folder"):
        score_table(classifier, source, out, rows_per_part=ROWS)
    assert contents(out) == before


def test_another_model_source_or_option_is_refused(classifier, regressor, source, rows, tmp_path):
    out = half_done(classifier, source, tmp_path / "out")
    before = contents(out)
    refused = {
        "scores of another model": (regressor, source, ROWS),
        "scores with other options": (classifier, source, ROWS + 1),
    }
    for words, (sure, path, size) in refused.items():
        with pytest.raises(ValueError, match=f"^{out} has {words}: name another folder"):
            score_table(sure, path, out, rows_per_part=size)
    rows[::-1].to_parquet(tmp_path / "other.parquet")
    rows.to_parquet(tmp_path / source.name, index=False)  # of the same name
    for path in (tmp_path / "other.parquet", tmp_path / source.name):
        with pytest.raises(ValueError, match="scores of another table, or of this one before it"):
            score_table(classifier, path, out, rows_per_part=ROWS)
    assert contents(out) == before


def test_a_folder_whose_parts_are_all_cut_still_belongs_to_its_model(
    classifier, regressor, source, whole, tmp_path
):
    out = half_done(classifier, source, tmp_path / "out", n_parts=1)
    (out / "part-000000.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match="scores of another model"):
        score_table(regressor, source, out, rows_per_part=ROWS)
    score_table(classifier, source, out, rows_per_part=ROWS)
    assert contents(out) == contents(whole)


def test_a_run_that_wrote_no_part_binds_nobody(classifier, regressor, source, tmp_path):
    half_done(regressor, source, tmp_path / "out", n_parts=0)
    assert score_table(classifier, source, tmp_path / "out")["n_rows"] == 300


def test_a_folder_of_other_things_is_refused(classifier, source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letters.txt").touch()
    with pytest.raises(ValueError, match=r"out has 'letters.txt' and no scores: name an empty"):
        score_table(classifier, source, tmp_path / "out")
    with pytest.raises(ValueError, match=r"rows.parquet, which is read: name another file"):
        score_table(classifier, source, source)
    with pytest.raises(ValueError, match=r"letters.txt is a file: name a folder for the parts\."):
        score_table(classifier, source, tmp_path / "out" / "letters.txt")
    with pytest.raises(ValueError, match=r"There is no folder .*/no to make out in\."):
        score_table(classifier, source, tmp_path / "no" / "out")
    inside = source.parent / "out"
    with pytest.raises(ValueError, match=r"out is in .*, which is read: write it elsewhere\."):
        score_table(classifier, source.parent, inside)
    assert not inside.exists()


def test_two_runs_do_not_write_to_one_folder(classifier, source, whole, tmp_path):
    out, sentences = tmp_path / "out", []

    def run_another(*_):
        with pytest.raises(ValueError, match=r"^Another run is writing to .*out: wait") as caught:
            score_table(classifier, source, out, rows_per_part=ROWS)
        sentences.append(str(caught.value))

    score_table(classifier, source, out, rows_per_part=ROWS, progress=run_another)
    assert len(sentences) == 16
    assert contents(out) == contents(whole)


def test_a_full_disk_leaves_the_finished_parts(classifier, source, whole, tmp_path):
    out = half_done(classifier, source, tmp_path / "out")
    before = contents(out)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))  # the record fits, a part does not
    try:
        with pytest.raises(OSError, match=r"part-000004\.parquet"):
            score_table(classifier, source, out, rows_per_part=ROWS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert contents(out) == before
    assert len(pd.read_parquet(out)) == 4 * ROWS
    score_table(classifier, source, out, rows_per_part=ROWS)
    assert contents(out) == contents(whole)


def test_the_record_tells_the_model_the_source_the_options_and_the_parts(whole, source):
    head, *parts, end = map(json.loads, (whole / "_manifest.jsonl").read_text().splitlines())
    assert head["source"] == str(source)
    assert head["options"]["rows_per_part"] == ROWS
    assert [part["part"] for part in parts] == sorted(p.name for p in whole.glob("*.parquet"))
    assert sum(part["n_rows"] for part in parts) == 300
    assert end == {"complete": True}
