"""Models in a real MLflow: what they predict and what is stored. `make mlflow` runs this."""

import json
import pickle
import pickletools
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packaging.version import Version
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier, assess_predictions
from surefoot.abstention import Promise
from surefoot.integrations.mlflow import save_model

mlflow = pytest.importorskip("mlflow", reason="MLflow has an environment of its own: make mlflow")
pd = pytest.importorskip("pandas")


def expected_frame(sure, X):
    return Promise.from_held_out(sure.held_out_).apply(sure.judge(X)).to_frame()


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("address", ["logged", "run", "registered"])
def test_a_logged_model_predicts_the_judgement(logged, models, table, task, address):
    frame = mlflow.pyfunc.load_model(logged[0][task][address]).predict(table)
    pd.testing.assert_frame_equal(frame, expected_frame(models[task], table), check_exact=True)
    assert 0 < frame["accepted"].mean() < 1


def test_predictions_without_their_model_are_columns_of_the_input(table, tmp_path):
    rng = np.random.default_rng(0)
    truth = np.where(table["age"] + rng.normal(scale=9, size=len(table)) > 50, "leaves", "stays")
    scored = table.assign(said=np.where(table["age"] > 50, "leaves", "stays"))
    sure = assess_predictions(scored, truth, "said", random_state=0)
    save_model(sure, tmp_path / "m", input_example=scored.head(20))
    frame = mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(scored)
    pd.testing.assert_frame_equal(frame, expected_frame(sure, scored), check_exact=True)


def is_pickle(content):
    """Whether bytes begin with a pickle."""
    with warnings.catch_warnings(action="ignore"):  # of escapes in what is no pickle
        try:
            return bool(list(pickletools.genops(content)))
        except ValueError:
            return False


def stored_files(folder):
    """Name and content of each file of a folder, and of each file in its zip archives."""
    for path in filter(Path.is_file, folder.rglob("*")):
        yield path.name, path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield from ((name, archive.read(name)) for name in archive.namelist())


def test_no_file_is_a_pickle_or_asks_for_cloudpickle(logged):
    files = list(stored_files(logged[1]))
    names = {name for name, _ in files}
    assert {"model.skops", "promise.json", "types.json", "MLmodel", "schema.json"} <= names
    assert [name for name, content in files if is_pickle(content)] == []
    assert [name for name, content in files if b"pickle" in content.lower()] == []
    assert is_pickle(pickle.dumps(GaussianNB())), "a pickle would have been noticed"


def test_outputs_have_the_types_that_mlflow_infers(logged, models, table):
    for task, addresses in logged[0].items():
        signature = mlflow.models.get_model_info(addresses["logged"]).signature
        frame = expected_frame(models[task], table)
        assert signature.outputs == mlflow.models.infer_signature(frame, frame).outputs


def input_types(folder):
    """Types of the columns in the signature of a stored model, by name."""
    inputs = mlflow.models.get_model_info(str(folder)).signature.inputs
    return {column["name"]: column["type"] for column in inputs.to_dict()}


def test_inputs_have_the_types_of_the_example(models, table, tmp_path):
    save_model(models["classification"], tmp_path / "mixed", input_example=table.head(20))
    mixed = input_types(tmp_path / "mixed")
    assert list(mixed) == list(table)
    assert mixed["plan"] == mixed["visits"] == "any"
    if Version(mlflow.__version__) >= Version("3.17"):
        assert (mixed["age"], mixed["income"], mixed["paid"]) == ("long", "double", "boolean")
    plain = table[["age", "income"]].fillna(0.0)
    sure = IndividualErrorClassifier(GaussianNB(), cv=2, random_state=0)
    sure.fit(plain.to_numpy(), table["paid"])
    save_model(sure, tmp_path / "plain", max_risk=0.9, input_example=plain)
    assert input_types(tmp_path / "plain") == {"age": "long", "income": "double"}


LABELS = {
    "texts": np.array(["no", "yes"]),
    "texts as objects": np.array(["no", "yes"], dtype=object),
    "truth values": np.array([False, True]),
    "whole numbers": np.array([3, 7]),
    "short numbers": np.array([-1, 1], dtype=np.int8),
    "floats": np.array([0.0, 1.0], dtype=np.float32),
}


@pytest.mark.filterwarnings("ignore:.*integer column:UserWarning")  # of MLflow's own inference
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_every_type_have_a_valid_signature(small, tmp_path, labels):
    _, X, y = small
    sure = IndividualErrorClassifier(GaussianNB(), cv=3, random_state=0).fit(X, labels[y])
    save_model(sure, tmp_path / "model", max_risk=0.2)
    model = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    frame = model.predict(X)
    assert set(frame["prediction"]) == set(labels.tolist())
    assert model.metadata.get_output_schema() == mlflow.models.infer_signature(X, frame).outputs


def test_without_an_example_columns_are_known_by_name(models, table, tmp_path):
    save_model(models["classification"], tmp_path / "model")
    model = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    inputs = model.metadata.get_input_schema()
    assert [column["type"] for column in inputs.to_dict()] == ["any"] * 5
    assert inputs.input_names() == list(table)
    complete = table.dropna()
    shuffled = complete[list(complete)[::-1]].assign(unknown=1)
    expected = expected_frame(models["classification"], complete)
    pd.testing.assert_frame_equal(model.predict(shuffled), expected)


def test_a_model_of_an_array_takes_arrays(small, tmp_path):
    sure, X, _ = small
    save_model(sure, tmp_path / "bare", max_risk=0.2)
    save_model(sure, tmp_path / "known", max_risk=0.2, input_example=X[:5])
    bare, known = (mlflow.pyfunc.load_model(str(tmp_path / name)) for name in ("bare", "known"))
    pd.testing.assert_frame_equal(bare.predict(X), known.predict(X))
    assert bare.metadata.get_input_schema() is None
    assert known.metadata.get_input_schema().inputs[0].shape == (-1, 3)
    with pytest.raises(ValueError, match=r"^X has 2 features, but .* is expecting 3 features"):
        bare.predict(X[:, :2])
    with pytest.raises(mlflow.MlflowException, match="does not match expected shape"):
        known.predict(X[:, :2])


def test_mlflow_names_a_missing_column_and_one_of_another_type(logged, table):
    model = mlflow.pyfunc.load_model(logged[0]["classification"]["logged"])
    with pytest.raises(mlflow.MlflowException, match=r"Model is missing inputs \['plan'\]\.$"):
        model.predict(table.drop(columns="plan"))
    refusals = (ValueError, mlflow.MlflowException)  # ours before MLflow 3.17
    with pytest.raises(refusals, match=r"Column 'age' holds|input types for column age\."):
        model.predict(table.assign(age="old"))


def test_without_mlflows_check_a_wrong_column_gets_one_sentence(models, table, tmp_path):
    outputs = mlflow.models.infer_signature(model_output=table[["paid"]]).outputs
    signature = mlflow.models.ModelSignature(outputs=outputs)
    save_model(
        models["classification"],
        tmp_path / "model",
        signature=signature,
        input_example=table.head(20),
    )
    model = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert model.metadata.signature == signature
    with pytest.raises(ValueError, match=r"^The table lacks 'plan' and 'paid', which the model"):
        model.predict(table.drop(columns=["plan", "paid"]))
    with pytest.raises(ValueError, match=r"^Column 'visits' holds values that are no Int64\.$"):
        model.predict(table.assign(visits="many"))


def test_an_example_must_have_the_columns(models, table, tmp_path):
    with pytest.raises(ValueError, match=r"^input_example lacks 'plan', which the model was"):
        save_model(
            models["regression"],
            tmp_path / "model",
            input_example=table.head().drop(columns="plan"),
        )
    assert not (tmp_path / "model").exists()


def test_mlflow_can_serve_the_example(models, table, tmp_path):
    save_model(models["classification"], tmp_path / "model", input_example=table.head(20))
    rows = json.loads((tmp_path / "model/serving_input_example.json").read_text())
    split = rows["dataframe_split"]
    served = pd.DataFrame(split["data"], columns=split["columns"])
    frame = mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(served)
    expected = expected_frame(models["classification"], table.head(20))
    pd.testing.assert_frame_equal(frame, expected)


def test_the_promise_is_stored(small, tmp_path):
    sure, X, _ = small
    save_model(sure, tmp_path / "model", max_risk=0.15, confidence=0.8)
    promise = Promise.from_held_out(sure.held_out_, 0.15, 0.8)
    names = ("max_risk", "confidence", "coverage", "n_rows", "cap", "is_about")
    fields = {name: getattr(promise, name) for name in names}
    fields |= {"limit": promise.threshold, "class_risks": []}
    stored = json.loads((tmp_path / "model/data/surefoot/promise.json").read_text())
    assert stored == fields
    assert mlflow.models.get_model_info(str(tmp_path / "model")).flavors["surefoot"]["promise"] == (
        fields
    )
    near = X + 1e-6  # not the training rows, which are never accepted
    frame = mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(near)
    expected = (sure.predict_error(near) <= promise.threshold) & ~sure.predict_novelty(near)
    np.testing.assert_array_equal(frame["accepted"], expected)
    assert expected.any()


def test_a_promise_that_cannot_be_kept_trusts_no_row(small, tmp_path):
    sure, X, _ = small
    with pytest.warns(
        UserWarning, match=r"^No row will be trusted: .* at most about 0\.01 % wrong with"
    ):
        save_model(sure, tmp_path / "model", max_risk=1e-4)
    stored = json.loads((tmp_path / "model/data/surefoot/promise.json").read_text())
    assert stored["limit"] is None
    assert not mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(X)["accepted"].any()


def requirements(folder):
    return (folder / "requirements.txt").read_text().split()


def test_requirements_are_pinned_and_can_be_changed(small, tmp_path):
    sure = small[0]
    save_model(sure, tmp_path / "own", max_risk=0.2)
    save_model(sure, tmp_path / "more", max_risk=0.2, extra_pip_requirements=["polars"])
    save_model(sure, tmp_path / "given", max_risk=0.2, pip_requirements=["surefoot", "mlflow"])
    names = ["mlflow", "surefoot", "numpy", "pandas", "scikit-learn", "scipy", "skops"]
    own = requirements(tmp_path / "own")
    assert [line.partition("==")[0] for line in own] == names
    assert own[2] == f"numpy=={np.__version__}"
    assert requirements(tmp_path / "more") == [*own, "polars"]
    assert requirements(tmp_path / "given") == ["surefoot", "mlflow"]


def test_a_pipeline_of_skrub_needs_skrub(table, tmp_path):
    skrub = pytest.importorskip("skrub")
    frame = table.drop(columns="visits").assign(
        since=pd.date_range("2024-01-01", periods=len(table), freq="D"),
        city=np.resize(["Rome", "Oslo", None], len(table)),
    )
    model = skrub.tabular_pipeline(HistGradientBoostingClassifier(max_iter=10, random_state=0))
    sure = IndividualErrorClassifier(model, cv=2, random_state=0).fit(frame, table["age"] > 50)
    save_model(sure, tmp_path / "model", input_example=frame.head(10))
    assert any(line.startswith("skrub==") for line in requirements(tmp_path / "model"))
    predicted = mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(frame)
    pd.testing.assert_frame_equal(predicted, expected_frame(sure, frame))
