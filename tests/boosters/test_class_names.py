"""Classes and columns of models in files that have no names for them, as the commands take them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import surefoot
from surefoot import assess
from surefoot.cli import main

N_ROWS = 240
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(2 * N_ROWS, 3)), columns=["a", "b", "c"])
SIGNAL = 2 * X["a"] + X["b"] + RNG.normal(0, 0.3, len(X))
SYSTEMS = np.where(SIGNAL > 0, "android", "ios")
LEVELS = np.digitize(SIGNAL, np.quantile(SIGNAL, np.arange(1, 12) / 12))
OLD, NEW = slice(0, N_ROWS), slice(N_ROWS, None)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Exit code and messages of a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as left:
            code = left.code or 0
        return code, capsys.readouterr().err

    return run


def judge(run, model, table, *words):
    """Exit code and messages of `surefoot fit`, and what `score` then writes of the same rows."""
    table.to_csv("rows.csv", index=False)
    for name in ("trust.skops", "scores.csv"):
        Path(name).unlink(missing_ok=True)
    out = ("--out", "trust.skops")
    code, messages = run("fit", "rows.csv", "--target", "y", "--estimator", model, *out, *words)
    if code:
        return code, messages, None
    score = run("score", "trust.skops", "rows.csv", "--out", "scores.csv")
    assert score[0] == 0, score
    return code, messages, pd.read_csv("scores.csv")


@pytest.fixture
def android(tmp_path):
    """File of LightGBM in which android is 1, and the share of new rows that it is right on."""
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed: make boosters")
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1}
    data = lightgbm.Dataset(X[OLD], SYSTEMS[OLD] == "android")
    model = lightgbm.train(settings, data, 20)
    model.save_model(tmp_path / "android.txt")
    return "android.txt", ((model.predict(X[NEW]) > 0.5) == (SYSTEMS[NEW] == "android")).mean()


def test_the_second_class_is_not_the_last_in_the_alphabet(run, android):
    path, right = android
    rows = X[NEW].assign(y=SYSTEMS[NEW])
    code, messages, _ = judge(run, path, rows)
    assert (code, messages.count("\n")) == (2, 1)
    assert "'android' and 'ios' in this order" in messages
    assert "'ios' and 'android': name them in the order of its outputs by classes=" in messages
    code, messages, scores = judge(run, path, rows, "--classes", "ios, android")
    assert code == 0, messages
    assert (scores["prediction"] == SYSTEMS[NEW]).mean() == right
    code, messages, _ = judge(run, path, rows, "--classes", "ios,windows")
    assert code == 2
    assert "the names 'ios' and 'windows' do not fit" in messages


def encoded(tmp_path, codes):
    """Model of XGBoost for the codes of classes, as it was trained and as it is loaded."""
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed: make boosters")
    model = xgboost.XGBClassifier(n_estimators=20, n_jobs=1).fit(X[OLD], codes[OLD])
    model.save_model(tmp_path / "encoded.ubj")
    return model, surefoot.load(tmp_path / "encoded.ubj")


def test_classes_behind_an_encoder_in_another_order(tmp_path):
    """Numbers of twelve classes as texts, sorted by a LabelEncoder: 1, 10, 11, 12, 2, ..."""
    order, codes = np.unique((LEVELS + 1).astype(str), return_inverse=True)
    model, loaded = encoded(tmp_path, codes)
    with pytest.raises(ValueError, match=r"by classes= \(--classes\)"):
        assess(loaded, X[NEW], LEVELS[NEW] + 1)
    error_estimator = assess(loaded, X[NEW], LEVELS[NEW] + 1, classes=order)
    own = order[model.predict(X[NEW])].astype(int)
    np.testing.assert_array_equal(error_estimator.predict(X[NEW]), own)


def test_a_table_that_lacks_a_class(tmp_path):
    """Whole numbers from 0 are the classes; of others the user has to say all."""
    model, loaded = encoded(tmp_path, LEVELS)
    here = X[NEW][LEVELS[NEW] < 11]
    own, truth = model.predict(here), LEVELS[here.index]
    np.testing.assert_array_equal(assess(loaded, here, truth).predict(here), own)
    letters = np.array([*"zyxwvutsrqpo"])
    with pytest.raises(ValueError, match="has 12 classes and no names for them, and y has 11"):
        assess(loaded, here, letters[truth])
    error_estimator = assess(loaded, here, letters[truth], classes=letters)
    np.testing.assert_array_equal(error_estimator.predict(here), letters[own])


@pytest.mark.parametrize("zipmap", [True, False])
def test_the_labels_of_a_graph_are_texts_and_those_of_the_table_numbers(run, tmp_path, zipmap):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: make boosters")
    model = LogisticRegression(C=100, max_iter=500)
    model.fit(X[OLD].to_numpy(), (LEVELS[OLD] + 1).astype(str))
    graph = skl2onnx.to_onnx(model, X[:1].to_numpy(dtype=np.float32), options={"zipmap": zipmap})
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())
    rows = X[NEW].assign(y=LEVELS[NEW] + 1)
    code, messages, scores = judge(run, "model.onnx", rows, "--task", "classification")
    assert code == 0, messages
    own = model.predict(X[NEW].to_numpy(dtype=np.float32)).astype(int)
    assert (scores["prediction"] == own).mean() > 0.99  # 32 bits
    assert messages.count("taken by position, beginning with 'a', 'b' and 'c'.") == 1


@pytest.mark.parametrize("names", [["low", "mid", "top"], [9, 10, 11]])
def test_a_class_that_a_graph_never_predicts_has_the_name_that_is_left(tmp_path, names):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: make boosters")
    y, values = np.array(names)[LEVELS // 4], X.to_numpy()
    model = LogisticRegression().fit(values[OLD], y[OLD])
    model.intercept_[1] -= 50
    graph = skl2onnx.to_onnx(model, values[:1].astype(np.float32), options={"zipmap": False})
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())
    loaded = surefoot.load(tmp_path / "model.onnx")
    error_estimator = assess(loaded, values[NEW], y[NEW])
    np.testing.assert_array_equal(error_estimator.classes_, names)
    own = model.predict_proba(values[NEW])
    np.testing.assert_allclose(error_estimator.predict_proba(values[NEW]), own, atol=1e-5)
    rows = np.flatnonzero(y != names[1])[-200:]
    with pytest.raises(ValueError, match="has 3 classes and no names for them, and y has 2"):
        assess(loaded, values[rows], y[rows])
    error_estimator = assess(loaded, values[rows], y[rows], classes=names)
    np.testing.assert_array_equal(
        error_estimator.predict(values[rows]), model.predict(values[rows])
    )


def test_columns_by_position_are_said_once(tmp_path, recwarn):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed: make boosters")
    model = xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(X[OLD].to_numpy(), LEVELS[OLD] > 5)
    model.save_model(tmp_path / "arrays.ubj")
    loaded = surefoot.load(tmp_path / "arrays.ubj")
    y = (LEVELS[NEW] > 5).astype(int)
    assess(loaded, X[NEW].to_numpy(), y)
    assert not recwarn
    error_estimator = assess(loaded, X[NEW][["c", "a", "b"]], y)
    error_estimator.judge(X[NEW][["c", "a", "b"]])
    assert [str(warning.message) for warning in recwarn] == [
        "The model has no names of its columns: they are taken by position, beginning with 'c', 'a' and 'b'."
    ]
