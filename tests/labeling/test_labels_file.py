"""`surefoot fit --labels`: the labels of people beside the table's own; one sentence for a file that does not fit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot._tables import read_table
from surefoot.cli import main
from surefoot.cli._rows import take_apart, with_labels

HEADER = "row,label,kind,person,time,seconds,strategy,error\n"


def line(row, label, kind="label"):
    return f"{row},{label},{kind},ann,2026-11-16T10:00:00.000+00:00,1.0,random,\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fit(folder, capsys):
    """Run `surefoot fit` on pool.csv; exit code, what it printed, and its sentences."""

    def run(*arguments):
        command = ["fit", "pool.csv", "--target", "kind", "--out", "model.skops", "--json"]
        command += ["--estimator", "logistic", "--jobs", "1", *map(str, arguments)]
        with pytest.raises(SystemExit) as left:
            main(command)
        out, err = capsys.readouterr()
        return left.value.code or 0, out, err

    return run


def write_pool(kinds, n_rows=60):
    x = np.arange(n_rows) * 7 % 31
    pool = pd.DataFrame({"x": x, "z": np.arange(n_rows) % 5, "kind": kinds})
    pool.to_csv("pool.csv", index=False)
    return pool


def test_a_model_learns_from_exactly_the_labels_and_the_table_s_own(folder, fit):
    """The same rows as from a table that has the labels in its column: skips and doubts teach nothing."""
    x = np.arange(60) * 7 % 31
    truth = np.where(x > 15, "a", "b").astype(object)
    own = truth.copy()
    own[25:] = None
    write_pool(own)
    answers = [line(row, truth[row]) for row in range(30, 55)]
    others = [line(26, "", "skip"), line(27, "", "unsure"), line(28, "a", "skip")]
    (folder / "labels.csv").write_text(HEADER + "".join(others + answers))
    code, out, err = fit("--labels", "labels.csv")
    assert code == 0, err
    assert json.loads(out)["n_rows"] == 50
    table = with_labels(read_table(Path("pool.csv"), print), "kind", Path("labels.csv"))
    rows = take_apart(table, "kind", "classification", None, "pool.csv")
    whole = own.copy()
    whole[30:55] = truth[30:55]
    write_pool(whole)
    expected = take_apart(
        read_table(Path("pool.csv"), print), "kind", "classification", None, "pool.csv"
    )
    assert rows.y.tolist() == expected.y.tolist() == [*truth[:25], *truth[30:55]]
    pd.testing.assert_frame_equal(rows.X, expected.X)


@pytest.mark.parametrize(
    ("own", "labels", "expected"),
    [
        ([1.0, 2.0, None, None], [2, 1], {1.0, 2.0}),
        (["1", "x", None, None], [2, 1], {"1", "x", "2"}),
        (["007", "7", None, None], ["007", "07"], {"007", "7", "07"}),
        ([True, False, None, None], [True, False], {"True", "False"}),
        ([1.0, 2.0, None, None], ["more", 1], {"1", "2", "more"}),
        ([None, None, None, None], ["a", "b"], {"a", "b"}),
        (["=a", "+b", None, None], ["'=a", "''-c"], {"=a", "+b", "'-c"}),
    ],
    ids=[
        "numbers",
        "strings and numbers",
        "codes",
        "booleans",
        "numbers and a string",
        "nothing",
        "formulas",
    ],
)
def test_labels_and_the_table_s_own_are_of_one_kind(folder, own, labels, expected):
    pd.DataFrame({"x": range(4), "z": 1, "kind": own}).to_csv("pool.csv", index=False)
    text = HEADER + "".join(line(row, label) for row, label in zip((2, 3), labels, strict=True))
    (folder / "labels.csv").write_text(text)
    table = with_labels(read_table(folder / "pool.csv", print), "kind", folder / "labels.csv")
    assert set(table["kind"].dropna()) == expected
    assert table["kind"].notna().sum() == sum(value is not None for value in own) + 2


BAD_FILES = {
    "missing": (None, "no such file"),
    "empty": ("", "is empty"),
    "no answers": (HEADER, "has column names but no rows"),
    "no label": ("row,kind\n1,label\n", "lacks 'label', which a file of `surefoot label` has"),
    "outside": (HEADER + line(0, "a") + line(60, "b"), "rows up to 60, but the table has 60 rows"),
    "below": (HEADER + line(-1, "a"), "positions of rows, whole numbers from 0"),
    "fraction": (HEADER + line(1.5, "a"), "positions of rows, whole numbers from 0"),
    "missing row": (
        HEADER + line("", "a") + line(1, "a"),
        "positions of rows, whole numbers from 0",
    ),
    "twice": (HEADER + line(3, "a") + line(3, "b"), "labels.csv has a row more than once"),
    "another table": ("x,z,kind\n1,2,a\n", "lacks 'row', 'label'"),
    "image": (b"\x89PNG\r\n\x1a\n", "not a table but an image"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_gets_one_sentence(folder, fit, name):
    content, words = BAD_FILES[name]
    write_pool(["a", "b"] * 30)
    if content is not None:
        data = content if isinstance(content, bytes) else content.encode()
        (folder / "labels.csv").write_bytes(data)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = fit("--labels", "labels.csv")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1, err
    assert words in err.replace(" and ", ", ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_file_of_labels_is_not_overwritten(folder, fit):
    write_pool(["a", "b"] * 30)
    (folder / "model.skops").write_text(HEADER)
    code, _, err = fit("--labels", "model.skops")
    assert code == 2
    assert "which is read: name another file" in err
    assert (folder / "model.skops").read_text() == HEADER
