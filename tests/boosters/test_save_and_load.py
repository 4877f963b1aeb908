"""A saved booster is loaded in another process, where it judges every row alike, to the last bit."""

import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import surefoot
from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.model_files import ModelFileError

JUDGE = """
import pickle, sys
import surefoot
from pathlib import Path
judgement = surefoot.load(sys.argv[1]).judge(pickle.loads(Path(sys.argv[2]).read_bytes()))
Path(sys.argv[3]).write_bytes(pickle.dumps(vars(judgement)))
"""


def judged_elsewhere(path, X, folder):
    """Fields of the judgement of a loaded model, made in a process of its own."""
    rows, out = folder / "rows.pkl", folder / "out.pkl"
    rows.write_bytes(pickle.dumps(X))
    command = [sys.executable, "-W", "error", "-c", JUDGE, str(path), str(rows), str(out)]
    subprocess.run(command, check=True)
    return pickle.loads(out.read_bytes())  # noqa: S301 - written above


def assert_equal(here, there):
    assert here.keys() == there.keys()
    for name, values in here.items():
        if isinstance(values, dict):
            assert_equal(values, there[name])
        else:
            np.testing.assert_array_equal(values, there[name], err_msg=name)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_in_another_process(booster, table, classes, numbers, tmp_path, kind):
    X, y = booster.rows(table), classes if kind == "Classifier" else numbers
    estimators = {"Classifier": IndividualErrorClassifier, "Regressor": IndividualErrorRegressor}
    error_estimator = estimators[kind](booster.make(kind), cv=2, random_state=0).fit(
        X[:180], y[:180]
    )
    path = tmp_path / "model.skops"
    surefoot.save(error_estimator, path)
    assert_equal(vars(error_estimator.judge(X)), judged_elsewhere(path, X, tmp_path))
    again = surefoot.load(path).estimator
    assert repr(again.get_params()) == repr(error_estimator.estimator.get_params())  # NaN is no NaN


def changed(path, out, change):
    """Copy of a model file, with `change` made in the JSON of its objects, or in the file of its booster."""
    with zipfile.ZipFile(path) as stored, zipfile.ZipFile(out, "w") as archive:
        for name in stored.namelist():
            archive.writestr(name, change(stored.read(name)))
    return out


@pytest.fixture
def saved(booster, table, classes, tmp_path):
    model = booster.make("Classifier").fit(booster.rows(table), classes)
    surefoot.save(model, tmp_path / "good.skops")
    return tmp_path / "good.skops"


def test_a_damaged_file_inside(booster, saved, tmp_path):
    starts = {"lightgbm": b"tree\n", "xgboost": b"{L", "catboost": b"CBM1"}

    def cut(content):
        is_booster = content.startswith(starts[booster.library])
        return content[: len(content) // 2] if is_booster else content

    path = changed(saved, tmp_path / "cut.skops", cut)
    with pytest.raises(ModelFileError) as caught:
        surefoot.load(path)
    title = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}[booster.library]
    assert str(caught.value) == (
        f"{path} is not loaded: {title} cannot read it, so it is damaged, or no such file."
    )


FILES = {"lightgbm": "forcedsplits_filename", "xgboost": "some_file", "catboost": "train_dir"}


def test_a_setting_that_names_a_file(booster, saved, tmp_path):
    setting = FILES[booster.library]

    def forge(content):
        if not content.startswith(b"[[[{"):
            return content
        states, root = json.loads(content)
        for _, state in states:
            place = state["_other_params"]["dict"][0] if "_other_params" in state else None
            if place is None:
                state[setting] = "/etc/passwd"
            else:
                place.append([setting, "/etc/passwd"])
        return json.dumps([states, root]).encode()

    path = changed(saved, tmp_path / "forged.skops", forge)
    with pytest.raises(ModelFileError) as caught:
        surefoot.load(path)
    assert str(caught.value) == (
        f"{path} is not loaded: its setting {setting!r} would have it open other files."
    )


def test_another_type_of_the_library(booster, saved, tmp_path):
    kind = json.dumps([booster.library, type(booster.make("Classifier")).__name__])
    other = json.dumps([booster.library, "Booster"])

    def forge(content):
        kinds = kind.replace(" ", "").encode()
        return content.replace(kinds, other.encode()) if content.startswith(b"[[[{") else content

    path = changed(saved, tmp_path / "forged.skops", forge)
    with pytest.raises(ModelFileError, match="is a broken skops file"):
        surefoot.load(path)
