"""Nodes of stored trees: scikit-learn follows them without a look at where they lead."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot._model_files._refusal import require
from surefoot._sklearn_private import Tree
from surefoot._typing import Ints

LEAF = -1

# Width of a bitset of categories, in words and in bits.
WORDS, BITS = 8, 256

ASTRAY = "the nodes of a tree in it lead astray"
OTHER_WIDTH = "a tree in it was fitted on other columns than its model"


def check_tree(tree: Any) -> None:
    """Refuse a decision tree whose nodes are no tree, split by unknown columns, or are deeper than it says."""
    require(tree.node_count == tree.capacity >= 1, ASTRAY)
    nodes = tree.__getstate__()["nodes"]
    inner = np.flatnonzero(nodes["left_child"] != LEAF)
    left, right = nodes["left_child"][inner], nodes["right_child"][inner]
    check_children(inner, left, right, len(nodes))
    check_columns(nodes["feature"][inner], tree.n_features)
    require(depth(nodes["left_child"], nodes["right_child"]) <= tree.max_depth, ASTRAY)


def check_children(inner: Ints, left: NDArray[Any], right: NDArray[Any], n_nodes: int) -> None:
    """Refuse nodes that are not each the child of one node before them."""
    children = np.concatenate([left, right]).astype(np.int64)
    later = (left > inner).all() and (right > inner).all()
    require(later and np.array_equal(np.sort(children), np.arange(1, n_nodes)), ASTRAY)


def check_columns(columns: NDArray[Any], n_columns: int) -> None:
    """Refuse splits by columns that there are not."""
    fits = columns.size == 0 or (columns.min() >= 0 and columns.max() < n_columns)
    require(fits, "a tree in it splits by a column that there is not")


def depth(left: Ints, right: Ints) -> int:
    """Levels below the root, of nodes that are a tree."""
    level, n_levels = np.zeros(1, dtype=np.int64), 0
    while True:
        level = level[left[level] != LEAF]
        if not len(level):
            return n_levels
        level = np.concatenate([left[level], right[level]])
        n_levels += 1


def check_tree_model(model: Any) -> None:
    """Refuse a tree model whose tree has another number of columns."""
    tree = vars(model).get("tree_")
    if tree is not None:
        require(isinstance(tree, Tree), OTHER_WIDTH)
        require(tree.n_features == model.n_features_in_, OTHER_WIDTH)


def check_forest(model: Any) -> None:
    """Refuse a forest with trees of other columns: it hands them its own without a check."""
    for member in vars(model).get("estimators_", ()):
        check_member(member, model.n_features_in_)


def check_member(member: Any, n_columns: int) -> None:
    """Refuse a member of an ensemble that is no tree over these columns."""
    tree = vars(member).get("tree_")
    fits = isinstance(tree, Tree) and tree.n_features == n_columns == member.n_features_in_
    require(fits, OTHER_WIDTH)


def check_isolation_forest(model: Any) -> None:
    """Refuse an isolation forest whose trees have other columns than it gives them."""
    own = vars(model)
    if "estimators_" not in own:
        return
    chosen = own["estimators_features_"]
    all_columns = own["_max_features"] == model.n_features_in_
    for member, columns in zip(own["estimators_"], chosen, strict=True):
        check_member(member, model.n_features_in_ if all_columns else len(columns))


def check_gradient_boosting(model: Any) -> None:
    """Refuse boosted trees that write into columns of the outcome that there are not."""
    own = vars(model)
    if "estimators_" not in own:
        return
    trees = own["estimators_"]
    wrong = "the trees of its gradient boosting do not fit its classes"
    require(isinstance(trees, np.ndarray) and trees.ndim == 2 and trees.size > 0, wrong)
    for member in trees.ravel():
        check_member(member, model.n_features_in_)
        require((member.tree_.n_outputs, member.tree_.max_n_classes) == (1, 1), wrong)
    n_columns = trees.shape[1]
    require(n_columns == own.get("n_trees_per_iteration_"), wrong)
    if n_columns > 1 and own["init_"] != "zero":
        start = own["init_"]
        require(type(start).__name__ == "DummyClassifier" and start.strategy == "prior", wrong)
        require(start.n_classes_ == n_columns == len(start.class_prior_), wrong)
        require(len(start.classes_) == n_columns and start.n_outputs_ == 1, wrong)


def check_hist_boosting(model: Any) -> None:
    """Refuse histogram boosting whose trees, categories or columns do not fit each other."""
    own = vars(model)
    require("_in_fit" not in own or own["_in_fit"] is False, ASTRAY)
    if "_predictors" not in own:
        return
    mapper = own["_bin_mapper"]
    categorical = np.asarray(mapper.is_categorical_)
    require(categorical.dtype.kind in "bu" and categorical.ndim == 1, ASTRAY)
    categorical = categorical.astype(bool)
    for trees in own["_predictors"]:
        for tree in trees:
            check_predictor(tree, categorical)
    for known in (mapper.bin_thresholds_[i] for i in np.flatnonzero(categorical)):
        values = np.asarray(known, dtype=np.float64)
        fits = ((values >= 0) & (values < BITS)).all()
        require(fits, "its gradient boosting has categories beyond 255")
    check_preprocessor(own.get("_preprocessor"), len(categorical), model.n_features_in_)


def check_predictor(tree: Any, categorical: NDArray[np.bool_]) -> None:
    """Refuse a tree of histogram boosting with nodes that lead astray or sets of categories that there are not."""
    nodes = tree.nodes
    require(isinstance(nodes, np.ndarray) and nodes.ndim == 1 and len(nodes) > 0, ASTRAY)
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    split = nodes[inner]
    check_children(inner, split["left"], split["right"], len(nodes))
    check_columns(split["feature_idx"], len(categorical))
    sets = tree.raw_left_cat_bitsets
    require(sets.dtype == np.uint32 and sets.ndim == 2 and sets.shape[1] == WORDS, ASTRAY)
    by_category = split[split["is_categorical"] != 0]
    require((by_category["bitset_idx"] < len(sets)).all(), ASTRAY)
    require(categorical[by_category["feature_idx"]].all(), ASTRAY)


def check_preprocessor(preprocessor: Any, n_columns: int, n_given: int) -> None:
    """Refuse a first step of histogram boosting that does not hand on as many columns as the trees know."""
    if preprocessor is None:
        require(n_columns == n_given, OTHER_WIDTH)
        return
    kinds = {"encoder": "OrdinalEncoder", "numerical": "FunctionTransformer"}
    chosen = vars(preprocessor)["_transformer_to_input_indices"]
    widths = [len(columns) for name, columns in chosen.items() if name in kinds]
    masks = [np.sum(columns) for name, _, columns in preprocessor.transformers_ if name in kinds]
    require(sum(widths) == sum(masks) == n_columns == n_given, OTHER_WIDTH)
    for name, step, _ in preprocessor.transformers_:
        empty = isinstance(step, str) and step in ("passthrough", "drop")
        require(empty or type(step).__name__ == kinds.get(name), OTHER_WIDTH)


CHECKS_OF_TREES = {
    "sklearn.ensemble._forest.BaseForest": check_forest,
    "sklearn.ensemble._gb.BaseGradientBoosting": check_gradient_boosting,
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.BaseHistGradientBoosting": check_hist_boosting,
    "sklearn.ensemble._iforest.IsolationForest": check_isolation_forest,
    "sklearn.tree._classes.BaseDecisionTree": check_tree_model,
    "sklearn.tree._tree.Tree": check_tree,
}
