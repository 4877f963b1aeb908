"""Models to store in MLflow, and a store of its own for them: SQLite and a folder."""

import os

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.integrations.mlflow import log_model

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # before it is imported: no network
pd = pytest.importorskip("pandas")

N_ROWS = 240


def make_table(seed):
    """Rows with numbers, truth values, categories and nullable whole numbers, three columns with gaps."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, N_ROWS),
            "income": random.normal(size=N_ROWS),
            "plan": pd.Categorical(random.choice(["basic", "gold", "plus"], N_ROWS)),
            "visits": pd.array(random.integers(0, 9, N_ROWS), dtype="Int64"),
            "paid": random.random(N_ROWS) > 0.5,
        }
    )
    frame.loc[::7, "income"] = np.nan
    frame.loc[::11, "plan"] = None
    frame.loc[::13, "visits"] = pd.NA
    return frame


@pytest.fixture(scope="module")
def table():
    """Rows that are new to the models."""
    return make_table(5)


@pytest.fixture(scope="module")
def models():
    """A fitted error estimator for each task."""
    table = make_table(0)
    noise = np.random.default_rng(1).normal(size=N_ROWS)
    labels = np.where(table["age"] + 8 * noise > 50, "leaves", "stays")
    settings = {"max_iter": 20, "categorical_features": "from_dtype", "random_state": 0}
    classifier = HistGradientBoostingClassifier(**settings)
    regressor = HistGradientBoostingRegressor(**settings)
    return {
        "classification": IndividualErrorClassifier(classifier, cv=3, random_state=0).fit(
            table, labels
        ),
        "regression": IndividualErrorRegressor(regressor, cv=3, random_state=0).fit(
            table, table["age"] + noise
        ),
    }


@pytest.fixture(scope="module")
def logged(table, models, tmp_path_factory):
    """Addresses of a logged and registered model for each task, and the folder of its artifacts."""
    mlflow = pytest.importorskip("mlflow")
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    artifacts = folder / "artifacts"
    experiment = mlflow.create_experiment("tests", artifact_location=str(artifacts))
    addresses = {}
    for task, sure in models.items():
        with mlflow.start_run(experiment_id=experiment) as run:
            info = log_model(
                sure, "model", input_example=table.head(20), registered_model_name=task
            )
        addresses[task] = {
            "logged": info.model_uri,
            "run": f"runs:/{run.info.run_id}/model",
            "registered": f"models:/{task}/1",
        }
    yield addresses, artifacts
    mlflow.set_tracking_uri(before)


@pytest.fixture(scope="module")
def small():
    """An error estimator of numbers without names, quickly made, and its rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = (X[:, 0] + 0.3 * random.normal(size=120) > 0).astype(int)
    return IndividualErrorClassifier(GaussianNB(), cv=3, random_state=0).fit(X, y), X, y
