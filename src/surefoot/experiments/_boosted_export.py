"""Boosted trees of scikit-learn as plain arrays, with a proof that both answer alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Most that two sums of the same leaves may differ by.
ROUNDING = 1e-9


def tree_arrays(
    boosting: Any, table: NDArray[np.float64], expected: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Arrays of a fitted histogram gradient boosting, as `TreeArrays.from_arrays` takes them.

    `boosting` has numeric columns and one sum of trees: it is a regressor, or a classifier of two classes. `expected`
    are its own sums for the rows of `table`, on the scale that it boosts on; other sums of the arrays raise an error.
    """
    nodes, roots, first = [], [], 0
    for (tree,) in boosting._predictors:  # noqa: SLF001 - fitted trees have no public name
        own = tree.nodes.copy()
        leads = own["is_leaf"] == 0
        for side in ("left", "right"):
            own[side][leads] += first
        nodes.append(own)
        roots.append(first)
        first += len(own)
    together = np.concatenate(nodes)
    if together["is_categorical"].any():
        raise ValueError(
            "The boosting has categorical columns, and the arrays hold numeric ones only."
        )
    is_leaf = together["is_leaf"] == 1
    arrays: dict[str, NDArray[Any]] = {
        "feature": np.where(is_leaf, -1, together["feature_idx"].astype(np.int64)).astype(np.int16),
        "threshold": np.where(is_leaf, 0.0, together["num_threshold"]),
        "left": np.where(is_leaf, 0, together["left"]).astype(np.int32),
        "right": np.where(is_leaf, 0, together["right"]).astype(np.int32),
        "missing_left": together["missing_go_to_left"] == 1,
        "value": np.where(is_leaf, together["value"], 0.0),
        "roots": np.array(roots, dtype=np.int32),
        "constant": np.array(np.squeeze(boosting._baseline_prediction)),  # noqa: SLF001 - as above
        "depth": np.array(int(together["depth"].max())),
    }
    if not np.allclose([walk(arrays, row) for row in table], expected, rtol=0, atol=ROUNDING):
        raise ValueError("The arrays do not answer as the boosting does.")
    return arrays


def walk(arrays: dict[str, NDArray[Any]], row: NDArray[np.float64]) -> float:
    """Sum of the leaves that one row reaches, node by node."""
    total = float(arrays["constant"])
    for root in arrays["roots"]:
        node = root
        while (column := arrays["feature"][node]) >= 0:
            value = row[column]
            goes_left = (
                arrays["missing_left"][node]
                if np.isnan(value)
                else value <= arrays["threshold"][node]
            )
            node = arrays["left"][node] if goes_left else arrays["right"][node]
        total += float(arrays["value"][node])
    return total
