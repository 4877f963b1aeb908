"""Arguments of compiled objects, checked before they are made: to make them of other arguments can crash."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot._model_files._refusal import require
from surefoot._model_files._skops_private import Node, TreeNode

# Outputs of a tree: scikit-learn reserves memory for them before it looks at their classes.
MOST_OUTPUTS = 100_000

METRIC = "sklearn.metrics._dist_metrics.EuclideanDistance64"
KD_TREE = "sklearn.neighbors._kd_tree.KDTree"


def check_arguments(nodes: Iterable[Node]) -> None:
    """Refuse trees and KD-trees that would be made of something else than the numbers they are made of."""
    for node in nodes:
        name = f"{node.module_name}.{node.class_name}"
        if isinstance(node, TreeNode):
            check_outputs(*plain_values(node.children["args"]))
        elif name == METRIC:
            check_metric(*plain_values(node.children["attrs"]))
        elif name == KD_TREE:
            check_kd_tree_state(node.children["attrs"])


def plain_values(node: Any, n_values: int | None = None) -> list[Any]:
    """Numbers and arrays in a stored tuple, the first of them if a number is given; anything else is refused."""
    children = node.children["content"][:n_values]
    for child in children:
        is_array = child.__class__.__name__ == "NdArrayNode" and child.type == "numpy"
        is_plain = is_array or child.__class__.__name__ == "JsonNode"
        require(is_plain, "a tree in it is made of something else than numbers")
    return [child.construct() for child in children]


def check_outputs(n_columns: Any, n_classes: Any, n_outputs: Any) -> None:
    """Refuse a tree that says it has more outputs than it lists classes of: making it reads beyond the list."""
    require(
        type(n_columns) is int
        and type(n_outputs) is int
        and 1 <= n_outputs <= MOST_OUTPUTS
        and isinstance(n_classes, np.ndarray)
        and n_classes.shape == (n_outputs,)
        and n_classes.dtype.kind == "i"
        and 1 <= n_classes.min() <= n_classes.max() <= MOST_OUTPUTS,
        "a tree in it has outputs that do not fit its classes",
    )


def check_metric(power: Any, vector: Any, matrix: Any, *_: Any) -> None:
    """Refuse a metric without its arrays, which are looked at even where they are not used."""
    arrays = isinstance(vector, np.ndarray) and isinstance(matrix, np.ndarray)
    require(isinstance(power, (int, float)) and arrays, "the metric of a KD-tree is incomplete")


def check_kd_tree_state(state: Any) -> None:
    """Refuse a KD-tree without its four arrays, its numbers or its metric."""
    values = plain_values(state, 11)
    metric = state.children["content"][11]
    weights = state.children["content"][12]
    arrays = all(isinstance(value, np.ndarray) for value in values[:4])
    numbers = all(type(value) is int for value in values[4:])
    is_metric = f"{metric.module_name}.{metric.class_name}" == METRIC
    is_unweighted = weights.__class__.__name__ == "JsonNode" and weights.construct() is None
    complete = arrays and numbers and is_metric and is_unweighted
    require(complete, "the KD-tree in it is incomplete")
