"""What is neither stored in MLflow nor loaded from it, each with one sentence. `make mlflow` runs this."""

import pickle
from pathlib import Path

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier
from surefoot.abstention import Promise
from surefoot.integrations.mlflow import load_model, save_model

mlflow = pytest.importorskip("mlflow", reason="MLflow has an environment of its own: make mlflow")


class WritesAFile:
    """Pickle that writes a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", [2, 5])
def test_a_pickle_in_place_of_the_model_is_refused(small, tmp_path, protocol):
    save_model(small[0], tmp_path / "model", max_risk=0.2)
    written = tmp_path / "written"
    stored = tmp_path / "model/data/surefoot/model.skops"
    stored.write_bytes(pickle.dumps(WritesAFile(written), protocol))
    for load in (load_model, mlflow.pyfunc.load_model):
        with pytest.raises(ValueError, match="is a pickle, and loading a pickle runs any code"):
            load(str(tmp_path / "model"))
    assert not written.exists()


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("promise.json", '{"limit": 0.1}', "holds no promise."),
        ("promise.json", '{"limit": 0.1, "class_risks": [1]}', "holds no promise."),
        ("promise.json", "[]", "holds no JSON object."),
        ("promise.json", "{", "is no JSON file."),
        ("promise.json", "[" * 100_000, "is no JSON file."),
        ("types.json", '{"a": "S1000000000"}', "holds no types of columns."),
        ("types.json", '{"a": 7}', "holds no types of columns."),
        ("types.json", '{"a": "no such type"}', "holds no types of columns."),
    ],
)
def test_broken_files_get_a_sentence(small, tmp_path, file, content, sentence):
    save_model(small[0], tmp_path / "model", max_risk=0.2)
    path = tmp_path / "model/data/surefoot" / file
    path.write_text(content)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole sentence is compared
        load_model(tmp_path / "model")
    assert str(caught.value) == f"{path} {sentence}"


def test_a_folder_without_a_model_of_surefoot(tmp_path):
    with pytest.raises(ValueError, match="holds no model that surefoot saved"):
        load_model(tmp_path)


class OwnClassifier(DummyClassifier):
    """Model of a type that is on no list."""


def test_a_model_that_could_not_be_loaded_is_not_stored(small, tmp_path):
    _, X, y = small
    sure = IndividualErrorClassifier(OwnClassifier(), cv=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"^The model cannot be saved, .*OwnClassifier"):
        save_model(sure, tmp_path / "model", max_risk=0.6)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sure", "options", "sentence"),
    [
        (
            LogisticRegression(),
            {},
            "error_estimator is a LogisticRegression: wrap the model in Individual",
        ),
        (IndividualErrorClassifier(GaussianNB()), {}, "This IndividualErrorClassifier instance is"),
        (None, {"promise": 0.1}, "promise is a float: it may be a Promise or None."),
        (None, {"max_risk": -1}, "max_risk == -1, must be > 0"),
        (None, {"confidence": 1.5}, "confidence == 1.5, must be < 1"),
    ],
)
def test_wrong_arguments(small, tmp_path, sure, options, sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        save_model(sure or small[0], tmp_path / "model", **options)
    assert str(caught.value).startswith(sentence)
    assert list(tmp_path.iterdir()) == []


def test_a_promise_and_a_risk_are_one_too_many(small, tmp_path):
    promise = Promise.from_held_out(small[0].held_out_, 0.2)
    with pytest.raises(ValueError, match=r"^Pass promise or max_risk, not both\.$"):
        save_model(small[0], tmp_path / "model", promise=promise, max_risk=0.2)
