"""What used to end in a traceback: one sentence and exit code 2, or it works."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from skops.io import dump

from surefoot import IndividualErrorClassifier, save
from surefoot.indicators import Confidence

N_ROWS = 60


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Folder with a table, which is returned; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    rows = pd.DataFrame(draw.normal(size=(N_ROWS, 2)), columns=["a", "b"])
    rows["y"] = np.where(rows["a"] + draw.normal(size=N_ROWS) > 0, "yes", "no")
    rows.to_csv("table.csv", index=False)
    return rows


@pytest.fixture
def model(table):
    """File of a fitted error estimator."""
    error_estimator = IndividualErrorClassifier(GaussianNB(), indicators=Confidence())
    save(error_estimator.fit(table[["a", "b"]], table["y"].to_numpy(str)), "model.skops")
    return "model.skops"


def commands(table="table.csv"):
    basic = (table, "--target", "y", "--estimator", "own.skops", "--out")
    return {"fit": ("fit", *basic, "new.skops"), "report": ("report", *basic, "new.html")}


def scaled(column):
    return make_pipeline(make_column_transformer((StandardScaler(), [column])), GaussianNB())


UNUSABLE = {
    "missing value": (LogisticRegression(), "Input X contains NaN."),
    "text": (LogisticRegression(), "could not convert string to float: 'u'."),
    "C below 0": (LogisticRegression(C=-1), "The 'C' parameter of LogisticRegression must be"),
    "number in words": (RandomForestClassifier(n_estimators="x"), "The 'n_estimators' parameter"),
    "k above the rows": (KNeighborsClassifier(1000), "Expected n_neighbors <= n_samples_fit"),
    "precomputed": (SVC(kernel="precomputed"), "Precomputed matrix must be a square matrix."),
    "unknown column": (scaled("nowhere"), "Some column names are not columns of the dataframe"),
}


@pytest.mark.parametrize("command", ["fit", "report"])
@pytest.mark.parametrize("case", UNUSABLE)
def test_a_model_of_the_user_that_cannot_take_the_table(table, run, case, command):
    if case == "missing value":
        table.loc[::7, "a"] = np.nan
    if case == "text":
        table["a"] = ["u", "v w"] * 30
    table.to_csv("table.csv", index=False)
    estimator, words = UNUSABLE[case]
    dump(estimator, "own.skops")
    sentence = run(*commands()[command]).sentence
    assert sentence.startswith(f"own.skops cannot be used on table.csv: {words}")
    assert not any(Path(name).exists() for name in ("new.skops", "new.html"))


@pytest.mark.parametrize("estimator", ["boosting", "own.skops"])
def test_too_little_memory(table, run, monkeypatch, estimator):
    def full(*_):
        raise MemoryError("Unable to allocate 7.28 TiB for an array")

    dump(GaussianNB(), "own.skops")
    monkeypatch.setattr("surefoot._models._model.clone_model", full)
    fit = ["fit", "table.csv", "--target", "y", "--out", "new.skops", "--estimator", estimator]
    result = run(*fit)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1].endswith(": Unable to allocate 7.28 TiB for an array.")


def test_a_fault_of_surefoot_is_not_blamed_on_the_model(table, run, monkeypatch):
    ours = {"__name__": "surefoot.example"}
    exec("def fault(*_): return {}['no such key']", ours)  # noqa: S102 - a line of surefoot
    dump(GaussianNB(), "own.skops")
    monkeypatch.setattr("surefoot.error_estimation._base.known_rows", ours["fault"])
    with pytest.raises(KeyError, match="no such key"):
        run(*commands()["fit"])


MODELS_WITHOUT_SCORES = {
    "hard voting": VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier())]),
    "output code": OutputCodeClassifier(GaussianNB(), random_state=0),
}


@pytest.mark.parametrize("name", MODELS_WITHOUT_SCORES)
def test_models_without_scores_are_judged_by_their_predictions(table, run, name):
    dump(MODELS_WITHOUT_SCORES[name], "own.skops")
    result = run(*commands()["fit"])
    assert result.code == 0
    assert result.out.startswith("Wrong on ")


def test_a_loop_of_links(table, run, model):
    for name in ("loop.csv", "loop.skops"):
        Path(name).symlink_to(name)
    unreadable = "loop.csv cannot be read: too many levels of symbolic links."
    new = ("--out", "new.csv")
    assert run("report", "loop.csv", "--target", "y").sentence == unreadable
    assert run("fit", "loop.csv", "--target", "y", "--out", "new.skops").sentence == unreadable
    for later in (("score", model, "loop.csv", *new), ("watch", model, "loop.csv")):
        assert run(*later).err.splitlines()[-1] == unreadable
    assert run("audit", model, "loop.csv", *new).sentence == unreadable
    assert "too many levels" in run("score", "loop.skops", "table.csv", *new).sentence
    assert run("score", model, "table.csv", "--out", "loop.csv").sentence == (
        "loop.csv links to itself: name a file to write."
    )


@pytest.mark.parametrize("command", ["fit", "report"])
def test_a_target_near_0_and_costs_that_overflow(table, run, command):
    new = commands()[command][-2:]
    table.assign(y=table["a"] * 1e-200).to_csv("tiny.csv", index=False)
    tiny = [command, "tiny.csv", "--target", "y", *new]
    assert "varies by 4e-200 only" in run(*tiny).sentence
    for cost in ("1e308", "1e39", "1e-39", "-1"):
        costly = [command, "table.csv", "--target", "y", *new, "--cost", f"yes->no={cost}"]
        result = run(*costly)
        assert result.code == 2
        assert "must be 0 or a number from 1e-38 to 1e+38" in result.err.splitlines()[-1]


def test_more_labels_than_anybody_can_give(table, run, model):
    asked = ("audit", model, "table.csv", "--out", "new.csv", "--labels", "1000000000")
    result = run(*asked)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[-1] == (
        "model.skops cannot judge the rows of table.csv: 1,000,000,000 labels are too many for 60 rows: at most "
        "100,000 are drawn."
    )


def shell(command):
    """Exit code and messages of a command in a shell."""
    python = f"{sys.executable} -c 'from surefoot.cli import main; main()'"
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {command.replace('surefoot', python)}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_standard_output_that_cannot_be_written():
    cannot = "Standard output cannot be written: "
    full = f"{cannot}no space left on device.\n"
    assert shell("surefoot --version >/dev/full") == (2, "", full)
    assert shell("surefoot --help | (exec 0<&-; sleep 0)") == (2, "", f"{cannot}broken pipe.\n")
    assert shell("surefoot nonsense 2>&-") == (2, "", "")


STRANGE = ["=1+1", "+x", "-x", "@x"]


def test_names_and_classes_that_look_like_formulas_are_escaped(table, run):
    draw = np.random.default_rng(0)
    rows = pd.DataFrame(draw.normal(size=(200, 4)), columns=STRANGE)
    rows["y"] = np.array(STRANGE)[rows[STRANGE].to_numpy().argmax(axis=1)]
    rows.to_csv("table.csv", index=False)
    error_estimator = IndividualErrorClassifier(GaussianNB(), indicators=Confidence())
    save(error_estimator.fit(rows[STRANGE], rows["y"].to_numpy(str)), "model.skops")
    kept = [word for name in STRANGE for word in ("--keep", name)]
    assert run("score", "model.skops", "table.csv", "--out", "new.csv", *kept).code == 0
    assert run("audit", "model.skops", "table.csv", "--out", "ask.csv").code == 0
    for path in ("new.csv", "ask.csv"):
        with Path(path).open(newline="") as file:
            cells = {cell for line in csv.reader(file) for cell in line}
        assert {f"'{name}" for name in STRANGE} <= cells
        assert not cells & set(STRANGE)
    asked = pd.read_csv("ask.csv")
    right = "'" + rows["y"].to_numpy()[asked["row"]]  # as a spreadsheet and the page keep it
    asked.assign(label=right).to_csv("answers.csv", index=False)
    assert run("audit", "model.skops", "table.csv", "--answers", "answers.csv").code == 0
