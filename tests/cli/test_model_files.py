"""Models of every name say the same when they are loaded again; other files are refused."""

from functools import cache
from zipfile import ZipFile

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer
from skops.io import dump

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.cli._model import build_model
from surefoot.model_files import ModelFileError, load, save

X = pd.DataFrame({"visits": np.arange(120) % 11, "calls": np.arange(120) * 5 % 7})
Y = np.where((X["visits"] + np.arange(120) % 4) % 3 > 0, "yes", "no")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A function that fits a model behind the pipeline of the commands once, and saves it."""

    @cache
    def call(name):  # tests/model_files has the other names
        kind = IndividualErrorRegressor if name == "forest" else IndividualErrorClassifier
        model = build_model(name, "regression" if name == "forest" else "classification", 0)
        sure = kind(model, cv=2, random_state=0)
        if name != "forest":
            sure.set_params(sets=True)
        if name == "knn":
            sure.set_params(prior=None)
        path = tmp_path_factory.mktemp("models") / "model.skops"
        save(sure.fit(X, X["calls"] * 1.5 if name == "forest" else Y), path)
        return sure, path

    return call


@pytest.mark.parametrize("name", [pytest.param("forest", marks=pytest.mark.slow), "svm", "knn"])
def test_a_model_says_the_same_after_it_was_saved(saved, name):
    model, path = saved(name)
    again = load(path)
    sets = "predict_interval" if name == "forest" else "predict_set"
    for answer in ("predict", "predict_error", "predict_novelty", sets):
        np.testing.assert_array_equal(getattr(again, answer)(X), getattr(model, answer)(X))


def rewritten(path, tmp_path, change):
    """Copy of a file, with `change` applied to the bytes of each part."""
    other = tmp_path / "changed.skops"
    with ZipFile(path) as stored, ZipFile(other, "w") as archive:
        for part in stored.namelist():
            archive.writestr(part, change(stored.read(part)))
    return other


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    return str(caught.value).replace(str(path), "FILE")


def test_a_model_of_another_layout_is_told_so(saved, tmp_path):
    """What a model was made of may have another name in the next version: fit again, it is no attack."""
    _, path = saved("knn")
    names = b"surefoot._crossfit", b"surefoot._panels"
    assert refusal(rewritten(path, tmp_path, lambda part: part.replace(*names))) == (
        "FILE was saved by another version of surefoot, whose models are laid out differently: "
        "fit the model again with this one."
    )


@pytest.mark.parametrize("compress", [0, 3, ("gzip", 3), ("lzma", 3), ("xz", 3), ("bz2", 3)])
def test_what_joblib_writes_is_a_pickle(tmp_path, compress):
    path = tmp_path / "model.skops"
    joblib.dump(LogisticRegression(), path, compress=compress)
    assert refusal(path) == (
        "FILE is a pickle, and loading a pickle runs any code in it: load it in Python, if you trust it, and write "
        "the model with surefoot.save."
    )


def write_something(_):
    raise AssertionError("nothing of a file may run")


def test_a_type_that_is_not_on_the_list_is_named(tmp_path):
    path = tmp_path / "model.skops"
    dump(FunctionTransformer(write_something), path)
    kind = f"{__name__}.write_something"
    assert refusal(path) == f"FILE is not loaded: it holds {kind!r}, which surefoot does not trust."
