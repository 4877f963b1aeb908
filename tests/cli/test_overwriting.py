"""Files that surefoot has not written, inputs under any name, and its own output of an earlier run."""

import os
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.linear_model import LogisticRegression
from skops.io import dump

QUICK = ("--estimator", "logistic", "--quick")
PREDICTED = ("--target", "y", "--prediction", "p")
REFUSED = (
    "already exists, and is not what this command writes: name another file, or pass --overwrite."
)


def make_table(n_rows=400):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n_rows)
    y = x + rng.normal(size=n_rows) > 0
    table = pd.DataFrame({"id": np.arange(n_rows) * 7, "x": x, "z": rng.normal(size=n_rows)})
    return table.assign(y=np.where(y, "yes", "no"), p=np.where(x > 0, "yes", "no"))


@pytest.fixture(scope="module")
def made(tmp_path_factory, command):
    """A table in CSV and Parquet, and a model that judges its predictions."""
    folder = tmp_path_factory.mktemp("made")
    make_table().to_csv(folder / "train.csv", index=False)
    make_table().to_parquet(folder / "train.parquet", index=False)
    command("fit", folder / "train.csv", *PREDICTED, "--out", folder / "m.skops")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """The same files, which a test may lose."""
    return shutil.copytree(made, tmp_path / "files")


COMMANDS = {
    "report": ("report", "train.csv", *PREDICTED, *QUICK[2:], "--out", "out.html"),
    "report --scores csv": ("report", "train.csv", *PREDICTED, "--json", "--scores", "out.csv"),
    "report --scores parquet": (
        *("report", "train.csv", *PREDICTED, "--json", "--scores", "out.parquet"),
    ),
    "fit": ("fit", "train.csv", *PREDICTED, "--out", "out.skops"),
    "score csv": ("score", "m.skops", "train.csv", "--keep", "id", "--out", "out.csv"),
    "score parquet": ("score", "m.skops", "train.csv", "--out", "out.parquet"),
    "watch": ("watch", "m.skops", "train.csv", "--out", "out.html"),
    "audit": ("audit", "m.skops", "train.csv", "--labels", "5", "--out", "out.csv"),
}
every_command = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)


def write_foreign(path):
    """A file of the user's with this ending, as it could be of value."""
    if path.suffix == ".html":
        path.write_text("<!doctype html><title>my thesis</title>")
    elif path.suffix == ".csv":
        path.write_text("row,prediction,mine\n1,yes,7\n")
    elif path.suffix == ".parquet":
        parquet.write_table(pa.table({"row": [1], "prediction": ["yes"]}), path)
    else:
        dump(LogisticRegression(), path)
    return path.read_bytes()


@every_command
def test_what_surefoot_has_not_written_is_replaced_only_if_asked(run, folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    out = folder / words[-1]
    before = write_foreign(out)
    result = run(*words)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1] == f"{out.name} {REFUSED}"
    assert out.read_bytes() == before
    assert run(*words, "--overwrite").code == 0
    assert out.read_bytes() != before


@every_command
def test_output_of_an_earlier_run_is_replaced_silently(run, folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    out = folder / words[-1]
    out.touch()  # an empty file holds nothing to lose
    first = run(*words)
    written = out.stat().st_ino
    second = run(*words)
    assert (first.code, second.code) == (0, 0)
    assert second.err == first.err
    assert out.stat().st_ino != written  # a new file took its place


def by_name(path):
    return path


def by_another_spelling(path):
    return path.parent / ".." / path.parent.name / path.name


def by_link(path):
    link = path.with_name(f"link{path.suffix}")
    link.symlink_to(path)
    return link


def by_hard_link(path):
    link = path.with_name(f"hard{path.suffix}")
    os.link(path, link)
    return link


INPUTS = {
    "report": ("report", "train.csv", *PREDICTED, "--json", "--scores", "train.csv"),
    "fit": ("fit", "train.csv", "--target", "y", "--estimator", "m.skops", "--out", "m.skops"),
    "score csv": ("score", "m.skops", "train.csv", "--out", "train.csv"),
    "score parquet": ("score", "m.skops", "train.parquet", "--out", "train.parquet"),
    "audit": ("audit", "m.skops", "train.csv", "--out", "train.csv"),
    "label": ("label", "train.csv", "--target", "y", "--out", "train.csv"),
}


@pytest.mark.parametrize("alias", [by_name, by_another_spelling, by_link, by_hard_link])
@pytest.mark.parametrize("words", INPUTS.values(), ids=INPUTS)
def test_an_input_is_never_replaced(run, folder, monkeypatch, words, alias):
    monkeypatch.chdir(folder)
    path = folder / words[-1]
    before = path.read_bytes()
    out = alias(path)
    overwrite = () if words[0] == "label" else ("--overwrite",)
    assert "which is read: name another file" in run(*words[:-1], out, *overwrite).sentence
    assert path.read_bytes() == before


def test_files_of_a_folder_that_is_read_are_inputs(run, folder):
    (folder / "rows").mkdir()
    shutil.copy(folder / "train.parquet", folder / "rows" / "a.parquet")
    score = ("score", folder / "m.skops", folder / "rows", "--overwrite", "--out")
    alias = folder / "alias.parquet"
    os.link(folder / "rows" / "a.parquet", alias)
    for out in (alias, folder / "rows" / "a.parquet", folder / "rows" / "b.parquet"):
        assert "which is read: write it elsewhere" in run(*score, out).sentence
    pd.testing.assert_frame_equal(pd.read_parquet(alias), make_table())


def test_a_folder_of_mlflow_is_an_input(run, folder):
    (folder / "model").mkdir()
    model = ("--estimator", f"mlflow:{folder / 'model'}", "--out", folder / "model" / "m.skops")
    fit = ("fit", folder / "train.csv", "--target", "y", *model)
    assert "which is read: write it elsewhere" in run(*fit).sentence


def test_scores_with_a_column_of_the_user_s_are_the_user_s(run, folder):
    out = folder / "out.csv"
    score = ("score", folder / "m.skops", folder / "train.csv", "--out", out)
    assert run(*score).code == 0
    pd.read_csv(out).assign(seen="yes").to_csv(out, index=False)
    assert run(*score).sentence == f"{out} {REFUSED}"
    out.unlink()
    assert run(*score, "--keep", "id").code == 0
    assert run(*score).sentence == f"{out} {REFUSED}"  # it holds the column id, too


def test_rows_of_an_audit_with_an_answer_are_the_user_s(run, folder):
    out = folder / "out.csv"
    audit = ("audit", folder / "m.skops", folder / "train.csv", "--labels", "5", "--out", out)
    assert run(*audit).code == 0
    answered = pd.read_csv(out)
    answered["label"] = [None, None, "yes", None, None]
    answered.to_csv(out, index=False)
    assert run(*audit).sentence == f"{out} {REFUSED}"
    assert pd.read_csv(out)["label"].tolist()[2] == "yes"


@pytest.mark.parametrize("name", ["out.parquet", "out.skops", "out.csv"])
def test_a_file_that_cannot_be_read_as_its_ending_says_is_the_user_s(run, folder, name):
    (folder / name).write_bytes(b"PK\x03\x04 PAR1 \xff\0")
    command = {
        "out.skops": ("fit", folder / "train.csv", *PREDICTED),
    }.get(name, ("score", folder / "m.skops", folder / "train.csv"))
    assert run(*command, "--out", folder / name).sentence.endswith(REFUSED)


def test_the_page_of_all_rows_and_its_table_are_two_files(run, folder):
    (folder / "page.html").symlink_to(folder / "scores.csv")
    report = ("report", folder / "train.csv", *PREDICTED, "--quick")
    outputs = ("--out", folder / "page.html", "--scores", folder / "scores.csv")
    assert "which is read: name another file" in run(*report, *outputs).sentence
