"""A child process reads each file and predicts a few rows first, under a limit of time."""

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import surefoot
from surefoot.model_files import ModelFileError

TRIAL = Path(surefoot.__file__).parent / "_models" / "_trial.py"
LATE = "is not loaded: it was not read and did not predict a few rows within"


def endless_graph(path):
    """ONNX graph of a loop that goes on while true is true."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed: make boosters")
    make, kinds = onnx.helper, onnx.TensorProto

    def value(name, kind=kinds.FLOAT, shape=(None, 3)):
        return make.make_tensor_value_info(name, kind, shape)

    same = [make.make_node("Identity", [old], [new]) for old, new in (("go", "on"), ("v", "w"))]
    inputs = [value("i", kinds.INT64, []), value("go", kinds.BOOL, []), value("v")]
    body = make.make_graph(same, "body", inputs, [value("on", kinds.BOOL, []), value("w")])
    graph = make.make_graph(
        [make.make_node("Loop", ["", "yes", "rows"], ["out"], body=body)],
        "endless",
        [value("rows")],
        [value("out")],
        [make.make_tensor("yes", kinds.BOOL, [], [True])],
    )
    opset = [make.make_opsetid("", 17)]
    path.write_bytes(make.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString())


def train(library, path):
    """File of a small model."""
    package = pytest.importorskip(library, reason=f"{library} is not installed: make boosters")
    X = np.random.default_rng(0).normal(size=(60, 3))
    if library == "onnxruntime":
        skl2onnx, lines = import_module("skl2onnx"), import_module("sklearn.linear_model")
        model = lines.LinearRegression().fit(X, X[:, 0])
        graph = skl2onnx.to_onnx(model, X[:1].astype(np.float32))
        return path.write_bytes(graph.SerializeToString())
    if library == "lightgbm":
        return package.train(
            {"verbose": -1, "num_threads": 1}, package.Dataset(X, X[:, 0]), 2
        ).save_model(path)
    if library == "xgboost":
        return package.XGBRegressor(n_estimators=2, n_jobs=1).fit(X, X[:, 0]).save_model(path)
    quiet = {"allow_writing_files": False, "verbose": False, "thread_count": 1}
    return package.CatBoostRegressor(iterations=2, **quiet).fit(X, X[:, 0]).save_model(str(path))


FILES = {
    "lightgbm": "model.txt",
    "xgboost": "model.json",
    "catboost": "model.cbm",
    "onnxruntime": "model.onnx",
}


def test_a_graph_that_never_ends(tmp_path, monkeypatch):
    endless_graph(tmp_path / "model.onnx")
    monkeypatch.setattr("surefoot._models._native.MOST_SECONDS", 8)
    with pytest.raises(ModelFileError, match=LATE):
        surefoot.load(tmp_path / "model.onnx")


@pytest.mark.parametrize("library", FILES)
def test_the_limit_holds_for_every_library(tmp_path, monkeypatch, library):
    path = tmp_path / FILES[library]
    train(library, path)
    surefoot.load(path)
    monkeypatch.setattr("surefoot._models._native.MOST_SECONDS", 0.01)
    with pytest.raises(ModelFileError, match=LATE):
        surefoot.load(path)


def children(process):
    """Ids of the processes that a process has started."""
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def runs(number):
    """Whether there is a process of that number that has not ended."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] not in "XZ"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="/proc lists children on Linux")
def test_an_interrupt_ends_the_trial(tmp_path):
    endless_graph(tmp_path / "model.onnx")
    program = "import sys, surefoot; surefoot.load(sys.argv[1])"
    command = [sys.executable, "-c", program, str(tmp_path / "model.onnx")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not (trials := children(process)):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert messages.splitlines()[-1] == "KeyboardInterrupt"
    deadline = time.monotonic() + 30
    while runs(trials[0]) and time.monotonic() < deadline:  # it was killed, which takes a moment
        time.sleep(0.01)
    assert not runs(trials[0])


def test_a_library_that_the_child_cannot_import(tmp_path, monkeypatch):
    path, broken = tmp_path / FILES["lightgbm"], tmp_path / "broken"
    train("lightgbm", path)
    broken.mkdir()
    (broken / "lightgbm.py").write_text("raise ImportError('libgomp.so.1 is missing')")
    paths = [str(broken), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    with pytest.raises(ModelFileError) as caught:
        surefoot.load(path)
    assert str(caught.value) == (
        f"{path} is not loaded: a process of its own, which reads it first, cannot import "
        "lightgbm: libgomp.so.1 is missing."
    )


def test_the_child_imports_nothing_before_its_limits():
    """Neither surefoot nor NumPy, so that it starts fast, and whatever a library does is limited."""
    command = [sys.executable, "-P", "-X", "importtime", str(TRIAL), str(4 << 30)]
    child = subprocess.run(command, check=True, capture_output=True, text=True)
    modules = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in child.stderr.splitlines()
    }
    assert "pathlib" in modules
    assert not modules & {"surefoot", "numpy", "scipy", "sklearn", *FILES}
