"""Rows, neighbours and held-out rows of surefoot's own models fit each other, or the model is refused."""

import numpy as np
import pandas as pd
import pytest
from array_changes import first
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from surefoot import IndividualErrorClassifier, IndividualErrorRegressor
from surefoot.indicators import LocalSensitivity, NeighborDistance, SecondOpinion

OTHER = "FILE is not loaded: the rows and neighbours in it do not fit each other."
BROKEN = "FILE is a broken skops file, or was saved by other versions."


@pytest.fixture(scope="module")
def classifier(rows):
    indicators = [LocalSensitivity(), NeighborDistance()]
    model = IndividualErrorClassifier(GaussianNB(), indicators=indicators, cv=2, random_state=0)
    return model.fit(*rows)


def test_a_model_as_it_is_is_loaded(load, forge, classifier, rows):
    again = load(forge(classifier).content())
    np.testing.assert_array_equal(again.predict_error(rows[0]), classifier.predict_error(rows[0]))


@pytest.mark.parametrize("kind", [IndividualErrorClassifier, IndividualErrorRegressor])
def test_an_error_estimator_that_is_not_fitted(refusal, forge, kind):
    assert refusal(forge(kind(GaussianNB())).content()) == (
        f"FILE is not loaded: it holds an unfitted {kind.__name__}."
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_rows", 10**9),
        ("n_rows", 0),
        ("n_rows", 1.5),
        ("n_neighbors", 10**6),
        ("n_neighbors", -1),
        ("shares_search", True),
        ("metric", 7),
    ],
)
def test_numbers_of_an_index(refusal, forge, classifier, name, value):
    forged = forge(classifier)
    for index in list(forged.states(__class__="NeighborhoodIndex")):
        if index["content"]["content"]["n_neighbors"]["content"] != "0":
            forged.replace(index["content"]["content"][name], value)
    assert refusal(forged.content()) == OTHER


def forged_rows(forged, part, change):
    """Change the rows in every index that has neighbours."""
    for number, state in enumerate(list(forged.states(__class__="NeighborhoodIndex"))):
        index = state["content"]["content"]
        if index["n_neighbors"]["content"] == "0":
            continue
        owner = index if part == "reference" else index[part]["content"]["content"]
        rows = owner["reference" if part == "reference" else "rows"]
        name = f"{10**17 + number}.npy"
        forged.members[name] = forged.members[rows["file"]]
        rows.update(__id__=10**17 + number, file=name)
        forged.change(rows, change)
    return forged.content()


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values[:5],
        lambda values: np.concatenate([values, values]),
        lambda values: values.astype("f4"),
        lambda values: values.ravel(),
    ],
)
@pytest.mark.parametrize("part", ["reference", "space", "input"])
def test_rows_of_an_index(refusal, forge, classifier, part, change):
    """A compiled loop takes the neighbours from them by number."""
    assert refusal(forged_rows(forge(classifier), part, change)) == OTHER


def test_rows_of_another_width(refusal, load, forge, classifier):
    for part in ("reference", "space"):
        assert refusal(forged_rows(forge(classifier), part, narrower)) == OTHER
    # How wide rows are when the model sees them is known when they come.
    model = load(forged_rows(forge(classifier), "input", narrower))
    with pytest.raises(ValueError, match="The rows have 3 columns, their neighbours 1"):
        model.judge(np.zeros((4, 3)))


def narrower(values):
    return values[:, :1]


@pytest.mark.parametrize("name", ["error", "losses", "rows", "splits", "prediction"])
def test_held_out_rows_of_which_too_little_is_known(refusal, forge, classifier, name):
    forged = forge(classifier)
    part = forged.attributes("HeldOut")[name]
    assert refusal(forged.change(part, lambda values: values[:3]).content()) == OTHER


@pytest.mark.parametrize("name", ["error", "columns", "classes"])
def test_something_else_in_place_of_held_out_rows(refusal, forge, classifier, name):
    """As case 5972 of the fuzzing with seed 20 had it, a file too large to keep."""
    forged = forge(classifier)
    forged.set("IndividualErrorClassifier", held_out_=forged.attributes("HeldOut")[name])
    assert refusal(forged.content()) == OTHER


def test_a_table_in_place_of_the_groups_of_held_out_rows(refusal, forge, classifier):
    forged = forge(classifier)
    held_out = forged.attributes("HeldOut")
    forged.set("HeldOut", groups=held_out["scores"])
    assert refusal(forged.content()) == OTHER


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("error", np.nan, "the error of a held-out row in it is no number"),
        ("losses", np.inf, "the error of a held-out row in it is no number"),
        ("losses", -1.0, "the loss of a held-out row in it is negative"),
    ],
)
def test_errors_of_held_out_rows_that_are_none(refusal, forge, classifier, name, value, what):
    forged = forge(classifier)
    part = forged.attributes("HeldOut")[name]
    forged.change(part, lambda values: np.where(np.arange(len(values)) == 3, value, values))
    assert refusal(forged.content()) == f"FILE is not loaded: {what}."


def test_columns_that_cannot_be_told(refusal, forge, classifier):
    kind = "IndividualErrorClassifier"
    named = forge(classifier).set(kind, feature_names_in_=[{}, {}, {}])
    assert refusal(named.content()) == "FILE is not loaded: the names of its columns are no texts."
    counted = forge(classifier).set(kind, n_features_in_="3")
    assert refusal(counted.content()) == "FILE is not loaded: its number of columns is no number."
    untagged = forge(RandomForestRegressor()).set("RandomForestRegressor", estimator=1.5)
    assert refusal(untagged.content()) == BROKEN


def test_a_stored_frame_with_another_number_of_rows(refusal, forge, rows):
    X = pd.DataFrame(rows[0], columns=["a", "b", "c"]).assign(kind=["x", "y"] * 30)
    X["kind"] = X["kind"].astype("category")
    model = HistGradientBoostingRegressor(max_iter=2)
    model = IndividualErrorRegressor(model, cv=2, random_state=0).fit(X, rows[0][:, 0])
    forged = forge(model)
    for parts in list(forged.states(__class__="FrameParts")):
        forged.replace(parts["content"]["n_rows"], 10**12)
    assert refusal(forged.content()) == BROKEN


def test_a_regressor_is_loaded_too(load, forge, rows):
    model = IndividualErrorRegressor(DecisionTreeRegressor(max_depth=2), cv=2, random_state=0)
    model.fit(rows[0], rows[0][:, 0])
    again = load(forge(model).content())
    np.testing.assert_array_equal(again.predict_interval(rows[0]), model.predict_interval(rows[0]))


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("columns_", first(99), "a tree in it splits by a column that there is not"),
        ("columns_", lambda values: values[:-1], "the nodes of a tree in it lead astray"),
        ("leaves_", lambda values: values[:, :-1], "the nodes of a tree in it lead astray"),
        ("start_", lambda values: np.tile(values, 3), "the nodes of a tree in it lead astray"),
    ],
)
def test_splits_and_leaves_of_boosted_trees(refusal, forge, rows, name, change, sentence):
    opinion = SecondOpinion(random_state=0)
    model = IndividualErrorClassifier(GaussianNB(), indicators=opinion, cv=2, random_state=0)
    forged = forge(model.fit(*rows))
    forged.change(forged.attributes("BoostedTrees")[name], change)
    assert refusal(forged.content()) == f"FILE is not loaded: {sentence}."
