"""Every kind of model that `surefoot fit` writes is read again, says the same of each row, and is not a large file."""

import dataclasses
import pickle
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops.io import get_untrusted_types

from surefoot import (
    IndividualErrorClassifier,
    IndividualErrorRegressor,
    assess,
    assess_predictions,
    load,
    save,
)
from surefoot.cli._model import build_model
from surefoot.indicators import Confidence
from surefoot.model_files import ModelFileError
from surefoot.resampling import HoldoutSplit
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


def fitted(model, X, y, **settings):
    kind = IndividualErrorRegressor if y.dtype.kind == "f" else IndividualErrorClassifier
    with warnings.catch_warnings():  # a fold may lack a category, as in the commands
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        return kind(model, **{"cv": 2, "random_state": 0} | settings).fit(X, y)


def assert_same(one, other):
    """Each field of two judgements has the same values."""
    for field in dataclasses.fields(one):
        mine, others = getattr(one, field.name), getattr(other, field.name)
        by_name = mine if isinstance(mine, dict) else {"": mine}
        for name, values in by_name.items():
            expected = others[name] if isinstance(mine, dict) else others
            if (
                getattr(values, "dtype", None) == np.float64
            ):  # another process may add in another order
                np.testing.assert_allclose(values, expected, rtol=1e-12, err_msg=field.name)
            else:
                np.testing.assert_array_equal(values, expected, err_msg=field.name)


def assert_loads(model, X, path):
    save(model, path)
    assert_same(load(path).judge(X), model.judge(X))
    # Classes are found in their packages, so that moving a file breaks no saved model.
    types = [name for name in get_untrusted_types(file=path) if name.startswith("surefoot.")]
    assert [name for name in types if name.count(".") > 2] == []
    with zipfile.ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist())


RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(N_ROWS, 3))
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
SERIES = np.cumsum(RNG.normal(size=(60, 20)), axis=1)
CLASSES = RNG.choice(["no", "yes"], N_ROWS)
COSTS = np.array([[0.0, 1.0], [5.0, 0.0]])
WORDS = ColumnTransformer([("words", TfidfVectorizer(), "note")])
SEARCH = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring="neg_log_loss", cv=2)

# Model, rows (None for the mixed frame), targets and settings.
CASES = {
    "boosting": (build_model("boosting", "classification", 0), None, CLASSES, {}),
    "logistic": (build_model("logistic", "classification", 0), None, CLASSES, {}),
    "regression": (build_model("boosting", "regression", 0), None, NUMBERS[:, 0], {}),
    "numbers": (Ridge(), NUMBERS, NUMBERS[:, 0] ** 2, {}),
    "six classes": (RandomForestClassifier(10), FRAME, np.repeat(list("abcdef"), 20), {}),
    "costs": (LogisticRegression(), NUMBERS, CLASSES, {"loss": COSTS}),
    "frozen": (FrozenEstimator(LogisticRegression().fit(FRAME, CLASSES)), FRAME, CLASSES, {}),
    "series": (KNeighborsDTWClassifier(), SERIES, np.where(SERIES[:, -1] > 0, "up", "down"), {}),
    "local": (LocalKNeighborsDTWClassifier(), SERIES, np.where(SERIES[:, -1] > 0, "u", "d"), {}),
    "sparse texts": (make_pipeline(WORDS, LogisticRegression()), None, CLASSES, {}),
    "a search": (SEARCH, NUMBERS, CLASSES, {}),
    "one split": (GaussianNB(), NUMBERS, CLASSES, {"cv": HoldoutSplit(0.5, random_state=0)}),
    "a network": (MLPClassifier((3,), tol=1.0, random_state=0), NUMBERS, CLASSES, {}),
}


LONG = ("regression", "local", "a network")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in LONG else case for case in CASES]
)
def test_a_model_is_read_again(table, tmp_path, case):
    model, X, y, settings = CASES[case]
    X = table if X is None else X
    assert_loads(fitted(model, X, y, **settings), X, tmp_path / "model.skops")


# Judges all rows, and one row, with each of the models in a folder; the rows of NAME.skops are in NAME.pkl.
JUDGE = """
import pickle, sys
from pathlib import Path
from surefoot import load
for path in Path(sys.argv[1]).glob("*.skops"):
    X = pickle.loads(path.with_suffix(".pkl").read_bytes())
    model = load(path)
    path.with_suffix(".out").write_bytes(pickle.dumps([model.judge(X), model.judge(X[5:6])]))
"""


def given(table, y, prediction, *probabilities):
    """Error estimator of predictions that are columns of a table."""
    return assess_predictions(table, y, prediction, [*probabilities] or None, cv=2, random_state=0)


def models_of_all_kinds(table):
    """Error estimator of each kind, with the rows that it judges."""
    scored = table.assign(
        said=RNG.choice(["no", "yes"], N_ROWS),
        sure=RNG.uniform(0.5, 1, N_ROWS),
        forecast=NUMBERS[:, 1],
    )
    numbers = FRAME.assign(said=scored["said"])
    texts, mixed = scored[["age", "note", "said", "sure"]], scored[["age", "plan", "forecast"]]
    sparse, X, y, _ = CASES["sparse texts"]
    yield "scikit-learn", fitted(RandomForestClassifier(10, random_state=0), FRAME, CLASSES), FRAME
    polar = pl.DataFrame(FRAME.to_dict("list"))
    yield "polars", fitted(GaussianNB(), polar, CLASSES), polar
    yield "mixed", fitted(CASES["logistic"][0], table, CLASSES), table
    yield "regression", fitted(Ridge(), NUMBERS, NUMBERS[:, 0] ** 2), NUMBERS
    yield "text", fitted(sparse, table if X is None else X, y), table
    yield "predicted classes", given(numbers, CLASSES, "said"), numbers
    yield "predictions of texts", given(texts, CLASSES, "said", "sure"), texts
    yield "predicted numbers", given(mixed, NUMBERS[:, 0], "forecast"), mixed


KINDS = ("scikit-learn", "polars", "mixed", "regression", "text", "predicted classes")
KINDS = (*KINDS, "predictions of texts", "predicted numbers")


@pytest.fixture(scope="module")
def judged_elsewhere(table, tmp_path_factory):
    """Judgements of each kind of model here, and after `save` and `load` in another process."""
    folder = tmp_path_factory.mktemp("models")
    here = {}
    for name, model, X in models_of_all_kinds(table):
        save(model, folder / f"{name}.skops")
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(X))
        here[name] = [model.judge(X), model.judge(X[5:6])]
    subprocess.run([sys.executable, "-W", "error", "-c", JUDGE, str(folder)], check=True)
    return {
        name: (own, pickle.loads((folder / f"{name}.out").read_bytes()))  # noqa: S301 - ours
        for name, own in here.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_in_another_process(judged_elsewhere, kind):
    for here, there in zip(*judged_elsewhere[kind], strict=True):
        assert len(here.error) in (1, N_ROWS)
        assert_same(there, here)


class Own(LogisticRegression):
    """A model that no list names."""


UNSAVED = {
    "a class of the user": (Own().fit(FRAME, CLASSES), "it holds 'test_written.Own', which"),
    "a function": (lambda X: np.full(len(X), 0.3), "which surefoot does not trust"),
    "a setting": (make_pipeline(LogisticRegression(), memory="x").fit(FRAME, CLASSES), "'memory'"),
}


@pytest.mark.parametrize("case", UNSAVED)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, case):
    model, why = UNSAVED[case]
    error_estimator = assess(model, FRAME, CLASSES, indicators=Confidence(), cv=2)
    with pytest.raises(ModelFileError) as caught:
        save(error_estimator, tmp_path / "model.skops")
    sentence = str(caught.value)
    assert sentence.startswith("The model cannot be saved, as its file would not be loaded: ")
    assert why in sentence
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("is_always_right", [True, False])
def test_a_learner_of_the_user_is_saved_with_its_calibration(tmp_path, is_always_right):
    y = np.arange(80) % 2
    X = np.random.default_rng(0).normal(size=(80, 2)) + (20 if is_always_right else 1) * y[:, None]
    error_estimator = fitted(GaussianNB(), X, y, learner=GaussianNB(), indicators=Confidence())
    assert (error_estimator.learner_ is None) == is_always_right
    save(error_estimator, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_error(X), error_estimator.predict_error(X))


def test_an_unfitted_error_estimator_is_not_saved(tmp_path):
    with pytest.raises(ModelFileError, match="it holds an unfitted IndividualErrorClassifier"):
        save(IndividualErrorClassifier(LogisticRegression()), tmp_path / "model.skops")


@pytest.mark.slow
def test_a_wide_table(tmp_path):
    """3,000 columns, of which the model, its folds and their neighbours all keep the names."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3000)), columns=[f"column {i}" for i in range(3000)])
    y = np.where(X["column 0"] > 0, "yes", "no")
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()), X, y)
    assert assert_loads(model, X, tmp_path / "model.skops") < 64 << 20


@pytest.mark.slow
def test_many_texts(tmp_path):
    """30,000 pieces of words, which the preparation keeps five times, in the model and in each fold."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, 8)) for _ in range(4000)])
    notes = [" ".join(rng.choice(words, 30)) for _ in range(300)]
    X, y = pd.DataFrame({"note": notes}), rng.choice(["no", "yes"], 300)
    model = fitted(build_model("logistic", "classification", 0), X, y)
    assert assert_loads(model, X, tmp_path / "model.skops") < 64 << 20
