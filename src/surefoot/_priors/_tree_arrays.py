"""Boosted trees as plain arrays: what a pretrained learner needs to answer, and nothing of scikit-learn."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot._typing import Floats, Ints


class TreeArrays(NamedTuple):
    """Sum of the leaves that each tree leads a row to, plus a constant.

    The nodes of all trees stand in one row of arrays. A row whose value of column `feature` is at most `threshold`
    goes on at node `left`, else at node `right`; one without a value (NaN) goes left where `missing_left` says so.
    A leaf has `feature` −1. `roots` are the first nodes of the trees, and `depth` is the longest way to a leaf.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    missing_left: NDArray[np.bool_]
    value: Floats
    roots: Ints
    constant: float
    depth: int

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "TreeArrays":
        """Trees from arrays by name, as an npz file holds them."""
        whole = {
            name: arrays[name].astype(np.int64) for name in ("feature", "left", "right", "roots")
        }
        return cls(
            threshold=arrays["threshold"].astype(np.float64),
            missing_left=arrays["missing_left"].astype(np.bool_),
            value=arrays["value"].astype(np.float64),
            constant=float(arrays["constant"]),
            depth=int(arrays["depth"]),
            **whole,
        )

    def predict(self, table: Floats) -> Floats:
        """Sum over all trees for each row, on the scale that the trees were boosted on (such as a logarithm)."""
        rows = np.arange(len(table))
        total = np.full(len(table), self.constant)
        for root in self.roots:
            node = np.full(len(table), root)
            for _ in range(self.depth):
                column = self.feature[node]
                values = table[rows, np.maximum(column, 0)]
                goes_left = np.where(
                    np.isnan(values), self.missing_left[node], values <= self.threshold[node]
                )
                onward = np.where(goes_left, self.left[node], self.right[node])
                node = np.where(column < 0, node, onward)
            total += self.value[node]
        return total
