"""Forged trees are refused: compiled code would follow their nodes beside them, or without end."""

import numpy as np
import pytest
from array_changes import first, put
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

ASTRAY = "FILE is not loaded: the nodes of a tree in it lead astray."
NO_COLUMN = "FILE is not loaded: a tree in it splits by a column that there is not."
OTHER_COLUMNS = "FILE is not loaded: a tree in it was fitted on other columns than its model."
CLASSES = "FILE is not loaded: the trees of its gradient boosting do not fit its classes."
BROKEN = "FILE is a broken skops file, or was saved by other versions."


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (put("left_child", 10**6), ASTRAY),
        (put("right_child", 10**6), ASTRAY),
        (put("right_child", -5), ASTRAY),
        (put("left_child", 0), ASTRAY),
        (put("right_child", 1), ASTRAY),
        (put("feature", 3), NO_COLUMN),
        (put("feature", -2), NO_COLUMN),
        (put("feature", 2**40), NO_COLUMN),
        (lambda nodes: nodes[:0], BROKEN),
        (lambda nodes: nodes[:-1], BROKEN),
    ],
)
def test_nodes_of_a_tree(refusal, forge, rows, change, sentence):
    forged = forge(DecisionTreeClassifier(random_state=0).fit(*rows))
    nodes = forged.state(__class__="Tree")["content"]["content"]["nodes"]
    assert refusal(forged.change(nodes, change).content()) == sentence


@pytest.mark.parametrize(
    ("name", "value"), [("node_count", 0), ("node_count", 1), ("max_depth", 0)]
)
def test_sizes_of_a_tree(refusal, forge, rows, name, value):
    forged = forge(DecisionTreeClassifier(random_state=0).fit(*rows))
    forged.replace(forged.state(__class__="Tree")["content"]["content"][name], value)
    assert refusal(forged.content()) == ASTRAY


@pytest.mark.parametrize("number", [10**7, 2, -1, 0, 1.5, None])
def test_outputs_of_a_tree_beyond_its_classes(refusal, forge, rows, number):
    forged = forge(DecisionTreeClassifier().fit(*rows))
    forged.replace(forged.state(__class__="Tree")["__reduce__"]["args"]["content"][2], number)
    assert refusal(forged.content()) == (
        "FILE is not loaded: a tree in it has outputs that do not fit its classes."
    )


def test_a_tree_that_claims_more_columns_than_its_model(refusal, forge, rows):
    forged = forge(DecisionTreeClassifier().fit(*rows))
    tree = forged.state(__loader__="TreeNode")
    forged.replace(tree["__reduce__"]["args"]["content"][0], 1000)
    forged.change(tree["content"]["content"]["nodes"], put("feature", 999))
    assert refusal(forged.content()) == OTHER_COLUMNS


@pytest.mark.parametrize("model", [RandomForestRegressor(3), ExtraTreesClassifier(3)])
def test_a_member_of_a_forest_that_claims_more_columns(refusal, forge, rows, model):
    """The forest checks rows for its first tree only."""
    forged = forge(model.fit(*rows))
    members = forged.attributes(type(model).__name__)["estimators_"]["content"]
    member = members[1]["content"]["content"]
    forged.replace(member["n_features_in_"], 1000)
    forged.replace(member["tree_"]["__reduce__"]["args"]["content"][0], 1000)
    forged.change(member["tree_"]["content"]["content"]["nodes"], put("feature", 999))
    assert refusal(forged.content()) == OTHER_COLUMNS


def test_no_tree_in_the_place_of_one(refusal, forge, rows):
    forged = forge(GradientBoostingClassifier(n_estimators=2).fit(*rows))
    for member in forged.states(__class__="DecisionTreeRegressor"):
        forged.replace(member["content"]["content"]["tree_"], None)
    assert refusal(forged.content()) == OTHER_COLUMNS


def test_boosted_trees_that_write_beside_the_classes(refusal, forge, rows):
    X, y = rows
    model = GradientBoostingClassifier(n_estimators=2).fit(X, y + (X[:, 1] > 0))
    for name, value in {"n_trees_per_iteration_": 1, "init_": None}.items():
        forged = forge(model).set("GradientBoostingClassifier", **{name: value})
        assert refusal(forged.content()) == CLASSES
    forged = forge(model)
    prior = forged.attributes("DummyClassifier")["class_prior_"]
    assert refusal(forged.change(prior, lambda values: values[:1]).content()) == CLASSES


def test_columns_of_an_isolation_forest(refusal, forge, rows):
    model = IsolationForest(n_estimators=2, max_features=2).fit(rows[0])
    forged = forge(model)
    columns = forged.attributes("IsolationForest")["estimators_features_"]["content"][0]
    assert refusal(forged.change(columns, lambda values: values[:1]).content()) == OTHER_COLUMNS


def hist(rows):
    X, y = rows
    frame = np.column_stack([np.abs(X[:, 0] * 3).astype(int), X[:, 1:]])
    return HistGradientBoostingClassifier(
        max_iter=2, min_samples_leaf=2, categorical_features=[0]
    ).fit(frame, y)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (put("left", 10**6), ASTRAY),
        (put("right", 0), ASTRAY),
        (put("left", 0), ASTRAY),
        (put("feature_idx", 3), NO_COLUMN),
        (put("feature_idx", -1), NO_COLUMN),
        (put("is_leaf", 0, -1), ASTRAY),
        (lambda nodes: nodes[:0], ASTRAY),
        (lambda nodes: nodes[None], ASTRAY),
    ],
)
def test_nodes_of_histogram_boosting(refusal, forge, rows, change, sentence):
    forged = forge(hist(rows))
    nodes = forged.attributes("TreePredictor")["nodes"]
    assert refusal(forged.change(nodes, change).content()) == sentence


def test_sets_of_categories_that_there_are_not(refusal, forge, rows):
    forged = forge(hist(rows))

    def categorical(nodes):
        nodes["is_categorical"][0], nodes["feature_idx"][0] = 1, 0
        nodes["bitset_idx"][0] = 1000
        return nodes

    nodes = forged.attributes("TreePredictor")["nodes"]
    assert refusal(forged.change(nodes, categorical).content()) == ASTRAY


def test_categories_beyond_a_set(refusal, forge, rows):
    forged = forge(hist(rows))
    known = forged.attributes("_BinMapper")["bin_thresholds_"]["content"][0]
    assert refusal(forged.change(known, first(10**6)).content()) == (
        "FILE is not loaded: its gradient boosting has categories beyond 255."
    )


def test_forests_and_boosting_are_loaded_as_before(load, forge, rows):
    X, y = rows
    models = [
        *(
            RandomForestRegressor(3),
            ExtraTreesClassifier(3),
            DecisionTreeClassifier(max_leaf_nodes=5),
        ),
        *(IsolationForest(n_estimators=2), IsolationForest(n_estimators=2, max_features=2)),
        *(GradientBoostingClassifier(n_estimators=2), GradientBoostingClassifier(init="zero")),
    ]
    for model in models:
        model.fit(X, y)
        np.testing.assert_array_equal(load(forge(model).content()).predict(X), model.predict(X))
    model = hist(rows)
    np.testing.assert_array_equal(
        load(forge(model).content()).predict(np.abs(X)), model.predict(np.abs(X))
    )
