"""A number or classes: every door decides by one rule, or asks the same question."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import surefoot
from surefoot import IndividualErrorClassifier, IndividualErrorRegressor, assess_predictions
from surefoot._task import Task, UnclearTaskError, kind_of_target

N_ROWS = 120
DRAW = np.random.default_rng(0)
CLASSES, NUMBER, ASKED = "classification", "regression", "asked"

# Targets of users, and what they are by the rule: strings and booleans are classes, fractions are numbers, up to ten
# whole numbers are classes, more than 100 are numbers, and between these the user is asked.
TARGETS = {
    "marks 1 to 10": (1 + np.arange(N_ROWS) % 10, CLASSES),
    "ratings 1 to 5": (1 + np.arange(N_ROWS) % 5, CLASSES),
    "counts": (np.arange(N_ROWS) % 40, ASKED),
    "letters as 0 to 25": (np.arange(N_ROWS) % 26, ASKED),
    "booleans": (np.arange(N_ROWS) % 2 == 0, CLASSES),
    "0 and 1": (np.arange(N_ROWS) % 2, CLASSES),
    "0.0 and 1.0": (np.arange(N_ROWS) % 2.0, CLASSES),
    "'no' and 'yes'": (np.where(np.arange(N_ROWS) % 2, "yes", "no"), CLASSES),
    "months": (1 + np.arange(N_ROWS) % 12, ASKED),
    "years": (1995 + np.arange(N_ROWS) % 30, ASKED),
    "ids": (1000 + np.arange(N_ROWS), NUMBER),
    "amounts": (np.round(np.exp(DRAW.normal(3, 1, N_ROWS)), 2), NUMBER),
}


@pytest.fixture(params=TARGETS)
def target(request):
    return TARGETS[request.param]


@pytest.fixture
def table(target):
    """Two inputs, the target, and predictions of it that are right in nine of ten rows."""
    truth = target[0]
    said = np.where(np.arange(N_ROWS) % 10 == 0, np.roll(truth, 1), truth)
    X = pd.DataFrame(DRAW.normal(size=(N_ROWS, 2)), columns=["a", "b"])
    return X.assign(q=truth, said=said)


def answer(ended):
    """What a command took the target for, from what it printed."""
    if "pass --task regression or --task classification" in ended.err:
        assert ended.code
        return ASKED
    return NUMBER if "Predicting 'q' as a number" in ended.err else CLASSES


@pytest.mark.filterwarnings(
    "ignore:The model's error"
)  # the inputs are noise, so nothing else predicts the target
def test_every_door_decides_alike_or_asks_the_same(target, table, run, tmp_path):
    expected = target[1]
    path, out = tmp_path / "t.csv", tmp_path / "m.skops"
    table.drop(columns="said").to_csv(path, index=False)
    given = tmp_path / "given.csv"
    table.to_csv(given, index=False)
    fit = run("fit", path, "--target", "q", "--estimator", "logistic", "--out", out)
    with_predictions = run(
        "fit", given, "--target", "q", "--prediction", "said", "--out", tmp_path / "given.skops"
    )
    assert answer(fit) == answer(with_predictions) == expected
    X, y, said = table[["a", "b"]], table["q"], table["said"]
    if expected == ASKED:
        with pytest.raises(UnclearTaskError):
            assess_predictions(X, y, said)
        assert not out.exists()
    elif not fit.code:
        is_classifier = hasattr(surefoot.load(out), "classes_")
        assert is_classifier == (expected == CLASSES)
        assert hasattr(assess_predictions(X, y, said), "classes_") == is_classifier


def test_the_class_that_is_used_is_never_overruled():
    X = DRAW.normal(size=(N_ROWS, 2))
    years = TARGETS["years"][0]
    assert len(IndividualErrorClassifier(LogisticRegression()).fit(X, years).classes_) == 30
    assert not hasattr(IndividualErrorRegressor(Ridge()).fit(X, TARGETS["0 and 1"][0]), "classes_")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, None, 3]),
        pd.Series([1, 2, None, 3], dtype="Int64"),
        pl.Series([1, 2, None, 3]),
        pa.chunked_array([[1, 2, None, 3]]),
        np.array([1, 2, None, 3], dtype=object),
    ],
)
def test_missing_values_decide_nothing(column):
    assert kind_of_target(column) == CLASSES


def test_what_is_said_of_the_target_comes_first():
    half = [0.5, 1.5] * 20
    assert kind_of_target(half) == NUMBER
    assert kind_of_target(half, task=CLASSES) == CLASSES
    assert kind_of_target(half, are_classes=True) == CLASSES
    assert kind_of_target([1, 2] * 20, half) == NUMBER  # fractions in the predictions
    assert kind_of_target([1, 2] * 20, ["1", "2"] * 20) == CLASSES
    assert kind_of_target(range(50), ["1"] * 50) == CLASSES
    assert kind_of_target(half, ["1"] * 40) == NUMBER
    with pytest.raises(ValueError, match="task="):
        kind_of_target(half, task="number")


def test_losses_are_mistakes_costs_or_distances():
    truth, said = np.array(["a", "b", "b"]), np.array(["a", "a", "b"])
    classes = np.array(["a", "b"])
    assert Task(classes).losses(truth, said).tolist() == [0, 1, 0]
    costs = np.array([[0.0, 1.0], [5.0, 0.5]])
    assert Task(classes, costs).losses(truth, said).tolist() == [0, 5, 0.5]
    assert Task().losses(np.array([1.0, 2.0]), np.array([1.5, 2.0])).tolist() == [0.5, 0]
    assert [task.unit.name for task in (Task(classes), Task(classes, costs), Task())] == [
        "share",
        "cost",
        "size",
    ]
    assert [task.kind for task in (Task(classes), Task())] == [CLASSES, NUMBER]


def test_the_best_constant_costs_least():
    """Always "b" costs 2 · 1, always "a" 1 · 3; without costs the most frequent class is best."""
    truth, classes = np.array(["a", "a", "b"]), np.array(["a", "b"])
    task = Task(classes, np.array([[0.0, 1.0], [3.0, 0.0]]))
    assert task.best_constant(truth) == ("b", "“b”")
    assert task.losses(truth, "b").tolist() == [1, 1, 0]
    assert Task(classes).best_constant(truth) == ("a", "“a”")
    assert Task().best_constant(np.array([1.0, 5.0, 2.0])) == (2.0, "the median")
