"""ONNX files: predictions are those of ONNX Runtime, and a damaged or hostile file is one sentence."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import surefoot
from surefoot.cli import main
from surefoot.model_files import ModelFileError

onnx = pytest.importorskip("onnx", reason="onnx is not installed: make boosters")
onnxruntime = pytest.importorskip(
    "onnxruntime", reason="ONNX Runtime is not installed: make boosters"
)
skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: make boosters")

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(240, 3)), columns=["a", "b", "c"])
NUMBERS = FRAME["a"].to_numpy() * 3 + RNG.normal(size=240)
CLASSES = np.where(NUMBERS > 0, "yes", "no")
LEVELS = np.digitize(NUMBERS, [-1, 1])


def written(model, path, **options):
    types = [("rows", skl2onnx.common.data_types.FloatTensorType([None, 3]))]
    graph = skl2onnx.to_onnx(model, initial_types=types, options=options or None)
    path.write_bytes(graph.SerializeToString())
    return path


def own_outputs(path, X):
    session = onnxruntime.InferenceSession(path.read_bytes())
    return session.run(None, {"rows": X.to_numpy(dtype=np.float32)})


def fitted(path, y, tmp_path, *words):
    """Error estimator that `surefoot fit` writes for the rows and their targets."""
    data, out = tmp_path / "rows.csv", tmp_path / "trust.skops"
    FRAME.assign(y=y).to_csv(data, index=False)
    with pytest.raises(SystemExit) as left:
        main(
            ["fit", str(data), "--target", "y", "--estimator", str(path), "--out", str(out), *words]
        )
    assert not left.value.code
    return surefoot.load(out)


def network(n_outputs, last=None):
    """Linear network whose outputs are log-odds, or what the node `last` makes of them."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    weights = np.zeros((3, n_outputs), dtype=np.float32)
    weights[0] = np.arange(n_outputs) * 3.0 - 2
    nodes = [helper.make_node("MatMul", ["rows", "w"], ["raw"])]
    if last:
        nodes.append(helper.make_node(last, ["raw"], ["out"]))
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("rows", kind, [None, 3])],
        [helper.make_tensor_value_info("out" if last else "raw", kind, [None, n_outputs])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9), weights


def test_log_odds_of_a_network_become_probabilities(tmp_path):
    model, weights = network(3)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    judgement = fitted(tmp_path / "model.onnx", LEVELS, tmp_path).judge(FRAME)
    powers = np.exp(FRAME.to_numpy(dtype=np.float32) @ weights)
    np.testing.assert_allclose(
        judgement.probabilities, powers / powers.sum(axis=1, keepdims=True), atol=1e-6
    )


def test_one_probability_for_two_classes(tmp_path):
    model, weights = network(1, "Sigmoid")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    judgement = fitted(tmp_path / "model.onnx", CLASSES, tmp_path, "--classes", "yes,no").judge(
        FRAME
    )
    own = 1 / (1 + np.exp(-(FRAME.to_numpy(dtype=np.float32) @ weights)))
    np.testing.assert_allclose(judgement.probabilities[:, 0], own.ravel(), atol=1e-6)


def test_an_input_for_each_column(tmp_path):
    types = skl2onnx.common.data_types
    X = FRAME[["a"]].assign(plan=RNG.choice(["free", "paid"], len(FRAME)))
    prepared = ColumnTransformer([("n", StandardScaler(), ["a"]), ("c", OneHotEncoder(), ["plan"])])
    model = make_pipeline(prepared, LogisticRegression()).fit(X, CLASSES)
    inputs = [("a", types.FloatTensorType([None, 1])), ("plan", types.StringTensorType([None, 1]))]
    path = tmp_path / "model.onnx"
    path.write_bytes(skl2onnx.to_onnx(model, initial_types=inputs).SerializeToString())
    X.assign(y=CLASSES).to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "trust.skops"
    words = ["--target", "y", "--estimator", str(path), "--out", str(out)]
    with pytest.raises(SystemExit) as left:
        main(["fit", str(tmp_path / "rows.csv"), *words])
    assert not left.value.code
    judgement = surefoot.load(out).judge(X)
    np.testing.assert_allclose(judgement.probabilities, model.predict_proba(X), atol=1e-5)


def test_a_damaged_file(tmp_path):
    path = written(LogisticRegression().fit(FRAME, CLASSES), tmp_path / "model.onnx")
    whole = path.read_bytes()
    sentence = (
        f"{path} is not loaded: ONNX Runtime cannot read it, so it is damaged, or no such file."
    )
    for content in (whole[: len(whole) // 2], b"", b"\xff" * 500):
        path.write_bytes(content)
        with pytest.raises(ModelFileError) as caught:
            surefoot.load(path)
        assert str(caught.value) == sentence


def test_a_file_whose_numbers_are_in_another_file(tmp_path):
    model, _ = network(3)
    weights = model.graph.initializer[0]
    onnx.external_data_helper.set_external_data(weights, location="../../etc/passwd")
    weights.ClearField("raw_data")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelFileError) as caught:
        surefoot.load(tmp_path / "model.onnx")
    assert str(caught.value).endswith(
        "its numbers are in another file, which surefoot does not open."
    )


def test_a_saved_graph(tmp_path):
    model, _ = network(3, "Softmax")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    error_estimator = fitted(tmp_path / "model.onnx", LEVELS, tmp_path)
    surefoot.save(error_estimator, tmp_path / "again.skops")
    again = surefoot.load(tmp_path / "again.skops")
    np.testing.assert_array_equal(again.judge(FRAME).error, error_estimator.judge(FRAME).error)


def test_the_report_takes_the_file(tmp_path, capsys):
    path = written(LogisticRegression().fit(FRAME, CLASSES), tmp_path / "model.onnx")
    FRAME.assign(y=CLASSES).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(SystemExit) as left:
        main(
            [
                "report",
                str(tmp_path / "rows.csv"),
                "--target",
                "y",
                "--estimator",
                str(path),
                "--json",
            ]
        )
    assert not left.value.code
    summary = json.loads(capsys.readouterr().out)
    assert summary
