"""A saved model says the same when it is loaded again; nothing that is not on the list is loaded."""

import io
import pickle
import re
import zipfile
from zipfile import ZipFile

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer
from skops.io import dump

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.cli._console import Mistake, plain_warnings
from surefoot.cli._model import build_model
from surefoot.model_files import ModelFileError, load_model, save_model

ALWAYS = ["predict", "predict_error", "predict_novelty"]

# Between them, whatever a model of `surefoot fit` is made of.
CASES = {
    "boosting on anything": ("boosting", "classification", ["age", "plan", "since", "note"]),
    "ridge on anything": ("logistic", "regression", ["age", "plan", "since", "note"]),
    "forest without gaps": ("forest", "regression", ["visits", "calls"]),
    "svm on numbers": ("svm", "classification", ["age", "visits"]),
    "neighbours of numbers": ("knn", "classification", ["age", "visits"]),
}
WITHOUT_PRIOR = "neighbours of numbers"


@pytest.fixture(scope="module")
def saved(customers, tmp_path_factory):
    """Models, the rows they were fitted on, and where they were saved."""
    folder, found = tmp_path_factory.mktemp("models"), {}
    row = np.arange(len(customers))
    table = customers.assign(visits=row % 11, calls=row % 7)
    for case, (name, task, columns) in CASES.items():
        kind = IndividualErrorRegressor if task == "regression" else IndividualErrorClassifier
        y = table["spent"] if task == "regression" else table["leaves"].to_numpy().astype("U3")
        model = kind(build_model(name, task, 0), cv=2, random_state=0)
        if case == WITHOUT_PRIOR:
            model.set_params(prior=None)
        with plain_warnings():  # a fold may lack a category, as in the commands
            model.fit(table[columns], y)
        path = folder / f"{name}.skops"
        save_model(model, path)
        found[case] = (model, table[columns], path)
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_model_says_the_same_after_it_was_saved(saved, case):
    model, X, path = saved[case]
    again = load_model(path)
    sets = "predict_interval" if hasattr(model, "predict_interval") else "predict_set"
    for answer in [*ALWAYS, sets]:
        np.testing.assert_array_equal(getattr(again, answer)(X), getattr(model, answer)(X))


@pytest.mark.parametrize("name", ["pandas", "pandas.core.frame"])
def test_a_frame_may_have_its_name_before_pandas_3_and_since(saved, tmp_path, name):
    model, X, path = saved["forest without gaps"]
    renamed = tmp_path / "renamed.skops"
    frame = re.compile(rb'("__class__": "DataFrame",\s*"__module__": )"[a-z.]+"')
    with ZipFile(path) as stored, ZipFile(renamed, "w") as other:
        assert len(frame.findall(stored.read("schema.json"))) > 0
        for part in stored.namelist():
            other.writestr(part, frame.sub(rb'\1"%b"' % name.encode(), stored.read(part)))
    np.testing.assert_array_equal(load_model(renamed).predict_error(X), model.predict_error(X))


@pytest.mark.parametrize(
    "content", [{"a": 1}, "text", IndividualErrorClassifier(LogisticRegression())]
)
def test_commands_refuse_what_is_no_fitted_model(run, write, tmp_path, content):
    dump(content, tmp_path / "model.skops")
    table = write("a,y\n1,0\n2,1\n" * 9)
    commands = [
        ("score", tmp_path / "model.skops", table, "--out", tmp_path / "scores.csv"),
        ("report", table, "--target", "y", "--estimator", tmp_path / "model.skops"),
    ]
    for command in commands:
        assert run(*command).sentence.startswith(
            f"{tmp_path / 'model.skops'} is not loaded: it holds a"
        )


def mistake(path):
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    return str(caught.value).replace(str(path), "FILE")


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_is_refused_with_the_reason(write, protocol):
    path = write(pickle.dumps(LogisticRegression(), protocol), "model.skops")
    assert mistake(path) == (
        "FILE is a pickle, and loading a pickle runs any code in it: save the model with skops.io.dump."
    )


@pytest.mark.parametrize(
    "compress", [0, 1, 3, 6, 9, ("gzip", 3), ("lzma", 3), ("xz", 3), ("bz2", 3)]
)
def test_what_joblib_writes_is_a_pickle(tmp_path, compress):
    path = tmp_path / "model.skops"
    joblib.dump(LogisticRegression(), path, compress=compress)
    assert mistake(path).startswith("FILE is a pickle")


def test_a_type_that_is_not_on_the_list_is_named(tmp_path):
    path = tmp_path / "model.skops"
    dump(FunctionTransformer(write_something), path)
    kind = f"{__name__}.write_something"
    assert mistake(path) == f"FILE is not loaded: it holds {kind!r}, which surefoot does not trust."


def write_something(_):
    raise AssertionError("nothing of a file may run")


@pytest.mark.parametrize("content", [b"", b"hello, world", b"a,b\n1,2\n", b"x,y\n1,2\n", b"BZ,y\n"])
def test_a_file_that_is_no_skops_file(write, content):
    assert mistake(write(content, "model.skops")) == "FILE is not a skops file."


@pytest.mark.parametrize("schema", [b"{}", b"no json", b'{"protocol": 999}'])
def test_a_broken_skops_file(write, schema):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("schema.json", schema)
    assert mistake(write(archive.getvalue(), "model.skops")) == (
        "FILE is a broken skops file, or was saved by other versions."
    )


def test_no_such_model(tmp_path):
    assert mistake(tmp_path / "no.skops") == "FILE cannot be read: no such file or directory."


def test_an_unknown_model():
    with pytest.raises(Mistake) as caught:
        build_model("tree", "classification", 0)
    assert str(caught.value) == (
        "--estimator tree is not known: pass boosting, forest, logistic, svm, knn, or a .skops file."
    )


def test_a_model_of_another_layout_is_told_so(saved, tmp_path):
    """What a model was made of may have another name in the next version: fit again, it is no attack."""
    _, _, path = saved["svm on numbers"]
    older = tmp_path / "older.skops"
    with ZipFile(path) as now, ZipFile(older, "w") as then:
        for name in now.namelist():
            content = now.read(name)
            then.writestr(
                name, content.replace(b"surefoot._crossfit._panel", b"surefoot.indicators._panel")
            )
    assert mistake(older) == (
        "FILE was saved by another version of surefoot, whose models are laid out differently: "
        "fit the model again with this one."
    )
