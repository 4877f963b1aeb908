"""A file that would run code or read other files gets one sentence and exit code 2: nothing is run, read or written."""

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import text
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from skops.io import dump, get_untrusted_types, load

CACHE = "model.skops is not loaded: its setting 'memory' would have it open other files."
FILES = "model.skops is not loaded: its setting 'input' would have it open other files."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Folder with a table of numbers, a table of texts, which are names of a file, and that file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    y = np.where(x[:, 0] + rng.normal(size=60) > 0, "yes", "no")
    pd.DataFrame(x, columns=["a", "b"]).assign(y=y).to_csv("table.csv", index=False)
    Path("secret.txt").write_text("swordfish and other words")
    pd.DataFrame({"note": ["secret.txt"] * 60, "y": y}).to_csv("notes.csv", index=False)
    return tmp_path


def commands(table):
    out = ("--out", "new.csv")
    return {
        "report": ("report", table, "--target", "y", "--estimator", "model.skops", "--json"),
        "fit": ("fit", table, "--target", "y", "--estimator", "model.skops", "--out", "new.skops"),
        "score": ("score", "model.skops", table, *out),
        "watch": ("watch", "model.skops", table, "--out", "new.html"),
        "audit": ("audit", "model.skops", table, "--labels", "10", *out),
        "label": ("label", table, "--target", "y", "--model", "model.skops"),
    }


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


class Payload:
    """Writes a file when it is unpickled."""

    def __reduce__(self):
        return (Path.touch, (Path("written"),))


def inner():
    return Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])


def remembering():
    """A search that gives the pipeline of another search a cache: the hole of which there was one."""
    grid = {"param_grid": [{"memory": ["cache"]}]}
    return GridSearchCV(GridSearchCV(inner(), {"memory": [None]}, cv=2), grid, cv=2)


def load_without_a_check():
    return load("model.skops", trusted=get_untrusted_types(file="model.skops"))


def plant():
    """Replace whatever joblib remembers in the folder by a pickle that writes a file."""
    outputs = list(Path("cache").rglob("output.pkl"))
    for output in outputs:
        joblib.dump(Payload(), output)
    return len(outputs)


@pytest.mark.parametrize("command", commands("table.csv"))
def test_a_pickle_beside_the_table_is_not_run(folder, run, command):
    table = pd.read_csv("table.csv")
    dump(remembering(), "model.skops")
    load_without_a_check().fit(table[["a", "b"]], table["y"])
    assert plant() > 0
    before = contents(folder)
    assert run(*commands("table.csv")[command]).sentence == CACHE
    assert contents(folder) == before
    with pytest.raises(ValueError, match="fits failed"):  # the attack works; it leaves no table
        load_without_a_check().fit(table[["a", "b"]], table["y"])
    assert Path("written").exists()


def reading():
    columns = ColumnTransformer([("v", CountVectorizer(), "note")])
    model = Pipeline([("c", columns), ("model", LogisticRegression())])
    return GridSearchCV(model, {"c__v__input": ["filename"]}, cv=2)


@pytest.fixture
def opened(monkeypatch):
    """Files that vectorizers open."""
    paths = []

    def recorded(path, mode):
        paths.append(path)
        return Path(path).open(mode)

    monkeypatch.setattr(text, "open", recorded, raising=False)
    return paths


@pytest.mark.parametrize("command", commands("notes.csv"))
def test_a_file_that_a_cell_names_is_not_read(folder, run, command, opened):
    table = pd.read_csv("notes.csv")
    dump(reading(), "model.skops")
    before = contents(folder)
    assert run(*commands("notes.csv")[command]).sentence == FILES
    assert contents(folder) == before
    assert opened == []
    model = load_without_a_check().fit(table[["note"]], table["y"])  # the attack works
    assert "swordfish" in model.best_estimator_[0].named_transformers_["v"].vocabulary_
    assert opened


def write_something(_):
    Path("written").touch()


class OfSomebody:
    def __reduce__(self):
        return (OfSomebody, ())


HOSTILE = {
    "a function": FunctionTransformer(write_something),
    "a reduce": FunctionTransformer(OfSomebody()),
    "a foreign type": make_pipeline(LogisticRegression(C=OfSomebody())),
    "a cache": make_pipeline(LogisticRegression(), memory="cache"),
    "file names": make_pipeline(CountVectorizer(input="filename"), LogisticRegression()),
}


@pytest.mark.parametrize("command", commands("table.csv"))
@pytest.mark.parametrize("model", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_gets_one_sentence_from_every_command(folder, run, model, command):
    dump(model, "model.skops")
    before = contents(folder)
    assert run(*commands("table.csv")[command]).sentence.startswith("model.skops is not loaded: it")
    assert contents(folder) == before


@pytest.mark.parametrize("command", commands("table.csv"))
@pytest.mark.parametrize("case", ["text", "cut off", "folder"])
def test_what_is_no_file_of_a_model_gets_one_sentence_from_every_command(
    folder, run, case, command
):
    path = Path("model.skops")
    if case == "folder":
        path.mkdir()
    else:
        dump(clone(inner()), path)
        path.write_bytes(b"hello" if case == "text" else path.read_bytes()[:-30])
    problem = "cannot be read: is a directory" if case == "folder" else "is not a skops file"
    assert run(*commands("table.csv")[command]).sentence == f"model.skops {problem}."
