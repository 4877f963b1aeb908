"""Every kind of model that `surefoot fit` writes is read again, says the same of each row, and is not a large file."""

import dataclasses
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops.io import get_untrusted_types

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.cli._console import plain_warnings
from surefoot.cli._model import build_model
from surefoot.model_files import load_model, save_model
from surefoot.time_series import KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier

N_ROWS = 120


@pytest.fixture(scope="module")
def table():
    """Numbers with gaps, categories, dates and texts."""
    rng = np.random.default_rng(0)
    words = np.array(["slow", "fast", "late", "kind", "cold"])
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(N_ROWS) < 0.1, np.nan, rng.normal(40, 10, N_ROWS)),
            "plan": pd.Categorical(rng.choice(["free", "paid"], N_ROWS)),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N_ROWS), "D"),
            "memory": rng.choice(["8 GB", "16 GB"], N_ROWS),
        }
    )
    notes = [f"{i} {' '.join(rng.choice(words, 5))}" for i in range(N_ROWS)]
    return frame.assign(note=notes)


@pytest.fixture(scope="module")
def classes():
    return np.random.default_rng(1).choice(["no", "yes"], N_ROWS)


def fitted(model, X, y, **settings):
    kind = IndividualErrorRegressor if y.dtype.kind == "f" else IndividualErrorClassifier
    with plain_warnings():  # a fold may lack a category, as in the commands
        return kind(model, cv=2, random_state=0, **settings).fit(X, y)


def assert_same(one, other):
    """Each field of two judgements has the same values."""
    for field in dataclasses.fields(one):
        mine, others = getattr(one, field.name), getattr(other, field.name)
        by_name = mine if isinstance(mine, dict) else {"": mine}
        for name, values in by_name.items():
            np.testing.assert_array_equal(
                values, others[name] if isinstance(mine, dict) else others, err_msg=field.name
            )


def assert_loads(model, X, path):
    save_model(model, path)
    assert_same(load_model(path).judge(X), model.judge(X))
    # Classes are found in their packages, so that moving a file breaks no saved model.
    types = [name for name in get_untrusted_types(file=path) if name.startswith("surefoot.")]
    assert [name for name in types if name.count(".") > 2] == []
    with zipfile.ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist())


@pytest.mark.parametrize("name", ["boosting", "logistic"])
def test_a_mixed_frame(table, classes, tmp_path, name):
    model = fitted(build_model(name, "classification", 0), table, classes)
    assert_loads(model, table, tmp_path / "model.skops")


def test_a_regression_on_a_mixed_frame(table, tmp_path):
    y = table["age"].fillna(40).to_numpy()
    model = fitted(build_model("boosting", "regression", 0), table, y)
    assert_loads(model, table, tmp_path / "model.skops")


def test_a_regression_on_numbers(tmp_path):
    X = np.random.default_rng(0).normal(size=(N_ROWS, 3))
    assert_loads(fitted(Ridge(), X, X[:, 0] ** 2), X, tmp_path / "model.skops")


def test_seven_classes(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(210, 3)), columns=["a", "b", "c"])
    y = np.repeat(list("abcdefg"), 30)
    model = fitted(RandomForestClassifier(10, random_state=0), X, y)
    assert_loads(model, X, tmp_path / "model.skops")


def test_costs(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N_ROWS, 2)), rng.choice(["no", "yes"], N_ROWS)
    model = fitted(LogisticRegression(), X, y, loss=np.array([[0.0, 1.0], [5.0, 0.0]]))
    assert_loads(model, X, tmp_path / "model.skops")


def test_a_frozen_model(classes, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(N_ROWS, 2)), columns=["a", "b"])
    frozen = FrozenEstimator(LogisticRegression().fit(X, classes))
    assert_loads(fitted(frozen, X, classes), X, tmp_path / "model.skops")


@pytest.mark.parametrize("kind", [KNeighborsDTWClassifier, LocalKNeighborsDTWClassifier])
def test_series(kind, tmp_path):
    X = np.cumsum(np.random.default_rng(0).normal(size=(60, 20)), axis=1)
    model = fitted(kind(), X, np.where(X[:, -1] > 0, "up", "down"))
    assert_loads(model, X, tmp_path / "model.skops")


def test_sparse_texts(table, classes, tmp_path):
    columns = ColumnTransformer([("words", TfidfVectorizer(), "note")])
    model = fitted(make_pipeline(columns, LogisticRegression()), table[["note"]], classes)
    assert_loads(model, table[["note"]], tmp_path / "model.skops")


@pytest.mark.parametrize(
    "model",
    [
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring="neg_log_loss", cv=2),
        MLPClassifier((3,), tol=1.0, random_state=0),
    ],
    ids=["a search", "a network"],
)
def test_a_given_model_with_parts_of_its_own(model, classes, tmp_path):
    X = np.random.default_rng(0).normal(size=(N_ROWS, 2))
    assert_loads(fitted(model, X, classes), X, tmp_path / "model.skops")


def test_a_wide_table(tmp_path):
    """3,000 columns, of which the model, its folds and their neighbours all keep the names."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3000)), columns=[f"column {i}" for i in range(3000)])
    y = np.where(X["column 0"] > 0, "yes", "no")
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()), X, y)
    assert assert_loads(model, X, tmp_path / "model.skops") < 64 << 20


def test_many_texts(tmp_path):
    """30,000 pieces of words, which the preparation keeps five times, in the model and in each fold."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, 8)) for _ in range(4000)])
    notes = [" ".join(rng.choice(words, 30)) for _ in range(300)]
    X, y = pd.DataFrame({"note": notes}), rng.choice(["no", "yes"], 300)
    model = fitted(build_model("logistic", "classification", 0), X, y)
    assert assert_loads(model, X, tmp_path / "model.skops") < 64 << 20
