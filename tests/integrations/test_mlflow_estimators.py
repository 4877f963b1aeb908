"""`--estimator mlflow:…` takes models that MLflow keeps in files without code. `make mlflow` runs this."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from surefoot.integrations.mlflow import load_estimator, save_model
from surefoot.model_files import ModelFileError

mlflow = pytest.importorskip("mlflow", reason="MLflow has an environment of its own: make mlflow")


def test_a_booster_of_lightgbm(small, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    _, X, y = small
    model = lightgbm.train(
        {"objective": "binary", "verbose": -1, "num_threads": 1}, lightgbm.Dataset(X, y), 5
    )
    mlflow.lightgbm.save_model(model, tmp_path / "model", pip_requirements=["lightgbm"])
    loaded = load_estimator(tmp_path / "model")
    np.testing.assert_allclose(loaded.outputs(X), model.predict(X), atol=1e-6)


def test_an_error_estimator_of_surefoot(small, tmp_path):
    error_estimator, X, _ = small
    save_model(error_estimator, tmp_path / "model", max_risk=0.2)
    loaded = load_estimator(tmp_path / "model")
    np.testing.assert_array_equal(loaded.judge(X).error, error_estimator.judge(X).error)


def test_a_pickled_flavor_is_refused(small, tmp_path):
    _, X, y = small
    model = LogisticRegression().fit(X, y)
    mlflow.sklearn.save_model(
        model,
        tmp_path / "model",
        serialization_format="cloudpickle",
        pip_requirements=["scikit-learn"],
    )
    with pytest.raises(ModelFileError, match=r"model\.pkl is a pickle, .* with surefoot\.save\.$"):
        load_estimator(tmp_path / "model")


def test_a_folder_without_a_model_and_one_that_points_out_of_itself(tmp_path):
    with pytest.raises(ModelFileError, match="holds no model of surefoot, LightGBM"):
        load_estimator(tmp_path)
    (tmp_path / "secret.onnx").write_bytes(b"")
    folder = tmp_path / "model"
    folder.mkdir()
    flavors = {"flavors": {"onnx": {"data": "../secret.onnx"}}}
    (folder / "MLmodel").write_text(json.dumps(flavors))
    with pytest.raises(ModelFileError, match="holds no model of surefoot, LightGBM"):
        load_estimator(folder)


def test_an_address_that_leads_nowhere(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: "):
        load_estimator(tmp_path / "nothing")
