"""Files of LightGBM, XGBoost and CatBoost: predictions are the library's own, and a damaged file is one sentence."""

import pickle
import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import surefoot
from surefoot import assess
from surefoot.cli import main
from surefoot.model_files import ModelFileError

ENDINGS = {"lightgbm": ".txt", "xgboost": ".ubj", "catboost": ".cbm"}
TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}


def native(booster, X, y):
    """Model of the library's own interface, and a function that returns its own predictions of rows."""
    package = import_module(booster.library)
    if booster.library == "lightgbm":
        settings = {"objective": "binary", "verbose": -1}
        model = package.train({**settings, "num_threads": 1}, package.Dataset(X, y), 15)
        return model, model.predict
    if booster.library == "xgboost":
        settings = {"objective": "binary:logistic"}

        def pack(rows, labels=None):
            return package.DMatrix(rows, labels, enable_categorical=True)

        model = package.train({**settings, "nthread": 1}, pack(X, y), 15)
        return model, lambda rows: model.predict(pack(rows))
    settings = {"loss_function": "Logloss", "iterations": 15}
    quiet = {"allow_writing_files": False, "verbose": False, "thread_count": 1}
    model = package.CatBoost({**settings, **quiet}).fit(package.Pool(X, y, cat_features=["plan"]))
    return model, lambda rows: model.predict(rows, prediction_type="Probability")[:, 1]


def write(booster, model, path):
    model.save_model(str(path))
    return path


def test_a_native_model_is_assessed(booster, table, classes, tmp_path):
    X = booster.rows(table)
    model, own = native(booster, X[:120], classes[:120])
    error_estimator = assess(model, X[120:], classes[120:], random_state=0)
    surefoot.save(error_estimator, tmp_path / "model.skops")
    again = surefoot.load(tmp_path / "model.skops")
    for each in (error_estimator, again):
        np.testing.assert_allclose(each.judge(X).probabilities[:, 1], own(X), atol=1e-6)
    np.testing.assert_array_equal(again.judge(X).error, error_estimator.judge(X).error)


def run(capsys, *words):
    """Exit code, output and messages of a command."""
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as left:
        code = left.code or 0
    return code, *capsys.readouterr()


@pytest.fixture
def files(booster, table, classes, tmp_path):
    """File of a model that was trained on 120 rows, and the others as CSV, with classes in words."""
    X = booster.rows(table).rename(columns={"spent": "spent so far"})
    model, own = native(booster, X[:120], classes[:120])
    rows = X[120:].assign(leaves=np.where(classes[120:], "yes", "no"))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    path = write(booster, model, tmp_path / f"model{ENDINGS[booster.library]}")
    return path, tmp_path / "rows.csv", own(X[120:])


def test_the_commands_take_the_file(booster, files, capsys, tmp_path):
    path, data, own = files
    if booster.library == "catboost":  # it names its classes itself, and these are 0 and 1
        frame = pd.read_csv(data)
        frame.assign(leaves=(frame["leaves"] == "yes").astype(int)).to_csv(data, index=False)
    out, scores = tmp_path / "trust.skops", tmp_path / "scores.parquet"
    code, _, err = run(capsys, "fit", data, "--target", "leaves", "--estimator", path, "--out", out)
    assert code == 0, err
    assert "is already fitted and is not fitted again" in err
    if booster.library != "catboost":
        assert "are taken for the classes 'no' and 'yes', in this order." in err
    assert run(capsys, "score", out, data, "--out", scores)[0] == 0
    scored = pd.read_parquet(scores)
    chosen = np.where(own > 0.5, own, 1 - own)
    positive = scored["prediction"].isin(["yes", 1])
    np.testing.assert_array_equal(positive, own > 0.5)
    given = scored[[name for name in scored if name.startswith("probability")]]
    np.testing.assert_allclose(given.max(axis=1), chosen, atol=1e-6)


def test_a_table_that_lacks_a_column(booster, files, capsys, tmp_path):
    path, data, _ = files
    pd.read_csv(data).drop(columns="age").to_csv(data, index=False)
    code, out, err = run(capsys, "report", data, "--target", "leaves", "--estimator", path)
    assert (code, out) == (2, "")
    assert err.endswith("rows.csv lacks 'age', which the model was fitted on.\n")


CODE = b"cos\nsystem\n(S'touch ran'\ntR."


def cut(content):
    return content[: len(content) // 2]


def random(content):
    return np.random.default_rng(0).bytes(2000)


def garbled(content):
    """The model with a few bytes changed in its middle, where trees are."""
    middle = len(content) // 2
    return content[:middle] + b"\xff\x00}{" * 8 + content[middle + 32 :]


def deep(content):
    return b"{" * 100_000


@pytest.mark.parametrize("damage", [cut, random, garbled, deep])
def test_a_damaged_file(booster, files, capsys, tmp_path, damage):
    if damage is garbled and booster.library == "catboost":
        pytest.skip("other numbers in the leaves of its trees make another model")
    path, data, _ = files
    path.write_bytes(damage(path.read_bytes()))
    out = tmp_path / "out.skops"
    code, printed, err = run(
        capsys, "fit", data, "--target", "leaves", "--estimator", path, "--out", out
    )
    assert (code, printed, out.exists()) == (2, "", False)
    assert err == (
        f"{path} is not loaded: {TITLES[booster.library]} cannot read it, so it is damaged, or no such file.\n"
    )


def test_a_pickle_under_the_name_of_a_booster(booster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"model{ENDINGS[booster.library]}"
    path.write_bytes(pickle.dumps(SystemExit("run")))
    with pytest.raises(
        ModelFileError, match="is a pickle, and loading a pickle runs any code in it"
    ):
        surefoot.load(path)
    path.write_bytes(CODE)  # the oldest protocol, which looks like any text
    with pytest.raises(ModelFileError, match="cannot read it"):
        surefoot.load(path)
    assert not (tmp_path / "ran").exists()


def test_lightgbm_whose_trees_ask_for_unknown_columns(files, booster):
    if booster.library != "lightgbm":
        pytest.skip("its file is a text")
    path = files[0]
    text = path.read_text()
    path.write_text(text.replace("split_feature=0", "split_feature=70000"))
    with pytest.raises(ModelFileError, match="LightGBM cannot read it"):
        surefoot.load(path)


def test_lightgbm_whose_tree_is_a_circle(files, booster):
    if booster.library != "lightgbm":
        pytest.skip("its file is a text")
    path = files[0]
    text = path.read_text()
    start = text.index("right_child=") + len("right_child=")
    first = text[start:].split("\n", 1)[0]
    path.write_text(
        text[:start] + " ".join(["0"] * len(first.split())) + text[start + len(first) :]
    )
    with pytest.raises(ModelFileError, match=r"LightGBM cannot read it|was not read and did not"):
        surefoot.load(path)


def test_classes_that_the_booster_does_not_have(booster, table, classes):
    if booster.library == "catboost":
        pytest.skip("it names its classes")
    model, _ = native(booster, table, classes)
    with pytest.raises(ValueError, match="has 2 classes and no names for them, and y has 3"):
        assess(model, table, np.arange(len(table)) % 3)


def test_other_columns_than_the_booster_was_trained_on(booster, table, classes):
    if booster.library == "catboost":
        pytest.skip("it says so itself")
    model, _ = native(booster, table, classes)
    with pytest.raises(ValueError, match="was trained on the columns 'age', 'spent' and 'plan'"):
        assess(model, table[["spent", "age", "plan"]], classes)


def test_codes_of_categories_are_not_interpolated(catboost, table, classes):
    """A column of whole numbers that CatBoost takes as categories: it refuses a number between them."""
    X = pd.DataFrame({"age": table["spent"], "code": np.arange(len(table)) % 5})
    model = catboost.CatBoostClassifier(
        n_estimators=5, cat_features=("code",), verbose=False, allow_writing_files=False
    ).fit(X, classes)
    error_estimator = assess(model, X, classes, random_state=0)
    assert np.isfinite(error_estimator.judge(X).error).all()


def test_a_missing_library_is_named(booster, files, monkeypatch):
    path = files[0]
    monkeypatch.setitem(sys.modules, booster.library, None)
    with pytest.raises(ModelFileError) as caught:
        surefoot.load(path)
    title = TITLES[booster.library]
    assert str(caught.value) == (
        f"{path} is read by {title}, which is not installed: pip install {booster.library}."
    )
