"""A file that this version of the layout has written stays readable, and so does what it promises.

`python tests/model_files/test_format.py` writes the file again: for a new `FORMAT`, under its number.
"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import GaussianNB

from surefoot import IndividualErrorClassifier, load, model_files, save
from surefoot.abstention import Promise, promise_of
from surefoot.indicators import Confidence
from surefoot.model_files import FORMAT, ModelFileError

FILE = Path(__file__).with_name(f"format_{FORMAT}.skops")


def fitted():
    """Quick error estimator of a small table, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    model = IndividualErrorClassifier(GaussianNB(), indicators=Confidence(), cv=2, random_state=0)
    return model.fit(X, y), X


def promised(error_estimator):
    """Promise that the file holds, not the one that would be made."""
    return Promise.from_held_out(error_estimator.held_out_, max_risk=0.4, confidence=0.95)


def test_a_stored_file_of_this_layout_judges_as_a_new_fit():
    again, (error_estimator, X) = load(FILE), fitted()
    ours, theirs = error_estimator.judge(X + 0.1), again.judge(X + 0.1)
    assert_array_equal(theirs.prediction, ours.prediction)
    assert_allclose(theirs.error, ours.error, rtol=1e-6)
    assert_array_equal(theirs.novel, ours.novel)
    assert promise_of(again).max_risk == 0.4


def test_a_file_of_another_layout_is_refused(monkeypatch):
    monkeypatch.setattr(model_files, "FORMAT", FORMAT + 1)
    with pytest.raises(ModelFileError, match="another version of surefoot"):
        load(FILE)


def test_the_promise_that_was_saved_is_the_one_that_is_kept(tmp_path):
    error_estimator, _ = fitted()
    ours = promised(error_estimator)
    assert ours.max_risk != promise_of(error_estimator).max_risk
    save(error_estimator, tmp_path / "model.skops", ours)
    again = load(tmp_path / "model.skops")
    assert dataclasses.asdict(promise_of(again)) == dataclasses.asdict(ours)
    assert promise_of(again, max_risk=0.3).max_risk == 0.3
    assert promise_of(again, confidence=0.9).confidence == 0.9
    assert error_estimator.promise_ is None  # saving changes nothing


def test_a_promise_does_not_outlive_its_rows():
    error_estimator, X = fitted()
    error_estimator.promise_ = promised(error_estimator)
    error_estimator.fit(X, (X[:, 1] > 0).astype(int))
    assert error_estimator.promise_ is None


@pytest.mark.parametrize(
    ("fields", "is_numeric"),
    [
        ([("value", "f8"), ("feature", "i4"), ("inner", [("flag", "?"), ("time", "M8[D]")])], True),
        ([("value", "f8"), ("memory", object)], False),
        ([("value", "f8"), ("inner", [("memory", object, (2,))])], False),
        ([("value", "f8"), ("memory", "U5")], False),
    ],
)
def test_only_structured_arrays_of_numbers_are_not_walked(fields, is_numeric):
    array = np.zeros(3, dtype=fields)
    parts = list(model_files._parts(array, "", False, False))
    assert len(parts) == (0 if is_numeric else 3)


def test_a_setting_in_a_structured_array_with_objects_is_found():
    model = GaussianNB()
    model.memory = np.array([(1.0, "cache")], dtype=[("value", "f8"), ("memory", object)])
    # skops cannot write such an array, but may learn to.
    with pytest.raises(model_files.Refusal, match="setting 'memory'"):
        model_files._check_settings(model, limit=True)


if __name__ == "__main__":
    made, _ = fitted()
    save(made, FILE, promised(made))


def test_what_is_no_promise_is_not_saved(tmp_path):
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    error_estimator = IndividualErrorClassifier(GaussianNB(), indicators=Confidence()).fit(X, y)
    with pytest.raises(ModelFileError, match="it holds a float as its promise"):
        save(error_estimator, tmp_path / "m.skops", promise=0.05)
    assert not (tmp_path / "m.skops").exists()
